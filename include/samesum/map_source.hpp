// What a formula gives, as a source of numbers: any reduction, histogram or quantile takes it.
//
//   double energy = samesum::accumulate(*samesum::map("m*v^2/2", {{"m", masses}, {"v", speeds}})).round();
//   samesum::Statistics found = samesum::collect(*samesum::map("log(x)", {{"x", values}}));
#pragma once

#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/source.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The formula's values at all positions, in the order of their indices, in chunks of bounded size. Shapes and names are those of the other
/// map() (samesum/formula.hpp); arrays must outlive the source. Inputs in a device's memory: the chunks lie on that device, and reductions
/// work there.
/// A reduction of n positions takes O(n · operations) time; the values are never all in memory.
/// @throws Error (usage) for a formula of several results, shapes or types that do not go together. Source::next() throws Error (no_answer)
/// if an integer operation fails, and names the element.
std::unique_ptr<Source> map(const Formula& formula, const std::vector<FormulaInput>& inputs,
                            const std::vector<FormulaParameter>& parameters = {});
inline std::unique_ptr<Source> map(std::string_view formula, const std::vector<FormulaInput>& inputs,
                                   const std::vector<FormulaParameter>& parameters = {}) {
  return map(Formula(formula), inputs, parameters);
}

/// A source of numbers that a formula takes, by a name.
struct SourceInput {
  std::string name;
  std::unique_ptr<Source> source;
};

/// The same over the numbers of sources, one from each at every position; the index `i` counts positions. A source may have one column, and
/// no missing numbers. Numbers of a source without Source::type() are float64, or int64 if the formula takes integers only.
/// @throws Error (usage): Source::next() if a source ends before another, or has a number that this type does not hold.
std::unique_ptr<Source> map(const Formula& formula, std::vector<SourceInput> inputs, const std::vector<FormulaParameter>& parameters = {});

}  // namespace samesum
