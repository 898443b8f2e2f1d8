// 16-bit floats as floats, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/halves_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/half.hpp"
#include "reduce/cpu/halves.hpp"

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using D = hn::ScalableTag<float>;
using D16 = hn::Rebind<std::uint16_t, D>;

HWY_INLINE hn::Vec<D> to_floats(core::BFloat16, hn::Vec<D16> bits) {
  return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(hn::Repartition<std::uint32_t, D>(), bits)));
}

HWY_INLINE hn::Vec<D> to_floats(core::Float16, hn::Vec<D16> bits) {
  const D d;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
#else  // where Highway does not know infinities and NaNs; as core::Float16 does it
  const hn::Repartition<std::uint32_t, D> d32;
  const hn::Repartition<std::int32_t, D> signed32;
  const auto wide = hn::PromoteTo(d32, bits), magnitude = hn::And(wide, hn::Set(d32, 0x7fff));
  const auto value = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const auto special = hn::Gt(hn::BitCast(signed32, magnitude), hn::Set(signed32, 0x7bff));
  const auto exponent = hn::IfThenElseZero(hn::RebindMask(d32, special), hn::Set(d32, 0x7f800000));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(wide, magnitude));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(d32, value), exponent), sign));
#endif
}

#endif  // HWY_SCALAR

template <class Half>
void convert(const std::byte* halves, std::size_t count, float* to) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const D d;
  const hn::Repartition<std::uint8_t, D16> bytes;
  constexpr std::size_t kPrefetchBytes = 1024;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    __builtin_prefetch(halves + 2 * i + kPrefetchBytes);
    const auto bits = hn::BitCast(D16(), hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(halves + 2 * i)));
    hn::StoreU(to_floats(Half{}, bits), d, to + i);
  }
#endif
  for (; i < count; ++i) {
    Half half;
    std::memcpy(&half, halves + 2 * i, sizeof half);
    to[i] = half;
  }
}

void from_float16(const std::byte* halves, std::size_t count, float* to) { convert<core::Float16>(halves, count, to); }
void from_bfloat16(const std::byte* halves, std::size_t count, float* to) { convert<core::BFloat16>(halves, count, to); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::reduction {

SIMD_EXPORT(from_float16);
SIMD_EXPORT(from_bfloat16);

void halves_to_floats(const std::byte* halves, std::size_t count, DType type, float* to) {
  type == DType::float16 ? SIMD_CALL(from_float16)(halves, count, to) : SIMD_CALL(from_bfloat16)(halves, count, to);
}

}  // namespace samesum::reduction
#endif  // HWY_ONCE
