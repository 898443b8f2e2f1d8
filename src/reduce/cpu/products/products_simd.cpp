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
bool add_fused(const float*, FusedSums&, float&, float&) { return false; }

#else

using Floats = hn::Rebind<float, D>;
constexpr std::size_t kUnit = loops::kUnit<float>;
constexpr int kHeadroom = Format<float>::kHeadroom;
constexpr int kSliceBits = 52 - kHeadroom;  // from one anchor to the next, as for sums

const std::byte* bytes(const float* floats) { return reinterpret_cast<const std::byte*>(floats); }

// The window for factors in these ranges, with room for somewhat other ones in blocks to come; whether there is one.
bool make_window(const loops::Range& a, const loops::Range& b, int slices, ProductWindow& window) {
  struct Exponents {
    explicit Exponents(const loops::Range& range)
        : highest(std::max((range.highest + 1) >> 23, 1)), lowest(std::clamp(static_cast<int>(range.lowest >> 23), 1, highest)) {}
    int highest, lowest;  // fields, denormals' counted as the least normal one's
  };
  const Exponents first(a), second(b);
  if (first.highest == 255 || second.highest == 255) return false;
  const int all_lowest = first.lowest + second.lowest - 254, all_end = first.highest + second.highest - 252;
  int lowest = all_lowest, end = all_end;
  if (!set_window<float>(slices, lowest, end, window)) return false;
  const int above = (end - all_end) / 2, below = (all_lowest - lowest) / 2;
  const auto bounds = [&](const loops::Range& range, const Exponents& exponents) {
    const int least = exponents.lowest - below;
    return reduction::Bounds{least <= 1 ? 0 : least << 23, std::min(exponents.highest + above + 1, 255) << 23, range.zeros && least > 1};
  };
  window.first = bounds(a, first);
  window.second = bounds(b, second);
  return true;
}

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
      window, total,
      [&](ProductWindow& w) {
        return w.first.zeros || w.second.zeros ? add_units<kSquares, kSlices, loops::WholeCheck<float> >(a, b, count, w)
                                               : add_units<kSquares, kSlices, loops::FastCheck<float> >(a, b, count, w);
      },
      [&](ProductWindow& w) {
        const auto range = loops::find_range<float>(bytes(a), count);
        return make_window(range, kSquares ? range : loops::find_range<float>(bytes(b), count), kSlices, w);
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
  const D d;
  const Floats f;
  const hn::Repartition<float, D> whole;
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
  for (std::size_t unit = 0; unit < kProductBlock; unit += kUnit) {
    check.look_at(bytes(block + unit));
    loops::unrolled<kUnit / (2 * kLanes)>([&](auto n) HWY_ATTR {
      const float* const from = block + unit + n * 2 * kLanes;
      __builtin_prefetch(from + 512);
      const auto elements = hn::LoadU(whole, from);
      low = hn::Min(low, elements);
      high = hn::Max(high, elements);
      add(from, sum0, first0, second0);
      add(from + kLanes, sum1, first1, second1);
    });
  }
  if (!check.within(sums.window)) return false;
  const hn::Repartition<std::int64_t, D> d64;
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
  if (++sums.blocks == ProductWindow::kMaxBlocks) {
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
  const auto range = loops::find_range<float>(bytes(block), kProductBlock);
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
