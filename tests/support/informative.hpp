// Checks that an expected value is worth comparing with. A test whose expectation is zero, infinite, NaN or the operation's identity passes
// with results that are wrong in the same way: products that underflow, empty sums.
#pragma once

#include <samesum/accumulator.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace samesum::test {

/// Whether `expected` can distinguish right results from wrong ones: it is finite, not zero, and not `identity`.
inline testing::AssertionResult informative(double expected, double identity = 0) {
  if (!std::isfinite(expected)) return testing::AssertionFailure() << expected << " is not finite: nothing follows from comparing with it";
  if (expected == 0) return testing::AssertionFailure() << "the expected value is zero: nothing follows from comparing with it";
  if (expected == identity) return testing::AssertionFailure() << expected << " is what an operation over nothing gives";
  return testing::AssertionSuccess();
}

/// The same for an exact sum.
inline testing::AssertionResult informative(const Accumulator& expected) { return informative(expected.round()); }

}  // namespace samesum::test
