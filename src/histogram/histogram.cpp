// Histograms: choice of the device, and loops over sources.
#include <samesum/histogram.hpp>

#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/reports.hpp"
#include "core/threads/parallel.hpp"
#include "core/visit.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "formula/map/untyped.hpp"
#include "histogram/bin_formula.hpp"
#include "histogram/count.hpp"
#include "histogram/cpu/count.hpp"
#include "histogram/histogram_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

namespace samesum {
namespace {

// Runs `count` on the CPU and records its time in `report`.
template <class Count>
std::vector<std::uint64_t> timed(Report* report, const Count& count) {
  std::uint32_t threads = 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> slots = count(&threads);
  if (report != nullptr) {
    report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report->configuration = fmt::format("threads={}", threads);
  }
  return slots;
}

// The counts of all slots of the plan.
std::vector<std::uint64_t> count(View data, const binning::Plan& plan, const Device& device, const Tuning& options, Report* report) {
  if (report != nullptr) *report = {device.info().selector, "", "", data.bytes(), 0, 0};
  if (!device.info().has(Capability::kernels)) {
    return timed(report, [&](std::uint32_t* threads) { return binning::count_on_cpu(data, plan, options.threads, threads); });
  }
  const auto slots = binning::count_on_device(data, {&plan}, device.implementation(), options, report);
  return plan.by_value() ? plan.fold(slots) : slots;
}

// Whether an integer's nearest double lies above or below it. The double may be 2^63 or 2^64, outside of the type.
template <class Integer>
bool is_above(double nearest, Integer integer) {
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return nearest >= end || static_cast<Integer>(nearest) > integer;
}
template <class Integer>
bool is_below(double nearest, Integer integer) {
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return nearest < end && static_cast<Integer>(nearest) < integer;
}

template <class T>
Range chunk_range(const std::byte* from, std::uint64_t count) {
  using Value = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  Value least = std::numeric_limits<Value>::max(), greatest = std::numeric_limits<Value>::lowest();
  for (std::uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + i * sizeof element, sizeof element);
    const auto value = static_cast<Value>(element);
    if constexpr (!std::is_integral_v<Value>) {
      if (!(std::abs(value) <= std::numeric_limits<Value>::max())) continue;
    }
    least = value < least ? value : least;
    greatest = value > greatest ? value : greatest;
  }
  if (least > greatest) return {1, 0};                                                 // no finite number
  Range range{static_cast<double>(least) + 0.0, static_cast<double>(greatest) + 0.0};  // +0.0 turns -0.0 into +0.0
  if constexpr (std::is_integral_v<Value> && sizeof(Value) == 8) {
    constexpr double kBeyond = std::numeric_limits<double>::infinity();
    if (is_above(range.min, least)) range.min = std::nextafter(range.min, -kBeyond);
    if (is_below(range.max, greatest)) range.max = std::nextafter(range.max, kBeyond);
  }
  return range;
}

std::optional<Range> joined(std::optional<Range> a, std::optional<Range> b) {
  if (!a || !b) return a ? a : b;
  return Range{std::min(a->min, b->min), std::max(a->max, b->max)};
}

std::optional<Range> range_of_view(View data) {
  std::optional<Range> result;
  std::mutex mutex;
  core::parallel_parts(data.size(), 1 << 18, [&](std::uint64_t begin, std::uint64_t end) {
    View part = data.part(begin, end - begin);
    std::vector<std::byte> packed(part.contiguous() ? 0 : part.bytes());
    if (!part.contiguous()) part = core::pack_here(part, packed.data());
    const Range range = core::visit(
        data.type(), [&](auto element) { return chunk_range<decltype(element)>(static_cast<const std::byte*>(part.data()), part.size()); });
    if (range.min > range.max) return;
    const std::lock_guard lock(mutex);
    result = joined(result, range);
  });
  return result;
}

// The histogram of a formula's values, which are computed where they are counted; none where the source gives its numbers in chunks only.
std::optional<Histogram> count_terms(Source& source, const Bins& bins, const Device& device, const Options& options) {
  const auto begin = [&](DType type, std::uint64_t size) {
    if (options.report != nullptr) *options.report = {device.info().selector, "", "", size * size_of(type), 0, 0};
  };
  if (const auto terms = statistics::terms_of(source, device)) {
    begin(terms->type(), terms->size());
    core::ProgressParts progress(options, source.resident_bytes(), true);
    const std::uint64_t each = size_of(terms->type()),
                        most = progress.wanted() ? core::ProgressParts::kKernelPartBytes / each : ~std::uint64_t{0};
    return binning::count_terms(*terms, bins, options.tuning, most, options.report,
                                [&](std::uint64_t count) { progress.add(count * each); });
  }
  core::ProgressParts progress(options, source.resident_bytes());
  if (const auto terms = statistics::host_terms_of(source, device, progress)) {
    begin(terms->type(), terms->size());
    const binning::Plan plan(bins, terms->type());
    return Histogram(bins, timed(options.report, [&](std::uint32_t* threads) {
                       return binning::count_on_cpu(*terms, plan, options.tuning.threads, threads);
                     }));
  }
  return std::nullopt;
}

}  // namespace

Histogram histogram(const Array& data, const Bins& bins, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const Device device = device::device_for(data, data.bytes(), options);
  const bool on_kernels = device.info().has(Capability::kernels);
  if (data.on_device()) {
    device::require_on(data, device);
    if (!on_kernels) return histogram(device::on_host(data), bins, device::on(device, options));
  }
  if (binning::by_formula_value(bins, data.type())) return binning::count_values(data, bins, device::on(device, options));
  if (data.on_device()) {
    if (options.report != nullptr) *options.report = {device.info().selector, "", "", data.bytes(), 0, 0};
    Histogram counted = binning::count_in_buffer(data, bins, options.tuning, options.report);
    core::ProgressParts(options, data.bytes()).add(data.bytes());
    return counted;
  }
  const binning::Plan plan(bins, data.type());
  Histogram total(bins);
  core::Reports reports(options.report);
  core::ProgressParts progress(options, data.bytes(), on_kernels);
  core::for_blocks(data, core::Order::memory, [&](View block) {
    progress.for_parts(block, [&](View part) {
      total += Histogram(bins, count(part, plan, device, options.tuning, reports.next()));
      reports.add();
    });
  });
  return total;
}

Histogram histogram(Source& source, const Bins& bins, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const Device device = device::device_for(source, options);
  source.allow_any_order();
  Histogram total(bins);
  core::ProgressParts progress(options, core::known_bytes(source), device.info().has(Capability::kernels));
  if (source.type() && !binning::by_formula_value(bins, *source.type())) {
    if (std::optional<Histogram> counted = count_terms(source, bins, device, options)) return *counted;
  }
  std::vector<std::unique_ptr<binning::Plan>> plans;  // one per type: text yields several, in small chunks
  std::optional<formula::Untyped> untyped;
  if (bins.formula() != nullptr && !source.type()) {
    untyped.emplace("the samples", formula::type_for_untyped([&](DType type) { binning::check_formula(bins, type); }));
  }
  Report sum{device.info().selector, "", "", 0, 0, 0}, chunk;
  while (std::optional<Array> view = source.next()) {
    if (untyped && !view->on_device()) view = untyped->convert(*view);
    if (view->on_device() || binning::by_formula_value(bins, view->type())) {
      Options of_chunk = device::on(device, options);
      of_chunk.report = &chunk;
      of_chunk.progress = {};
      total += histogram(*view, bins, of_chunk);
      sum += chunk;
      sum.configuration = chunk.configuration;
      progress.add(view->bytes());
      continue;
    }
    auto plan = std::find_if(plans.begin(), plans.end(), [&](const auto& known) { return known->type() == view->type(); });
    if (plan == plans.end()) plan = plans.insert(plan, std::make_unique<binning::Plan>(bins, view->type()));
    core::for_blocks(*view, core::Order::memory, [&](View block) {
      progress.for_parts(block, [&](View part) {
        total += Histogram(bins, count(part, **plan, device, options.tuning, &chunk));
        sum += chunk;
      });
    });
    sum.configuration = chunk.configuration;
  }
  require_one_column(source);
  if (options.report != nullptr) *options.report = std::move(sum);
  return total;
}

std::optional<Range> range_of(const Array& data) {
  const core::DefaultFloatEnvironment environment;
  std::optional<Range> result;
  device::for_host_blocks(data, core::Order::memory, [&](View block) { result = joined(result, range_of_view(block)); });
  return result;
}

std::optional<Range> range_of(Source& source) {
  const core::DefaultFloatEnvironment environment;
  std::optional<Range> result;
  source.allow_any_order();
  while (const std::optional<Array> view = source.next()) result = joined(result, range_of(*view));
  require_one_column(source);
  return result;
}

namespace binning {

std::vector<std::uint64_t> count_bytes(View data, std::uint32_t channels, const Device& device, const Tuning& options, Report* report) {
  if (report != nullptr) *report = {device.info().selector, "", "", data.bytes(), 0, 0};
  if (device.info().has(Capability::kernels)) return count_on_device(data, {nullptr, channels}, device.implementation(), options, report);
  return timed(report, [&](std::uint32_t* threads) { return count_bytes_on_cpu(data, channels, options.threads, threads); });
}

}  // namespace binning
}  // namespace samesum
