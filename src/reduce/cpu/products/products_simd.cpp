// Products of floats on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "reduce/cpu/products/product_window-inl.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void add_block(const float* a, const float* b, std::size_t count, PartialProducts& partial) { add_products_to_bins(a, b, count, partial); }

#else

using Floats = hn::Rebind<float, D>;
constexpr std::size_t kUnit = loops::kUnit<float>;

// Adds whole units to the window's sums, if their factors lie within it. Looking and adding are done in one go, and the sums are thrown
// away where they turn out not to be exact.
template <bool kSquares, int kSlices, class Check>
bool add_units(const float* a, const float* b, std::size_t count, ProductWindow& window) {
  const D d;
  const Floats f;
  Sums<kSlices> sums(window);
  Check a_check, b_check;
  for (std::size_t i = 0; i < count; i += kUnit) {
    a_check.look_at(bytes(a + i));
    if constexpr (!kSquares) b_check.look_at(bytes(b + i));
    loops::unrolled<kUnit / kLanes>([&](auto n) HWY_ATTR {
      const auto x = hn::PromoteTo(d, hn::LoadU(f, a + i + n * kLanes));
      const auto y = kSquares ? x : hn::PromoteTo(d, hn::LoadU(f, b + i + n * kLanes));
      sums.template add_product<n % kChains>(x, y);
    });
  }
  if (!a_check.within(window.first) || (!kSquares && !b_check.within(window.second))) return false;
  sums.keep(window);
  return true;
}

template <bool kSquares, int kSlices>
bool add_units_in(const float* a, const float* b, std::size_t count, ProductWindow& window, ProductAccumulator& total) {
  return add_in(
      window, [&] { window.flush(total); },
      [&](ProductWindow& w) {
        return w.first.zeros || w.second.zeros ? add_units<kSquares, kSlices, loops::WholeCheck<float> >(a, b, count, w)
                                               : add_units<kSquares, kSlices, loops::FastCheck<float> >(a, b, count, w);
      },
      [&](ProductWindow& w) {
        const auto range = loops::find_range<float>(bytes(a), count);
        return find_window(range, kSquares ? range : loops::find_range<float>(bytes(b), count), kSlices, w);
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
void add_block_as(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  using F = Format<float>;
  const std::size_t whole = count / kUnit * kUnit;
  partial.note_any(a, b, count);
  const bool done = whole != 0 && (add_units_in<kSquares, F::kNarrow>(a, b, whole, partial.narrow, partial.total) ||
                                   add_units_in<kSquares, F::kWide>(a, b, whole, partial.wide, partial.total));
  const std::size_t from = done ? whole : 0;
  if (from != count) add_as_doubles(a + from, b + from, count - from, partial);
}

void add_block(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  a == b ? add_block_as<true>(a, a, count, partial) : add_block_as<false>(a, b, count, partial);
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_block);

void add_product_block(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  SIMD_CALL(add_block)(a, b, count, partial);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
