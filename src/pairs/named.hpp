// Formulas that are functions with names, which have loops and kernels of their own.
#pragma once

#include "pairs/pairs_formula.hpp"

#include <samesum/pairs.hpp>

#include <optional>

namespace samesum::all_pairs {

/// The function that a formula of floating-point numbers is, operation by operation: `dot(a, b)` is product, `w*sqdist(a, b)` is sqdist
/// with weights. `type` is that of A and B. None of gaussian and invdist, whose operations are others.
std::optional<PairFunction> named_by(const PairsProblem& options, DType type, const PairFormula& formula);

/// A function with its numbers, as Problem has them.
struct Approximation {
  PairFunction f;
  double factor = 0, softening = 0;
};
/// gaussian or invdist, for a formula of the same value: `exp(-sqdist(a, b)/h)`, `1/sqrt(sqdist(a, b) + s*s)`, of which each may have a
/// factor `w` and be written in other ways. Bits and bounds are those of the function, so it is for fast sums.
std::optional<Approximation> approximation_of(const PairsProblem& options, DType type, const PairFormula& formula);

}  // namespace samesum::all_pairs
