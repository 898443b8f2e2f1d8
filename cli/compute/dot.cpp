// samesum dot A B
#include "command.hpp"
#include "compute/statistics.hpp"
#include "output/printable.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

// A source that records whether all of its elements were integers.
class TypeNote final : public Source {
 public:
  explicit TypeNote(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  std::optional<Array> next() override {
    const auto chunk = source_->next();
    if (chunk) integers_ = integers_.value_or(true) && is_integer(chunk->type());
    return chunk;
  }
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return source_->type(); }
  std::vector<std::uint64_t> shape() const override { return source_->shape(); }
  std::span<const Column> columns() const override { return source_->columns(); }
  std::uint64_t missing() const noexcept override { return source_->missing(); }
  bool integers() const { return integers_.value_or(is_integer(type().value_or(DType::float64))); }

 private:
  std::unique_ptr<Source> source_;
  std::optional<bool> integers_;
};

int run_dot(Output& out, StatisticsOptions options) {
  if (options.input.files.size() != 2) throw Error(ErrorKind::usage, "a dot product takes two files");
  options.result.check();
  options.part.check();
  options.input.in_order = true;
  if (options.part.wanted() || !options.result.partial.empty()) {
    PartWork work;
    work.command = "dot";
    const auto type_of = [&](const std::string& file) {
      return is_stream(file) ? DType::float64 : options.input.open(file)->type().value_or(DType::float64);
    };
    const DType a = type_of(options.input.files[0]), b = type_of(options.input.files[1]);
    work.how = {{"integers", is_integer(a) && is_integer(b)}, {"signed", is_signed(a)}};
    work.side_by_side = work.by_index = true;
    work.reduce = [&](std::span<const std::unique_ptr<Source>> sources, const Device& device) -> PartialResult {
      return dot(*sources[0], *sources[1], {.device = device, .tuning = options.tuning});
    };
    return run_part(out, options.input, options.device, options.part, options.result, work);
  }
  const Device device = choose_device(options.device, options.input.resident_bytes());
  const auto sources = options.input.sources();
  TypeNote a(sources[0].open()), b(sources[1].open());
  const ProductAccumulator sum = dot(a, b, {.device = device, .tuning = options.tuning});
  print_dot(out, sum, a.integers() && b.integers(), !a.type() || is_signed(*a.type()), options.result, device.info().selector);
  if (options.result.verbose) {
    out.note(fmt::format("{} of {} and {}, {}", counted(sum.count(), "product"), shown_name(sources[0].name), shown_name(sources[1].name),
                         device.info().selector));
  }
  return kExitOk;
}

}  // namespace

int print_dot(Output& out, const ProductAccumulator& sum, bool integers, bool is_signed_type, const ResultOptions& result,
              const std::string& device) {
  const NanPolicy nan = result.nan_policy();
  const Number value = result.float32   ? Number(sum.round_to_float(nan))
                       : !integers      ? Number(sum.round(nan))
                       : is_signed_type ? Number(sum.to_int64())
                                        : Number(sum.to_uint64());
  if (result.json) {
    Json object;
    value.add_to(object);
    object["count"] = sum.count();
    object["nan_count"] = sum.nan_count();
    object["nan_policy"] = result.nan;
    if (!device.empty()) object["device"] = device;
    out.print("{}\n", to_text(object));
  } else if (result.csv) {
    out.print("dot,bits,count,nan\n{},{},{},{}\n", result.text(value), value.bits(), sum.count(), sum.nan_count());
  } else {
    out.print("{}\n", result.text(value));
  }
  return kExitOk;
}

void add_dot(CLI::App& program, Action& action) {
  const auto pair = std::make_shared<StatisticsOptions>();
  CLI::App* dot_command = program.add_subcommand("dot", "The dot product of two arrays, rounded once");
  dot_command->add_option("FILE", pair->input.files, "two files of one type and length")->required()->expected(2)->option_text("A B");
  add_common_options(*dot_command, *pair, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose | kPartial);
  refuse_option(*dot_command, "--nodata", "elements are multiplied by those at the same index, and leaving some out would move the rest");
  dot_command->footer(R"(Examples:
  samesum dot a.npy b.npy
  samesum dot --dtype float32 a.raw b.raw

The exact sum of the products, rounded once; of integers, exact or an error.)");
  dot_command->callback([pair, &action] { action = [pair](Output& out) { return run_dot(out, *pair); }; });
}

}  // namespace samesum::cli
