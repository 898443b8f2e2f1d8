// Elements as words of fixed_sums.hpp, by vectors: compiled once for each instruction set.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/index/split.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/index/split.hpp"

#include <hwy/highway.h>

#include <bit>
#include <cstring>

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

bool split_wide(const double* values, double scale, std::int64_t* upper, std::int64_t* lower) {
  const hn::CappedTag<double, kSplitBlock> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0), base = hn::Set(d, 0x1p52), limit = hn::Set(d, 0x1p36), units = hn::Set(d, scale);
  auto all = hn::Eq(zero, zero);
  for (std::size_t i = 0; i < kSplitBlock; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i), x = hn::Mul(value, units), size = hn::Abs(x);
    auto whole = hn::Sub(hn::Add(size, base), base);
    auto part = hn::Sub(size, whole);
    const auto sign = hn::ShiftRight<63>(hn::BitCast(integers, x));
    const auto down = hn::IfThenElseZero(hn::Lt(part, zero), one);
    whole = hn::Sub(whole, down);
    part = hn::Mul(hn::Add(part, down), limit);
    const auto rest = hn::Sub(hn::Add(part, base), base);
    // Zeros have no sign to lose, and scaling makes none.
    const auto good =
        hn::And(hn::Lt(size, limit), hn::Or(hn::Ne(x, zero), hn::RebindMask(d, hn::Eq(hn::BitCast(integers, value), hn::Zero(integers)))));
    hn::StoreU(hn::Sub(hn::Xor(whole_bits(d, rest), sign), sign), integers, lower + i);
    hn::StoreU(hn::Sub(hn::Xor(whole_bits(d, whole), sign), sign), integers, upper + i);
    all = hn::And(all, hn::And(good, hn::Eq(rest, part)));
  }
  return hn::AllTrue(d, all);
}

// Of floats and of integers of 32 bits, of which scaling makes no zeros.
bool split_narrow(const double* values, double scale, std::int64_t* upper) {
  const hn::CappedTag<double, kSplitBlock> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto base = hn::Set(d, 0x1.8p52), units = hn::Set(d, scale), negative_zero = hn::Set(d, -0.0);
  auto greatest = hn::Zero(d);
  auto whole = hn::Eq(greatest, greatest), zeros = hn::Lt(greatest, greatest);
  for (std::size_t i = 0; i < kSplitBlock; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i), x = hn::Mul(value, units), sum = hn::Add(x, base);
    whole = hn::And(whole, hn::Eq(hn::Sub(sum, base), x));
    zeros = hn::Or(zeros, hn::RebindMask(d, hn::Eq(hn::BitCast(integers, x), hn::BitCast(integers, negative_zero))));
    greatest = hn::Max(greatest, hn::Abs(x));
    hn::StoreU(hn::Sub(hn::BitCast(integers, sum), hn::BitCast(integers, base)), integers, upper + i);
  }
  return hn::AllTrue(d, hn::AndNot(zeros, hn::And(whole, hn::Lt(greatest, hn::Set(d, 0x1p36)))));
}

void widen(const float* from, std::size_t count, double* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, from + i)), d, to + i);
  for (; i < count; ++i) {
    float value;
    std::memcpy(&value, from + i, sizeof value);
    to[i] = value;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {

SIMD_EXPORT(split_wide);
SIMD_EXPORT(split_narrow);
SIMD_EXPORT(widen);

bool split(const double* values, double scale, std::int64_t* upper, std::int64_t* lower) {
  return lower != nullptr ? SIMD_CALL(split_wide)(values, scale, upper, lower) : SIMD_CALL(split_narrow)(values, scale, upper);
}
void to_doubles(const float* from, std::size_t count, double* to) { SIMD_CALL(widen)(from, count, to); }

}  // namespace samesum::groups
#endif  // HWY_ONCE
