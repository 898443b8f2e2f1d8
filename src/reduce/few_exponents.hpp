// Whether the next array is likely to be one that sum_window.cl is the fastest for, where arrays are large: one whose elements have all
// their bits near each other, so that sums are fixed-point numbers (fixed_sum.h). Told by the sums that were read.
#pragma once

#include <samesum/accumulator.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace samesum::reduce {

class FewExponents {
 public:
  bool expected() const noexcept { return expected_; }

  /// By a sum that was done the other way: where its lowest bit lies near its highest one, so do those of the elements, as a rule.
  void learn(const Accumulator& sum) {
    const double value = sum.round();
    const auto digits = sum.canonical_digits();
    const auto lowest = std::ranges::find_if(digits, [](std::int64_t digit) { return digit != 0; });
    if (misses_ == kMostMisses || !std::isfinite(value) || value == 0) return;
    const auto position = 32 * (lowest - digits.begin()) + std::countr_zero(static_cast<std::uint64_t>(*lowest)) - 1074;
    expected_ = std::ilogb(value) - position < kBits;
  }

  /// By one that was done this way, and whether as a fixed-point number. The first never is.
  void learn(bool fixed_point) noexcept {
    misses_ = fixed_point ? 0 : misses_ + 1;
    expected_ = misses_ < kMostMisses;
  }

 private:
  static constexpr int kBits = 76;  // that such numbers have below their sum's highest one, and room above
  static constexpr int kMostMisses = 2;

  bool expected_ = false;
  int misses_ = 0;  // in a row; after the last, it is not tried again
};

}  // namespace samesum::reduce
