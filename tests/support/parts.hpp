// Random results that merge, of difficult elements: for the tests and the fuzzer of serialization.
#pragma once

#include "selftest/cases.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>
#include <samesum/weighted_histogram.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace samesum::test {

/// Of any exponent, or a zero, an infinity, a NaN.
double ugly_double(hard::Random& random);

/// The bins of all random histograms, so that they can be merged.
const Bins& bins_of_parts();
const std::vector<Bins>& axes_of_parts();
/// The number of groups, and what is kept of each.
constexpr std::uint64_t kGroupsOfParts = 3;
constexpr GroupOptions kOptionsOfParts{.squares = true, .extrema = false, .ignore_outside = true, .threads = 1};

/// A result of a few elements: floats that cancel or not, integers up to the limits of their types; or of none.
template <class Result>
Result random_part(hard::Random& random);
template <>
Accumulator random_part(hard::Random& random);
template <>
ProductAccumulator random_part(hard::Random& random);
template <>
Statistics random_part(hard::Random& random);
template <>
Histogram random_part(hard::Random& random);
template <>
HistogramNd random_part(hard::Random& random);
template <>
GroupSums random_part(hard::Random& random);
template <>
WeightedHistogram random_part(hard::Random& random);

/// A result of no elements.
template <class Result>
Result nothing() {
  if constexpr (std::same_as<Result, Histogram>) {
    return Histogram(bins_of_parts());
  } else if constexpr (std::same_as<Result, GroupSums>) {
    return GroupSums(kGroupsOfParts, kOptionsOfParts);
  } else if constexpr (std::same_as<Result, HistogramNd> || std::same_as<Result, WeightedHistogram>) {
    return Result(axes_of_parts());
  } else {
    return {};
  }
}

/// Changes bytes of a serialized form, from `offset` on, and corrects its checksum.
std::vector<std::byte> forged(std::vector<std::byte> bytes, std::size_t offset, std::initializer_list<int> values);

}  // namespace samesum::test
