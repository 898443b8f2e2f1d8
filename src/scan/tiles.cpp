// Prefix sums of floats, tile by tile (tiles.hpp). Compiled once for each instruction set of the processor family and chosen at run time.
//
// An element x is split into the nearest multiple of a unit and the rest. The unit is so small that prefixes of the multiples in a tile are
// exact in doubles, in any order of additions, and so large that those of the rests are exact, or off by 2^-80 of the greatest element.
// To both the sum before the tile is added by TwoSum (Knuth; Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26, 2005), and a bound of all that is
// left out decides whether the result is certain (Ziv, TOMS 1991): exact ties, and cancellation beyond the bound, are left to others.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scan/tiles.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "scan/tiles.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifndef SAMESUM_SCAN_TILES
#define SAMESUM_SCAN_TILES
namespace samesum::prefix {

inline double power(int exponent) {  // 2^exponent, a normal number
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// The least e with |x| < 2^e, of a normal number; of others at least that.
inline int exponent_above(double x) { return std::max(1, static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff)) - 1022; }

// The exponent of the lowest bit of x; of zero a great one.
inline int lowest_bit(double x) {
  if (x == 0) return 1024;
  const std::uint64_t fraction = std::bit_cast<std::uint64_t>(x) & 0xfffffffffffff;
  return exponent_above(x) - 1 - 52 + (fraction == 0 ? 52 : std::countr_zero(fraction));
}

inline double error_of(double a, double b, double sum) {
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}

// Adds a number; what does not fit three terms goes to the bound of the error.
inline void add_to(Base& base, double x) {
  double s = base.b0 + x;
  double rest = error_of(base.b0, x, s);
  double t = base.b1 + rest;
  rest = error_of(base.b1, rest, t);
  double u = base.b2 + rest;
  const double lost = error_of(base.b2, rest, u);
  if (lost != 0) base.error = (base.error + std::abs(lost)) * (1 + 0x1p-50);
  // The same sum with terms that do not overlap.
  const double t1 = t + u, u1 = error_of(t, u, t1);
  const double s1 = s + t1, t2 = error_of(s, t1, s1);
  const double t3 = t2 + u1;
  base = {s1, t3, error_of(t2, u1, t3), base.error};
}

// Which way a tile goes, found from the greatest and the least magnitude of its elements that are not zero.
struct Way {
  bool none = false;    // results of this magnitude are left to others
  bool whole = false;   // no element has a rest
  bool simple = false;  // base and elements are so short that b1 + prefix is exact, and b0 + (b1 + prefix) rounded once
  double anchor = 0;    // x + anchor - anchor is the nearest multiple of the unit
  double error = 0;     // of the rests' prefixes
};

inline Way way_of(const Base& base, double greatest, double least, int fraction_bits, int least_bit) {
  constexpr int kTileBits = std::countr_zero(kTile);
  Way way;
  if (!(greatest < 0x1p960) || !(std::abs(base.b0) < 0x1p1000)) {
    way.none = true;
    return way;
  }
  const int top = std::max(exponent_above(greatest), -900);
  const int lowest = least > greatest ? 1024 : std::max(exponent_above(least) - 1 - fraction_bits, least_bit);
  const int unit = top + kTileBits - 52;  // prefixes, at most 2^(top + kTileBits), have up to 2^52 units
  way.whole = lowest >= unit;
  // Rests are at most half a unit; their prefixes have less than 2^53 times the lowest bit, or are rounded.
  if (unit - 1 + kTileBits - 53 > lowest) way.error = power(top - 80);
  way.anchor = 1.5 * power(unit + 52);
  if (way.whole && base.b2 == 0 && base.error == 0) {
    const int bit = std::min(lowest, lowest_bit(base.b1));
    const int size = std::max(top + kTileBits, base.b1 == 0 ? -1000 : exponent_above(base.b1)) + 1;
    way.simple = size - bit <= 53;
  }
  return way;
}

}  // namespace samesum::prefix
#endif

HWY_BEFORE_NAMESPACE();
namespace samesum::prefix {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

template <bool kSkip>
HWY_INLINE V load(D d, const double* from) {
  const V x = hn::LoadU(d, from);
  if constexpr (kSkip) return hn::IfThenElseZero(hn::Eq(x, x), x);
  return x;
}
template <bool kSkip>
HWY_INLINE V load(D d, const float* from) {
  const hn::Rebind<float, D> narrow;
  const V x = hn::PromoteTo(d, hn::LoadU(narrow, from));
  if constexpr (kSkip) return hn::IfThenElseZero(hn::Eq(x, x), x);
  return x;
}

HWY_INLINE V error(V a, V b, V sum) {
  const V of_b = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b));
}

// Prefixes within a vector, by log2 of its lanes' number of shifted additions; and its sum in all lanes.
struct Prefixes {
  HWY_INLINE Prefixes() {
    const hn::RebindToSigned<D> index;
    HWY_ALIGN std::int64_t from[kLanes];
    for (std::size_t step = 1, k = 0; step < kLanes; step *= 2, ++k) {
      for (std::size_t i = 0; i < kLanes; ++i) from[i] = i >= step ? static_cast<std::int64_t>(i - step) : 0;
      hn::Store(hn::Load(index, from), index, places[k]);
    }
    for (std::size_t i = 0; i < kLanes; ++i) from[i] = static_cast<std::int64_t>(kLanes - 1);
    hn::Store(hn::Load(index, from), index, places[3]);
  }
  template <std::size_t kStep>
  HWY_INLINE V shifted(V x) const {
    const D d;
    const hn::RebindToSigned<D> index;
    constexpr std::size_t k = kStep == 1 ? 0 : kStep == 2 ? 1 : 2;
    const V moved = hn::TableLookupLanes(x, hn::IndicesFromVec(d, hn::Load(index, places[k])));
    const auto first = hn::FirstN(d, kStep);
    return hn::IfThenZeroElse(first, moved);
  }
  HWY_INLINE V of(V x) const {
    if constexpr (kLanes > 1) x = hn::Add(x, shifted<1>(x));
    if constexpr (kLanes > 2) x = hn::Add(x, shifted<2>(x));
    if constexpr (kLanes > 4) x = hn::Add(x, shifted<4>(x));
    return x;
  }
  HWY_INLINE V last(V x) const {
    const D d;
    const hn::RebindToSigned<D> index;
    return hn::TableLookupLanes(x, hn::IndicesFromVec(d, hn::Load(index, places[3])));
  }
  alignas(64) std::int64_t places[4][kLanes];
};

HWY_INLINE void store(V x, double* to) { hn::StoreU(x, D(), to); }
HWY_INLINE void store(V x, float* to) {
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, x), narrow, to);
}

// Of results r, whose exact values are off by at most `off`: stores them, and returns whether one is not certain.
HWY_INLINE hn::Mask<D> store_certain(V r, V off, double* to) {
  const D d;
  store(r, to);
  const V far = hn::Mul(off, hn::Set(d, 1 + 0x1p-40));
  return hn::Or(hn::Ne(hn::Add(r, far), r), hn::Ne(hn::Sub(r, far), r));
}
HWY_INLINE hn::Mask<D> store_certain(V r, V off, float* to) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const hn::RebindToUnsigned<decltype(narrow)> bits;
  const V far =
      hn::IfThenElseZero(hn::Ne(off, hn::Zero(d)), hn::MulAdd(hn::Abs(r), hn::Set(d, 0x1p-51), hn::Mul(off, hn::Set(d, 1 + 0x1p-40))));
  const auto low = hn::DemoteTo(narrow, hn::Sub(r, far)), high = hn::DemoteTo(narrow, hn::Add(r, far));
  hn::StoreU(low, narrow, to);
  const auto differ = hn::Xor(hn::BitCast(bits, low), hn::BitCast(bits, high));
  const hn::Rebind<std::int64_t, D> wide;
  const hn::RebindToSigned<decltype(narrow)> ints;
  return hn::RebindMask(d, hn::Ne(hn::PromoteTo(wide, hn::BitCast(ints, differ)), hn::Zero(wide)));
}

// `vectors` whole vectors. False where a result is not certain: then `base` is as before.
template <bool kSkip, class T, class U>
HWY_INLINE bool scan_tile(const Prefixes& prefixes, const T* x, std::size_t vectors, Base& base, U* to) {
  const D d;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const V zero = hn::Zero(d);
  V greatest = zero, least = hn::Set(d, kInfinity), special = zero;
  for (std::size_t i = 0; i < vectors; ++i) {
    const V size = hn::Abs(load<kSkip>(d, x + i * kLanes));
    greatest = hn::Max(greatest, size);
    least = hn::Min(least, hn::IfThenElse(hn::Eq(size, zero), hn::Set(d, kInfinity), size));
    special = hn::MulAdd(size, zero, special);
  }
  HWY_ALIGN double most[kLanes], fewest[kLanes];
  hn::Store(greatest, d, most);
  hn::Store(least, d, fewest);
  for (std::size_t k = 1; k < kLanes; ++k) {
    most[0] = std::max(most[0], most[k]);
    fewest[0] = std::min(fewest[0], fewest[k]);
  }
  if (!hn::AllTrue(d, hn::Eq(special, zero))) return false;
  constexpr bool kNarrow = std::is_same_v<T, float>;
  const Way way = way_of(base, most[0], fewest[0], kNarrow ? 23 : 52, kNarrow ? -149 : -1074);
  // Floats beyond their range are left to others too.
  if (way.none || (std::is_same_v<U, float> && !(most[0] < 0x1p110 && std::abs(base.b0) < 0x1p120))) return false;
  const V b0 = hn::Set(d, base.b0), b1 = hn::Set(d, base.b1);
  V total = zero, rests = zero;
  auto uncertain = hn::Ne(zero, zero);
  if (way.simple) {
    for (std::size_t i = 0; i < vectors; ++i) {
      const V prefix = prefixes.of(load<kSkip>(d, x + i * kLanes));
      const V local = hn::Add(b1, hn::Add(total, prefix));
      total = hn::Add(total, prefixes.last(prefix));
      const V r = hn::Add(b0, local);
      if constexpr (std::is_same_v<U, double>) {
        store(r, to + i * kLanes);
      } else {
        uncertain = hn::Or(uncertain, store_certain(r, hn::Abs(error(b0, local, r)), to + i * kLanes));
      }
    }
  } else {
    const V anchor = hn::Set(d, way.anchor), b2 = hn::Set(d, std::abs(base.b2) + base.error + way.error);
    for (std::size_t i = 0; i < vectors; ++i) {
      const V number = load<kSkip>(d, x + i * kLanes);
      V upper = number, t = b1, tail = b2;
      if (!way.whole) {
        upper = hn::Sub(hn::Add(number, anchor), anchor);
        const V prefix = prefixes.of(hn::Sub(number, upper));
        const V rest = hn::Add(rests, prefix);
        rests = hn::Add(rests, prefixes.last(prefix));
        t = hn::Add(b1, rest);
        tail = hn::Add(tail, hn::Abs(error(b1, rest, t)));
      }
      const V prefix = prefixes.of(upper);
      const V local = hn::Add(total, prefix);
      total = hn::Add(total, prefixes.last(prefix));
      const V s = hn::Add(b0, local);
      const V lost = error(b0, local, s);
      const V u = hn::Add(lost, t);
      tail = hn::Add(tail, hn::Abs(error(lost, t, u)));
      const V r = hn::Add(s, u);
      const V rest = hn::Abs(error(s, u, r));
      const auto wrong = store_certain(r, hn::Add(rest, tail), to + i * kLanes);
      // Of doubles without a tail r is rounded once, ties too.
      uncertain = hn::Or(uncertain, std::is_same_v<U, double> ? hn::And(wrong, hn::Ne(tail, zero)) : wrong);
    }
  }
  if (!hn::AllFalse(d, uncertain)) return false;
  add_to(base, hn::GetLane(total));
  if (!way.whole && !way.simple) {
    add_to(base, hn::GetLane(rests));
    if (way.error != 0) base.error = (base.error + way.error) * (1 + 0x1p-50);
  }
  return true;
}

template <bool kSkip, class T, class U>
HWY_INLINE std::size_t scan_all(const T* x, std::size_t count, Base& base, U* to) {
  const Prefixes prefixes;
  for (std::size_t done = 0; done < count; done += kTile) {
    const std::size_t size = std::min(kTile, count - done), whole = size / kLanes;
    if (size == whole * kLanes) {
      if (!scan_tile<kSkip>(prefixes, x + done, whole, base, to + done)) return done;
      continue;
    }
    alignas(64) T padded[kTile];
    alignas(64) U results[kTile];
    std::copy_n(x + done, size, padded);
    std::fill(padded + size, padded + (whole + 1) * kLanes, T{0});
    if (!scan_tile<kSkip>(prefixes, padded, whole + 1, base, results)) return done;
    std::copy_n(results, size, to + done);
  }
  return count;
}

#define SAMESUM_SCAN(name, T, U)                                                            \
  std::size_t name(const T* x, std::size_t count, bool skip, Base& base, U* to) {           \
    return skip ? scan_all<true>(x, count, base, to) : scan_all<false>(x, count, base, to); \
  }
SAMESUM_SCAN(float32_as_float32, float, float)
SAMESUM_SCAN(float32_as_float64, float, double)
SAMESUM_SCAN(float64_as_float32, double, float)
SAMESUM_SCAN(float64_as_float64, double, double)
#undef SAMESUM_SCAN

}  // namespace HWY_NAMESPACE
}  // namespace samesum::prefix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::prefix {

SIMD_EXPORT(float32_as_float32);
SIMD_EXPORT(float32_as_float64);
SIMD_EXPORT(float64_as_float32);
SIMD_EXPORT(float64_as_float64);

template <>
std::size_t scan_tiles(const float* x, std::size_t count, bool skip, Base& base, float* to) {
  return SIMD_CALL(float32_as_float32)(x, count, skip, base, to);
}
template <>
std::size_t scan_tiles(const float* x, std::size_t count, bool skip, Base& base, double* to) {
  return SIMD_CALL(float32_as_float64)(x, count, skip, base, to);
}
template <>
std::size_t scan_tiles(const double* x, std::size_t count, bool skip, Base& base, float* to) {
  return SIMD_CALL(float64_as_float32)(x, count, skip, base, to);
}
template <>
std::size_t scan_tiles(const double* x, std::size_t count, bool skip, Base& base, double* to) {
  return SIMD_CALL(float64_as_float64)(x, count, skip, base, to);
}

}  // namespace samesum::prefix
#endif
