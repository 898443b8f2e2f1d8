// The sum, the sum of squares and the extremes at once, compiled once for each instruction set of the processor family and chosen at run
// time.
//
// Whether the sums of a block are exact is known from its elements, which are looked at; with quiet operations (product_window-inl.hpp)
// from the flag of inexact results, which costs nothing and tells whether the last sums have lost something. That the first ones have
// stayed in the binades of their anchors is then known when they are done: sums of squares never fall, so the last ones are the greatest;
// and they bound the elements' sums.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/fused_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "reduce/cpu/halves-inl.hpp"
#include "reduce/cpu/halves.hpp"
#include "reduce/cpu/products/product_window-inl.hpp"
#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_watched-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

bool add_floats(const float*, std::size_t, FusedSums&, float&, float&) { return false; }
bool add_doubles(const double*, std::size_t, FusedSums&, double&, double&) { return false; }
bool add_halves(const std::byte*, std::size_t, DType, FusedHalves&) { return false; }

#else

using Windows = FusedSums::Windows;
constexpr int kUnit = 1074;  // of Accumulator::add_scaled

// Sums that squares are split over, and the elements themselves, which span half as much. Where the flag tells whether they suffice, two
// do for doubles.
template <class T, bool kWide>
constexpr int kSquareSlices = kWide ? Format<T>::kWide : Format<T>::kNarrow;
template <class T, bool kWide>
constexpr int kSumSlices = HWY_TARGET == HWY_AVX3 && sizeof(T) == sizeof(double) ? 2 : kSquareSlices<T, kWide> - 1;

HWY_INLINE V load_doubles(const float* from) { return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), from)); }
HWY_INLINE V load_doubles(const double* from) { return hn::LoadU(D(), from); }

// The n-th of two vectors of elements of a place, again and again. Wide sums take four floats of a lane as one double, which as a rule is
// exact; `pair` is on its way there.
template <std::size_t kPlace, std::size_t n, int kSquares, int kSum>
HWY_INLINE void add_vector(const float* from, Sums<kSquares>& squares, Sums<kSum>& sum, V& pair) {
  V x[2];
  loops::unrolled<2>([&](auto half) HWY_ATTR {
    x[half] = load_doubles(from + half * kLanes);
    if constexpr (kSum == 1) sum.template add<0, 0, half>(x[half]);
    squares.template add_product<half>(x[half], x[half]);
  });
  if constexpr (kSum > 1) {
    const V other = pair;
    pair = hn::Add(x[0], x[1]);
    if constexpr (n == 1) sum.template add<0, kSum - 1, kPlace % kChains>(hn::Add(other, pair));
  }
}
template <std::size_t kPlace, std::size_t n, int kSquares, int kSum>
HWY_INLINE void add_vector(const double* from, Sums<kSquares>& squares, Sums<kSum>& sum, V&) {
  const V x = load_doubles(from), square = multiply_quietly(x, x);
  sum.template add<0, kSum - 1, n>(x);
  squares.template add<0, kSquares - 2, n>(square);
  squares.template add<1, kSquares - 1, n>(hn::MulSub(x, x, square));
}

#if HWY_TARGET == HWY_AVX3

// The windows for blocks like this one; whether there are any, and other ones than before.
template <class T, bool kWide>
bool find_windows(const T* from, std::size_t distance, Windows& windows) {
  constexpr int kBits = Format<T>::kHeadroom, kApart = kDistance<T>;
  V squares = hn::Zero(D());
  for (std::size_t place = 0; place < kPlaces; ++place) {
    for (std::size_t i = 0; i < fused_part(sizeof(T)); i += kLanes) {
      const V x = load_doubles(from + place * distance + i);
      squares = hn::MulAdd(x, x, squares);
    }
  }
  const double most = hn::GetLane(hn::MaxOfLanes(D(), squares));  // of all running sums in a lane
  if (!(most < 0x1p960 && most > 0x1p-860)) return false;         // the anchors are normal numbers
  const int anchor = std::ilogb(most) + 2;                        // sums reach half its binade
  const double before = windows.squares.slices == 0 ? 0 : windows.squares.anchors[0];
  windows.squares.set_anchors(kSquareSlices<T, kWide>, anchor, kApart, ProductAccumulator::kUnit);
  // By Cauchy and Schwarz: n elements whose squares add up to less than 2^anchor, in two sums, add up to less than the root of n 2^anchor.
  windows.sum.set_anchors(kSumSlices<T, kWide>, (kBits + anchor) / 2 + 2, kApart, kUnit);
  return windows.squares.anchors[0] != before;
}

// As Min and Max, which do not tell zeros apart; here -0.0 is less than 0.0. Of two numbers the result has the sign of the one that is
// taken.
constexpr int kLeast = 4, kGreatest = 5;
template <int kWhich>
HWY_INLINE auto extreme(hn::Vec<hn::ScalableTag<float> > a, hn::Vec<hn::ScalableTag<float> > b) {
  return hn::Vec<hn::ScalableTag<float> >{_mm512_maskz_range_ps(0xffff, a.raw, b.raw, kWhich)};
}
template <int kWhich>
HWY_INLINE auto extreme(V a, V b) {
  return V{_mm512_maskz_range_pd(0xff, a.raw, b.raw, kWhich)};
}

// The end of a block: whether its sums are exact and some of its elements are not zero. Then keeps the sums, and tells the extremes.
template <class T, class Squares, class Sum, class Vec>
HWY_INLINE bool keep_if_exact(const core::RoundingWatch& watch, Squares& squares, Sum& sum, Vec low, Vec high, Windows& windows, T& least,
                              T& greatest) {
  const hn::ScalableTag<T> d;
  squares.compute_now();
  sum.compute_now();
  const V end = hn::Set(D(), 4.0 / 3 * windows.squares.anchors[0]);  // an anchor is 1.5 times its binade's beginning
  if (watch.rounded() || !hn::AllTrue(D(), squares.below(end))) return false;
  least = hn::GetLane(hn::MinOfLanes(d, low));
  greatest = hn::GetLane(hn::MaxOfLanes(d, high));
  if (least == 0 && greatest == 0) return false;
  const hn::RebindToSigned<decltype(d)> signs;
  if (least == 0) least = hn::AllFalse(signs, hn::Lt(hn::BitCast(signs, low), hn::Zero(signs))) ? T{0} : -T{0};
  if (greatest == 0) greatest = hn::AllTrue(signs, hn::Lt(hn::BitCast(signs, high), hn::Zero(signs))) ? -T{0} : T{0};
  sum.keep(windows.sum);
  squares.keep(windows.squares);
  return true;
}

template <class T, bool kWide>
bool add_in_windows(const T* from, std::size_t distance, Windows& windows, T& least, T& greatest) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kElements = hn::MaxLanes(d);
  Sums<kSquareSlices<T, kWide> > squares(windows.squares);
  Sums<kSumSlices<T, kWide> > sum(windows.sum);
  auto low = hn::LoadU(d, from), high = low;
  const core::RoundingWatch watch;
  V pair = hn::Zero(D());
  for (std::size_t i = 0; i < fused_part(sizeof(T)); i += 2 * kElements) {
    loops::unrolled<kPlaces>([&](auto place) SAMESUM_INLINE_LAMBDA {
      loops::unrolled<2>([&](auto n) SAMESUM_INLINE_LAMBDA {
        const T* const at = from + place * distance + i + n * kElements;
        loops::prefetch<loops::kVectorBytes>(bytes(at));
        const auto elements = hn::LoadU(d, at);
        low = extreme<kLeast>(low, elements);
        high = extreme<kGreatest>(high, elements);
        add_vector<place, n>(at, squares, sum, pair);
      });
    });
  }
  return keep_if_exact(watch, squares, sum, low, high, windows, least, greatest);
}

template <bool kWide, class T>
bool add_block_in(Windows& windows, const T* from, std::size_t distance, FusedSums& sums, T& least, T& greatest) {
  return core::RoundingWatch::works() &&
         add_in(
             windows.squares, [&] { sums.flush(windows); },
             [&](ProductWindow&) { return add_in_windows<T, kWide>(from, distance, windows, least, greatest); },
             [&](ProductWindow&) { return find_windows<T, kWide>(from, distance, windows); });
}

#else

// The windows for a block; whether there are any. All squares that fit have roots of which the sum's spacing divides the last bit.
template <bool kWide>
bool find_windows(const float* from, std::size_t distance, Windows& windows) {
  using F = Format<float>;
  const loops::Range range = range_in_places(from, distance, fused_part(sizeof(float)), kPlaces);
  if (!find_window(range, range, kSquareSlices<float, kWide>, windows.squares)) return false;
  const int end = (windows.squares.first.end >> 23) - 127;
  windows.sum.set_anchors(kSumSlices<float, kWide>, end + F::kHeadroom + 1, kDistance<float>, kUnit);
  return true;
}
template <bool kWide>
bool find_windows(const double* from, std::size_t distance, Windows& windows) {
  using F = Format<double>;
  const loops::Range range = range_of_products([&](const auto& look) HWY_ATTR {
    for (std::size_t place = 0; place < kPlaces; ++place) {
      for (std::size_t i = 0; i < fused_part(sizeof(double)); i += kLanes) {
        const V x = load_doubles(from + place * distance + i);
        look(hn::Mul(x, x));
      }
    }
  });
  if (!find_window(range, kSquareSlices<double, kWide>, windows.squares)) return false;
  const int end = ((windows.squares.first.end >> 20) - 1023 + 1) >> 1;
  windows.sum.set_anchors(kSumSlices<double, kWide>, end + F::kHeadroom + 1, kDistance<double>, kUnit);
  return true;
}

template <class Check>
constexpr bool kLooksAtSquares = std::is_same_v<Check, loops::WholeCheck<double> >;  // and not at the elements

template <bool kWide, class Check, class T>
bool add_in_windows(const T* from, std::size_t distance, Windows& windows, T& least, T& greatest) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kStep = loops::kUnit<T>, kElements = hn::MaxLanes(d);
  Sums<kSquareSlices<T, kWide> > squares(windows.squares);
  Sums<kSumSlices<T, kWide> > sum(windows.sum);
  auto low = hn::LoadU(d, from), high = low;
  V pair = hn::Zero(D());
  Check check;
  const core::RoundingWatch watch;
  for (std::size_t i = 0; i < fused_part(sizeof(T)); i += kStep) {
    loops::unrolled<kPlaces>([&](auto place) SAMESUM_INLINE_LAMBDA {
      const T* const unit = from + place * distance + i;
      if constexpr (!kLooksAtSquares<Check>) check.look_at(bytes(unit));
      loops::unrolled<kStep / kElements>([&](auto n) SAMESUM_INLINE_LAMBDA {
        const T* const at = unit + n * kElements;
        loops::prefetch<loops::kVectorBytes>(bytes(at));
        const auto elements = hn::LoadU(d, at);
        low = hn::Min(low, elements);
        high = hn::Max(high, elements);
        if constexpr (kLooksAtSquares<Check>) check.look_at_one(hn::Mul(elements, elements));
        add_vector<place, n % 2>(at, squares, sum, pair);
      });
    });
  }
  if (!check.within(sizeof(T) == 4 || kLooksAtSquares<Check> ? windows.squares.first : windows.squares.second)) return false;
  if (watch.underflowed()) return false;
  least = hn::GetLane(hn::MinOfLanes(d, low));
  greatest = hn::GetLane(hn::MaxOfLanes(d, high));
  if (least == 0 && greatest == 0) return false;
  if (least == 0) least = -T{0};  // perhaps: vectors do not tell
  if (greatest == 0) greatest = T{0};
  sum.keep(windows.sum);
  squares.keep(windows.squares);
  return true;
}

template <bool kWide, class T>
bool add_block_in(Windows& windows, const T* from, std::size_t distance, FusedSums& sums, T& least, T& greatest) {
  // Without a fused multiply-add, what rounding loses of a square of doubles would take 17 operations. For wide sums of floats there are
  // not registers enough: one loop after the other is faster.
  constexpr bool kPays = sizeof(T) == sizeof(double) ? HWY_NATIVE_FMA : !kWide;
  if constexpr (kPays) {
    if (sizeof(T) == sizeof(float) || core::RoundingWatch::works()) {
      return add_in(
          windows.squares, [&] { sums.flush(windows); },
          [&](ProductWindow& w) {
            return w.first.zeros ? add_in_windows<kWide, loops::WholeCheck<T> >(from, distance, windows, least, greatest)
                                 : add_in_windows<kWide, loops::FastCheck<T> >(from, distance, windows, least, greatest);
          },
          [&](ProductWindow&) { return find_windows<kWide>(from, distance, windows); });
    }
  }
  return windows.squares.tries.done(false);
}

#endif  // AVX-512

template <class T>
bool add_block(const T* from, std::size_t distance, FusedSums& sums, T& least, T& greatest) {
  const bool done = add_block_in<false>(sums.narrow, from, distance, sums, least, greatest) ||
                    add_block_in<true>(sums.wide, from, distance, sums, least, greatest);
  if (done) sums.elements += kPlaces * fused_part(sizeof(T));
  return done;
}

bool add_floats(const float* from, std::size_t distance, FusedSums& sums, float& least, float& greatest) {
  return add_block(from, distance, sums, least, greatest);
}
bool add_doubles(const double* from, std::size_t distance, FusedSums& sums, double& least, double& greatest) {
  return add_block(from, distance, sums, least, greatest);
}

// What the running sums of squares have room for grows less if their upper bits go to other sums now and then.
constexpr std::size_t kHalvesRun = 256 / kPlaces;

template <class Half>
bool add_halves_as(const std::byte* from, std::size_t distance, FusedHalves& sums) {
  if (!loops::may_watch(sums)) return false;
  using loops::Floats;
  constexpr std::size_t kElements = loops::kVectorBytes / sizeof(Half);
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::ScalableTag<std::int16_t> signed16;
  const V upper_bits = hn::BitCast(D(), hn::Set(hn::Repartition<std::uint64_t, D>(), ~std::uint64_t{0} << 33));
  // Magnitudes with a sign bit: as unsigned numbers negative ones are the greatest, as signed ones the least, and those that are further
  // from zero are greater.
  auto least_bits = hn::Set(d16, 0xffff), most_bits = hn::Zero(d16);
  auto most = hn::Set(signed16, std::numeric_limits<std::int16_t>::min());
  const core::RoundingWatch watch;
  V sum[4], upper[4], squares[4];
  loops::unrolled<4>([&](auto i) SAMESUM_INLINE_LAMBDA { sum[i] = upper[i] = squares[i] = hn::Zero(D()); });
  for (std::size_t run = 0; run < FusedHalves::kPart; run += kHalvesRun) {
    for (std::size_t i = run; i < run + kHalvesRun; i += kElements) {
      loops::unrolled<kPlaces>([&](auto place) SAMESUM_INLINE_LAMBDA {
        const std::byte* const at = from + (place * distance + i) * sizeof(Half);
        loops::prefetch<loops::kVectorBytes>(at);
        const auto bits = loops::load(d16, at);
        least_bits = hn::Min(least_bits, bits);
        most_bits = hn::Max(most_bits, bits);
        most = hn::Max(most, hn::BitCast(signed16, bits));
        loops::unrolled<2>([&](auto n) SAMESUM_INLINE_LAMBDA {
          const auto floats = loops::load_as_floats(Half{}, at + n * loops::kVectorBytes / 2);
          const V x[] = {hn::PromoteTo(D(), hn::LowerHalf(floats)), hn::PromoteTo(D(), hn::UpperHalf(hn::Half<Floats>(), floats))};
          loops::unrolled<2>([&](auto half) SAMESUM_INLINE_LAMBDA {
            V& to = sum[2 * n + half];
            V& square = squares[2 * n + half];
            to = hn::Add(to, x[half]);
            square = hn::MulAdd(x[half], x[half], square);
            loops::compute_now(to);
            loops::compute_now(square);
          });
        });
      });
    }
    loops::unrolled<4>([&](auto n) SAMESUM_INLINE_LAMBDA {
      const V to_upper = hn::And(squares[n], upper_bits);
      squares[n] = hn::Sub(squares[n], to_upper);
      upper[n] = hn::Add(upper[n], to_upper);
    });
  }
  const V all[] = {sum[0],
                   sum[1],
                   sum[2],
                   sum[3],
                   hn::Add(upper[0], upper[1]),
                   hn::Add(upper[2], upper[3]),
                   hn::Add(squares[0], squares[1]),
                   hn::Add(squares[2], squares[3])};
  if (!loops::keep_if_exact(watch, all, sums)) return false;
  const std::uint16_t fewest = hn::GetLane(hn::MinOfLanes(d16, least_bits)), highest = hn::GetLane(hn::MaxOfLanes(d16, most_bits));
  const std::int16_t greatest = hn::GetLane(hn::MaxOfLanes(signed16, most));
  constexpr std::uint16_t kSign = 0x8000;
  sums.least = highest < kSign ? fewest : highest;
  sums.greatest = greatest < 0 ? fewest : static_cast<std::uint16_t>(greatest);
  return ((sums.least | sums.greatest) & ~kSign) != 0;
}

bool add_halves(const std::byte* from, std::size_t distance, DType type, FusedHalves& sums) {
  return type == DType::float16 ? add_halves_as<core::Float16>(from, distance, sums) : add_halves_as<core::BFloat16>(from, distance, sums);
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_floats);
SIMD_EXPORT(add_doubles);
SIMD_EXPORT(add_halves);

bool add_fused_block(const float* from, std::size_t distance, FusedSums& sums, float& least, float& greatest) {
  return SIMD_CALL(add_floats)(from, distance, sums, least, greatest);
}
bool add_fused_block(const double* from, std::size_t distance, FusedSums& sums, double& least, double& greatest) {
  return SIMD_CALL(add_doubles)(from, distance, sums, least, greatest);
}
bool add_fused_halves(const std::byte* from, std::size_t distance, DType type, FusedHalves& sums) {
  if (!SIMD_CALL(add_halves)(from, distance, type, sums)) return false;
  sums.elements += kPlaces * FusedHalves::kPart;
  return true;
}
bool add_fused_block(const std::byte* from, std::size_t distance, DType type, FusedSums& sums, float& least, float& greatest) {
  constexpr std::size_t kPart = fused_part(sizeof(float));
  alignas(64) float block[kPlaces * kPart];
  for (std::size_t place = 0; place < kPlaces; ++place) {
    reduction::halves_to_floats(from + place * distance * size_of(type), kPart, type, block + place * kPart);
  }
  return add_fused_block(block, kPart, sums, least, greatest);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
