// The plan of a sum: which variant, on which device.
#include <samesum/sum.hpp>

#include "core/array/array_blocks.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/reports.hpp"
#include "core/setting.hpp"
#include "core/visit.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "reduce/cpu/sum_cpu.hpp"
#include "reduce/sum.hpp"
#include "reduce/sum_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace samesum {
namespace {

// A row of the variants table: adding a variant is adding a row, and the function that does the work.
struct Row {
  SumVariant variant;
  bool on_kernels;  // for devices that run kernels, or for the CPU backend
  Accumulator (*run)(View data, const Device& device, const Tuning& options, Report* report);
  double (*round)(View data, const Options& options) = nullptr;  // where that is quicker than to round the accumulator
};

Accumulator run_bins(View data, const Device& device, const Tuning& options, Report* report) {
  return reduction::sum_on_device(data, device.implementation(), options, report);
}

Accumulator run_blocks(View data, const Device&, const Tuning& options, Report* report) {
  std::uint32_t threads = 0;
  const auto start = std::chrono::steady_clock::now();
  Accumulator total = reduction::sum_cpu(data, options.threads, &threads);
  if (report != nullptr) {
    report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report->configuration = fmt::format("threads={}", threads);
  }
  return total;
}

double round_blocks(View data, const Options& options) {
  core::ProgressParts progress(options, data.bytes());
  return reduction::rounded_sum_cpu(data, options.tuning.threads, options.nan, &progress);
}

template <class Element>
void add_one_by_one(View data, Accumulator& total) {
  using Value = std::conditional_t<std::is_arithmetic_v<Element>, Element, float>;
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    Element element;
    std::memcpy(&element, data.part(i, 1).data(), sizeof element);
    total.add(static_cast<Value>(element));
  }
}

Accumulator run_digits(View data, const Device&, const Tuning&, Report* report) {
  const auto start = std::chrono::steady_clock::now();
  Accumulator total;
  core::visit(data.type(), [&](auto element) { add_one_by_one<decltype(element)>(data, total); });
  if (report != nullptr) {
    report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report->configuration = "threads=1";
  }
  return total;
}

// The first row that fits a device is the one that "auto" takes.
constexpr Row kRows[] = {
    {{"exact_bins", "histogram of mantissas by exponent in local memory; one launch"}, true, run_bins},
    {{"exact_blocks", "blocks whose partial sums in SIMD registers are exact, or have a known error bound; all cores"},
     false,
     run_blocks,
     round_blocks},
    {{"exact_digits", "element by element into the superaccumulator; one core, for comparison"}, false, run_digits},
};

const Row& find_row(const Device& device, std::string_view name) {
  const bool on_kernels = device.info().has(Capability::kernels);
  std::string known;
  for (const Row& row : kRows) {
    if (row.on_kernels != on_kernels) continue;
    if (name == "auto" || name == row.variant.name) return row;
    known.append(known.empty() ? "" : ", ").append(row.variant.name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is no variant of the exact sum on {}: there are auto, {}", name, device.info().selector, known));
}

}  // namespace

Report& Report::operator+=(const Report& later) {
  const core::DefaultFloatEnvironment environment;
  bytes += later.bytes;
  upload_seconds += later.upload_seconds;
  seconds += later.seconds;
  return *this;
}

std::string_view find_sum_variant(const Device& device, std::string_view name) { return find_row(device, name).variant.name; }

std::vector<SumVariant> sum_variants(const Device& device) {
  std::vector<SumVariant> variants;
  for (const Row& row : kRows) {
    if (row.on_kernels == device.info().has(Capability::kernels)) variants.push_back(row.variant);
  }
  return variants;
}

namespace {

// Of an array that lies on a device that runs kernels.
Accumulator accumulate_there(const Array& data, const Device& device, const Options& options) {
  find_row(device, options.tuning.variant);
  Accumulator total;
  core::Reports reports(options.report);
  device::for_runs(
      data, core::Order::memory,
      [&](const device::Run& run) {
        Report* const part = reports.next();
        if (part != nullptr) *part = {device.info().selector, "", "", run.count * size_of(data.type()), 0, 0};
        total.merge(reduction::sum_on_device(run, data.type(), device.implementation(), options.tuning, part));
        reports.add();
      },
      true);
  return total;
}

}  // namespace

Accumulator accumulate(const Array& data, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const Device device = device::device_for(data, data.bytes(), options);
  if (data.on_device()) {
    device::require_on(data, device);
    if (!device.info().has(Capability::kernels)) return accumulate(device::on_host(data), device::on(device, options));
    Accumulator total = accumulate_there(data, data.buffer().device(), options);
    core::ProgressParts(options, data.bytes()).add(data.bytes());
    return total;
  }
  const Row& row = find_row(device, options.tuning.variant);
  Accumulator total;
  core::Reports reports(options.report);
  core::ProgressParts progress(options, data.bytes(), device.info().has(Capability::kernels));
  core::for_blocks(data, core::Order::memory, [&](View block) {
    progress.for_parts(block, [&](View part) {
      Report* const report = reports.next();
      if (report != nullptr) *report = {device.info().selector, std::string(row.variant.name), "", part.bytes(), 0, 0};
      total.merge(row.run(part, device, options.tuning, report));
      reports.add();
    });
  });
  return total;
}

Value value_of(const Accumulator& sum, DType type, NanPolicy nan) {
  if (!is_integer(type)) return {sum.round(nan), DType::float64};
  return is_signed(type) ? Value{sum.to_int64(), DType::int64} : Value{sum.to_uint64(), DType::uint64};
}

Value sum(const Array& data, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  // Small arrays are the CPU's on any machine, unless the user says otherwise: no device is opened for them.
  constexpr std::uint64_t kSmallBytes = 1 << 20;
  const bool plain = !options.device && options.report == nullptr && !options.progress && options.tuning.variant == "auto";
  const bool small = plain && !data.on_device() && data.bytes() <= kSmallBytes && core::setting("SAMESUM_DEVICE").empty();
  if (const std::optional<View> view = small ? core::single_view(data, core::Order::memory) : std::nullopt) {
    const std::uint32_t threads = std::max(options.tuning.threads, 1u);
    if (is_integer(data.type())) return value_of(reduction::sum_cpu(*view, threads), data.type(), options.nan);
    return {reduction::rounded_sum_cpu(*view, threads, options.nan), DType::float64};
  }
  if (!data.on_device() && !is_integer(data.type()) && options.report == nullptr) {
    const Device device = device::device_for(data, data.bytes(), options);
    const Row& row = find_row(device, options.tuning.variant);
    const std::optional<View> view = core::single_view(data, core::Order::memory);
    if (row.round != nullptr && view) return {row.round(*view, options), DType::float64};
  }
  return value_of(accumulate(data, options), data.type(), options.nan);
}

}  // namespace samesum
