// All pairs: C[x] = the reduction, over all y, of f(A[x], B[y]). f is evaluated for every pair, without algebraic shortcuts.
//
//   // for each of the points a (x, y, z), the index of the nearest point of b
//   const samesum::PairsResult nearest = samesum::pairs(a, b, {.f = samesum::PairFunction::sqdist,
//                                                              .reduction = samesum::PairReduction::argmin, .components = 3});
//   std::get<std::vector<std::int64_t>>(nearest);
//
//   // any f of the vectors a and b, of numbers that are given for each y, and of parameters
//   const samesum::PairsResult density = samesum::pairs(a, b, {.components = 3, .weights = masses,
//                                                              .formula = samesum::Formula("w*exp(-sqdist(a, b)/h)"),
//                                                              .parameters = {{"h", 0.5}}});
//
// docs/pairs.md has the ladder of kernels, the bounds, and the measurements.
#pragma once

#include <samesum/array.hpp>
#include <samesum/complex.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/operator.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// f(a, b) of two vectors of D components, evaluated in the type T of A and B: each operation is rounded once, in the order of the
/// components, where fma() is one operation. With s the value so far:
enum class PairFunction {
  product,     ///< the dot product: a0 b0, then fma(a, b, s) for each further component
  difference,  ///< the sum of a - b over the components
  absdiff,     ///< the sum of |a - b|
  sqdist,      ///< the squared distance: d0 d0, then fma(d, d, s), with d = a - b
  gaussian,    ///< exp(-sqdist/h): e(sqdist · fl(-1/h)), where e is within 2 units in the last place of exp (docs/pairs.md)
  invdist,     ///< 1/sqrt(sqdist + s²) with the softening s: s starts at fl(s²) instead of 0, then a square root, then a division
};

/// The reduction of f(A[x], B[y]) over all y. A weight w of y replaces it by fl(w f); in a formula it is `w`, and no more. Of a formula
/// that gives several numbers each is reduced by itself, but not by smallest and argsmallest.
///
/// Of integers a sum and a product are exact, and an error if they do not fit into 64 bits.
enum class PairReduction {
  sum,          ///< +0.0 if there is no y
  min,          ///< NaN if any is NaN; -0.0 < +0.0
  max,          ///< likewise
  argmin,       ///< the lowest y of the least value, counted from 0; if any is NaN, the y of the first
  argmax,       ///< likewise of the greatest
  product,      ///< of floats each multiplication is rounded once, in the order of the balanced tree over y (product() has the same bits)
  logsumexp,    ///< log of the sum of exp(f), without overflow; by the same tree, and fixed operations: the bounds are in docs/pairs.md
  smallest,     ///< the k least values, in order; NaN comes first, -0.0 < +0.0
  argsmallest,  ///< their y, counted from 0; of equal values the lower comes first
};

/// How a sum of pairs is rounded. In the bounds, u = 2^-24 (float32) or 2^-53 (float64), k is the number of y, D the number of components,
/// and F the sum over all y of |w f|, where in product and difference each component counts with its magnitude. f's own error is (D + 3) u
/// F; for gaussian 8 u F, plus (D + 5) u |t| |w f| for each y, with t its argument. Add 2^-126 (2^-1022) for each y to all of these: values
/// below the least normal number may be flushed to 0 in fast sums. Minima, maxima and their indices are exact and have the same bits
/// everywhere, for every accuracy.
///
/// Of a formula these bounds hold with D = 1, if it ends in a chain of multiply-adds (dot, sqdist) with D their number, and f's own
/// error by docs/formulas.md; "the same bits everywhere" is said of formulas that are reproducible (Formula::describe): all but those of
/// FormulaMath::native.
enum class PairAccuracy {
  fast,         ///< rounded additions, in blocks: at most min(k D, 4096 + k (D + 4)/1024 + 8 D) u F, plus f's own error.
                ///< On one device every run has the same bits
  compensated,  ///< error-free transforms (Ogita, Rump, Oishi, "Accurate sum and dot product", 2005): 2 u |C| + (2 k D u)^2 F, plus f's own
                ///< error, which is 0 for product and difference
  exact,        ///< the sum of all fl(w f), exact, rounded once: the same bits everywhere
};

/// "product", "sum", "fast", …
std::string_view name_of(PairFunction f) noexcept;
std::string_view name_of(PairReduction reduction) noexcept;
std::string_view name_of(PairAccuracy accuracy) noexcept;
/// @throws Error (usage) for any other name, listing those that are known.
PairFunction parse_pair_function(std::string_view name);
PairReduction parse_pair_reduction(std::string_view name);
PairAccuracy parse_pair_accuracy(std::string_view name);

/// What is computed: f, the reduction, and their parameters.
struct PairsProblem {
  PairFunction f = PairFunction::product;
  PairReduction reduction = PairReduction::sum;
  PairAccuracy accuracy = PairAccuracy::fast;
  std::uint64_t components = 1;  ///< D, 1 to 1024: A and B hold X and Y vectors of D elements each, contiguously
  /// The vectors of A and B, of two components then, are complex numbers: `a` and `b` in a formula, and in the functions from product
  /// (a b, none is conjugated) to sqdist (the square of |a - b|). Complex values have sums, products and operators.
  bool complex = false;
  double h = 1;                       ///< of gaussian: positive, with 1/h finite in T
  double softening = 0;               ///< of invdist: not negative; with 0, a pair of equal points gives infinity
  std::optional<Array> weights = {};  ///< one per y, of the type of A and B

  /// In place of `f`: a formula (docs/formulas.md) of the vectors `a` and `b`, of the weight `w` if there are weights, of the inputs
  /// `of_y` and of parameters. Its value, or the numbers of a tuple, are converted to the type of A and B; 64 components are possible. An
  /// operation that may fail, such as int64(a[0]), is refused but by `combine`.
  std::optional<Formula> formula = {};
  std::vector<FormulaParameter> parameters = {};
  /// Further arrays that a formula takes by name, of the type of A and B: one element for each y or, of a `vector`, one vector.
  std::vector<FormulaInput> of_y = {};

  /// In place of `reduction`: an operator of the user's own, over the balanced tree over y, as reduce() has it. It takes what f gives, in
  /// the types that f gives it; all numbers of its result, or of what `finish` makes of it, are of one type, which C has.
  std::optional<Operator> combine = {};
  std::uint32_t k = 1;  ///< of smallest and argsmallest: 1 to 128, and not more than there are y
};

/// The values for each x, one x after the other: indices for argmin and argmax, of an operator what it gives, otherwise of the type of A
/// and B. There is one for each x, of smallest and argsmallest there are k, and as many as f or an operator gives if that is several: of
/// complex numbers the real and the imaginary part.
using PairsResult = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint64_t>>;

/// C[x] for all x. O(X Y D) time; beside the result, bounded memory and copies of A and B on the device.
/// A and B are of one type, their vectors in C order (the rows of a matrix). The 16-bit floats are computed with, and C is, as of float32;
/// integers as of int64, or of uint64 if they are that, in formulas and the functions from product to sqdist. What a formula of integers
/// gives keeps its type (a bool is an int64), and an operation of it that fails is an error that names the pair. Arrays on a device, and
/// arrays that are not contiguous, are copied to the host first. Every NaN in the result is the canonical one.
/// @throws Error (usage) for lengths that are no multiple of D, a parameter out of its range, no y for any reduction but a
/// sum, a product and a log-sum-exp, a formula that is none of these inputs, or if the device lacks what the exact answer needs
/// (denormals, a correct fma, float64; for invdist division and square roots), with the reason; Error (device) if the device fails.
/// Without Options::device it runs on the device that choose_device("auto", …) names for as many bytes as there are pairs: a pair costs
/// about as much as summing a byte.
PairsResult pairs(const Array& a, const Array& b, const PairsProblem& problem = {}, const Options& options = {});

/// The same of complex numbers, one of A for each x, one of B for each y: PairsProblem::components and complex are set.
PairsResult pairs(const ComplexArray& a, const ComplexArray& b, const PairsProblem& problem = {}, const Options& options = {});

/// Whether the two values that pairs() gives for each x are the parts of a complex number. O(1) of the arrays' sizes.
/// @throws Error (usage) as pairs().
bool pairs_give_complex(const Array& a, const Array& b, const PairsProblem& problem);

/// A view of a result; valid as long as the result.
Array array_of(const PairsResult& result) noexcept;

}  // namespace samesum
