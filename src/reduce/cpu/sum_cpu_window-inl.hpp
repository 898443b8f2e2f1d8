// Which windows there are for an instruction set, and whether a block's elements lie in one. Included once for each instruction set.
#if defined(SAMESUM_SUM_CPU_WINDOW) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_SUM_CPU_WINDOW
#undef SAMESUM_SUM_CPU_WINDOW
#else
#define SAMESUM_SUM_CPU_WINDOW
#endif

#include "reduce/cpu/sum_cpu_block-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

// Running sums of a slice: enough to hide the latency of an addition.
constexpr std::size_t kChains = 4;
// A running sum takes at most 2^kHeadroom elements of a block.
constexpr int kHeadroom = std::countr_zero(kBlock / (kChains * kLanes));
static_assert(std::has_single_bit(kBlock) && kBlock % kUnit<float> == 0 && kLanes <= kMaxLanes);

// How much lower the next slice's anchor lies: a slice with the anchor 1.5 * 2^k leaves at most half its spacing, 2^(k-53), of which
// 2^kHeadroom may be added, and must not add up to more than half the anchor's binade.
constexpr int kSliceBits = 52 - kHeadroom;

// "Upper bits" are the upper 32 bits of an encoding without its sign.
template <class T>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kFractionBits = 23;
  static constexpr int kUpperFractionBits = 23;
  static constexpr int kBias = 127;
  static constexpr int kAllEnd = 128;   // all numbers are below 2^kAllEnd
  static constexpr int kEnd = kAllEnd;  // those from 2^kEnd on are scaled, or left to the bins
  static constexpr Bits kInfinity = 0x7f800000;
  static constexpr std::int32_t kSpecial = 0x7f7fffff;  // upper bits, less one, of infinities and NaNs
  using Key = std::int16_t;                             // what the fast check sees of an element
  static constexpr int kKeyShift = 16;                  // from upper bits to keys
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kFractionBits = 52;
  static constexpr int kUpperFractionBits = 20;
  static constexpr int kBias = 1023;
  static constexpr int kAllEnd = 1024;
  static constexpr int kEnd = 1022 - 1 - kHeadroom;  // the first anchor and all sums in its binade are finite
  static constexpr Bits kInfinity = 0x7ff0000000000000;
  static constexpr std::int32_t kSpecial = 0x7fefffff;  // some finite numbers too
  using Key = std::int32_t;
  static constexpr int kKeyShift = 0;
};

constexpr int kMinSlices = 2;
constexpr int kMaxSlices = Window::kMaxSlices;

// Where the magnitudes of a block lie; each is the upper bits, less one, of an element that is no zero.
struct Range {
  std::uint32_t lowest;  // all ones if there are only zeros
  std::int32_t highest;  // -1 if there are only zeros
  bool zeros;
};

// Do the magnitudes of a block lie within bounds? This looks at their uppermost bits only, two vectors at a time, and so takes a
// zero for any of the smallest numbers.
template <class T>
class FastCheck {
  using Key = typename Format<T>::Key;
  using D = hn::Repartition<Key, Doubles>;

 public:
  HWY_INLINE FastCheck() : min_(hn::Set(d_, hwy::LimitsMax<Key>())), max_(hn::Zero(d_)) {}
  HWY_INLINE void look_at(const std::byte* unit) {
    for (std::size_t offset = 0; offset < kUnitBytes; offset += 2 * kVectorBytes) look_at_two(unit + offset);
  }
  HWY_INLINE void look_at_two(const std::byte* vectors) {
    // The uppermost bits of an element are its odd key; one key on, those of the first vector's elements are even ones.
    const auto odd = load(d_, vectors + kVectorBytes);
    const auto even = load(d_, vectors + sizeof(Key));
    const auto keys = hn::And(hn::OddEven(odd, even), hn::Set(d_, hwy::LimitsMax<Key>()));
    min_ = hn::Min(min_, keys);
    max_ = hn::Max(max_, keys);
  }
  HWY_INLINE bool within(const Bounds& bounds) const {
    const auto lowest = hn::Set(d_, static_cast<Key>(bounds.lowest >> Format<T>::kKeyShift));
    const auto end = hn::Set(d_, static_cast<Key>(bounds.end >> Format<T>::kKeyShift));
    return hn::AllTrue(d_, hn::And(hn::Eq(hn::Max(min_, lowest), min_), hn::Lt(max_, end)));
  }

 private:
  D d_;
  hn::Vec<D> min_;
  hn::Vec<D> max_;
};

// The same by whole encodings. One less than a magnitude makes a zero the greatest unsigned and the least of all signed numbers.
template <class T>
class WholeCheck {
  using D = hn::Repartition<typename Format<T>::Bits, Doubles>;
  using Unsigned = hn::Repartition<std::uint32_t, D>;
  using Signed = hn::Repartition<std::int32_t, D>;

 public:
  HWY_INLINE WholeCheck() : min_(hn::Set(unsigned_, ~std::uint32_t{0})), max_(hn::Set(signed_, -1)) {}
  HWY_INLINE void look_at(const std::byte* unit) {
    for (std::size_t offset = 0; offset < kUnitBytes; offset += kVectorBytes) look_at_one(load(d_, unit + offset));
  }
  HWY_INLINE void look_at_two(const std::byte* vectors) {
    look_at_one(load(d_, vectors));
    look_at_one(load(d_, vectors + kVectorBytes));
  }
  template <class V>
  HWY_INLINE void look_at_one(V elements) {
    const auto magnitude = hn::And(hn::BitCast(d_, elements), hn::Set(d_, ~Bits{0} >> 1));
    const auto less_one = hn::Add(magnitude, hn::Set(d_, ~Bits{0}));
    min_ = hn::Min(min_, hn::BitCast(unsigned_, less_one));
    max_ = hn::Max(max_, hn::BitCast(signed_, less_one));
  }
  // But for whether there are zeros.
  Range range() const {
    if constexpr (sizeof(T) == 4) return {hn::GetLane(hn::MinOfLanes(unsigned_, min_)), hn::GetLane(hn::MaxOfLanes(signed_, max_)), false};
    const auto lowest = hn::OddEven(min_, hn::Set(unsigned_, ~std::uint32_t{0}));
    const auto highest = hn::OddEven(max_, hn::Set(signed_, -1));
    return {hn::GetLane(hn::MinOfLanes(unsigned_, lowest)), hn::GetLane(hn::MaxOfLanes(signed_, highest)), false};
  }
  HWY_INLINE bool within(const Bounds& bounds) const {
    const auto lowest = hn::Set(unsigned_, static_cast<std::uint32_t>(bounds.lowest));
    const auto end = hn::Set(signed_, bounds.end - 1);
    const auto low_enough = hn::BitCast(signed_, hn::VecFromMask(unsigned_, hn::Eq(hn::Max(min_, lowest), min_)));
    const auto both = hn::And(hn::VecFromMask(signed_, hn::Lt(max_, end)), low_enough);
    if constexpr (sizeof(T) == 4) return hn::AllTrue(signed_, hn::MaskFromVec(both));
    return hn::AllTrue(signed_, hn::MaskFromVec(hn::OddEven(both, hn::Set(signed_, -1))));
  }

 private:
  using Bits = typename Format<T>::Bits;
  D d_;
  Unsigned unsigned_;
  Signed signed_;
  hn::Vec<Unsigned> min_;
  hn::Vec<Signed> max_;
};

template <class T>
Range find_range(const std::byte* block, std::size_t count) {
  const hn::Repartition<typename Format<T>::Bits, Doubles> d;
  WholeCheck<T> check;
  auto zeros = hn::Eq(hn::Zero(d), hn::Set(d, 1));  // none
  for (std::size_t i = 0; i < count; i += hn::MaxLanes(d)) {
    const auto bits = load(d, block + i * sizeof(T));
    check.look_at_one(bits);
    zeros = hn::Or(zeros, hn::Eq(hn::Add(bits, bits), hn::Zero(d)));
  }
  Range range = check.range();
  range.zeros = !hn::AllFalse(d, zeros);
  return range;
}

// The window of `slices` slices for elements below 2^end.
template <class T>
Window make_window(int slices, int end) {
  using F = Format<T>;
  Window window;
  window.slices = slices;
  window.scales = end > F::kEnd;
  window.end = (end + F::kBias) << F::kUpperFractionBits;
  const int scale_bits = window.scales ? Window::kScaleBits : 0;
  for (int slice = 0; slice < slices; ++slice) {
    const int exponent = end - scale_bits + kHeadroom + 1 - slice * kSliceBits;
    window.anchors[slice] = std::bit_cast<double>((std::uint64_t(exponent + 1023) << 52) | std::uint64_t{1} << 51);
    window.positions[slice] = exponent + scale_bits - 52 + 1074;
  }
  return window;
}

// The window of the fewest slices that holds a range; where it may, one that rounds rather than one of more slices than the fewest.
// No window if there is none.
template <class T>
bool find_window(const Range& range, bool may_round, Window& window) {
  using F = Format<T>;
  constexpr int kSpare = 52 - F::kFractionBits;  // bits by which doubles are longer than elements
  constexpr int kRoom = 2;                       // for somewhat greater elements in blocks to come
  // All elements are below 2^end. Those that are no zeros are multiples of what 2^lowest is as a double's spacing.
  const int end = ((range.highest + 1) >> F::kUpperFractionBits) + 1 - F::kBias;
  const int lowest = std::max(static_cast<int>(range.lowest >> F::kUpperFractionBits), 1) - F::kBias + kSpare;
  const auto least_end = [](int drop) { return drop - 1022 - kHeadroom - 1; };  // denormals have the least spacing
  for (int slices = kMinSlices; slices <= (may_round ? kMinSlices : kMaxSlices) && end <= F::kEnd; ++slices) {
    const int drop = (slices - 1) * kSliceBits;
    for (const int room : {kRoom, 0}) {
      const int window_end = std::max(std::min(end + room, F::kEnd), least_end(drop));
      const int bottom = window_end + kHeadroom + 1 - drop;
      if (bottom > lowest) continue;
      window = make_window<T>(slices, window_end);
      const int lowest_field = bottom - kSpare + F::kBias;
      window.lowest = lowest_field > 1 ? lowest_field << F::kUpperFractionBits : 0;
      window.zeros = range.zeros && window.lowest != 0;
      return true;
    }
  }
  if (!may_round || end > F::kAllEnd) return false;
  const int most = end <= F::kEnd ? F::kEnd : F::kAllEnd;
  window = make_window<T>(kMinSlices, std::max(std::min(end + kRoom, most), least_end((kMinSlices - 1) * kSliceBits)));
  window.rounds = true;
  return true;
}

// Does a window hold a range?
template <class T>
bool holds(const Window& window, const Range& range) {
  return window.slices != 0 && range.highest + 1 < window.end && range.lowest >= static_cast<std::uint32_t>(window.lowest) &&
         (!range.zeros || window.zeros || window.lowest == 0);
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
