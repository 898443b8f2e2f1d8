// Products of doubles on the CPU, compiled once for each instruction set of the processor family and chosen at run time.
//
// A product of doubles is the sum of two doubles: the product rounded, and what rounding lost, which a fused multiply-add yields exactly.
// Where the products of a block span a narrow range, both go to three running sums in registers, which are exact (products.hpp). Of other
// blocks they become two blocks of doubles in the first-level cache, which the sum's own loops add up.
// Reference: Ogita, Rump and Oishi, Accurate Sum and Dot Product (SIAM J. Sci. Comput. 26, 2005), TwoProductFMA.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_float64_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_block-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace loops = reduction::HWY_NAMESPACE;

// Without a fused multiply-add, what rounding lost would take 17 operations.
#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

void add_doubles(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  add_products_to_bins(a, b, count, partial);
}

#else

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
// What rounding loses of a product is a double if the product's last bit, 2^-105 of its first, is not below the least denormal.
constexpr double kLeastProduct = 0x1p-968;
constexpr std::uint32_t kLeast = (1023 - 968) << 20, kInfinity = 0x7ff00000;  // upper halves of magnitudes

constexpr std::size_t kBlockSize = 512;
constexpr std::size_t kPlaces = 4;  // memory gives more to a processor that reads in several
constexpr std::size_t kPrefetchBytes = 256;
constexpr std::size_t kChains = 2;                                                // of each sum
constexpr int kHeadroom = std::countr_zero(kBlockSize / (kChains * kLanes)) + 1;  // the second sum takes two numbers of each product
constexpr int kSliceBits = 52 - kHeadroom;                                        // from one anchor to the next, as for sums
// Products from 2^(end - kSpan) on are multiples of the third sum's spacing: that is 2^(end + kHeadroom + 1 - 2 kSliceBits - 52), and their
// last bit is 2^-105 of their first.
constexpr int kSpan = 2 * kSliceBits + 52 - kHeadroom - 1 - 105;
static_assert(kSpan < kSliceBits - kHeadroom - 1, "what the first sum leaves of a product is a multiple of the second's spacing");
static_assert(kLanes <= PartialProducts::kMaxLanes && kBlockSize / 4 % kLanes == 0);

// The range of the upper halves of magnitudes, as distances from a least one: those below have the greatest distances.
class Distance {
  using U32 = hn::Repartition<std::uint32_t, D>;

 public:
  HWY_INLINE explicit Distance(std::uint32_t least) : least_(hn::Set(u32_, least)), greatest_(hn::Zero(u32_)) {}
  HWY_INLINE void look_at(V product) {
    const auto magnitude = hn::And(hn::BitCast(u32_, product), hn::Set(u32_, 0x7fffffff));
    greatest_ = hn::Max(greatest_, hn::Sub(magnitude, least_));
  }
  HWY_INLINE bool below(std::uint32_t distance) const {
    const auto upper = hn::OddEven(greatest_, hn::Zero(u32_));
    return hn::AllTrue(u32_, hn::Eq(hn::Min(upper, hn::Set(u32_, distance - 1)), upper));
  }

 private:
  U32 u32_;
  hn::Vec<U32> least_, greatest_;
};

// A window for products the greatest of which has this exponent's field; whether there is one.
bool make_window(std::uint32_t greatest_field, ProductWindow& window) {
  const int end = static_cast<int>(greatest_field) + 2 - 1023;  // with room for somewhat greater ones
  const int first = end + kHeadroom + 1, second = first - kSliceBits, third = second - kSliceBits;
  if (first > 1022 || third < -900) return false;
  window.a_lowest = static_cast<std::uint32_t>(end - kSpan + 1023) << 20;
  window.a_end = static_cast<std::uint32_t>(end + 1023) << 20;
  window.anchors = {std::ldexp(1.5, first), std::ldexp(1.5, second), std::ldexp(1.5, third)};
  window.positions = {first - 52 + ProductAccumulator::kUnit, second - 52 + ProductAccumulator::kUnit,
                      third - 52 + ProductAccumulator::kUnit};
  return true;
}

// Adds `count` products of each of several places, one every `distance` elements, to the lanes, if all lie within the window. Looking and
// adding are done in one go, and the sums are thrown away where they turn out not to be exact.
template <bool kSquares>
bool add_in_window(const double* a, const double* b, std::size_t distance, std::size_t count, PartialProducts& partial) {
  const D d;
  const auto& anchors = partial.window.anchors;
  const V anchor[3] = {hn::Set(d, anchors[0]), hn::Set(d, anchors[1]), hn::Set(d, anchors[2])};
  V first[kChains] = {anchor[0], anchor[0]}, second[kChains] = {anchor[1], anchor[1]}, third[kChains] = {anchor[2], anchor[2]};
  Distance range(partial.window.a_lowest);
  for (std::size_t i = 0; i < count; i += kLanes) {
    loops::unrolled<kPlaces>([&](auto place) HWY_ATTR {
      constexpr std::size_t chain = place % kChains;
      const std::size_t from = place * distance + i;
      __builtin_prefetch(reinterpret_cast<const char*>(a + from) + kPrefetchBytes);
      if constexpr (!kSquares) __builtin_prefetch(reinterpret_cast<const char*>(b + from) + kPrefetchBytes);
      const V x = hn::LoadU(d, a + from);
      const V y = kSquares ? x : hn::LoadU(d, b + from);
      const V product = hn::Mul(x, y);
      range.look_at(product);
      V lost = hn::MulSub(x, y, product);
      const V sum = hn::Add(first[chain], product);
      const V with_rest = hn::Add(second[chain], hn::Sub(product, hn::Sub(sum, first[chain])));
      const V with_lost = hn::Add(with_rest, lost);
      lost = hn::Sub(lost, hn::Sub(with_lost, with_rest));
      first[chain] = sum;
      second[chain] = with_lost;
      third[chain] = hn::Add(third[chain], lost);
    });
  }
  if (!range.below(partial.window.a_end - partial.window.a_lowest)) return false;
  const hn::Repartition<std::int64_t, D> d64;
  const auto keep = [&](std::size_t slice, const V* sums) HWY_ATTR {
    std::int64_t* const lanes = partial.lanes[slice].data();
    auto total = hn::Load(d64, lanes);
    for (std::size_t chain = 0; chain < kChains; ++chain) {
      total = hn::Add(total, hn::Sub(hn::BitCast(d64, sums[chain]), hn::BitCast(d64, anchor[slice])));
    }
    hn::Store(total, d64, lanes);
  };
  keep(0, first);
  keep(1, second);
  keep(2, third);
  if (++partial.blocks == PartialProducts::kMaxBlocks) partial.flush_lanes();
  return true;
}

// The same, after a window is made for these products where the one at hand does not hold them.
template <bool kSquares>
bool add_in_any_window(const double* a, const double* b, std::size_t distance, std::size_t count, PartialProducts& partial) {
  if (partial.blocks_to_bins > 0) {
    --partial.blocks_to_bins;
    return false;
  }
  if (partial.window.a_end != 0 && add_in_window<kSquares>(a, b, distance, count, partial)) return true;
  const D d;
  V greatest = hn::Zero(d);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    for (std::size_t i = 0; i < count; i += kLanes) {
      const std::size_t from = place * distance + i;
      greatest = hn::Max(greatest, hn::Abs(hn::Mul(hn::LoadU(d, a + from), hn::LoadU(d, b + from))));
    }
  }
  const auto field = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(d, greatest))) >> 52);
  partial.flush_lanes();
  if (make_window(field, partial.window) && add_in_window<kSquares>(a, b, distance, count, partial)) {
    partial.last_blocks_to_bins = 0;
    return true;
  }
  partial.leave_window();
  return false;
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
  Distance range(kLeast);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const V x = hn::LoadU(d, a + i);
    const V y = kSquares ? x : hn::LoadU(d, b + i);
    const V product = hn::Mul(x, y);
    range.look_at(product);
    hn::Store(product, d, block.rounded + to + i);
    hn::Store(hn::MulSub(x, y, product), d, block.lost + to + i);
  }
  return range.below(kInfinity - kLeast);
}

// Takes products out of the block that it does not hold exactly, and adds them to the bins; zeros of zeros stay.
void take_out(const double* a, const double* b, std::size_t count, double* rounded, double* lost, PartialProducts& partial) {
  const D d;
  const V zero = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const V x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i), product = hn::Load(d, rounded + i);
    const auto zeros = hn::And(hn::Eq(product, zero), hn::Or(hn::Eq(x, zero), hn::Eq(y, zero)));
    const auto in_range = hn::And(hn::Ge(hn::Abs(product), hn::Set(d, kLeastProduct)), hn::IsFinite(product));
    const auto stays = hn::Or(in_range, zeros);
    if (hn::AllTrue(d, stays)) continue;
    hn::Store(hn::IfThenElseZero(stays, product), d, rounded + i);
    hn::Store(hn::IfThenElseZero(stays, hn::Load(d, lost + i)), d, lost + i);
    alignas(64) double kept[kLanes];
    hn::Store(hn::IfThenElseZero(stays, hn::Set(d, 1.0)), d, kept);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (kept[lane] == 0) add_products_to_bins(a + i + lane, b + i + lane, 1, partial);
    }
  }
}

// Adds `count` products of each of several places: whole vectors of any doubles, kBlockSize at most in all.
template <bool kSquares>
void add_split(const double* a, const double* b, std::size_t places, std::size_t distance, std::size_t count, PartialProducts& partial) {
  Block block;
  for (std::size_t place = 0; place < places; ++place) {
    const double *const left = a + place * distance, *const right = b + place * distance;
    const std::size_t to = place * count;
    if (!split<kSquares>(left, right, count, to, block)) take_out(left, right, count, block.rounded + to, block.lost + to, partial);
  }
  const auto add = [&](const double* doubles, reduction::PartialSum<double>& sum) {
    reduction::add_elements(reinterpret_cast<const std::byte*>(doubles), places * count, DType::float64, sum);
  };
  add(block.rounded, partial.rounded);
  add(block.lost, partial.lost);
}

template <bool kSquares>
void add_as(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  constexpr std::size_t kPart = kBlockSize / kPlaces;
  const std::size_t distance = count / kBlockSize * kPart;
  for (std::size_t i = 0; i < distance; i += kPart) {
    for (std::size_t place = 0; place < kPlaces; ++place) partial.note_any(a + place * distance + i, b + place * distance + i, kPart);
    if (add_in_any_window<kSquares>(a + i, b + i, distance, kPart, partial)) continue;
    add_split<kSquares>(a + i, b + i, kPlaces, distance, kPart, partial);
  }
  const std::size_t done = kPlaces * distance, whole = (count - done) / kLanes * kLanes, rest = done + whole;
  partial.note_any(a + done, b + done, whole);
  if (whole != 0) add_split<kSquares>(a + done, b + done, 1, 0, whole, partial);
  add_products_to_bins(a + rest, b + rest, count - rest, partial);
}

void add_doubles(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
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
