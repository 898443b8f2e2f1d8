// The sums of what comes in chunks.
#include <samesum/source.hpp>

#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "reduce/cpu/sum_cpu.hpp"
#include "reduce/sum.hpp"
#include "reduce/sum_device.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace samesum {

std::vector<Accumulator> accumulate_columns(Source& source, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  core::ProgressParts progress(options, core::known_bytes(source));
  Options of_chunk = progress.of_chunk(device::on(device::device_for(source, options), options));
  source.allow_any_order();
  std::vector<Accumulator> totals;
  Report sum, chunk;
  of_chunk.report = options.report != nullptr ? &chunk : nullptr;
  bool first = true;
  const auto add = [&](const Array& view) {
    if (source.column() >= totals.size()) totals.resize(source.column() + 1);
    totals[source.column()] += accumulate(view, of_chunk);
    progress.skip(view.bytes());
    if (std::exchange(first, false)) {
      sum = chunk;
    } else {
      sum += chunk;
    }
  };
  if (const auto terms = statistics::terms_of(source, *of_chunk.device)) {
    const std::string_view variant = find_sum_variant(*of_chunk.device, options.tuning.variant);
    const std::uint64_t each = size_of(terms->type());
    if (options.report != nullptr) sum = {of_chunk.device->info().selector, std::string(variant), "", terms->size() * each, 0, 0};
    totals.push_back(reduction::sum_of_terms(*terms, options.tuning, statistics::positions_of_launch(*terms, progress.wanted()),
                                             options.report != nullptr ? &sum : nullptr,
                                             [&](std::uint64_t count) { progress.add(count * each); }));
    first = false;
  }
  constexpr std::string_view kAuto = "auto", kBlocks = "exact_blocks";
  const bool in_blocks = options.tuning.variant == kAuto || options.tuning.variant == kBlocks;
  if (const auto terms = in_blocks ? statistics::host_terms_of(source, *of_chunk.device, progress) : nullptr) {
    const auto start = std::chrono::steady_clock::now();
    std::uint32_t threads = 0;
    totals.push_back(reduction::sum_cpu(*terms, options.tuning.threads, &threads));
    if (options.report != nullptr) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      sum = {of_chunk.device->info().selector,
             std::string(kBlocks),
             fmt::format("threads={}", threads),
             terms->size() * size_of(terms->type()),
             0,
             seconds};
    }
    first = false;
  }
  while (const std::optional<Array> view = source.next()) add(*view);
  if (first) add(Array(nullptr, 0, source.type().value_or(DType::float64)));  // names the variant, and finds one that is not there
  if (!source.columns().empty()) totals.resize(source.columns().size());      // some may have no numbers
  if (options.report != nullptr) *options.report = std::move(sum);
  return totals;
}

Accumulator accumulate(Source& source, const Options& options) {
  std::vector<Accumulator> totals = accumulate_columns(source, options);
  require_one_column(source);
  return std::move(totals.front());
}

}  // namespace samesum
