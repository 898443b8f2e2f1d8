// The sum, the sum of squares and the extremes at once, compiled once for each instruction set of the processor family and chosen at run
// time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/fused_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "reduce/cpu/products/product_window-inl.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

bool add_floats(const float*, FusedSums&, float&, float&) { return false; }
bool add_doubles(const double*, FusedSums&, double&, double&) { return false; }

#else

constexpr int kUnit = 1074;  // of Accumulator::add_scaled

// Sums that the elements themselves are split over: their squares span twice as much as they do.
template <class T>
constexpr int kSumSlices = sizeof(T) == 4 ? 1 : 2;

// The windows for a block; whether there are any. All squares that fit have roots of which the sum's spacing divides the last bit.
bool find_windows(const float* block, FusedSums& sums) {
  using F = Format<float>;
  const auto range = loops::find_range<float>(bytes(block), F::kBlock);
  if (!find_window(range, range, F::kNarrow, sums.squares_window)) return false;
  const int end = (sums.squares_window.first.end >> 23) - 127;
  sums.sum_window.set_anchors(kSumSlices<float>, end + F::kHeadroom + 1, kDistance<float>, kUnit);
  return true;
}

bool find_windows(const double* block, FusedSums& sums) {
  using F = Format<double>;
  const loops::Range range = range_of_products([&](const auto& look) HWY_ATTR {
    for (std::size_t i = 0; i < F::kBlock; i += kLanes) {
      const V x = hn::LoadU(D(), block + i);
      look(hn::Mul(x, x));
    }
  });
  if (!find_window(range, F::kNarrow, sums.squares_window)) return false;
  const int end = ((sums.squares_window.first.end >> 20) - 1023 + 1) >> 1;
  sums.sum_window.set_anchors(kSumSlices<double>, end + F::kHeadroom + 1, kDistance<double>, kUnit);
  return true;
}

template <class Check>
constexpr bool kLooksAtSquares = std::is_same_v<Check, loops::WholeCheck<double> >;  // and not at the elements

template <std::size_t n, class Check>
HWY_INLINE void add_vector(const float* from, Check&, Sums<2>& squares, Sums<1>& sum) {
  const D d;
  const hn::Rebind<float, D> f;
  loops::unrolled<2>([&](auto half) HWY_ATTR {
    const V x = hn::PromoteTo(d, hn::LoadU(f, from + half * kLanes));
    sum.template add<0, 0, half>(x);
    squares.template add_product<half>(x, x);
  });
}

template <std::size_t n, class Check>
HWY_INLINE void add_vector(const double* from, Check& check, Sums<3>& squares, Sums<2>& sum) {
  const V x = hn::LoadU(D(), from), square = hn::Mul(x, x);
  if constexpr (kLooksAtSquares<Check>) check.look_at_one(square);
  sum.template add<0, 1, n % kChains>(x);
  squares.template add<0, 1, n % kChains>(square);
  squares.template add<1, 2, n % kChains>(hn::MulSub(x, x, square));
}

template <class T, class Check>
bool add_in_windows(const T* block, FusedSums& sums, T& least, T& greatest) {
  using F = Format<T>;
  const hn::ScalableTag<T> d;
  constexpr std::size_t kStep = loops::kUnit<T>, kElements = hn::MaxLanes(d);
  Sums<F::kNarrow> squares(sums.squares_window);
  Sums<kSumSlices<T> > sum(sums.sum_window);
  auto low = hn::LoadU(d, block), high = low;
  Check check;
  const core::RoundingWatch watch;
  for (std::size_t unit = 0; unit < F::kBlock; unit += kStep) {
    if constexpr (!kLooksAtSquares<Check>) check.look_at(bytes(block + unit));
    loops::unrolled<kStep / kElements>([&](auto n) HWY_ATTR {
      const T* const from = block + unit + n * kElements;
      __builtin_prefetch(bytes(from) + 2048);
      const auto elements = hn::LoadU(d, from);
      low = hn::Min(low, elements);
      high = hn::Max(high, elements);
      add_vector<n>(from, check, squares, sum);
    });
  }
  const auto& window = sums.squares_window;
  if (!check.within(sizeof(T) == 4 || kLooksAtSquares<Check> ? window.first : window.second) || watch.underflowed()) return false;
  least = hn::GetLane(hn::MinOfLanes(d, low));
  greatest = hn::GetLane(hn::MaxOfLanes(d, high));
  if (least == 0 && greatest == 0) return false;
  sum.keep(sums.sum_window);
  squares.keep(sums.squares_window);
  sums.elements += F::kBlock;
  return true;
}

template <class T>
bool add_block(const T* block, FusedSums& sums, T& least, T& greatest) {
  return add_in(
      sums.squares_window, [&] { sums.flush(); },
      [&](ProductWindow& w) {
        return w.first.zeros ? add_in_windows<T, loops::WholeCheck<T> >(block, sums, least, greatest)
                             : add_in_windows<T, loops::FastCheck<T> >(block, sums, least, greatest);
      },
      [&](ProductWindow&) { return find_windows(block, sums); });
}

bool add_floats(const float* block, FusedSums& sums, float& least, float& greatest) { return add_block(block, sums, least, greatest); }

bool add_doubles([[maybe_unused]] const double* block, [[maybe_unused]] FusedSums& sums, [[maybe_unused]] double& least,
                 [[maybe_unused]] double& greatest) {
#if HWY_NATIVE_FMA
  return core::RoundingWatch::works() && add_block(block, sums, least, greatest);
#else
  return false;  // what rounding loses of a square would take 17 operations
#endif
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_floats);
SIMD_EXPORT(add_doubles);

bool add_fused_block(const float* block, FusedSums& sums, float& least, float& greatest) {
  return SIMD_CALL(add_floats)(block, sums, least, greatest);
}
bool add_fused_block(const double* block, FusedSums& sums, double& least, double& greatest) {
  return SIMD_CALL(add_doubles)(block, sums, least, greatest);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
