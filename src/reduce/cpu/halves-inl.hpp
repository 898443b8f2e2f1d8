// 16-bit floats as floats, in vectors. Included once for each instruction set.
#if defined(SAMESUM_HALVES) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_HALVES
#undef SAMESUM_HALVES
#else
#define SAMESUM_HALVES
#endif

#include "core/half.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Halves = hn::Rebind<std::uint16_t, Floats>;

HWY_INLINE hn::Vec<Floats> to_floats(core::BFloat16, hn::Vec<Halves> bits) {
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(hn::Repartition<std::uint32_t, Floats>(), bits)));
}

HWY_INLINE hn::Vec<Floats> to_floats(core::Float16, hn::Vec<Halves> bits) {
  const Floats d;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), bits));
#else  // where Highway does not know infinities and NaNs; as core::Float16 does it
  const hn::Repartition<std::uint32_t, Floats> d32;
  const hn::Repartition<std::int32_t, Floats> signed32;
  const auto wide = hn::PromoteTo(d32, bits), magnitude = hn::And(wide, hn::Set(d32, 0x7fff));
  const auto value = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const auto special = hn::Gt(hn::BitCast(signed32, magnitude), hn::Set(signed32, 0x7bff));
  const auto exponent = hn::IfThenElseZero(hn::RebindMask(d32, special), hn::Set(d32, 0x7f800000));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(wide, magnitude));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(d32, value), exponent), sign));
#endif
}

// A vector of them, at any alignment.
template <class Half>
HWY_INLINE hn::Vec<Floats> load_as_floats(Half type, const std::byte* from) {
  const hn::Repartition<std::uint8_t, Halves> bytes;
  return to_floats(type, hn::BitCast(Halves(), hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from))));
}

// Two vectors of them, in any order: those of bfloat16 are the halves of words.
HWY_INLINE void load_in_any_order(core::Float16 type, const std::byte* from, hn::Vec<Floats>* to) {
  to[0] = load_as_floats(type, from);
  to[1] = load_as_floats(type, from + hn::MaxLanes(Halves()) * sizeof type);
}
HWY_INLINE void load_in_any_order(core::BFloat16, const std::byte* from, hn::Vec<Floats>* to) {
  const hn::Repartition<std::uint32_t, Floats> d32;
  const hn::Repartition<std::uint8_t, Floats> bytes;
  const auto words = hn::BitCast(d32, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
  to[0] = hn::BitCast(Floats(), hn::ShiftLeft<16>(words));
  to[1] = hn::BitCast(Floats(), hn::And(words, hn::Set(d32, 0xffff0000)));
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
