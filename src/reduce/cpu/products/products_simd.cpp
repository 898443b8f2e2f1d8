// Products of floats on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "reduce/cpu/products/product_window-inl.hpp"
#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_watched-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void add_floats(const float* a, const float* b, std::size_t count, PartialProducts& partial) { add_products_to_bins(a, b, count, partial); }
bool add_halves(const std::byte*, const std::byte*, DType, PartialProducts&) { return false; }

#else

using Floats = hn::Rebind<float, D>;
constexpr std::size_t kUnit = 2 * hn::MaxLanes(hn::Repartition<float, D>());  // that is looked at in one go

// Adds `count` products of each of several places, one every `distance` elements, to the window's sums, if their factors lie within it.
// Looking and adding are done in one go, and the sums are thrown away where they turn out not to be exact.
template <bool kSquares, int kSlices, class Check>
bool add_in_window(const float* a, const float* b, std::size_t distance, std::size_t count, ProductWindow& window) {
  const D d;
  const Floats f;
  Sums<kSlices> sums(window);
  Check a_check, b_check;
  for (std::size_t i = 0; i < count; i += kUnit) {
    loops::unrolled<kPlacesOf<kSquares> >([&](auto place) SAMESUM_INLINE_LAMBDA {
      const float* const x_at = a + place * distance + i;
      const float* const y_at = b + place * distance + i;
      loops::prefetch<kUnit * sizeof(float)>(bytes(x_at));
      a_check.look_at_two(bytes(x_at));
      if constexpr (!kSquares) {
        loops::prefetch<kUnit * sizeof(float)>(bytes(y_at));
        b_check.look_at_two(bytes(y_at));
      }
      loops::unrolled<kUnit / kLanes>([&](auto n) SAMESUM_INLINE_LAMBDA {
        const auto x = hn::PromoteTo(d, hn::LoadU(f, x_at + n * kLanes));
        const auto y = kSquares ? x : hn::PromoteTo(d, hn::LoadU(f, y_at + n * kLanes));
        sums.template add_product<n % kChains>(x, y);
      });
    });
  }
  if (!a_check.within(window.first) || (!kSquares && !b_check.within(window.second))) return false;
  sums.keep(window);
  return true;
}

template <bool kSquares, int kSlices>
bool add_in_any_window(const float* a, const float* b, std::size_t distance, std::size_t count, ProductWindow& window,
                       ProductAccumulator& total) {
  return add_in(
      window, [&] { window.flush(total); },
      [&](ProductWindow& w) {
        return w.first.zeros || w.second.zeros ? add_in_window<kSquares, kSlices, loops::WholeCheck<float> >(a, b, distance, count, w)
                                               : add_in_window<kSquares, kSlices, loops::FastCheck<float> >(a, b, distance, count, w);
      },
      [&](ProductWindow& w) {
        const auto range = range_in_places(a, distance, count, kPlacesOf<kSquares>);
        return find_window(range, kSquares ? range : range_in_places(b, distance, count, kPlacesOf<kSquares>), kSlices, w);
      });
}

// Adds products as doubles, which they are exactly.
void add_as_doubles(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  const D d;
  const Floats f;
  alignas(64) double products[kProductBlock];
  V zero_if_finite = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V product = hn::Mul(hn::PromoteTo(d, hn::LoadU(f, a + i)), hn::PromoteTo(d, hn::LoadU(f, b + i)));
    zero_if_finite = hn::MulAdd(product, hn::Zero(d), zero_if_finite);
    hn::Store(product, d, products + i);
  }
  bool finite = hn::AllTrue(d, hn::Eq(zero_if_finite, hn::Zero(d)));
  for (; i < count; ++i) {
    products[i] = double{a[i]} * double{b[i]};
    finite = finite && std::isfinite(products[i]);
  }
  if (!finite) return add_products_to_bins(a, b, count, partial);
  reduction::add_elements(reinterpret_cast<const std::byte*>(products), count, DType::float64, partial.rounded);
}

template <bool kSquares>
void add_as(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  using F = Format<float>;
  const std::size_t left = for_blocks_in_places<kPlacesOf<kSquares>, F::kBlock, kUnit>(
      count, [&](std::size_t first, std::size_t distance, std::size_t part) HWY_ATTR {
        const float* const x = a + first;
        const float* const y = b + first;
        for (std::size_t place = 0; place < kPlacesOf<kSquares>; ++place)
          partial.note_any(x + place * distance, y + place * distance, part);
        if (add_in_any_window<kSquares, F::kNarrow>(x, y, distance, part, partial.narrow, partial.total) ||
            add_in_any_window<kSquares, F::kWide>(x, y, distance, part, partial.wide, partial.total)) {
          return;
        }
        for (std::size_t place = 0; place < kPlacesOf<kSquares>; ++place)
          add_as_doubles(x + place * distance, y + place * distance, part, partial);
      });
  if (left == 0) return;
  partial.note_any(a + count - left, b + count - left, left);
  add_as_doubles(a + count - left, b + count - left, left, partial);
}

void add_floats(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  a == b ? add_as<true>(a, a, count, partial) : add_as<false>(a, b, count, partial);
}

// Products of 16-bit floats are floats, but for the least and the greatest of bfloat16.
template <class Half>
bool add_halves_as(const std::byte* a, const std::byte* b, PartialProducts& partial) {
  using loops::Floats;
  constexpr std::size_t kFloatsBytes = loops::kVectorBytes / 2, kStep = 2 * loops::kVectorBytes;
  if (!loops::may_watch(partial.rounded)) return false;
  V sums[reduction::WatchedSums::kSums];
  const core::RoundingWatch watch;
  loops::unrolled<reduction::WatchedSums::kSums>([&](auto i) SAMESUM_INLINE_LAMBDA { sums[i] = hn::Zero(D()); });
  for (std::size_t i = 0; i < kHalfProducts * sizeof(Half); i += kStep) {
    loops::prefetch<kStep>(a + i);
    loops::prefetch<kStep>(b + i);
    loops::unrolled<kStep / kFloatsBytes>([&](auto n) SAMESUM_INLINE_LAMBDA {
      const std::size_t at = i + n * kFloatsBytes;
      const auto products = hn::Mul(loops::load_as_floats(Half{}, a + at), loops::load_as_floats(Half{}, b + at));
      V& low = sums[2 * n];
      V& high = sums[2 * n + 1];
      low = loops::plus(low, hn::PromoteTo(D(), hn::LowerHalf(products)));
      high = loops::plus(high, hn::PromoteTo(D(), hn::UpperHalf(hn::Half<Floats>(), products)));
      loops::compute_now(low);
      loops::compute_now(high);
    });
  }
  return loops::keep_if_exact(watch, sums, partial.rounded);
}

bool add_halves(const std::byte* a, const std::byte* b, DType type, PartialProducts& partial) {
  return partial.any &&
         (type == DType::float16 ? add_halves_as<core::Float16>(a, b, partial) : add_halves_as<core::BFloat16>(a, b, partial));
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_floats);
SIMD_EXPORT(add_halves);

void add_products_simd(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  SIMD_CALL(add_floats)(a, b, count, partial);
}
bool add_half_products(const std::byte* a, const std::byte* b, DType type, PartialProducts& partial) {
  return SIMD_CALL(add_halves)(a, b, type, partial);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
