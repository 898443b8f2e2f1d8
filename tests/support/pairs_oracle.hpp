// What pairs have to be: f evaluated one operation at a time by plain C++, its true value by MPFR, and both put together by MPFR.
#pragma once

#include <samesum/pairs.hpp>

#include <cstdint>
#include <vector>

namespace samesum::test {

/// C[x] as real numbers have it, and what its error may be relative to.
struct TruePairs {
  double value = 0;      ///< rounded
  double magnitude = 0;  ///< F of PairAccuracy
  double argument = 0;   ///< of gaussian: the sum of |t| |w f|
};

/// One x, `a`, against `y_count` y. `weights` may be null.
template <class Real>
TruePairs true_pairs(PairFunction f, double h, double softening, const Real* a, const Real* b, const Real* weights, std::uint64_t y_count,
                     std::uint64_t components);

/// fl(w f) as PairFunction says, operation by operation; of gaussian the argument of the exponential.
template <class Real>
Real stepwise_value(PairFunction f, double h, double softening, const Real* a, const Real* b, std::uint64_t components);

/// How far `value` is from exp(t), in units of value's last place.
double error_of_exp(double t, double value, bool single);

}  // namespace samesum::test
