// The expected results of pairs: f evaluated one operation at a time by plain C++, its true value by MPFR, and their reductions by MPFR.
#pragma once

#include <samesum/pairs.hpp>

#include <cstdint>
#include <vector>

namespace samesum::test {

/// C[x] as a real number, and the quantities that its error bound is relative to.
struct TruePairs {
  double value = 0;      ///< rounded
  double magnitude = 0;  ///< F of PairAccuracy
  double argument = 0;   ///< for gaussian: the sum of |t| |w f|
};

/// One x, `a`, against `y_count` y. `weights` may be null.
template <class Real>
TruePairs true_pairs(PairFunction f, double h, double softening, const Real* a, const Real* b, const Real* weights, std::uint64_t y_count,
                     std::uint64_t components);

/// fl(w f) as PairFunction specifies, operation by operation; for gaussian the argument of the exponential.
template <class Real>
Real stepwise_value(PairFunction f, double h, double softening, const Real* a, const Real* b, std::uint64_t components);

/// The error of `value` as exp(t), in units of value's last place.
double error_of_exp(double t, double value, bool single);

}  // namespace samesum::test
