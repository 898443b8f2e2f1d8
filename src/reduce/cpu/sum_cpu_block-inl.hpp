// What the loops of the CPU's sum are made of. Included once for each instruction set.
#if defined(SAMESUM_SUM_CPU_BLOCK) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_SUM_CPU_BLOCK
#undef SAMESUM_SUM_CPU_BLOCK
#else
#define SAMESUM_SUM_CPU_BLOCK
#endif

#include "reduce/cpu/sum_cpu_partial.hpp"

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
}

constexpr std::size_t kLanes = hn::MaxLanes(Doubles());
constexpr std::size_t kVectorBytes = kLanes * sizeof(double);
// What an iteration takes.
constexpr std::size_t kUnitBytes = 4 * kVectorBytes;
template <class T>
constexpr std::size_t kUnit = kUnitBytes / sizeof(T);

// Loops that compute reach less far ahead than the processor's own prefetching takes to hide the latency of memory. So they ask for lines
// to come to the second-level cache, this far ahead in each of two places: best by measurement with 1 to 16 threads. Fewer lines can be on
// their way to the first-level cache.
constexpr std::size_t kPrefetchBytes = 4096;
constexpr std::size_t kCacheLine = 64;

// The doubles of one chain: kLanes elements.
HWY_INLINE auto load_doubles(const std::byte* from, float) {
  const Doubles d;
  return hn::PromoteTo(d, load(hn::Rebind<float, decltype(d)>(), from));
}
HWY_INLINE auto load_doubles(const std::byte* from, double) { return load(Doubles(), from); }

// a - b and a + b by the multipliers, which are other units than the adders on some processors; those are the bottleneck. The products
// are exact, so this rounds as the adders do.
template <class V>
HWY_INLINE V minus(V a, V b) {
#if HWY_NATIVE_FMA
  return hn::NegMulAdd(b, hn::Set(hn::DFromV<V>(), 1.0), a);
#else
  return hn::Sub(a, b);
#endif
}
template <class V>
HWY_INLINE V plus(V a, V b) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(b, hn::Set(hn::DFromV<V>(), 1.0), a);
#else
  return hn::Add(a, b);
#endif
}

using DoubleVector = hn::Vec<Doubles>;

// Operations that leave the processor's flags alone, as AVX-512 has them: so the flag of inexact results tells of all others. The masks
// keep GCC 12 from warning of its own headers.
#if HWY_TARGET == HWY_AVX3
constexpr int kQuietly = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
HWY_INLINE DoubleVector add_quietly(DoubleVector a, DoubleVector b) {
  return DoubleVector{_mm512_maskz_add_round_pd(0xff, a.raw, b.raw, kQuietly)};
}
HWY_INLINE DoubleVector multiply_quietly(DoubleVector a, DoubleVector b) {
  return DoubleVector{_mm512_maskz_mul_round_pd(0xff, a.raw, b.raw, kQuietly)};
}
HWY_INLINE DoubleVector multiply_add_quietly(DoubleVector a, DoubleVector b, DoubleVector c) {
  return DoubleVector{_mm512_fmadd_round_pd(a.raw, b.raw, c.raw, kQuietly)};
}
#else
HWY_INLINE DoubleVector add_quietly(DoubleVector a, DoubleVector b) { return hn::Add(a, b); }
HWY_INLINE DoubleVector multiply_quietly(DoubleVector a, DoubleVector b) { return hn::Mul(a, b); }
HWY_INLINE DoubleVector multiply_add_quietly(DoubleVector a, DoubleVector b, DoubleVector c) { return hn::MulAdd(a, b, c); }
#endif

template <std::size_t kBytes = kUnitBytes>
HWY_INLINE void prefetch(const std::byte* from) {
  constexpr int kForReading = 0, kSecondLevel = 2;
  for (std::size_t offset = 0; offset < kBytes; offset += kCacheLine) {
    __builtin_prefetch(from + kPrefetchBytes + offset, kForReading, kSecondLevel);
  }
}

// Has the compiler compute a sum here: it would put additions off, run out of registers, and ask core::RoundingWatch before it adds.
template <class V>
HWY_INLINE void compute_now(V& sum) {
#if HWY_ARCH_X86
  auto raw = sum.raw;  // a register, where the array of sums is to be registers
  asm volatile("" : "+v"(raw));
  sum.raw = raw;
#elif HWY_ARCH_ARM_A64
  auto raw = sum.raw;
  asm volatile("" : "+w"(raw));
  sum.raw = raw;
#else
  asm volatile("" : "+m"(sum));
#endif
}

// Of lambdas that have to be inlined, as the arrays that they are given are registers.
#define SAMESUM_INLINE_LAMBDA __attribute__((always_inline)) HWY_ATTR

// Calls body(0), …, body(n - 1) with constants, so that arrays indexed by them live in registers.
template <std::size_t n, class Body>
HWY_INLINE void unrolled(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) SAMESUM_INLINE_LAMBDA { (body(std::integral_constant<std::size_t, i>()), ...); }
  (std::make_index_sequence<n>());
}

// A block of elements in one piece, or a part of it in each of several places.
template <std::size_t n>
struct Block {
  std::array<const std::byte*, n> pieces;
  std::size_t piece_bytes;  // a multiple of kUnitBytes
};

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
