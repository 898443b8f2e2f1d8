// By key and by segment, beside the reductions of samesum/by.hpp: operators of one's own, and reductions of what a formula gives.
//
//   const samesum::Operator gcd{samesum::Formula("gcd(a, b)"), {samesum::FormulaParameter("", 0).value}};
//   samesum::Values divisors = samesum::reduce(numbers, gcd, samesum::by(cities))[0];  // of each city
//   samesum::Values earned = samesum::group_reduction(samesum::Formula("price*amount"), {{"price", prices}, {"amount", amounts}}, {},
//                                                     samesum::AxisReduction::sum, samesum::by(cities));
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/by.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/operator.hpp>
#include <samesum/options.hpp>

#include <cstdint>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The elements of each group in C order, reduced by an operator: what reduce() gives for these elements alone, the same bits. One array
/// for each component of the operator, or of what Operator::finish gives. On all cores of the CPU, or on the device of the elements if it
/// runs kernels, many groups at once; elements are brought into the order of their groups first: O(n) memory more.
/// @throws Error (usage) as reduce(), and for another number of elements; Error (no_answer) for a group without elements, unless the
/// operator has an identity, and if an integer operation fails: the message names the group.
std::vector<Values> reduce(const Array& data, const Operator& op, const By& by, const Options& options = {});

/// The same of what a formula gives at each position of arrays, as map() has it; `i` is the position. Memory for the values at all
/// positions.
std::vector<Values> reduce(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                           const Operator& op, const By& by, const Options& options = {});

/// A reduction by group of what a formula gives at each position: group_reduction() of an array of these. On a device if the arrays lie
/// there. Memory for the values at all positions. @throws Error (usage) for a formula of several results; Error as map() and
/// group_reduction().
Values group_reduction(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                       AxisReduction reduction, const By& by, std::uint64_t ddof = 0, const Options& options = {});

}  // namespace samesum
