// Along axes, beside the reductions of samesum/axes.hpp: operators of one's own, and reductions of what a formula gives.
//
//   const samesum::Operator gcd{samesum::Formula("gcd(a, b)"), {samesum::FormulaParameter("", 0).value}};
//   samesum::Values divisors = samesum::reduce(matrix, gcd, samesum::Axes{0})[0];  // of each column
//   samesum::Values energies =
//       samesum::axis_reduction(samesum::Formula("m*v^2/2"), {{"m", m}, {"v", v}}, {}, samesum::AxisReduction::sum, samesum::Axes{-1});
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/operator.hpp>
#include <samesum/options.hpp>

#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The elements along `axes`, reduced by an operator: for each position along the other axes what reduce() gives for these elements alone,
/// in C order of the axes that are reduced; the same bits. One array for each component of the operator, or of what Operator::finish gives.
/// On the CPU many results at once, vectorised over them, on all cores; an array on a device that runs kernels is reduced there, or
/// comes to the host if its elements lie along too many axes, or cannot be converted without a check.
/// @throws Error as reduce() and axis_reduction(): the message of one that has no answer names the position of the result.
std::vector<Values> reduce(const Array& data, const Operator& op, const Axes& axes, const Options& options = {});
/// The same into memory of the caller's, as axis_reduction() has it: an array for each component.
void reduce(const Array& data, const Operator& op, const Axes& axes, const std::vector<Array>& to, const Options& options = {});

/// The same of what a formula gives at each position of arrays, as map() has it: `axes` are those of shape_of(inputs), and `i` is the
/// position in C order over all of them. The values are computed part by part, of 64 MiB at most.
std::vector<Values> reduce(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                           const Operator& op, const Axes& axes, const Options& options = {});

/// A reduction along axes of what a formula gives at each position: the values of axis_reduction() for an array of these.
/// @throws Error (usage) for a formula of several results; Error as map() and axis_reduction().
Values axis_reduction(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                      AxisReduction reduction, const Axes& axes, const Options& options = {});

}  // namespace samesum
