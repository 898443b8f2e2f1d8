// Products of doubles on the CPU, compiled once for each instruction set of the processor family and chosen at run time.
//
// A product of doubles is the sum of two doubles: the product rounded, and what rounding lost, which a fused multiply-add yields exactly.
// Where the products of a block lie in a window, both go to three or four running sums in registers, which are exact (products.hpp). Of
// other blocks they become two blocks of doubles in the first-level cache, which the sum's own loops add up.
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

// What rounding loses of a product is a double if the product's last bit, 2^-105 of its first, is not below the least denormal.
constexpr double kLeastProduct = 0x1p-968;

constexpr std::size_t kBlockSize = Format<double>::kBlock;
constexpr std::size_t kPlaces = 4;  // memory gives more to a processor that reads in several
constexpr std::size_t kPrefetchBytes = 256;
static_assert(kBlockSize / kPlaces % (2 * kLanes) == 0);

// Adds `count` products of each of several places, one every `distance` elements, to the window's sums, if all lie within it. Looking and
// adding are done in one go, and the sums are thrown away where they turn out not to be exact. `kFactors`: looks at the factors.
template <bool kSquares, int kSlices, bool kFactors>
bool add_in_window(const double* a, const double* b, std::size_t distance, std::size_t count, ProductWindow& window) {
  static_assert(kSquares || !kFactors);
  const D d;
  Sums<kSlices> sums(window);
  std::conditional_t<kFactors, loops::FastCheck<double>, loops::WholeCheck<double> > check;
  const core::RoundingWatch watch;
  constexpr std::size_t kVectors = kFactors ? 2 : 1;  // of each place at once
  for (std::size_t i = 0; i < count; i += kVectors * kLanes) {
    loops::unrolled<kPlaces>([&](auto place) HWY_ATTR {
      const std::size_t first = place * distance + i;
      if constexpr (kFactors) check.look_at_two(bytes(a + first));
      loops::unrolled<kVectors>([&](auto n) HWY_ATTR {
        constexpr std::size_t kChain = (place + n) % kChains;
        const std::size_t from = first + n * kLanes;
        __builtin_prefetch(bytes(a + from) + kPrefetchBytes);
        if constexpr (!kSquares) __builtin_prefetch(bytes(b + from) + kPrefetchBytes);
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
          for (std::size_t place = 0; place < kPlaces; ++place) {
            for (std::size_t i = place * distance; i < place * distance + count; i += kLanes) {
              look(hn::Mul(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i)));
            }
          }
        });
        return find_window(range, kSlices, w);
      });
}

// Products as sums of two doubles.
struct Block {
  alignas(64) double rounded[kBlockSize];
  alignas(64) double lost[kBlockSize];
};

// Splits products to the block's elements from `to` on; whether all of them are exact so.
template <bool kSquares>
bool split(const double* a, const double* b, std::size_t count, std::size_t to, Block& block) {
  const D d;
  V zero_if_finite = hn::Zero(d);
  const core::RoundingWatch watch;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const V x = hn::LoadU(d, a + i);
    const V y = kSquares ? x : hn::LoadU(d, b + i);
    const V product = hn::Mul(x, y);
    zero_if_finite = hn::MulAdd(product, hn::Zero(d), zero_if_finite);
    hn::StoreU(product, d, block.rounded + to + i);
    hn::StoreU(hn::MulSub(x, y, product), d, block.lost + to + i);
  }
  return hn::AllTrue(d, hn::Eq(zero_if_finite, hn::Zero(d))) && !watch.underflowed();
}

// Takes products out of the block that it does not hold exactly, and adds them to the bins; zeros of zeros stay. The others move up, since
// zeros in the place of half of the products would cost more than these; how many there are.
std::size_t take_out(const double* a, const double* b, std::size_t count, double* rounded, double* lost, PartialProducts& partial) {
  const D d;
  const V zero = hn::Zero(d);
  double left[kBlockSize + 1], right[kBlockSize + 1];
  std::size_t taken = 0, kept = 0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const V x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i), product = hn::LoadU(d, rounded + i), rest = hn::LoadU(d, lost + i);
    const auto zeros = hn::And(hn::Eq(product, zero), hn::Or(hn::Eq(x, zero), hn::Eq(y, zero)));
    const auto in_range = hn::And(hn::Ge(hn::Abs(product), hn::Set(d, kLeastProduct)), hn::IsFinite(product));
    const auto stays = hn::Or(in_range, zeros);
    if (hn::AllTrue(d, stays)) {
      hn::StoreU(product, d, rounded + kept);
      hn::StoreU(rest, d, lost + kept);
      kept += kLanes;
      continue;
    }
    std::uint8_t staying[8] = {};
    hn::StoreMaskBits(d, stays, staying);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool stay = (staying[0] >> lane & 1) != 0;
      left[taken] = a[i + lane];
      right[taken] = b[i + lane];
      rounded[kept] = rounded[i + lane];
      lost[kept] = lost[i + lane];
      taken += !stay;
      kept += stay;
    }
  }
  add_products_to_bins(left, right, taken, partial);
  return kept;
}

// Adds `count` products of each of several places: whole vectors of any doubles, kBlockSize at most in all.
template <bool kSquares>
void add_split(const double* a, const double* b, std::size_t places, std::size_t distance, std::size_t count, PartialProducts& partial) {
  Block block;
  std::size_t filled = 0;
  for (std::size_t place = 0; place < places; ++place) {
    const double *const left = a + place * distance, *const right = b + place * distance;
    const bool all = split<kSquares>(left, right, count, filled, block);
    filled += all ? count : take_out(left, right, count, block.rounded + filled, block.lost + filled, partial);
  }
  const auto add = [&](const double* doubles, reduction::PartialSum<double>& sum) {
    reduction::add_elements(reinterpret_cast<const std::byte*>(doubles), filled, DType::float64, sum);
  };
  add(block.rounded, partial.rounded);
  add(block.lost, partial.lost);
}

template <bool kSquares>
void add_as(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  using F = Format<double>;
  constexpr std::size_t kPart = kBlockSize / kPlaces;
  const std::size_t distance = count / kBlockSize * kPart;
  for (std::size_t i = 0; i < distance; i += kPart) {
    for (std::size_t place = 0; place < kPlaces; ++place) partial.note_any(a + place * distance + i, b + place * distance + i, kPart);
    if (add_in_any_window<kSquares, F::kNarrow>(a + i, b + i, distance, kPart, partial.narrow, partial.total) ||
        add_in_any_window<kSquares, F::kWide>(a + i, b + i, distance, kPart, partial.wide, partial.total)) {
      continue;
    }
    add_split<kSquares>(a + i, b + i, kPlaces, distance, kPart, partial);
  }
  const std::size_t done = kPlaces * distance, whole = (count - done) / kLanes * kLanes, rest = done + whole;
  partial.note_any(a + done, b + done, whole);
  if (whole != 0) add_split<kSquares>(a + done, b + done, 1, 0, whole, partial);
  add_products_to_bins(a + rest, b + rest, count - rest, partial);
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

void add_product_doubles(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  SIMD_CALL(add_doubles)(a, b, count, partial);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
