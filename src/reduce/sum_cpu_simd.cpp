// The loops of the CPU's sum, compiled once for each instruction set of the processor family and chosen at run time.

// Processors without SSE4 take the scalar loop. AVX3 is Highway's name for AVX-512. Vectors have to be of constant size.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/sum_cpu_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "reduce/sum_cpu_partial.hpp"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduce {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T plain_sum_tail(const std::byte* elements, std::uint64_t count, T total) {
  for (std::uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, elements + i * sizeof element, sizeof element);
    total += element;
  }
  return total;
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
void add(const std::byte* elements, std::uint64_t count, PartialSum<T>& partial) {
  partial.add_one_by_one(elements, count);
}

template <class T>
T plain_sum(const std::byte* elements, std::uint64_t count) {
  return plain_sum_tail(elements, count, T{0});
}

#else

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
}

// A block stays in the first-level cache, so that it may be looked at again.
constexpr std::size_t kBlock = 1024;
// Running sums of a slice: enough to hide the latency of an addition.
constexpr std::size_t kChains = 4;
constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<double>());
constexpr std::size_t kVectorBytes = kLanes * sizeof(double);
constexpr std::size_t kUnit = kChains * kLanes;  // elements that an iteration takes
// Loops that compute reach less far ahead than the processor's own prefetching takes to hide the latency of memory: best by measurement.
constexpr std::size_t kPrefetchBytes = 1408;
constexpr std::size_t kCacheLine = 64;

// A running sum takes at most 2^kHeadroom elements of a block.
constexpr int kHeadroom = std::countr_zero(kBlock / kUnit);
static_assert(kBlock % kUnit == 0 && std::has_single_bit(kBlock / kUnit) && kLanes <= PartialSum<float>::kMaxLanes);

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
  static constexpr int kEnd = 127;  // numbers from 2^kEnd on are left to the bins
  static constexpr Bits kInfinity = 0x7f800000;
  static constexpr std::int32_t kSpecial = 0x7f7fffff;  // upper bits, less one, of infinities and NaNs
  using Key = std::int16_t;                             // what the fast check sees of an element
  static constexpr int kKeyShift = 16;                  // from upper bits to keys
  static constexpr int kMinSlices = 1;
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kFractionBits = 52;
  static constexpr int kUpperFractionBits = 20;
  static constexpr int kBias = 1023;
  static constexpr int kEnd = 1022 - 1 - kHeadroom;  // the first anchor and all sums in its binade are finite
  static constexpr Bits kInfinity = 0x7ff0000000000000;
  static constexpr std::int32_t kSpecial = 0x7fefffff;  // some finite numbers too
  using Key = std::int32_t;
  static constexpr int kKeyShift = 0;
  static constexpr int kMinSlices = 2;
};

template <class T>
constexpr int kMaxSlices = Format<T>::kMinSlices + 1;

// Do the magnitudes of a block lie within the window? This looks at their uppermost bits only, two vectors at a time, and so takes a
// zero for any of the smallest numbers.
template <class T>
class FastCheck {
  using Key = typename Format<T>::Key;
  using D = hn::Repartition<Key, hn::ScalableTag<double> >;

 public:
  HWY_INLINE FastCheck() : min_(hn::Set(d_, hwy::LimitsMax<Key>())), max_(hn::Zero(d_)) {}
  HWY_INLINE void look_at(const std::byte* unit) {
    for (std::size_t offset = 0; offset < kUnit * sizeof(T); offset += 2 * kVectorBytes) {
      // The uppermost bits of an element are its odd key; one key on, those of the first vector's elements are even ones.
      const auto odd = load(d_, unit + offset + kVectorBytes);
      const auto even = load(d_, unit + offset + sizeof(Key));
      const auto keys = hn::And(hn::OddEven(odd, even), hn::Set(d_, hwy::LimitsMax<Key>()));
      min_ = hn::Min(min_, keys);
      max_ = hn::Max(max_, keys);
    }
  }
  HWY_INLINE bool within(const Window& window) const {
    const auto lowest = hn::Set(d_, static_cast<Key>(window.lowest >> Format<T>::kKeyShift));
    const auto end = hn::Set(d_, static_cast<Key>(window.end >> Format<T>::kKeyShift));
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
  using D = hn::Repartition<typename Format<T>::Bits, hn::ScalableTag<double> >;
  using Unsigned = hn::Repartition<std::uint32_t, D>;
  using Signed = hn::Repartition<std::int32_t, D>;

 public:
  HWY_INLINE WholeCheck() : min_(hn::Set(unsigned_, ~std::uint32_t{0})), max_(hn::Set(signed_, -1)) {}
  HWY_INLINE void look_at(const std::byte* unit) {
    for (std::size_t offset = 0; offset < kUnit * sizeof(T); offset += kVectorBytes) {
      const auto magnitude = hn::And(load(d_, unit + offset), hn::Set(d_, ~Bits{0} >> 1));
      const auto less_one = hn::Add(magnitude, hn::Set(d_, ~Bits{0}));
      min_ = hn::Min(min_, hn::BitCast(unsigned_, less_one));
      max_ = hn::Max(max_, hn::BitCast(signed_, less_one));
    }
  }
  HWY_INLINE bool within(const Window& window) const {
    const auto lowest = hn::Set(unsigned_, static_cast<std::uint32_t>(window.lowest));
    const auto end = hn::Set(signed_, window.end);
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

// The doubles of one chain: kLanes elements.
HWY_INLINE auto load_doubles(const std::byte* from, float) {
  const hn::ScalableTag<double> d;
  return hn::PromoteTo(d, load(hn::Rebind<float, decltype(d)>(), from));
}
HWY_INLINE auto load_doubles(const std::byte* from, double) { return load(hn::ScalableTag<double>(), from); }

// a - b, by the multipliers: the adders are the bottleneck, and there are separate units on some processors. The product is exact.
template <class V>
HWY_INLINE V subtract(V a, V b) {
#if HWY_NATIVE_FMA
  return hn::NegMulAdd(b, hn::Set(hn::DFromV<V>(), 1.0), a);
#else
  return hn::Sub(a, b);
#endif
}
template <class V>
HWY_INLINE V add(V a, V b) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(b, hn::Set(hn::DFromV<V>(), 1.0), a);
#else
  return hn::Add(a, b);
#endif
}

template <class T>
HWY_INLINE void prefetch(const std::byte* unit) {
  for (std::size_t offset = 0; offset < kUnit * sizeof(T); offset += kCacheLine) hwy::Prefetch(unit + kPrefetchBytes + offset);
}

// Calls body(0), …, body(n - 1) with constants, so that arrays indexed by them live in registers.
template <std::size_t n, class Body>
HWY_INLINE void unrolled(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR { (body(std::integral_constant<std::size_t, i>()), ...); }
  (std::make_index_sequence<n>());
}

// Adds a block (a multiple of kUnit elements) to the lanes, if it lies within the window. Looking and adding are done in one go, and
// the sums are thrown away where they turn out not to be exact: as a rule, a block lies where the one before it lay.
template <class T, int kSlices, class Check>
bool add_block_as(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  V anchors[kSlices];
  V sums[kSlices][kChains];
  unrolled<kSlices>([&](auto slice) HWY_ATTR {
    anchors[slice] = hn::Set(d, partial.window.anchors[slice]);
    unrolled<kChains>([&](auto chain) HWY_ATTR { sums[slice][chain] = anchors[slice]; });
  });
  Check check;
  for (std::size_t i = 0; i < count; i += kUnit) {
    const std::byte* unit = block + i * sizeof(T);
    prefetch<T>(unit);
    check.look_at(unit);
    unrolled<kChains>([&](auto chain) HWY_ATTR {
      V x = load_doubles(unit + chain * kLanes * sizeof(T), T{});
      unrolled<kSlices - 1>([&](auto slice) HWY_ATTR {
        const V sum = hn::Add(sums[slice][chain], x);
        x = subtract(x, hn::Sub(sum, sums[slice][chain]));
        sums[slice][chain] = sum;
      });
      V& last = sums[kSlices - 1][chain];
      last = kSlices > 1 ? add(last, x) : hn::Add(last, x);
    });
  }
  if (!check.within(partial.window)) return false;

  const hn::Repartition<std::int64_t, decltype(d)> d64;
  unrolled<kSlices>([&](auto slice) HWY_ATTR {
    std::int64_t* lanes = partial.lanes[slice].data();
    auto total = hn::Load(d64, lanes);
    unrolled<kChains>([&](auto chain) HWY_ATTR {
      total = hn::Add(total, hn::Sub(hn::BitCast(d64, sums[slice][chain]), hn::BitCast(d64, anchors[slice])));
    });
    hn::Store(total, d64, lanes);
  });
  return true;
}

template <class T, class Check>
HWY_INLINE bool add_block_checked(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  constexpr int kFewest = Format<T>::kMinSlices;
  return partial.window.slices == kFewest ? add_block_as<T, kFewest, Check>(block, count, partial)
                                          : add_block_as<T, kFewest + 1, Check>(block, count, partial);
}

template <class T>
bool add_block(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  const bool done = partial.window.zeros ? add_block_checked<T, WholeCheck<T> >(block, count, partial)
                                         : add_block_checked<T, FastCheck<T> >(block, count, partial);
  if (done && ++partial.blocks == PartialSum<T>::kMaxBlocks) {
    partial.flush_lanes();
    // A dearer window than the fewest slices' was needed once: perhaps it no longer is.
    if (partial.window.slices > Format<T>::kMinSlices || partial.window.zeros) partial.window.slices = 0;
  }
  return done;
}

// Where the magnitudes of a block lie; each is the upper bits, less one, of an element that is no zero.
struct Range {
  std::uint32_t lowest;  // all ones if there are only zeros
  std::int32_t highest;  // -1 if there are only zeros
  bool zeros;
};

template <class T>
Range find_range(const std::byte* block, std::size_t count) {
  using Bits = typename Format<T>::Bits;
  const hn::ScalableTag<Bits> d;
  const hn::Repartition<std::uint32_t, decltype(d)> unsigned32;
  const hn::Repartition<std::int32_t, decltype(d)> signed32;
  auto lowest = hn::Set(unsigned32, ~std::uint32_t{0});
  auto highest = hn::Set(signed32, -1);
  auto zero = hn::Zero(unsigned32);
  for (std::size_t i = 0; i < count; i += hn::MaxLanes(d)) {
    const auto magnitude = hn::And(load(d, block + i * sizeof(T)), hn::Set(d, ~Bits{0} >> 1));
    const auto less_one = hn::BitCast(unsigned32, hn::Add(magnitude, hn::Set(d, ~Bits{0})));
    lowest = hn::Min(lowest, less_one);
    highest = hn::Max(highest, hn::BitCast(signed32, less_one));
    zero = hn::Max(zero, less_one);
  }
  if constexpr (sizeof(T) == 8) {
    lowest = hn::OddEven(lowest, hn::Set(unsigned32, ~std::uint32_t{0}));
    highest = hn::OddEven(highest, hn::Set(signed32, -1));
    zero = hn::OddEven(zero, hn::Zero(unsigned32));
  }
  return {hn::GetLane(hn::MinOfLanes(unsigned32, lowest)), hn::GetLane(hn::MaxOfLanes(signed32, highest)),
          hn::GetLane(hn::MaxOfLanes(unsigned32, zero)) == ~std::uint32_t{0}};
}

// The window of the fewest slices that holds a range; no window if there is none.
template <class T>
bool find_window(const Range& range, Window& window) {
  using F = Format<T>;
  constexpr int kSpare = 52 - F::kFractionBits;  // bits by which doubles are longer than elements
  // All elements are below 2^end. Those that are no zeros are multiples of what 2^lowest is as a double's spacing.
  const int end = ((range.highest + 1) >> F::kUpperFractionBits) + 1 - F::kBias;
  const int lowest = std::max(static_cast<int>(range.lowest >> F::kUpperFractionBits), 1) - F::kBias + kSpare;
  if (end > F::kEnd) return false;
  for (int slices = F::kMinSlices; slices <= kMaxSlices<T>; ++slices) {
    for (const int room : {2, 0}) {  // for somewhat greater elements in blocks to come
      const int drop = (slices - 1) * kSliceBits;
      const int top = std::max(std::min(end + room, F::kEnd) + kHeadroom + 1, drop - 1022);  // denormals have the least spacing
      if (top - drop > lowest) continue;
      window.slices = slices;
      window.end = (std::min(top - kHeadroom - 1, F::kEnd) + F::kBias) << F::kUpperFractionBits;
      const int lowest_field = top - drop - kSpare + F::kBias;
      window.lowest = lowest_field > 1 ? lowest_field << F::kUpperFractionBits : 0;
      window.zeros = range.zeros && window.lowest != 0;
      for (int slice = 0; slice < slices; ++slice) {
        const int exponent = top - slice * kSliceBits;
        window.anchors[slice] = std::bit_cast<double>((std::uint64_t(exponent + 1023) << 52) | std::uint64_t{1} << 51);
        window.positions[slice] = exponent - 52 + 1074;
      }
      return true;
    }
  }
  return false;
}

// Does a window hold a range?
template <class T>
bool holds(const Window& window, const Range& range) {
  return window.slices != 0 && range.highest + 1 < window.end && range.lowest >= static_cast<std::uint32_t>(window.lowest) &&
         (!range.zeros || window.zeros || window.lowest == 0);
}

// Notices infinities on the way; they are counted afterwards, as they are rare.
template <class T>
class InfinityFinder {
  using D = hn::ScalableTag<T>;
  using Bits = typename Format<T>::Bits;
  using Unsigned = hn::Repartition<Bits, D>;

 public:
  HWY_INLINE InfinityFinder() : found_(hn::Zero(unsigned_)) {}
  HWY_INLINE void look_at(hn::Vec<D> elements) {
    const auto infinite = hn::Eq(hn::Abs(elements), hn::Set(d_, std::numeric_limits<T>::infinity()));
    found_ = hn::Or(found_, hn::BitCast(unsigned_, hn::VecFromMask(d_, infinite)));
  }
  // Counts those of the block that it has seen, and returns how many there are.
  HWY_INLINE std::uint64_t count(const std::byte* block, std::size_t count, PartialSum<T>& partial) const {
    if (hn::AllTrue(unsigned_, hn::Eq(found_, hn::Zero(unsigned_)))) return 0;
    constexpr Bits kSign = ~(~Bits{0} >> 1);
    std::uint64_t positive = 0, negative = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, block + i * sizeof bits, sizeof bits);
      positive += bits == Format<T>::kInfinity;
      negative += bits == (Format<T>::kInfinity | kSign);
    }
    partial.positive_infinities += positive;
    partial.negative_infinities += negative;
    return positive + negative;
  }

 private:
  D d_;
  Unsigned unsigned_;
  hn::Vec<Unsigned> found_;
};

HWY_INLINE void add_to_bin(const std::byte* element, std::size_t index, BinTables<float>& tables) {
  std::uint32_t bits;
  std::memcpy(&bits, element, sizeof bits);
  tables.sums[index % BinTables<float>::kCopies][bits >> 23] += BinTables<float>::kOne + bits;
}

HWY_INLINE void add_to_bin(const std::byte* element, std::size_t, BinTables<double>& tables) {
  std::uint64_t bits;
  std::memcpy(&bits, element, sizeof bits);
  auto& bin = tables.bins[bits >> 52];
#if HWY_ARCH_X86_64 && !HWY_COMPILER_MSVC
  // Straight to memory, where the processor passes on a sum when the next element meets the same bin; compilers add to registers.
  asm("addq %2, %0\n\tadcq %3, %1" : "+m"(bin.sum), "+m"(bin.upper) : "r"(bits), "e"(BinTables<double>::kOne) : "cc");
#else
  bin.sum += bits;
  bin.upper += BinTables<double>::kOne + (bin.sum < bits ? 1 : 0);
#endif
}

// Adds a block of any elements at all.
template <class T>
void add_to_bins(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  BinTables<T>* const tables = partial.bins.make_room(count, partial.total);
  if (tables == nullptr) return partial.add_one_by_one(block, count);
  const hn::ScalableTag<T> d;
  InfinityFinder<T> infinities;  // in the shadow of the stores
  for (std::size_t i = 0; i < count; i += kUnit) {
    const std::byte* unit = block + i * sizeof(T);
    unrolled<kUnit * sizeof(T) / kVectorBytes>([&](auto n) HWY_ATTR { infinities.look_at(load(d, unit + n * kVectorBytes)); });
    unrolled<kUnit>([&](auto n) HWY_ATTR { add_to_bin(unit + n * sizeof(T), n, *tables); });
  }
  partial.infinities_in_bins += infinities.count(block, count, partial);
}

// Copies a block with zeros in the place of infinities and NaNs, which are counted. Were there any?
template <class T>
bool copy_finite(const std::byte* block, std::size_t count, std::byte* copy, PartialSum<T>& partial) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<typename Format<T>::Bits, decltype(d)> unsigned_bits;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  InfinityFinder<T> infinities;
  auto minus_nans = hn::Zero(unsigned_bits);
  for (std::size_t i = 0; i < count; i += hn::MaxLanes(d)) {
    const auto elements = load(d, block + i * sizeof(T));
    infinities.look_at(elements);
    minus_nans = hn::Add(minus_nans, hn::BitCast(unsigned_bits, hn::VecFromMask(d, hn::IsNaN(elements))));
    const auto finite = hn::IfThenElseZero(hn::IsFinite(elements), elements);
    hn::StoreU(hn::BitCast(bytes, finite), bytes, reinterpret_cast<std::uint8_t*>(copy + i * sizeof(T)));
  }
  const typename Format<T>::Bits nans = 0 - hn::GetLane(hn::SumOfLanes(unsigned_bits, minus_nans));
  partial.nans += nans;
  return infinities.count(block, count, partial) + nans != 0;
}

// Adds a block that is not known to lie in the window.
template <class T>
HWY_NOINLINE void add_unknown_block(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  alignas(64) std::byte finite[kBlock * sizeof(T)];
  Range range = partial.expects_specials ? Range{} : find_range<T>(block, count);
  if (partial.expects_specials || range.highest >= Format<T>::kSpecial) {
    partial.expects_specials = copy_finite(block, count, finite, partial);
    block = finite;
    range = find_range<T>(block, count);
  }
  if (!holds<T>(partial.window, range)) {
    partial.flush_lanes();
    if (!find_window<T>(range, partial.window)) {
      // Blocks to come are likely to be like this one.
      partial.window.slices = 0;
      partial.last_blocks_to_bins = std::clamp(2 * partial.last_blocks_to_bins, 1, 64);
      partial.blocks_to_bins = partial.last_blocks_to_bins;
      return add_to_bins(block, count, partial);
    }
  }
  partial.last_blocks_to_bins = 0;
  if (!add_block(block, count, partial)) add_to_bins(block, count, partial);
}

template <class T>
bool are_negative_zeros(const std::byte* elements, std::size_t count) {
  using Bits = typename Format<T>::Bits;
  constexpr Bits kSign = ~(~Bits{0} >> 1);
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, elements + i * sizeof bits, sizeof bits);
    if (bits != kSign && (bits & ~kSign) <= Format<T>::kInfinity) return false;
  }
  return true;
}

template <class T>
void add(const std::byte* elements, std::uint64_t count, PartialSum<T>& partial) {
  const auto take = [&](std::size_t taken) {
    elements += taken * sizeof(T);
    count -= taken;
  };
  if (count >= 4 * kBlock) {  // it pays to have vectors that do not straddle cache lines
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(elements) % kCacheLine / sizeof(T);
    partial.add_one_by_one(elements, head);
    take(head);
  }
  while (count >= kUnit) {
    const std::size_t block = std::min<std::uint64_t>(kBlock, count / kUnit * kUnit);
    if (partial.only_negative_zeros) partial.only_negative_zeros = are_negative_zeros<T>(elements, block);
    if (partial.blocks_to_bins > 0) {
      --partial.blocks_to_bins;
      add_to_bins(elements, block, partial);
    } else if (partial.window.slices == 0 || partial.expects_specials || !add_block(elements, block, partial)) {
      add_unknown_block(elements, block, partial);
    }
    take(block);
  }
  partial.add_one_by_one(elements, count);
}

template <class T>
T plain_sum(const std::byte* elements, std::uint64_t count) {
  constexpr std::size_t kChains = 8;
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kChains];
  for (auto& sum : sums) sum = hn::Zero(d);
  std::uint64_t i = 0;
  for (; i + kChains * lanes <= count; i += kChains * lanes) {
    for (std::size_t chain = 0; chain < kChains; ++chain) {
      sums[chain] = hn::Add(sums[chain], load(d, elements + (i + chain * lanes) * sizeof(T)));
    }
  }
  for (std::size_t chain = 1; chain < kChains; ++chain) sums[0] = hn::Add(sums[0], sums[chain]);
  return plain_sum_tail(elements + i * sizeof(T), count - i, hn::GetLane(hn::SumOfLanes(d, sums[0])));
}

#endif  // HWY_SCALAR

void add_float32(const std::byte* elements, std::uint64_t count, PartialSum<float>& partial) { add(elements, count, partial); }
void add_float64(const std::byte* elements, std::uint64_t count, PartialSum<double>& partial) { add(elements, count, partial); }
float plain_sum_float32(const std::byte* elements, std::uint64_t count) { return plain_sum<float>(elements, count); }
double plain_sum_float64(const std::byte* elements, std::uint64_t count) { return plain_sum<double>(elements, count); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::reduce {

HWY_EXPORT(add_float32);
HWY_EXPORT(add_float64);
HWY_EXPORT(plain_sum_float32);
HWY_EXPORT(plain_sum_float64);

void add_elements(const std::byte* elements, std::uint64_t count, PartialSum<float>& partial) {
  partial.elements += count;
  HWY_DYNAMIC_DISPATCH(add_float32)(elements, count, partial);
}
void add_elements(const std::byte* elements, std::uint64_t count, PartialSum<double>& partial) {
  partial.elements += count;
  HWY_DYNAMIC_DISPATCH(add_float64)(elements, count, partial);
}
template <>
float plain_sum_simd<float>(const std::byte* elements, std::uint64_t count) {
  return HWY_DYNAMIC_DISPATCH(plain_sum_float32)(elements, count);
}
template <>
double plain_sum_simd<double>(const std::byte* elements, std::uint64_t count) {
  return HWY_DYNAMIC_DISPATCH(plain_sum_float64)(elements, count);
}

}  // namespace samesum::reduce
#endif  // HWY_ONCE
