// Sums and sums of squares that may be rounded, with a bound: each is split over two sums in registers, whatever its size, and what these
// do not hold is rounded away. So nothing has to look at an element, and of doubles nothing at what rounding lost of a square. Compiled
// once for each instruction set of the processor family and chosen at run time.
//
// That all sums stay in the binades of their anchors is known when they are done: sums of squares never fall, so the last ones are the
// greatest; and they bound the elements, and with these their sums.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/enclosed_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "reduce/cpu/products/product_window-inl.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

template <class T, bool kSum>
bool add_enclosed(const T*, std::size_t, EnclosedSums&) {
  return false;
}

#else

constexpr std::size_t kPart = EnclosedSums::kPart;
// Running sums of a slice, in turns: enough to hide the latency of an addition.
template <bool kSum>
constexpr std::size_t kTurns = kSum ? 2 : 4;
// A running sum takes 2^kHeadroom numbers of a block.
template <bool kSum>
constexpr int kHeadroom = std::countr_zero(kPlaces* kPart / (kTurns<kSum> * kLanes));
constexpr int kRoom = 2;     // bits, for greater elements in blocks to come
constexpr int kUnit = 1074;  // of Accumulator::add_scaled
constexpr int kScaleBits = 544;
constexpr double kScale = 0x1p-544;

// Makes windows for blocks with such elements; whether there are any.
template <class T, bool kSum>
bool find_windows(const T* from, std::size_t distance, EnclosedSums& sums) {
  const hn::ScalableTag<T> d;
  auto greatest = hn::Zero(d);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    for (std::size_t i = 0; i < kPart; i += hn::MaxLanes(d)) {
      greatest = hn::Max(greatest, hn::Abs(hn::LoadU(d, from + place * distance + i)));
    }
  }
  double most = hn::GetLane(hn::MaxOfLanes(d, greatest));
  if (!std::isfinite(most) || (most < 0x1p-440 && most != 0)) return false;
  sums.scales = most >= 0x1p480;  // the anchors are normal numbers
  if (sums.scales) most *= kScale;
  constexpr int kBits = kHeadroom<kSum>, kApart = 52 - kBits;
  const int end =
      2 * (most == 0 ? 0 : std::ilogb(most) + 1);  // squares are below 2^end, and sums of them below half of the first anchor's binade
  const int anchor = end + kBits + 1 + kRoom;
  const int scale_bits = sums.scales ? kScaleBits : 0;
  sums.squares_window.set_anchors(2, anchor, kApart, ProductAccumulator::kUnit + 2 * scale_bits);
  // By Cauchy and Schwarz: n elements whose squares add up to less than 2^(anchor - 1) add up to less than the root of n 2^(anchor - 1).
  if (kSum) sums.sum_window.set_anchors(2, (kBits + anchor) / 2 + 2, kApart, kUnit + scale_bits);
  return true;
}

// Where operations can be quiet, the flag tells whether four floats of a lane add up to a double, which is cheaper to split.
template <class T, bool kSum>
constexpr bool kMayAddFours = (HWY_TARGET == HWY_AVX3) && kSum && sizeof(T) == sizeof(float);

// kScales: what scaling makes denormal is rounded to zero, which is far less than the last sums' spacing.
template <class T, bool kSum, bool kScales, bool kFours>
bool add_in_windows(const T* from, std::size_t distance, EnclosedSums& sums) {
  struct Exactly {};
  [[maybe_unused]] const std::conditional_t<kScales, core::AnyDenormals, std::conditional_t<kFours, core::RoundingWatch, Exactly> > mode;
  const hn::Rebind<T, D> numbers;
  constexpr bool kRounds = kMayAddFours<T, kSum>;
  Sums<2, kTurns<kSum>, kRounds> squares(sums.squares_window);
  Sums<2, kTurns<kSum>, kRounds> sum(sums.sum_window);
  [[maybe_unused]] V pair = hn::Zero(D());
  for (std::size_t i = 0; i < kPart; i += 2 * kLanes) {
    loops::unrolled<kPlaces>([&](auto place) SAMESUM_INLINE_LAMBDA {
      const T* const at = from + place * distance + i;
      loops::prefetch<2 * kLanes * sizeof(T)>(bytes(at));
      V x[2];
      loops::unrolled<2>([&](auto n) SAMESUM_INLINE_LAMBDA {
        constexpr std::size_t kTurn = (2 * place + n) % kTurns<kSum>;
        const auto element = hn::LoadU(numbers, at + n * kLanes);
        if constexpr (sizeof(T) == sizeof(float)) {
          x[n] = hn::PromoteTo(D(), element);
        } else {
          x[n] = kScales ? hn::Mul(element, hn::Set(D(), kScale)) : element;
        }
        squares.template add_product<kTurn>(x[n], x[n]);
        if constexpr (kSum && !kFours) sum.template add<0, 1, kTurn>(x[n]);
      });
      if constexpr (kFours) {
        const V other = pair;
        pair = hn::Add(x[0], x[1]);
        if constexpr (place % 2 == 1) sum.template add<0, 1, place / 2>(hn::Add(other, pair));
      }
    });
  }
  if constexpr (kFours) {
    sum.compute_now();
    if (mode.rounded()) return false;
  }
  const V end = hn::Set(D(), 4.0 / 3 * sums.squares_window.anchors[0]);  // an anchor is 1.5 times its binade's beginning
  if (!hn::AllTrue(D(), squares.below(end))) return false;
  squares.keep(sums.squares_window);
  if (kSum) sum.keep(sums.sum_window);
  sums.elements += kPlaces * kPart;
  return true;
}

template <class T, bool kSum>
bool add_enclosed(const T* from, std::size_t distance, EnclosedSums& sums) {
  return add_in(
      sums.squares_window, [&] { sums.flush(); },
      [&](ProductWindow&) {
        if constexpr (sizeof(T) == sizeof(double)) {
          if (sums.scales) return add_in_windows<T, kSum, true, false>(from, distance, sums);
        }
        if constexpr (kMayAddFours<T, kSum>) {
          if (core::RoundingWatch::works() && sums.fours.now() &&
              sums.fours.done(add_in_windows<T, kSum, false, true>(from, distance, sums))) {
            return true;
          }
        }
        return add_in_windows<T, kSum, false, false>(from, distance, sums);
      },
      [&](ProductWindow&) { return find_windows<T, kSum>(from, distance, sums); });
}

#endif

bool add_floats(const float* from, std::size_t distance, bool sum, EnclosedSums& sums) {
  return sum ? add_enclosed<float, true>(from, distance, sums) : add_enclosed<float, false>(from, distance, sums);
}
bool add_doubles(const double* from, std::size_t distance, bool sum, EnclosedSums& sums) {
  return sum ? add_enclosed<double, true>(from, distance, sums) : add_enclosed<double, false>(from, distance, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_floats);
SIMD_EXPORT(add_doubles);

void EnclosedSums::flush() noexcept {
  // An element is rounded to less than the second sum's spacing.
  const double rounded = static_cast<double>(squares_window.blocks) * kPlaces * kPart;
  if (squares_window.slices != 0) slack.squares.add({rounded, squares_window.positions[1] - ProductAccumulator::kUnit});
  if (sum_window.slices != 0) slack.sum += std::ldexp(rounded, sum_window.positions[1] - 1074);
  sum_window.flush(sum);
  squares_window.flush(squares);
}

bool add_enclosed_block(const float* from, std::size_t distance, bool with_sum, EnclosedSums& sums) {
  return SIMD_CALL(add_floats)(from, distance, with_sum, sums);
}
bool add_enclosed_block(const double* from, std::size_t distance, bool with_sum, EnclosedSums& sums) {
  return SIMD_CALL(add_doubles)(from, distance, with_sum, sums);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
