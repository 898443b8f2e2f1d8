// Elements as words of fixed_sums.hpp, by vectors: compiled once for each instruction set.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/index/split.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/index/split.hpp"

#include <hwy/highway.h>

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sum of 2^52 and a whole number below that has the number in its lowest bits.
template <class D, class V>
HWY_INLINE auto whole_bits(D d, V whole) {
  const hn::RebindToSigned<D> integers;
  const auto base = hn::Set(d, 0x1p52);
  return hn::Sub(hn::BitCast(integers, hn::Add(whole, base)), hn::BitCast(integers, base));
}

template <bool kWide>
HWY_INLINE bool split_block(const double* values, double scale, std::int64_t* upper, std::int64_t* lower) {
  const hn::CappedTag<double, kSplitBlock> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0), base = hn::Set(d, 0x1p52), limit = hn::Set(d, 0x1p36), units = hn::Set(d, scale);
  const std::size_t lanes = hn::Lanes(d);
  auto all = hn::Eq(zero, zero);
  for (std::size_t i = 0; i < kSplitBlock; i += lanes) {
    const auto value = hn::LoadU(d, values + i), x = hn::Mul(value, units), size = hn::Abs(x);
    auto whole = hn::Sub(hn::Add(size, base), base);
    auto part = hn::Sub(size, whole);
    const auto sign = hn::ShiftRight<63>(hn::BitCast(integers, x));
    // Zeros have no sign to lose, and scaling makes none.
    auto good =
        hn::And(hn::Lt(size, limit), hn::Or(hn::Ne(x, zero), hn::RebindMask(d, hn::Eq(hn::BitCast(integers, value), hn::Zero(integers)))));
    if constexpr (kWide) {
      const auto down = hn::IfThenElseZero(hn::Lt(part, zero), one);
      whole = hn::Sub(whole, down);
      part = hn::Mul(hn::Add(part, down), limit);
      const auto rest = hn::Sub(hn::Add(part, base), base);
      good = hn::And(good, hn::Eq(rest, part));
      hn::StoreU(hn::Sub(hn::Xor(whole_bits(d, rest), sign), sign), integers, lower + i);
    } else {
      good = hn::And(good, hn::Eq(part, zero));
    }
    hn::StoreU(hn::Sub(hn::Xor(whole_bits(d, whole), sign), sign), integers, upper + i);
    all = hn::And(all, good);
  }
  return hn::AllTrue(d, all);
}

bool split_wide(const double* values, double scale, std::int64_t* upper, std::int64_t* lower) {
  return split_block<true>(values, scale, upper, lower);
}
bool split_narrow(const double* values, double scale, std::int64_t* upper) { return split_block<false>(values, scale, upper, nullptr); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {

SIMD_EXPORT(split_wide);
SIMD_EXPORT(split_narrow);

bool split(const double* values, double scale, std::int64_t* upper, std::int64_t* lower) {
  return lower != nullptr ? SIMD_CALL(split_wide)(values, scale, upper, lower) : SIMD_CALL(split_narrow)(values, scale, upper);
}

}  // namespace samesum::groups
#endif  // HWY_ONCE
