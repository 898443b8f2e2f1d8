// The sum of what comes in chunks.
#include <samesum/source.hpp>

#include "core/float_environment.hpp"

#include <utility>

namespace samesum {

Accumulator accumulate(Source& source, const Device& device, const AccumulateOptions& options, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  source.allow_any_order();
  Accumulator total;
  SumReport sum, chunk;
  bool first = true;
  const auto add = [&](View view) {
    total += accumulate(view, device, options, &chunk);
    if (std::exchange(first, false)) {
      sum = chunk;
    } else {
      sum += chunk;
    }
  };
  while (const std::optional<View> view = source.next()) add(*view);
  if (first) add(View(nullptr, 0, source.type().value_or(DType::float64)));  // names the variant, and finds one that is not there
  if (report != nullptr) *report = std::move(sum);
  return total;
}

}  // namespace samesum
