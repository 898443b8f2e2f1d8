// 16-bit floats as floats, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/halves_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/half.hpp"
#include "reduce/cpu/halves-inl.hpp"
#include "reduce/cpu/halves.hpp"

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {

template <class Half>
void convert(const std::byte* halves, std::size_t count, float* to) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Floats d;
  constexpr std::size_t kPrefetchBytes = 1024;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    __builtin_prefetch(halves + 2 * i + kPrefetchBytes);
    hn::StoreU(load_as_floats(Half{}, halves + 2 * i), d, to + i);
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
