// Products of floats on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_window-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace loops = reduction::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void add_block(const float* a, const float* b, std::size_t count, PartialProducts& partial) { add_products_to_bins(a, b, count, partial); }
bool add_fused(const float*, FusedSums&, float&, float&) { return false; }

#else

using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;
constexpr std::size_t kLanes = hn::MaxLanes(Doubles());
constexpr std::size_t kChains = 2;  // of each sum; an iteration takes kUnit products
constexpr std::size_t kUnit = kChains * kLanes;
constexpr int kHeadroom = std::countr_zero(kProductBlock / kUnit);  // a running sum takes 2^kHeadroom products
constexpr int kSliceBits = 52 - kHeadroom;                          // from one anchor to the next, as for sums
static_assert(std::has_single_bit(kProductBlock) && kLanes <= PartialProducts::kMaxLanes);

// Where magnitudes lie. One less than a magnitude makes a zero the greatest unsigned and the least of all signed numbers.
class Range {
  using Unsigned = hn::Repartition<std::uint32_t, Doubles>;
  using Signed = hn::Repartition<std::int32_t, Doubles>;

 public:
  HWY_INLINE Range() : lowest_(hn::Set(unsigned_, ~0u)), highest_(hn::Set(signed_, -1)) {}
  HWY_INLINE void look_at(const float* from) {
    const hn::Repartition<float, Doubles> floats;
    const auto bits = hn::BitCast(unsigned_, hn::LoadU(floats, from));
    const auto less_one = hn::Add(hn::And(bits, hn::Set(unsigned_, 0x7fffffff)), hn::Set(unsigned_, ~0u));
    lowest_ = hn::Min(lowest_, less_one);
    highest_ = hn::Max(highest_, hn::BitCast(signed_, less_one));
  }
  HWY_INLINE bool within(std::uint32_t lowest, std::uint32_t end) const {
    const auto low = hn::Eq(hn::Max(lowest_, hn::Set(unsigned_, lowest)), lowest_);
    const auto high = hn::Lt(highest_, hn::Set(signed_, static_cast<std::int32_t>(end)));
    return hn::AllTrue(unsigned_, low) && hn::AllTrue(signed_, high);
  }
  // Exponent fields, denormals' counted as the least normal one's.
  int lowest_exponent() const {
    const std::uint32_t lowest = hn::GetLane(hn::MinOfLanes(unsigned_, lowest_));
    return lowest == ~0u ? 254 : std::max(static_cast<int>((lowest + 1) >> 23), 1);
  }
  int highest_exponent() const { return std::max((hn::GetLane(hn::MaxOfLanes(signed_, highest_)) + 1) >> 23, 1); }

 private:
  Unsigned unsigned_;
  Signed signed_;
  hn::Vec<Unsigned> lowest_;
  hn::Vec<Signed> highest_;
};

// The window for such factors, with room for somewhat other ones in blocks to come; whether there is one.
bool find_window(const Range& a, const Range& b, ProductWindow& window) {
  const int a_high = a.highest_exponent(), b_high = b.highest_exponent();
  const int a_low = std::min(a.lowest_exponent(), a_high), b_low = std::min(b.lowest_exponent(), b_high);
  if (a_high == 255 || b_high == 255) return false;
  for (const int room : {1, 0}) {
    // Products are below 2^end and multiples of 2^lowest.
    const int a_top = std::min(a_high + room, 254), b_top = std::min(b_high + room, 254);
    const int end = a_top + b_top - 252, lowest = a_low + b_low - 300;
    const int first = end + kHeadroom + 1, second = first - kSliceBits;
    const int spare = lowest - (second - 52);
    if (spare < 0) continue;
    const auto magnitude = [](int exponent) { return static_cast<std::uint32_t>(exponent) << 23; };
    const int a_least = a_low - spare / 2, b_least = b_low - spare / 2;
    window.a_lowest = a_least <= 1 ? 0 : magnitude(a_least) - 1;  // all of these by less than one, as Range has them
    window.b_lowest = b_least <= 1 ? 0 : magnitude(b_least) - 1;
    window.a_end = magnitude(a_top + 1) - 1;
    window.b_end = magnitude(b_top + 1) - 1;
    window.anchors = {std::ldexp(1.5, first), std::ldexp(1.5, second)};
    window.positions = {first - 52 + ProductAccumulator::kUnit, second - 52 + ProductAccumulator::kUnit};
    return true;
  }
  return false;
}

// Adds whole units to the lanes, if their factors lie within the window. Looking and adding are done in one go, and the sums are thrown
// away where they turn out not to be exact.
template <bool kSquares>
bool add_units(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  const Doubles d;
  const Floats f;
  const auto first_anchor = hn::Set(d, partial.window.anchors[0]), second_anchor = hn::Set(d, partial.window.anchors[1]);
  auto first0 = first_anchor, first1 = first_anchor, second0 = second_anchor, second1 = second_anchor;
  Range a_range, b_range;
  const auto add = [&](std::size_t i, hn::Vec<Doubles>& first, hn::Vec<Doubles>& second) HWY_ATTR {
    const auto x = hn::PromoteTo(d, hn::LoadU(f, a + i));
    const auto y = kSquares ? x : hn::PromoteTo(d, hn::LoadU(f, b + i));
    const auto sum = hn::MulAdd(x, y, first);  // the product is exact, so it does not matter whether this is fused
    second = hn::Add(second, hn::MulSub(x, y, hn::Sub(sum, first)));
    first = sum;
  };
  for (std::size_t i = 0; i < count; i += kUnit) {
    a_range.look_at(a + i);
    if constexpr (!kSquares) b_range.look_at(b + i);
    add(i, first0, second0);
    add(i + kLanes, first1, second1);
  }
  if (!a_range.within(partial.window.a_lowest, partial.window.a_end)) return false;
  if (!kSquares && !b_range.within(partial.window.b_lowest, partial.window.b_end)) return false;
  const hn::Repartition<std::int64_t, Doubles> d64;
  const auto keep = [&](std::int64_t* lanes, hn::Vec<Doubles> anchor, hn::Vec<Doubles> x, hn::Vec<Doubles> y) HWY_ATTR {
    const auto start = hn::BitCast(d64, anchor);
    const auto sum = hn::Add(hn::Sub(hn::BitCast(d64, x), start), hn::Sub(hn::BitCast(d64, y), start));
    hn::Store(hn::Add(hn::Load(d64, lanes), sum), d64, lanes);
  };
  keep(partial.lanes[0].data(), first_anchor, first0, first1);
  keep(partial.lanes[1].data(), second_anchor, second0, second1);
  if (++partial.blocks == PartialProducts::kMaxBlocks) partial.flush_lanes();
  return true;
}

template <bool kSquares>
void add_whole_units(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  if (partial.blocks_to_bins > 0) {
    --partial.blocks_to_bins;
    return add_products_to_bins(a, b, count, partial);
  }
  if (partial.window.a_end != 0 && add_units<kSquares>(a, b, count, partial)) return;
  Range a_range, b_range;
  for (std::size_t i = 0; i < count; i += kUnit) {
    a_range.look_at(a + i);
    b_range.look_at(b + i);
  }
  partial.flush_lanes();
  if (find_window(a_range, b_range, partial.window) && add_units<kSquares>(a, b, count, partial)) {
    partial.last_blocks_to_bins = 0;
    return;
  }
  partial.leave_window();
  add_products_to_bins(a, b, count, partial);
}

void add_block(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  const std::size_t whole = count / kUnit * kUnit;
  if (whole != 0) {
    partial.note_any(a, b, whole);
    a == b ? add_whole_units<true>(a, a, whole, partial) : add_whole_units<false>(a, b, whole, partial);
  }
  add_products_to_bins(a + whole, b + whole, count - whole, partial);
}

// A window for the sum and for the squares: both allow exponents that span as much.
bool find_fused_window(const loops::Range& range, reduction::Window& window) {
  constexpr int kSpan = std::min(27 - kHeadroom, (55 - 2 * kHeadroom) / 2);
  const int high = std::max((range.highest + 1) >> 23, 1);
  const int low = std::clamp(static_cast<int>((range.lowest + 1) >> 23), 1, high);
  if (high == 255 || high - low > kSpan) return false;
  const int top =
      std::max(std::min(high + 1, 254), kSpan + 2);  // with room for somewhat greater ones; no spacing below what is to be added
  const bool has_room = top - low <= kSpan || top == kSpan + 2;
  const int end = has_room ? top : std::max(high, kSpan + 2);
  window.slices = 3;
  window.lowest = (end - kSpan) << 23;
  window.end = (end + 1) << 23;
  window.zeros = range.zeros;
  const int sum = end - 126 + kHeadroom + 1, first = 2 * end - 252 + kHeadroom + 1, second = first - kSliceBits;
  window.anchors = {std::ldexp(1.5, sum), std::ldexp(1.5, first), std::ldexp(1.5, second)};
  window.positions = {sum - 52 + 1074, first - 52 + ProductAccumulator::kUnit, second - 52 + ProductAccumulator::kUnit};
  return true;
}

template <class Check>
bool add_fused_units(const float* block, FusedSums& sums, float& least, float& greatest) {
  const Doubles d;
  const Floats f;
  const hn::Repartition<float, Doubles> whole;
  using V = hn::Vec<Doubles>;
  const auto& anchors = sums.window.anchors;
  const V anchor0 = hn::Set(d, anchors[0]), anchor1 = hn::Set(d, anchors[1]), anchor2 = hn::Set(d, anchors[2]);
  V sum0 = anchor0, sum1 = anchor0, first0 = anchor1, first1 = anchor1, second0 = anchor2, second1 = anchor2;
  auto low = hn::LoadU(whole, block), high = low;
  Check check;
  const auto add = [&](const float* from, V& sum, V& first, V& second) HWY_ATTR {
    const V x = hn::PromoteTo(d, hn::LoadU(f, from));
    sum = loops::plus(sum, x);
    const V next = hn::MulAdd(x, x, first);  // the square is exact, so it does not matter whether this is fused
    second = hn::Add(second, hn::MulSub(x, x, hn::Sub(next, first)));
    first = next;
    loops::compute_now(sum);
    loops::compute_now(first);
    loops::compute_now(second);
  };
  for (std::size_t unit = 0; unit < kProductBlock; unit += loops::kUnit<float>) {
    check.look_at(reinterpret_cast<const std::byte*>(block + unit));
    loops::unrolled<loops::kUnit<float> / kUnit>([&](auto n) HWY_ATTR {
      const float* const from = block + unit + n * kUnit;
      __builtin_prefetch(from + 512);
      const auto elements = hn::LoadU(whole, from);
      low = hn::Min(low, elements);
      high = hn::Max(high, elements);
      add(from, sum0, first0, second0);
      add(from + kLanes, sum1, first1, second1);
    });
  }
  if (!check.within(sums.window)) return false;
  const hn::Repartition<std::int64_t, Doubles> d64;
  const auto keep = [&](std::int64_t* lanes, V anchor, V x, V y) HWY_ATTR {
    const auto start = hn::BitCast(d64, anchor);
    const auto sum = hn::Add(hn::Sub(hn::BitCast(d64, x), start), hn::Sub(hn::BitCast(d64, y), start));
    hn::Store(hn::Add(hn::Load(d64, lanes), sum), d64, lanes);
  };
  least = hn::GetLane(hn::MinOfLanes(whole, low));
  greatest = hn::GetLane(hn::MaxOfLanes(whole, high));
  if (least == 0 && greatest == 0) return false;
  keep(sums.lanes[0].data(), anchor0, sum0, sum1);
  keep(sums.lanes[1].data(), anchor1, first0, first1);
  keep(sums.lanes[2].data(), anchor2, second0, second1);
  sums.elements += kProductBlock;
  if (++sums.blocks == PartialProducts::kMaxBlocks) {
    sums.flush();
    if (sums.window.zeros) sums.window.slices = 0;  // to look at zeros is dearer, and perhaps there are none now
  }
  return true;
}

bool add_fused_block_checked(const float* block, FusedSums& sums, float& least, float& greatest) {
  return sums.window.zeros ? add_fused_units<loops::WholeCheck<float> >(block, sums, least, greatest)
                           : add_fused_units<loops::FastCheck<float> >(block, sums, least, greatest);
}

bool add_fused(const float* block, FusedSums& sums, float& least, float& greatest) {
  if (sums.blocks_to_skip > 0) {
    --sums.blocks_to_skip;
    return false;
  }
  if (sums.window.slices != 0 && add_fused_block_checked(block, sums, least, greatest)) return true;
  sums.flush();
  sums.window.slices = 0;
  const auto range = loops::find_range<float>(reinterpret_cast<const std::byte*>(block), kProductBlock);
  if (find_fused_window(range, sums.window) && add_fused_block_checked(block, sums, least, greatest)) {
    sums.last_blocks_to_skip = 0;
    return true;
  }
  sums.last_blocks_to_skip = std::clamp(2 * sums.last_blocks_to_skip, 1, 64);
  sums.blocks_to_skip = sums.last_blocks_to_skip - 1;
  return false;
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_block);
SIMD_EXPORT(add_fused);

bool add_fused_block(const float* block, FusedSums& sums, float& least, float& greatest) {
  return SIMD_CALL(add_fused)(block, sums, least, greatest);
}

void add_product_block(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  SIMD_CALL(add_block)(a, b, count, partial);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
