#include "input.hpp"

#include "nodata.hpp"
#include "printable.hpp"

#include <samesum/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace samesum::cli {

void Input::complete() {
  if (!files.empty()) return;
  if (isatty(STDIN_FILENO) != 0) {
    throw Error(ErrorKind::usage,
                "FILE is missing: name a file, or pipe numbers in, as in 'seq 100 | samesum sum'; '-' reads what you type");
  }
  files = {"-"};
}

InputOptions Input::options() const {
  if (std::ranges::count(files, "-") > 1) throw Error(ErrorKind::usage, "standard input ('-') is named twice, and can be read once only");
  if (header && no_header) throw Error(ErrorKind::usage, "--header and --no-header cannot both be had");
  if ((header || no_header) && column.empty()) throw Error(ErrorKind::usage, "--header and --no-header are for --column");
  if (!dtype.empty() && (!column.empty() || !missing.empty())) {
    throw Error(ErrorKind::usage, "--dtype is for raw numbers, --column and --missing are for text: they cannot be had together");
  }
  InputOptions options;
  if (!dtype.empty()) options.raw = parse_raw_type(dtype);
  options.text.column = column;
  if (header || no_header) options.text.header = header;
  options.text.missing = missing;
  options.text.integers = !reals;
  options.threads = threads;
  options.allow_empty = allow_empty;
  return options;
}

std::unique_ptr<Source> Input::open(const std::string& file) const {
  std::unique_ptr<Source> source = open_source(file, options());
  return nodata.empty() ? std::move(source) : std::make_unique<FilteredSource>(std::move(source), nodata, &NodataFilter::kept);
}

std::vector<NamedSource> Input::sources() const {
  options();  // a mistake among them is told before anything is read
  std::vector<NamedSource> sources;
  for (const std::string& file : files) sources.push_back({file, [this, file] { return open(file); }});
  return sources;
}

std::uint64_t Input::resident_bytes() const {
  options();
  std::uint64_t total = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::file_type type = std::filesystem::status(file, error).type();
    if (file == "-" || type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character) continue;
    total += open(file)->resident_bytes();
  }
  return total;
}

CLI::Option* add_files(CLI::App& command, Input& input, const std::string& description) {
  return command.add_option("FILE", input.files, description)->option_text("...");
}

void add_options(CLI::App& command, Input& input) {
  command.add_option("--dtype", input.dtype, "type of raw numbers: float32, '>i4' (big-endian) ...")->type_name("TYPE");
  command.add_option("--column", input.column, "of a text: the one column to read")->type_name("N|NAME");
  command.add_flag("--header", input.header, "with --column: the first line has the names");
  command.add_flag("--no-header", input.no_header, "with --column: it has not");
  command.add_option("--missing", input.missing, "of a text: a word for a missing number")->type_name("WORD");
  command.add_flag("--allow-empty", input.allow_empty, "an input without numbers is no mistake");
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : printable_name(file); }

}  // namespace samesum::cli
