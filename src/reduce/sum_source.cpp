// The sums of what comes in chunks.
#include <samesum/source.hpp>

#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"

#include <utility>

namespace samesum {

std::vector<Accumulator> accumulate_columns(Source& source, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  core::ProgressParts progress(options, source.resident_bytes());
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
