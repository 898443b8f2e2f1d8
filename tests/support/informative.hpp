// Checks that an expected value is worth comparing with. A test whose expectation is zero, infinite, NaN or the operation's identity passes
// with results that are wrong in the same way: products that underflow, empty sums.
#pragma once

#include <samesum/accumulator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

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

/// The same for many expected numbers, such as those of a scan or of groups: most of them are informative, and they differ.
template <class T>
testing::AssertionResult informative(std::span<const T> expected) {
  std::size_t useful = 0, steps = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    useful += informative(static_cast<double>(expected[i])) ? 1 : 0;
    steps += i > 0 && expected[i] != expected[i - 1] ? 1 : 0;
  }
  if (2 * useful < expected.size() || useful == 0) {
    return testing::AssertionFailure() << "of " << expected.size() << " expected values " << useful << " are finite and not zero";
  }
  if (steps == 0 && expected.size() > 1) return testing::AssertionFailure() << "all expected values are " << expected[0];
  return testing::AssertionSuccess();
}

/// The same for counts of a histogram: samples lie in more than one bin, and not the same number in each.
inline testing::AssertionResult informative_counts(std::span<const std::uint64_t> counts) {
  std::size_t filled = 0, steps = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    filled += counts[i] != 0 ? 1 : 0;
    steps += i > 0 && counts[i] != counts[i - 1] ? 1 : 0;
  }
  if (filled < 2) return testing::AssertionFailure() << "all samples lie in " << filled << " bin";
  return steps > 0 ? testing::AssertionSuccess() : testing::AssertionFailure() << "all bins have the same count";
}

}  // namespace samesum::test
