#include "reduce/cpu/sum_cpu_partial.hpp"

#include "core/float_environment.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace samesum::reduction {

// First each total's sum in one double, which as a rule is exact as well; else one lane after the other.
void WatchedSums::flush(std::initializer_list<Accumulator*> totals) noexcept {
  if (!any) return;
  any = false;
  const int parts = static_cast<int>(totals.size());
  Accumulator* const* const total = totals.begin();
  const core::DefaultFloatEnvironment environment;
  const core::RoundingWatch watch;
  std::array<double, kKept> all;
  for (int part = 0; part < parts; ++part) {
    std::array<double, kMaxLanes> sums{};
    for (int i = part * kKept / parts; i < (part + 1) * kKept / parts; ++i) {
      for (int lane = 0; lane < kMaxLanes; ++lane) sums[lane] += upper[i][lane] + lower[i][lane];
    }
    for (int half = kMaxLanes / 2; half != 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    all[part] = sums[0];
  }
  const bool rounded = watch.rounded();
  for (int i = 0; rounded && i < kKept; ++i) {
    for (const Lanes* const lanes : {&upper, &lower}) {
      for (const double lane : (*lanes)[i]) {
        if (lane != 0) total[i * parts / kKept]->add_finite(lane);
      }
    }
  }
  for (int part = 0; !rounded && part < parts; ++part) total[part]->add_finite(all[part]);
  upper = lower = {};
}

template <class T>
void PartialSum<T>::flush_lanes() noexcept {
  if (window.rounds) slack += std::ldexp(static_cast<double>(blocks) * kBlock, window.positions[window.slices - 1] - 1074);
  for (int slice = 0; slice < window.slices; ++slice) {
    std::int64_t sum = 0;
    for (std::int64_t& lane : lanes[slice]) {
      sum += lane;
      lane = 0;
    }
    if (sum != 0) total.add_scaled(sum, window.positions[slice]);
  }
  blocks = 0;
}

template <class T>
void PartialSum<T>::add_one_by_one(const std::byte* from, std::size_t count) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kFractionBits = sizeof(T) == 4 ? 23 : 52;
  constexpr int kExponentMask = sizeof(T) == 4 ? 0xff : 0x7ff;
  constexpr int kLowestBit = sizeof(T) == 4 ? 925 : 0;  // 2^-149 = 2^(925 - 1074)
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    const bool negative = bits >> (8 * sizeof bits - 1);
    const int exponent = static_cast<int>(bits >> kFractionBits) & kExponentMask;
    const auto fraction = static_cast<std::int64_t>(bits & ((Bits{1} << kFractionBits) - 1));
    const bool is_nan = exponent == kExponentMask && fraction != 0;
    const bool is_negative_zero = negative && exponent == 0 && fraction == 0;
    only_negative_zeros = only_negative_zeros && (is_nan || is_negative_zero);
    if (exponent == kExponentMask) {
      ++(is_nan ? nans : negative ? negative_infinities : positive_infinities);
    } else {
      const std::int64_t mantissa = exponent != 0 ? fraction | std::int64_t{1} << kFractionBits : fraction;
      total.add_scaled(negative ? -mantissa : mantissa, kLowestBit + (exponent != 0 ? exponent - 1 : 0));
    }
  }
}

template <class T>
const Accumulator& PartialSum<T>::finish() noexcept {
  flush_watched();
  flush_lanes();
  bins.flush(total);
  nans += bins.specials() - infinities_in_bins;
  total.add_counts(elements, nans, positive_infinities, negative_infinities, only_negative_zeros);
  return total;
}

template struct PartialSum<float>;
template struct PartialSum<double>;

}  // namespace samesum::reduction
