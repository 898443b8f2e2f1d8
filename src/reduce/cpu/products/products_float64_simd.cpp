// Products of doubles on the CPU, compiled once for each instruction set of the processor family and chosen at run time.
//
// A product of doubles is the sum of two doubles: the product rounded, and what rounding lost, which a fused multiply-add yields exactly.
// Where the products of a block lie in a window, both go to three or four running sums in registers, which are exact (products.hpp). The
// products of other blocks go to bins by exponent, one by one.
// Reference: Ogita, Rump and Oishi, Accurate Sum and Dot Product (SIAM J. Sci. Comput. 26, 2005), TwoProductFMA.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_float64_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "reduce/cpu/products/product_window-inl.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

// Without a fused multiply-add, what rounding lost would take 17 operations.
#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

void add_doubles(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  add_products_to_bins(a, b, count, partial);
}

#else

// Adds `count` products of each of several places, one every `distance` elements, to the window's sums, if all lie within it. Looking and
// adding are done in one go, and the sums are thrown away where they turn out not to be exact. `kFactors`: looks at the factors.
template <bool kSquares, int kSlices, bool kFactors>
bool add_in_window(const double* a, const double* b, std::size_t distance, std::size_t count, ProductWindow& window) {
  static_assert(kSquares || !kFactors);
  const D d;
  Sums<kSlices> sums(window);
  std::conditional_t<kFactors, loops::FastCheck<double>, loops::WholeCheck<double> > check;
  const core::RoundingWatch watch;
  constexpr std::size_t kVectors = 2;  // of each place at once
  for (std::size_t i = 0; i < count; i += kVectors * kLanes) {
    loops::unrolled<kPlacesOf<kSquares> >([&](auto place) HWY_ATTR {
      const std::size_t first = place * distance + i;
      if constexpr (kFactors) check.look_at_two(bytes(a + first));
      loops::unrolled<kVectors>([&](auto n) HWY_ATTR {
        constexpr std::size_t kChain = (place + n) % kChains;
        const std::size_t from = first + n * kLanes;
        loops::prefetch<loops::kVectorBytes>(bytes(a + from));
        if constexpr (!kSquares) loops::prefetch<loops::kVectorBytes>(bytes(b + from));
        const V x = hn::LoadU(d, a + from);
        const V y = kSquares ? x : hn::LoadU(d, b + from);
        const V product = hn::Mul(x, y);
        if constexpr (!kFactors) check.look_at_one(product);
        sums.template add<0, kSlices - 2, kChain>(product);
        sums.template add<1, kSlices - 1, kChain>(hn::MulSub(x, y, product));
      });
    });
  }
  // Products that are zeros are within bounds, but not if their factors are no zeros.
  if (!check.within(kFactors ? window.second : window.first) || watch.underflowed()) return false;
  sums.keep(window);
  return true;
}

template <bool kSquares, int kSlices>
bool add_in_any_window(const double* a, const double* b, std::size_t distance, std::size_t count, ProductWindow& window,
                       ProductAccumulator& total) {
  return add_in(
      window, [&] { window.flush(total); },
      [&](ProductWindow& w) {
        if constexpr (kSquares) {
          if (!w.first.zeros) return add_in_window<true, kSlices, true>(a, b, distance, count, w);
        }
        return add_in_window<kSquares, kSlices, false>(a, b, distance, count, w);
      },
      [&](ProductWindow& w) {
        const loops::Range range = range_of_products([&](const auto& look) HWY_ATTR {
          for (std::size_t place = 0; place < kPlacesOf<kSquares>; ++place) {
            for (std::size_t i = place * distance; i < place * distance + count; i += kLanes) {
              look(hn::Mul(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i)));
            }
          }
        });
        return find_window(range, kSlices, w);
      });
}

// Adds products of whole vectors to the bins, which are found by vectors.
template <bool kSquares>
void add_to_bins(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  constexpr std::size_t kPart = 128;
  constexpr int kFractionBits = 52;
  const hn::Repartition<std::int64_t, D> d;
  const auto one = hn::Set(d, 1), exponents = hn::Set(d, 0x7ff), fractions = hn::Set(d, (std::int64_t{1} << kFractionBits) - 1);
  alignas(64) std::int64_t left[kPart], right[kPart], index[kPart];
  for (std::size_t first = 0; first < count; first += kPart) {
    const std::size_t taken = std::min(kPart, count - first);
    auto finite = hn::Eq(one, one);
    for (std::size_t i = 0; i < taken; i += kLanes) {
      auto bin = hn::Zero(d);
      const auto mantissa = [&](auto bits) HWY_ATTR {
        const auto exponent =
            hn::And(hn::BitCast(d, hn::ShiftRight<kFractionBits>(hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), bits))), exponents);
        const auto normal = hn::IfThenElseZero(hn::Ne(exponent, hn::Zero(d)), one);
        finite = hn::And(finite, hn::Ne(exponent, exponents));
        bin = hn::Add(bin, hn::Sub(exponent, normal));
        return hn::Add(hn::And(bits, fractions), hn::ShiftLeft<kFractionBits>(normal));
      };
      const auto x = hn::BitCast(d, hn::LoadU(D(), a + first + i));
      auto m = mantissa(x);
      if constexpr (kSquares) {
        bin = hn::Add(bin, bin);
      } else {
        const auto y = hn::BitCast(d, hn::LoadU(D(), b + first + i));
        const auto sign = hn::BroadcastSignBit(hn::Xor(x, y));
        m = hn::Sub(hn::Xor(m, sign), sign);
        hn::Store(mantissa(y), d, right + i);
      }
      hn::Store(m, d, left + i);
      hn::Store(bin, d, index + i);
    }
    if (!hn::AllTrue(d, finite)) {
      add_products_to_bins(a + first, b + first, taken, partial);
      continue;
    }
    Int128* const bins = partial.room_in_wide_bins(taken);
    for (std::size_t i = 0; i < taken; ++i) bins[index[i]] += static_cast<Int128>(left[i]) * (kSquares ? left[i] : right[i]);
  }
}

template <bool kSquares>
void add_as(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  using F = Format<double>;
  const std::size_t left = for_blocks_in_places<kPlacesOf<kSquares>, F::kBlock, 2 * kLanes>(
      count, [&](std::size_t first, std::size_t distance, std::size_t part) HWY_ATTR {
        const double* const x = a + first;
        const double* const y = b + first;
        for (std::size_t place = 0; place < kPlacesOf<kSquares>; ++place)
          partial.note_any(x + place * distance, y + place * distance, part);
        if (add_in_any_window<kSquares, F::kNarrow>(x, y, distance, part, partial.narrow, partial.total) ||
            add_in_any_window<kSquares, F::kWide>(x, y, distance, part, partial.wide, partial.total)) {
          return;
        }
        for (std::size_t place = 0; place < kPlacesOf<kSquares>; ++place) {
          add_to_bins<kSquares>(x + place * distance, y + place * distance, part, partial);
        }
      });
  add_products_to_bins(a + count - left, b + count - left, left, partial);
}

void add_doubles(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  if (!core::RoundingWatch::works()) return add_products_to_bins(a, b, count, partial);
  a == b ? add_as<true>(a, b, count, partial) : add_as<false>(a, b, count, partial);
}

#endif  // a fused multiply-add

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_doubles);

void add_products_simd(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  SIMD_CALL(add_doubles)(a, b, count, partial);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
