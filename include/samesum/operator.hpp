// Reductions by an operator of one's own: any associative operation, as a formula.
//
//   const samesum::Operator gcd{samesum::Formula("gcd(a, b)"), {samesum::FormulaParameter("", 0).value}};
//   samesum::reduce(numbers, gcd)[0];
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>
#include <samesum/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// An operation on two operands, `a` (the one of lower indices) and `b`, each a number or, if the elements have several components, a
/// tuple of them: `a[0]`, `b[1]`. The formula gives an operand again: as many components, of types that do not change if it is applied to
/// them. It should be associative; it need not commute.
struct Operator {
  /// `identity`: the result for no elements, one value for each component; none: that is an error.
  explicit Operator(Formula its_combine, std::vector<Value> its_identity = {}, std::vector<FormulaParameter> its_parameters = {})
      : combine(std::move(its_combine)), identity(std::move(its_identity)), parameters(std::move(its_parameters)) {}

  Formula combine;
  std::vector<Value> identity;
  std::vector<FormulaParameter> parameters;
  /// Behind the reduction: what is made of its result, called `a` here too.
  std::optional<Formula> finish = {};
};

/// The elements in C order, reduced by the balanced binary tree over the index: leaf i stands at position i, a node is combine(left,
/// right), a missing right child passes the left through. The result has the same bits on every device if the formula is reproducible
/// (Formula::describe), associative or not. Elements are converted to the operator's types first: integers of up to 32 bits to int64, the
/// 16-bit floats to float32, and any to the types that the formula gives.
///
/// An array on a device that runs kernels is reduced there. O(n) combinations; memory for half of a chunk's elements.
/// @throws Error (usage) if the formula is not an operator of such elements; Error (no_answer) for no elements and no identity, and
/// if an integer operation fails.
std::vector<Value> reduce(const Array& data, const Operator& op, const Options& options = {});
/// The same of all chunks of a source, which has one column. Numbers of a source without Source::type() are float64, or int64 if the
/// operator takes integers only; Error (usage) for one that this type does not hold.
std::vector<Value> reduce(Source& source, const Operator& op, const Options& options = {});
/// The same of what a formula gives at each position of arrays, as map() has it: a number, or a tuple. `i` is the position.
std::vector<Value> reduce(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                          const Operator& op, const Options& options = {});

/// Three elements of `data`, one after the other somewhere, for which the operator is not associative, as a sentence; nothing if none
/// was found in `samples` attempts. Elements have one component; floating-point operators are as good as never associative.
std::optional<std::string> find_not_associative(const Array& data, const Operator& op, std::uint64_t samples = 1000);

}  // namespace samesum
