// Opening the source for an input.
#include <samesum/source.hpp>

#include "core/available_memory.hpp"
#include "core/float_environment.hpp"
#include "io/array_source.hpp"
#include "io/npy.hpp"
#include "io/open_stream.hpp"
#include "io/recognize.hpp"
#include "io/text/text_source.hpp"

#include <samesum/array_file.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace samesum {
namespace {

constexpr std::uint32_t kMaxThreads = 16;  // bounds the memory

bool is_set(TextOptions text) {
  text.table.reset();
  text.integers = true;
  text.in_order = false;
  return text != TextOptions();
}

bool named_as_table(const std::string& path) {
  std::string name = path;
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".tab");
}

io::Layout layout_of(const std::string& path, const TextOptions& options) {
  if (!options.columns.empty() || !options.keys.empty()) return io::Layout::table;
  if (options.table) return *options.table ? io::Layout::table : io::Layout::sequence;
  return options.header || named_as_table(path) ? io::Layout::table : io::Layout::by_first_line;
}

std::uint32_t thread_count(std::uint32_t wanted) {
  return std::clamp(wanted != 0 ? wanted : std::thread::hardware_concurrency(), 1u, kMaxThreads);
}

}  // namespace

RawType parse_raw_type(std::string_view name) {
  const bool ordered = name.starts_with('<') || name.starts_with('>') || name.starts_with('|');  // '|': of one byte
  const DType type = parse_dtype(ordered ? name.substr(1) : name);
  return {type, name.starts_with('>') && size_of(type) > 1};
}

namespace {

std::unique_ptr<Source> open(const std::string& path, const InputOptions& options, io::Layout layout) {
  const bool as_text = is_set(options.text);
  if (!options.text.keys.empty() && !options.text.in_order) {
    throw Error(ErrorKind::usage, "the keys of a table go with numbers in the text's order (TextOptions::in_order)");
  }
  const ArrayFile::Part part{options.offset, options.count};
  const bool in_part = part.offset != 0 || part.count;
  if (in_part && !options.raw)
    throw Error(ErrorKind::usage, "an offset or a count of elements is for raw numbers, whose type has to be given");
  if (as_text && options.raw) throw Error(ErrorKind::usage, "a type of raw numbers, and options for text: an input is either");

  std::unique_ptr<io::ByteStream> stream = io::open_stream(path, options.raw.has_value());
  const auto refuse = [&](std::string_view message) { throw Error(ErrorKind::usage, fmt::format("{}: {}", stream->name(), message)); };
  const std::span<const std::byte> start = stream->peek(io::kRecognizedBytes);
  const bool file = stream->regular() && path != "-";  // standard input may be redirected from the middle of a file
  const auto in_file = [&](ArrayFile array, std::string_view format) {
    auto* const opened = dynamic_cast<io::FileStream*>(stream.get());
    if (opened == nullptr || options.mapped || array.bytes() <= core::available_memory()) return io::file_source(std::move(array), format);
    static_cast<void>(stream.release());
    return io::file_source(std::move(array), format, std::unique_ptr<io::FileStream>(opened));
  };

  if (start.empty() && !options.allow_empty) {
    std::error_code error;
    const bool piped = path == "-" || (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error));
    refuse(fmt::format("{} (--allow-empty takes that for no numbers)", file ? io::what_else(start)
                                                                       : piped
                                                                           ? "nothing came from it: did the program before the pipe fail?"
                                                                           : "what is compressed in it is empty"));
  }
  if (io::is_npy(start)) {
    if (as_text) refuse("a .npy file, which has no columns and no missing numbers: leave options for text out");
    if (in_part) refuse(io::kNoPartOfNpy);
    io::Npy npy;
    try {
      npy = io::read_npy_header(*stream);
      if (!options.complex) io::refuse_complex(npy);
      const std::uint64_t size = npy.count * size_of(npy.type);
      const std::uint64_t present = file ? stream->size() - npy.offset : size;
      if (present < size) throw Error(ErrorKind::usage, io::too_short(npy, present));
      if (present > size) throw Error(ErrorKind::usage, io::too_long(npy, fmt::format("{}", present - size)));
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (options.raw && npy.complex) refuse("a .npy file of complex numbers, which contradicts the given type: leave it out");
    if (options.raw && *options.raw != RawType{npy.type, npy.big_endian}) {
      refuse(fmt::format("a .npy file of {}{}, which contradicts the given type {}{} (that is for raw files: leave it out)",
                         npy.big_endian ? "big-endian " : "", name_of(npy.type), options.raw->big_endian ? "big-endian " : "",
                         name_of(options.raw->type)));
    }
    if (file && !npy.big_endian) return in_file(npy.complex ? ArrayFile::of_complex(path) : ArrayFile(path), "npy");
    return io::npy_source(std::move(stream), std::move(npy));
  }
  if (options.raw) {
    // Of a pipe what is behind a long offset is not known yet.
    const bool known = file || start.size() < io::kRecognizedBytes;
    if (known && part.offset != 0 && !part.count && !options.allow_empty && (file ? stream->size() : start.size()) == part.offset)
      refuse(fmt::format("nothing is behind its first {} bytes, which are skipped (--allow-empty takes that for no numbers)", part.offset));
    if (file && !options.raw->big_endian) return in_file(ArrayFile(path, options.raw->type, part), "raw");
    return io::raw_source(std::move(stream), *options.raw, part);
  }
  if (const std::optional<std::string> other = io::other_format(start)) refuse(*other);
  if (io::is_binary(start) && (!as_text || std::ranges::find(start, std::byte{0}) != start.end())) refuse(io::what_else(start));
  return io::text_source(std::move(stream), options.text, layout, thread_count(options.threads), options.allow_empty);
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path, const InputOptions& options) {
  const core::DefaultFloatEnvironment environment;
  if (options.text.columns.size() > 1) throw Error(ErrorKind::usage, "several columns of one text: open_table() reads those");
  if (options.text.header && options.text.columns.empty()) {
    throw Error(ErrorKind::usage, "whether a text has a header matters where columns are read, and none is asked for");
  }
  return open(path, options, options.text.columns.empty() ? io::Layout::sequence : io::Layout::table);
}

void require_one_column(const Source& source) {
  if (source.columns().size() > 1) {
    throw Error(ErrorKind::usage, fmt::format("one column is needed here, and the source has {}", source.columns().size()));
  }
}

std::unique_ptr<Source> open_table(const std::string& path, const InputOptions& options) {
  return open(path, options, layout_of(path, options.text));
}

}  // namespace samesum
