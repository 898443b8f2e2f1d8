// The reference for a ladder's values: the exact sum, computed in the slowest and simplest way, and the textbook's error bounds.
#pragma once

#include <samesum/accumulator.hpp>
#include "core/view.hpp"

#include <cstdint>

namespace samesum::bench {

/// The exact sum of an array, each element added separately.
struct Reference {
  Accumulator sum;
  double magnitude = 0;  ///< the sum of |x|, rounded up

  explicit Reference(View data);

  /// |value - sum|, rounded once; NaN where `value` is not finite.
  double error_of(double value) const;
};

/// An upper bound of the error of a plain sum in `type`, in any order, where no element takes part in more than `depth` additions:
/// gamma(depth) * sum |x| with gamma(k) = k u / (1 - k u), u = 2^-24 or 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
/// edition, section 4.2); where k u is too large for that, (count - 1) u * sum |x| (Rump, Error estimation of floating-point summation and
/// dot product, BIT 52, 2012). Infinity where an addition may overflow: then there is no bound. `flushed`: denormals count as zero.
double error_bound(DType type, std::uint64_t count, std::uint64_t depth, double magnitude, bool flushed = false);

}  // namespace samesum::bench
