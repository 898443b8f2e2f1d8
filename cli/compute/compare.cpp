// samesum compare FILE: plain sums in two orders beside the exact sum from every device.
#include "command.hpp"
#include "compute/summing.hpp"
#include "input/elements.hpp"
#include "input/nodata.hpp"
#include "input/spool.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/plain_sum.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

struct CompareOptions {
  Input input;
  std::string device = "all";
  ResultOptions result;
};

// Numbers of any type converted to doubles, as for a plain loop that adds doubles.
class AsDoubles final : public Source {
 public:
  explicit AsDoubles(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  std::optional<Array> next() override {
    const std::optional<Array> chunk = source_->next();
    if (!chunk || chunk->type() == DType::float64) return chunk;
    numbers_.resize(chunk->size());
    const auto convert = [&](const auto* numbers) { std::copy(numbers, numbers + chunk->size(), numbers_.begin()); };
    if (chunk->type() == DType::int64) {
      convert(static_cast<const std::int64_t*>(chunk->data()));
    } else {
      convert(static_cast<const std::uint64_t*>(chunk->data()));
    }
    return Array(numbers_.data(), numbers_.size(), DType::float64);
  }
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return std::nullopt; }

 private:
  std::unique_ptr<Source> source_;
  std::vector<double> numbers_;
};

struct PlainSums {
  Number forward;
  Number backward;
};

PlainSums plain_sums(Array data) { return {Number(plain_sum_forward(data), data.type()), Number(plain_sum_backward(data), data.type())}; }

// The same of a file of `count` elements, read in pieces.
PlainSums plain_sums(const Input& input, const std::string& name, DType type, std::uint64_t count) {
  double forward = 0, backward = 0;
  const std::unique_ptr<Source> source = input.open(name);
  while (const std::optional<Array> chunk = source->next()) forward = plain_sum_forward(*chunk, forward);
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 25;
  std::vector<std::byte> piece;
  for (std::uint64_t end = count; end > 0;) {
    const std::uint64_t first = end - std::min(end, kPieceBytes / size_of(type));
    const std::unique_ptr<Source> part = input.open(name);
    part->select(first, end - first);
    piece.clear();
    while (const std::optional<Array> chunk = part->next()) {
      const auto* const bytes = static_cast<const std::byte*>(chunk->data());
      piece.insert(piece.end(), bytes, bytes + chunk->bytes());
    }
    backward = plain_sum_backward(Array(piece.data(), piece.size() / size_of(type), type), backward);
    end = first;
  }
  return {Number(forward, type), Number(backward, type)};
}

// The deviation of a plain sum; undefined where either is not finite.
std::string deviation(const Number& plain, const Number& exact) {
  const double off = plain.value() - exact.value();
  if (!std::isfinite(off)) return "";
  if (off == 0) return "right";
  const std::string amount = fmt::format("off by {:+.6g}", off);
  return exact.value() == 0 ? amount : fmt::format("{} ({:.2g}%)", amount, std::abs(off / exact.value()) * 100);
}

void print_text(Output& out, const CompareOptions& options, const Elements& file, const PlainSums& plain,
                const std::vector<DeviceSum>& results) {
  const auto answer = std::ranges::find_if(results, [](const DeviceSum& result) { return result.failure.empty(); });
  out.print("{}: {}\n", out.bold(shown_name(options.input.files.front())),
            counted(file.view().size(), file.format() == "text" ? "number" : fmt::format("{} element", name_of(file.type()))));

  const std::string forward = options.result.text(plain.forward);
  const std::string backward = options.result.text(plain.backward);
  const std::size_t width = std::max(forward.size(), backward.size());
  const auto remark = [&](const Number& number) {
    return answer == results.end() ? "" : deviation(number, options.result.round(total_of(answer->sums)));
  };
  out.print("\nAdded up one after the other, in {}\n", name_of(file.type()));
  out.print("  first to last  {:<{}}  {}\n", forward, width, out.dim(remark(plain.forward)));
  out.print("  last to first  {:<{}}  {}\n", backward, width, out.dim(remark(plain.backward)));

  out.print("\nThe exact sum, rounded once\n");
  print_devices(out, options.result, results);
}

void print_csv(Output& out, const CompareOptions& options, const PlainSums& plain, const std::vector<DeviceSum>& results) {
  out.print("method,where,value,bits\n");
  const auto line = [&](const char* method, const std::string& where, const Number& value) {
    out.print("{},{},{},{}\n", method, csv_field(where), options.result.text(value), value.bits());
  };
  line("plain_forward", "", plain.forward);
  line("plain_backward", "", plain.backward);
  for (const DeviceSum& result : results) {
    if (result.failure.empty()) line("exact", result.device.selector, options.result.round(total_of(result.sums)));
  }
}

int run(Output& out, const CompareOptions& options) {
  options.result.check();
  const std::string& name = options.input.files.front();
  Input input = options.input;
  input.mapped = true;
  std::unique_ptr<Source> source = input.open(name);
  std::shared_ptr<Spool> numbers;  // for a text, whose integers must be converted to doubles
  if (!source->type()) {
    numbers = std::make_shared<Spool>(*source);
    source = std::make_unique<AsDoubles>(from_start(numbers));
  }
  const bool in_file = source->resident_bytes() != 0;
  const Elements file(name, std::move(source));
  std::vector<NamedSource> exact = file.sources();
  if (numbers) exact.front().open = [numbers] { return from_start(numbers); };
  if (in_file) exact.front().open = [&] { return options.input.open(name); };
  const PlainSums plain = in_file ? plain_sums(options.input, name, file.type(), file.view().size()) : plain_sums(file.view());
  std::vector<DeviceSum> results;
  if (means_all(options.device)) {
    results = sum_everywhere(exact, {});
  } else {
    results.push_back(sum_on(choose_device(options.device, file.view().bytes()), exact, {}));
  }
  file.check_unchanged();
  const bool agree = all_agree(results);

  if (options.result.json) {
    Json object;
    object["file"] = name;
    object["dtype"] = name_of(file.type());
    object["shape"] = file.shape();
    plain.forward.add_to(object["plain_forward"]);
    plain.backward.add_to(object["plain_backward"]);
    object["agree"] = agree;
    object["devices"] = json_of(options.result, results);
    out.print("{}\n", to_text(object));
  } else if (options.result.csv) {
    print_csv(out, options, plain, results);
  } else {
    print_text(out, options, file, plain, results);
  }
  return agree ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_compare(CLI::App& program, Action& action) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = program.add_subcommand("compare", "Plain sums in two orders beside the exact sum from every device");
  options->input.in_order = true;
  add_files(*command, options->input, "a .npy file, text, raw numbers; none, or -: standard input")->expected(1)->option_text(" ");
  add_options(*command, options->input);
  add_nodata(*command, options->input.nodata);
  command->add_option("--device", options->device, "all (default), or a single one")->type_name("DEVICE");
  add_options(*command, options->result, kFloat32 | kJson | kCsv | kHex | kVerbose);
  refuse_option(*command, "--plain", "it compares several numbers: --csv has them with their names, 'samesum sum --plain' the sum alone");
  command->footer(R"(Examples:
  samesum compare x.npy                # how far off plain sums are; all devices agree
  samesum compare --device cuda:0 x.npy # the exact sum from one device alone

Exit code 1 if the devices do not agree, or one of them fails.)");
  command->callback([options, &action] {
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
