#include "part/part.hpp"

#include "command.hpp"
#include "output/printable.hpp"
#include "output/progress.hpp"
#include "output/write.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

namespace samesum::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 25;  // between two looks at the clock

// "3/8".
std::pair<std::uint64_t, std::uint64_t> parse_part(const std::string& text) {
  std::uint64_t part = 0, parts = 0;
  const char* const end = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), end, part);
  const bool divided = first_error == std::errc() && slash != end && *slash == '/';
  const auto [rest, error] = divided ? std::from_chars(slash + 1, end, parts) : std::from_chars_result{end, std::errc::invalid_argument};
  if (error != std::errc() || rest != end || part == 0 || part > parts || parts > kMaxParts) {
    refuse(fmt::format("--part takes a part and the number of parts, as in 3/8 (1 to 2^20), not '{}'", text));
  }
  return {part, parts};
}

// floor(a * b / c) for a <= c.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) { return b / c * a + b % c * a / c; }

// Some elements of another source, which go on behind those that were given before.
class Piece final : public Source {
 public:
  // A file that is being read.
  struct Reader {
    std::unique_ptr<Source> source;
    Array rest{nullptr, 0, DType::float64};  // of its latest chunk
  };

  Piece(Reader& reader, std::uint64_t count) : reader_(&reader), left_(count) {}

  std::optional<Array> next() override {
    if (left_ == 0) return std::nullopt;
    Array& rest = reader_->rest;
    if (rest.size() == 0) {
      const std::optional<Array> chunk = reader_->source->next();
      if (!chunk) return std::nullopt;
      rest = *chunk;
    }
    const std::uint64_t count = std::min(left_, rest.size());
    const Array given = rest.part(0, count);
    rest = rest.part(count, rest.size() - count);
    left_ -= count;
    return given;
  }
  std::string_view format() const noexcept override { return reader_->source->format(); }
  std::optional<DType> type() const noexcept override { return reader_->source->type(); }

 private:
  Reader* reader_;
  std::uint64_t left_;
};

// The files, as arrays of one axis: what they are, and their elements from `first` to `last` piece by piece.
class Inputs {
 public:
  Inputs(const Input& input, bool by_index) : how_(input) {
    how_.any_order = !by_index;
    how_.in_order = by_index;
    if (!input.nodata.empty() || !input.map.empty() || !input.columns.empty() || input.all_columns) {
      refuse("--part and --checkpoint divide arrays as they lie in files: leave out --nodata, --map and --column");
    }
    Input mapped = how_;
    mapped.mapped = true;
    for (const std::string& file : input.files) {
      const bool stream = is_stream(file);
      std::unique_ptr<Source> source = stream ? nullptr : mapped.open(file);
      std::uint64_t count = 1;
      if (source) {
        for (const std::uint64_t extent : source->shape()) count *= extent;
      }
      const bool empty = source && source->type() && count == 0;
      if (!source || (!empty && source->resident_bytes() == 0)) {
        refuse(fmt::format("{}: --part and --checkpoint are for arrays that lie in a file as they are in memory, .npy or raw{}: {}",
                           shown_name(file), by_index ? ", in C order where indices matter" : "",
                           "give each part of other data a file of its own"));
      }
      const std::optional<Array> chunk = source->next();
      arrays_.push_back(chunk.value_or(Array(nullptr, 0, source->type().value_or(DType::float64))));
      sources_.push_back(std::move(source));
    }
  }

  // The files in place: for their types and sizes, and samples of their elements.
  const std::vector<Array>& arrays() const noexcept { return arrays_; }
  std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for (const Array& array : arrays_) bytes += array.bytes();
    return bytes;
  }

  // From here on next() reads: elements `first` to `last` of each file, or of all files as one.
  void select(bool side_by_side, std::uint64_t first, std::uint64_t last) {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const std::uint64_t size = arrays_[i].size();
      const std::uint64_t begin = std::clamp(first, before, before + size), end = std::clamp(last, before, before + size);
      std::unique_ptr<Source> source = how_.open(how_.files[i]);
      if (!source->select(begin - before, end - begin)) refuse(fmt::format("{}: was changed: run again", shown_name(how_.files[i])));
      readers_.push_back({std::move(source)});
      lefts_.push_back(end - begin);
      if (!side_by_side) before += size;
    }
    side_by_side_ = side_by_side;
  }

  // The next elements, `most` or fewer of each source; none at the end. Sets `count` to how many.
  std::vector<std::unique_ptr<Source>> next(std::uint64_t most, std::uint64_t& count) {
    std::vector<std::unique_ptr<Source>> pieces;
    while (!side_by_side_ && at_ + 1 < readers_.size() && lefts_[at_] == 0) ++at_;
    count = std::min(most, lefts_[at_]);
    for (std::size_t i = at_; i < (side_by_side_ ? readers_.size() : at_ + 1); ++i) {
      pieces.push_back(std::make_unique<Piece>(readers_[i], count));
      lefts_[i] -= count;
    }
    return pieces;
  }

  // @throws Error (usage) where a file was modified since.
  void check_unchanged() {
    for (Piece::Reader& reader : readers_) reader.source->next();
    for (const auto& source : sources_) source->next();
  }

 private:
  Input how_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Array> arrays_;
  std::vector<Piece::Reader> readers_;
  std::vector<std::uint64_t> lefts_;  // elements of each that are to come
  std::size_t at_ = 0;
  bool side_by_side_ = false;
};

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// "sum of big.npy".
std::string title_of(const Json& work) {
  std::vector<std::string> names;
  for (const Json& file : work.value("files", Json::array())) names.push_back(printable_name(file.value("file", "")));
  return fmt::format("{} of {}", printable_name(work.value("command", "")), fmt::join(names, ", "));
}

// How two works differ, for a person.
std::string difference(const Json& a, const Json& b) {
  if (title_of(a) != title_of(b)) return fmt::format("{} and {}", title_of(a), title_of(b));
  const Json files_a = a.value("files", Json::array()), files_b = b.value("files", Json::array());
  if (text_of(files_a) != text_of(files_b)) {
    return fmt::format("{}, but of files of this name with other contents", title_of(a));
  }
  return fmt::format("{}, but with other options: {} and {}", title_of(a), text_of(a.value("how", Json())),
                     text_of(b.value("how", Json())));
}

Json json_of(const ResultOptions& result) {
  return Json{{"nan", result.nan},     {"float32", result.float32}, {"json", result.json},      {"csv", result.csv},
              {"plain", result.plain}, {"hex", result.hex},         {"verbose", result.verbose}};
}

// The file of --checkpoint.
class Checkpoint {
 public:
  Checkpoint(std::string path, double every)
      : path_(std::move(path)),
        every_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(every))),
        next_(Clock::now() + every_) {}

  bool wanted() const noexcept { return !path_.empty(); }

  // What was done before this process; nothing where there is no file.
  std::optional<Partial> load(const PartOf& mine) const {
    std::error_code error;
    if (!wanted() || !fs::exists(path_, error)) return std::nullopt;
    Partial found = load_partial(path_);
    if (!found.of || !found.of->done) refuse(fmt::format("{}: is no checkpoint, and would be overwritten: name another file", path_));
    const PartOf& of = *found.of;
    std::string other;
    if (text_of(of.work) != text_of(mine.work)) {
      other = difference(of.work, mine.work);
    } else if (of.part != mine.part || of.parts != mine.parts) {
      other = fmt::format("part {} of {}, and this is part {} of {}", of.part, of.parts, mine.part, mine.parts);
    }
    if (!other.empty()) refuse(fmt::format("{}: is a checkpoint of other work ({}): remove it, or name another file", path_, other));
    return found;
  }

  // Where it is time: written beside, and then renamed, so that the file is always whole. A disk that is full ends no long work: the file
  // stays as it was.
  void save(Output& out, const PartialResult& result, PartOf of, std::uint64_t done) {
    if (!wanted() || Clock::now() < next_) return;
    of.done = done;
    const std::string beside = path_ + ".new";
    int code = 0;
    const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      code = errno;
    } else {
      code = write_all(descriptor, bytes_of({result, std::move(of)}));
      if (code == 0 && fsync(descriptor) != 0) code = errno;
      if (close(descriptor) != 0 && code == 0) code = errno;
      if (code == 0 && std::rename(beside.c_str(), path_.c_str()) != 0) code = errno;
      if (code != 0) unlink(beside.c_str());
    }
    if (code != 0 && !told_) {
      if (!saved_) refuse(fmt::format("{}: cannot be written: {}", path_, std::generic_category().message(code)));
      out.note(fmt::format("{}: could not be written later on: {}", path_, std::generic_category().message(code)));
      told_ = true;
    }
    saved_ = true;
    next_ = Clock::now() + every_;
  }

  void remove() const {
    if (wanted()) unlink(path_.c_str());
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string path_;
  Clock::duration every_;
  Clock::time_point next_;
  bool saved_ = false, told_ = false;
};

}  // namespace

Json identity(const std::string& file, const Array& elements) {
  constexpr std::uint64_t kSamples = 16, kSampleBytes = 4096;
  const auto* const data = static_cast<const std::byte*>(elements.data());
  std::uint64_t hash = elements.size();
  for (std::uint64_t i = 0; i < kSamples && elements.bytes() != 0; ++i) {
    const std::uint64_t size = std::min(kSampleBytes, elements.bytes());
    hash = hash_of({data + scaled(i, elements.bytes() - size, kSamples - 1), size}, hash);
  }
  return Json{{"file", fs::path(file).filename().string()},
              {"type", std::string(name_of(elements.type()))},
              {"elements", elements.size()},
              {"sample", fmt::format("{:016x}", hash)}};
}

PartRange part_range(const PartOptions& options, const ResultOptions& result, std::uint64_t count) {
  if (result.partial.empty()) refuse("--part gives a part of the answer: name a file for it (--partial p3.sum), and merge all parts");
  PartRange range{};
  std::tie(range.of.part, range.of.parts) = parse_part(options.part);
  range.of.print = json_of(result);
  range.first = scaled(range.of.part - 1, count, range.of.parts);
  range.last = scaled(range.of.part, count, range.of.parts);
  return range;
}

void PartOptions::check() const {
  if (every && checkpoint.empty()) refuse("--every is the time between two writes of --checkpoint, and there is none: name its file");
}

void add_part(CLI::App& command, PartOptions& options) {
  command.add_option("--part", options.part, "one of N equal parts of the elements: with --partial, for 'merge'")->option_text("K/N");
  command.add_option("--checkpoint", options.checkpoint, "keep what is done here; the same command goes on from it")->type_name("FILE");
  command.add_option("--every", options.every, "seconds between two checkpoints (default 10)")
      ->check(number_from(0, 1e6))
      ->option_text("SECONDS");
}

void require_one_input(const Input& input) {
  if (input.files.size() > 1 && !input.total) refuse("--part, --checkpoint and --partial are for one input: give one file, or --total");
}

int run_part(Output& out, const Input& input, const std::string& device_name, const PartOptions& options, const ResultOptions& result,
             const PartWork& work) {
  PartOf of;
  if (!options.part.empty()) {
    if (result.partial.empty()) refuse("--part gives a part of the answer: name a file for it (--partial p3.sum), and merge all parts");
    std::tie(of.part, of.parts) = parse_part(options.part);
  }
  std::vector<std::string> inputs = input.files;
  if (!options.checkpoint.empty()) inputs.push_back(options.checkpoint);
  if (options.checkpoint == "-") refuse("--checkpoint takes the name of a file: it is read again");
  const PartialTarget target(result.partial, inputs);
  const OutputFile checkpoint_target(options.checkpoint, input.files);  // fails before the work if it cannot be written
  Inputs elements(input, work.by_index);
  const std::vector<Array>& arrays = elements.arrays();
  std::uint64_t total = 0, widest = 0;
  of.work = {{"command", work.command}, {"files", Json::array()}};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    of.work["files"].push_back(identity(input.files[i], arrays[i]));
    if (work.side_by_side && i != 0 && arrays[i].size() != total) {
      refuse(fmt::format("{} has {} elements, {} has {}", shown_name(input.files[0]), total, shown_name(input.files[i]), arrays[i].size()));
    }
    total = work.side_by_side ? arrays[i].size() : total + arrays[i].size();
    widest = std::max<std::uint64_t>(widest, size_of(arrays[i].type()));
  }
  of.work["how"] = work.how;
  of.print = json_of(result);
  of.print.update(work.print);
  const std::uint64_t first = scaled(of.part - 1, total, of.parts), last = scaled(of.part, total, of.parts);
  const Device device = choose_device(device_name, elements.bytes() / of.parts);

  Checkpoint checkpoint(options.checkpoint, options.every.value_or(10));
  std::uint64_t done = 0;
  std::optional<PartialResult> sum;
  if (std::optional<Partial> before = checkpoint.load(of)) {
    done = *before->of->done;
    if (done > last - first) refuse(fmt::format("{}: damaged checkpoint: it has more elements than there are", options.checkpoint));
    sum = std::move(before->result);
    out.note(fmt::format("{} of {} elements were done before", grouped(done), grouped(last - first)));
  }
  elements.select(work.side_by_side, first + done, last);
  Progress progress;
  const bool in_pieces = checkpoint.wanted() || progress.wanted();
  const std::uint64_t piece = in_pieces ? kPieceBytes / widest : std::max<std::uint64_t>(last - first, 1);
  while (!sum || done < last - first) {
    std::uint64_t count = 0;
    PartialResult more = work.reduce(elements.next(piece, count), device);
    if (sum) {
      merge(*sum, more, options.checkpoint, input.files.front());
    } else {
      sum = std::move(more);
    }
    done += count;
    progress.tell(input.files.front(), done * widest, (last - first) * widest);
    if (done < last - first) checkpoint.save(out, *sum, of, done);
  }
  progress.clear();
  elements.check_unchanged();
  Partial mine{std::move(*sum), of};
  if (!options.part.empty()) {
    target.save(out, mine);
    if (out.terminal() || result.verbose) {
      out.note(fmt::format("part {} of {}: {} of {} elements", of.part, of.parts, grouped(last - first), grouped(total)));
    }
    checkpoint.remove();
    return kExitOk;
  }
  const int code = print_partial(out, mine, result);
  if (target.wanted()) target.save(out, {mine.result, std::nullopt});
  out.flush();
  checkpoint.remove();
  return code;
}

int run_part_of_files(Output& out, const Input& input, const PartOptions& options, const ResultOptions& result, PartOf of,
                      const std::function<PartialResult(std::span<const std::string>)>& compute) {
  const std::uint64_t count = input.files.size();
  const auto [mine, first, last] = part_range(options, result, count);
  std::tie(of.part, of.parts, of.print) = std::tie(mine.part, mine.parts, mine.print);
  const PartialTarget target(result.partial, input.files);
  for (const std::string& file : input.files) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(file, error);
    if (error || is_stream(file)) refuse(fmt::format("{}: is no file, and --part with --by shares out a list of files", shown_name(file)));
    of.work["files"].push_back({{"file", fs::path(file).filename().string()}, {"bytes", bytes}});
  }
  target.save(out, {compute(std::span(input.files).subspan(first, last - first)), of});
  if (out.terminal() || result.verbose) out.note(fmt::format("part {} of {}: {} of {} files", of.part, of.parts, last - first, count));
  return kExitOk;
}

void merge(PartialResult& into, const PartialResult& more, const std::string& name, const std::string& its_name) {
  if (into.index() != more.index()) {
    refuse(fmt::format("{} is a {}, {} a {}: they cannot be merged", name, kind_of(into), its_name, kind_of(more)));
  }
  try {
    std::visit([&](auto& result) { result.merge(std::get<std::remove_reference_t<decltype(result)>>(more)); }, into);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", its_name, error.what()));
  }
}

Partial joined(std::vector<Partial> parts, const std::vector<std::string>& names) {
  const PartOf first = *parts.front().of;
  std::vector<std::size_t> place(first.parts, parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartOf& of = *parts[i].of;
    if (of.done) refuse(fmt::format("{}: is a checkpoint of unfinished work: the same command ends it", names[i]));
    if (text_of(of.work) != text_of(first.work)) {
      refuse(fmt::format("{} and {} are parts of different work: {}", names[0], names[i], difference(first.work, of.work)));
    }
    if (of.parts != first.parts) {
      refuse(fmt::format("{} is one of {} parts, {} one of {}: they overlap", names[0], first.parts, names[i], of.parts));
    }
    std::size_t& at = place[of.part - 1];
    if (at != parts.size()) refuse(fmt::format("{} and {} are both part {} of {}", names[at], names[i], of.part, of.parts));
    at = i;
  }
  std::vector<std::string> missing;
  for (std::size_t k = 0; k < place.size(); ++k) {
    if (place[k] == parts.size()) missing.push_back(std::to_string(k + 1));
  }
  if (!missing.empty()) {
    const std::size_t count = missing.size();
    if (count > 10) missing = {missing.begin(), missing.begin() + 10};
    refuse(fmt::format("of the {} parts of the {} there {} missing: {}{}", first.parts, title_of(first.work),
                       count == 1 ? "is one" : "are some", fmt::join(missing, ", "),
                       count > 10 ? fmt::format(" and {} more", count - 10) : ""));
  }
  Partial whole = std::move(parts[place[0]]);
  for (std::size_t k = 1; k < place.size(); ++k) merge(whole.result, parts[place[k]].result, names[place[0]], names[place[k]]);
  return whole;
}

}  // namespace samesum::cli
