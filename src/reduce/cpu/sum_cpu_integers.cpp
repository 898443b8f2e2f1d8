// The CPU's sum of integers, compiled once for each instruction set. Signed integers become unsigned ones by an offset, which is taken
// off in the end: flipping the sign bit adds 2^(bits - 1).
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/sum_cpu_integers.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "reduce/cpu/sum_cpu_block-inl.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sum is low + high * 2^kHighShift<T>.
struct Parts {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
template <class T>
constexpr int kHighShift = sizeof(T) == 2 ? 8 : 32;

template <class T>
T load_one(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

#if HWY_TARGET != HWY_SCALAR
using Lanes = hn::ScalableTag<std::uint64_t>;

// What a vector of elements adds to the parts, in lanes of 64 bits.
template <class V>
HWY_INLINE void add_vector(std::uint8_t, V elements, hn::Vec<Lanes>& low, hn::Vec<Lanes>&) {
  low = hn::Add(low, hn::SumsOf8(elements));
}
template <class V>
HWY_INLINE void add_vector(std::uint16_t, V elements, hn::Vec<Lanes>& low, hn::Vec<Lanes>& high) {
  const hn::Repartition<std::uint8_t, Lanes> bytes;
  low = hn::Add(low, hn::SumsOf8(hn::BitCast(bytes, hn::And(elements, hn::Set(hn::DFromV<V>(), 0xff)))));
  high = hn::Add(high, hn::SumsOf8(hn::BitCast(bytes, hn::ShiftRight<8>(elements))));
}
template <class V>
HWY_INLINE void add_vector(std::uint32_t, V elements, hn::Vec<Lanes>& low, hn::Vec<Lanes>&) {
  const auto pairs = hn::BitCast(Lanes(), elements);
  low = hn::Add(low, hn::Add(hn::And(pairs, hn::Set(Lanes(), 0xffffffff)), hn::ShiftRight<32>(pairs)));
}
template <class V>
HWY_INLINE void add_vector(std::uint64_t, V elements, hn::Vec<Lanes>& low, hn::Vec<Lanes>& high) {
  low = hn::Add(low, hn::And(elements, hn::Set(Lanes(), 0xffffffff)));
  high = hn::Add(high, hn::ShiftRight<32>(elements));
}
#endif

// Up to 2^31 elements.
template <class T>
Parts sum_of(const std::byte* elements, std::size_t count, T offset) {
  Parts parts;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<T, Lanes> d;
  const std::size_t step = hn::Lanes(d);
  const auto offsets = hn::Set(d, offset);
  auto low = hn::Zero(Lanes()), high = low;
  const auto add = [&](std::size_t at)
                       SAMESUM_INLINE_LAMBDA { add_vector(T{}, hn::Xor(load(d, elements + at * sizeof(T)), offsets), low, high); };
  const std::size_t distance = count / (kPlaces * step) * step;
  for (; i < distance; i += step) {
    unrolled<kPlaces>([&](auto piece) SAMESUM_INLINE_LAMBDA {
      const std::size_t at = piece * distance + i;
      prefetch<kVectorBytes>(elements + at * sizeof(T));
      add(at);
    });
  }
  for (i = kPlaces * distance; i + step <= count; i += step) add(i);
  parts = {hn::GetLane(hn::SumOfLanes(Lanes(), low)), hn::GetLane(hn::SumOfLanes(Lanes(), high))};
#endif
  for (; i < count; ++i) {
    const std::uint64_t element = static_cast<T>(load_one<T>(elements + i * sizeof(T)) ^ offset);
    parts.low += element & 0xffffffff;
    if constexpr (sizeof(T) == 8) parts.high += element >> 32;
  }
  return parts;
}

template <class T>
void add(const std::byte* elements, std::uint64_t count, IntegerSum& sum) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 31;
  constexpr int kUnit = 1074;  // the position of 2^0
  constexpr int kBits = 8 * sizeof(T);
  const T offset = sum.is_signed ? static_cast<T>(T{1} << (kBits - 1)) : T{0};
  while (count != 0) {
    const std::uint64_t taken = std::min(count, kMax);
    const Parts parts = sum_of<T>(elements, taken, offset);
    sum.total.add_scaled(static_cast<std::int64_t>(parts.low), kUnit);
    sum.total.add_scaled(static_cast<std::int64_t>(parts.high), kUnit + kHighShift<T>);
    if (sum.is_signed) sum.total.add_scaled(-static_cast<std::int64_t>(taken), kUnit + kBits - 1);
    elements += taken * sizeof(T);
    count -= taken;
  }
}

void add_8(const std::byte* elements, std::uint64_t count, IntegerSum& sum) { add<std::uint8_t>(elements, count, sum); }
void add_16(const std::byte* elements, std::uint64_t count, IntegerSum& sum) { add<std::uint16_t>(elements, count, sum); }
void add_32(const std::byte* elements, std::uint64_t count, IntegerSum& sum) { add<std::uint32_t>(elements, count, sum); }
void add_64(const std::byte* elements, std::uint64_t count, IntegerSum& sum) { add<std::uint64_t>(elements, count, sum); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::reduction {

SIMD_EXPORT(add_8);
SIMD_EXPORT(add_16);
SIMD_EXPORT(add_32);
SIMD_EXPORT(add_64);

void add_elements(const std::byte* elements, std::uint64_t count, DType type, IntegerSum& sum) {
  sum.elements += count;
  sum.is_signed = is_signed(type);
  switch (size_of(type)) {
    case 1:
      return SIMD_CALL(add_8)(elements, count, sum);
    case 2:
      return SIMD_CALL(add_16)(elements, count, sum);
    case 4:
      return SIMD_CALL(add_32)(elements, count, sum);
    default:
      return SIMD_CALL(add_64)(elements, count, sum);
  }
}

}  // namespace samesum::reduction
#endif  // HWY_ONCE
