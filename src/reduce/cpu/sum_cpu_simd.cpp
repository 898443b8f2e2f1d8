// The loops of the CPU's sum, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/sum_cpu_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "reduce/cpu/halves.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"
#include "reduce/cpu/sum_cpu_watched-inl.hpp"
#include "reduce/cpu/sum_cpu_window-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
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

// Adds a block to the lanes, if it lies within the window. Looking and adding are done in one go, and the sums are thrown away where they
// turn out not to be exact: as a rule, a block lies where the one before it lay.
template <class T, int kSlices, class Check, bool kScales, std::size_t count>
bool add_block_as(const Block<count>& block, PartialSum<T>& partial) {
  const Doubles d;
  using V = hn::Vec<decltype(d)>;
  struct Exactly {};
  [[maybe_unused]] const std::conditional_t<kScales, core::AnyDenormals, Exactly> mode;  // scaling makes some
  V anchors[kSlices];
  V sums[kSlices][kChains];
  unrolled<kSlices>([&](auto slice) HWY_ATTR {
    anchors[slice] = hn::Set(d, partial.window.anchors[slice]);
    unrolled<kChains>([&](auto chain) HWY_ATTR { sums[slice][chain] = anchors[slice]; });
  });
  Check check;
  for (std::size_t offset = 0; offset != block.piece_bytes; offset += kUnitBytes) {
    unrolled<count>([&](auto piece) HWY_ATTR {
      const std::byte* const unit = block.pieces[piece] + offset;
      prefetch(unit);
      check.look_at(unit);
      unrolled<kUnit<T> / kLanes>([&](auto n) HWY_ATTR {
        constexpr std::size_t kChain = n % kChains;
        V x = load_doubles(unit + n * kLanes * sizeof(T), T{});
        if constexpr (kScales) x = hn::Mul(x, hn::Set(d, Window::kScale));
        unrolled<kSlices - 1>([&](auto slice) HWY_ATTR {
          const V sum = hn::Add(sums[slice][kChain], x);
          x = minus(x, hn::Sub(sum, sums[slice][kChain]));
          sums[slice][kChain] = sum;
        });
        V& last = sums[kSlices - 1][kChain];
        last = plus(last, x);
      });
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

template <class T, class Check, std::size_t count>
HWY_INLINE bool add_block_checked(const Block<count>& block, PartialSum<T>& partial) {
  return partial.window.slices == kMinSlices ? add_block_as<T, kMinSlices, Check, false>(block, partial)
                                             : add_block_as<T, kMaxSlices, Check, false>(block, partial);
}

template <class T, std::size_t count>
HWY_INLINE bool add_block_in_window(const Block<count>& block, PartialSum<T>& partial) {
  if constexpr (Format<T>::kEnd < Format<T>::kAllEnd) {
    if (partial.window.scales) return add_block_as<T, kMinSlices, FastCheck<T>, true>(block, partial);
  }
  return partial.window.zeros ? add_block_checked<T, WholeCheck<T> >(block, partial) : add_block_checked<T, FastCheck<T> >(block, partial);
}

// Counts a block in the lanes.
template <class T>
HWY_INLINE void count_block(PartialSum<T>& partial) {
  if (++partial.blocks != PartialSum<T>::kMaxBlocks) return;
  partial.flush_lanes();
  // A dearer window than the fewest slices' was needed once: perhaps it no longer is.
  if (partial.window.slices > kMinSlices || partial.window.zeros || partial.window.rounds) partial.window = {};
}

template <class T, std::size_t count>
bool add_block(const Block<count>& block, PartialSum<T>& partial) {
  const bool done = add_block_in_window(block, partial);
  if (done) count_block(partial);
  return done;
}

#if HWY_TARGET == HWY_AVX3
// Adds a block to the lanes without a look at its elements, four of a lane at once. Only the first slice may round; where nothing else has,
// all is exact if the sums are still in the binades of their anchors.
template <std::size_t count>
bool add_block_unseen(const Block<count>& block, PartialSum<float>& partial) {
  constexpr std::size_t kAtOnce = 4, kSteps = kUnit<float> / kLanes / kAtOnce;
  const Doubles d;
  const hn::Repartition<std::int64_t, Doubles> d64;
  const core::RoundingWatch watch;
  DoubleVector sums[kMinSlices][kChains];
  unrolled<kMinSlices>([&](auto slice) HWY_ATTR {
    unrolled<kChains>([&](auto chain) HWY_ATTR { sums[slice][chain] = hn::Set(d, partial.window.anchors[slice]); });
  });
  for (std::size_t offset = 0; offset != block.piece_bytes; offset += kUnitBytes) {
    unrolled<count>([&](auto piece) HWY_ATTR {
      const std::byte* const unit = block.pieces[piece] + offset;
      prefetch(unit);
      unrolled<kSteps>([&](auto step) HWY_ATTR {
        constexpr std::size_t kChain = (piece * kSteps + step) % kChains;
        const auto x = [&](std::size_t n)
                           SAMESUM_INLINE_LAMBDA { return load_doubles(unit + (step * kAtOnce + n) * kLanes * sizeof(float), 0.0F); };
        const DoubleVector four = hn::Add(hn::Add(x(0), x(1)), hn::Add(x(2), x(3)));
        const DoubleVector before = sums[0][kChain], sum = add_quietly(before, four);
        sums[0][kChain] = sum;
        sums[1][kChain] = plus(sums[1][kChain], minus(four, hn::Sub(sum, before)));
      });
    });
  }
  alignas(64) double results[kMinSlices][kChains][kLanes];
  unrolled<kMinSlices>([&](auto slice) HWY_ATTR {
    unrolled<kChains>([&](auto chain) HWY_ATTR { hn::Store(sums[slice][chain], d, results[slice][chain]); });
  });
  if (watch.rounded()) return false;
  auto changed = hn::Zero(d64);
  hn::Vec<decltype(d64)> totals[kMinSlices];
  unrolled<kMinSlices>([&](auto slice) HWY_ATTR {
    const auto anchor = hn::BitCast(d64, hn::Set(d, partial.window.anchors[slice]));
    totals[slice] = hn::Load(d64, partial.lanes[slice].data());
    unrolled<kChains>([&](auto chain) HWY_ATTR {
      const auto result = hn::BitCast(d64, hn::Load(d, results[slice][chain]));
      changed = hn::Or(changed, hn::Xor(result, anchor));
      totals[slice] = hn::Add(totals[slice], hn::Sub(result, anchor));
    });
  });
  if (!hn::AllTrue(d64, hn::Eq(hn::ShiftRight<52>(changed), hn::Zero(d64)))) return false;
  unrolled<kMinSlices>([&](auto slice) HWY_ATTR { hn::Store(totals[slice], d64, partial.lanes[slice].data()); });
  return true;
}
#endif

// The same, where there are instructions for it, unless blocks like this one were tried in vain.
template <class T, std::size_t count>
HWY_INLINE bool try_unseen([[maybe_unused]] const Block<count>& block, [[maybe_unused]] PartialSum<T>& partial) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) == 4 && count == kPlaces) {
    if (partial.window.slices != kMinSlices || partial.window.rounds || !partial.unseen.due() || !core::RoundingWatch::works())
      return false;
    const bool done = partial.unseen.note(add_block_unseen(block, partial));
    if (done) count_block(partial);
    return done;
  }
#endif
  return false;
}

// Counts the infinities of a block, and returns how many there are.
template <class T>
std::uint64_t count_infinities(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  using Bits = typename Format<T>::Bits;
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

HWY_INLINE void add_to_bin(const std::byte* element, std::size_t index, BinTables<float>& tables) {
  std::uint32_t bits;
  std::memcpy(&bits, element, sizeof bits);
  tables.sums[index % BinTables<float>::kCopies][bits >> 23] += BinTables<float>::kOne + bits;
}

HWY_INLINE void add_to_bin(const std::byte* element, std::size_t, BinTables<double>& tables) {
  std::uint64_t bits;
  std::memcpy(&bits, element, sizeof bits);
  tables.add(bits);
}

// Adds any elements at all.
template <class T>
void add_to_bins(const std::byte* from, std::size_t count, PartialSum<T>& partial) {
  BinTables<T>* const tables = partial.bins.make_room(count, partial.total);
  if (tables == nullptr) return partial.add_one_by_one(from, count);
  const std::uint64_t specials = tables->specials();
  const std::byte* const end = from + count * sizeof(T);
  for (const std::byte* unit = from; unit != end; unit += kUnitBytes) {
    prefetch(unit);
    unrolled<kUnit<T> >([&](auto n) HWY_ATTR { add_to_bin(unit + n * sizeof(T), n, *tables); });
  }
  // Bins do not tell infinities from NaNs.
  if (tables->specials() != specials) partial.infinities_in_bins += count_infinities(from, count, partial);
}

// Copies a block with zeros in the place of infinities and NaNs, which are counted. Were there any?
template <class T>
bool copy_finite(const std::byte* block, std::size_t count, std::byte* copy, PartialSum<T>& partial) {
  const hn::ScalableTag<T> d;
  using Bits = typename Format<T>::Bits;
  const hn::Repartition<Bits, decltype(d)> unsigned_bits;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  auto minus_nans = hn::Zero(unsigned_bits), minus_finite = minus_nans;
  for (std::size_t i = 0; i < count; i += hn::MaxLanes(d)) {
    const auto elements = load(d, block + i * sizeof(T));
    const auto is_finite = hn::IsFinite(elements);
    minus_nans = hn::Add(minus_nans, hn::BitCast(unsigned_bits, hn::VecFromMask(d, hn::IsNaN(elements))));
    minus_finite = hn::Add(minus_finite, hn::BitCast(unsigned_bits, hn::VecFromMask(d, is_finite)));
    const auto finite = hn::IfThenElseZero(is_finite, elements);
    hn::StoreU(hn::BitCast(bytes, finite), bytes, reinterpret_cast<std::uint8_t*>(copy + i * sizeof(T)));
  }
  const Bits nans = Bits{0} - hn::GetLane(hn::SumOfLanes(unsigned_bits, minus_nans));
  const Bits specials = static_cast<Bits>(count) + hn::GetLane(hn::SumOfLanes(unsigned_bits, minus_finite));
  partial.nans += nans;
  if (specials != nans) count_infinities(block, count, partial);
  return specials != 0;
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
    if (!find_window<T>(range, partial.may_round, partial.window)) {
      // Blocks to come are likely to be like this one.
      partial.window = {};
      partial.last_blocks_to_bins = std::clamp(2 * partial.last_blocks_to_bins, 1, 128);
      partial.blocks_to_bins = partial.last_blocks_to_bins;
      return add_to_bins(block, count, partial);
    }
  }
  partial.last_blocks_to_bins = 0;
  if (!add_block(Block<1>{{block}, count * sizeof(T)}, partial)) add_to_bins(block, count, partial);
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

// Adds a block in one piece, or several blocks at once if they go to the bins.
template <class T>
void add_piece(const std::byte* block, std::size_t count, PartialSum<T>& partial) {
  if (partial.only_negative_zeros) partial.only_negative_zeros = are_negative_zeros<T>(block, count);
  if (partial.blocks_to_bins > 0) {
    partial.blocks_to_bins -= static_cast<int>((count + kBlock - 1) / kBlock);
    add_to_bins(block, count, partial);
  } else if (partial.window.slices == 0 || partial.expects_specials || !add_block(Block<1>{{block}, count * sizeof(T)}, partial)) {
    add_unknown_block(block, count, partial);
  }
}

// Adds `count` elements from each of several places, one every `distance` bytes.
template <class T, std::size_t kPlaces>
void add_in_pieces(const std::byte* first, std::size_t distance, std::size_t count, PartialSum<T>& partial) {
  const auto block_of = [&](std::size_t part) {
    Block<kPlaces> block{{}, part * sizeof(T)};
    for (std::size_t n = 0; n < kPlaces; ++n) block.pieces[n] = first + n * distance;
    return block;
  };
  while (count != 0) {
    const auto watched = block_of(std::min(kWatchedBytes / sizeof(T) / kPlaces, count));
    for (const std::byte* piece : watched.pieces) {
      if (partial.only_negative_zeros) partial.only_negative_zeros = are_negative_zeros<T>(piece, watched.piece_bytes / sizeof(T));
    }
    std::size_t part = watched.piece_bytes / sizeof(T);
    if (!add_watched<T>(watched, partial)) {
      const bool as_before =
          partial.blocks_to_bins == 0 && partial.window.slices != 0 && !partial.expects_specials && !partial.only_negative_zeros;
      if (!as_before || !try_unseen(watched, partial)) {
        // Bins take long runs: each place is a stream that they have to get going again.
        part = std::min(partial.blocks_to_bins > 0 ? std::max<std::size_t>(partial.blocks_to_bins / kPlaces, 1) * kBlock : kBlock / kPlaces,
                        count);
        const auto block = block_of(part);
        if (!as_before || !add_block(block, partial)) {
          for (const std::byte* piece : block.pieces) add_piece(piece, part, partial);
        }
      }
      const int blocks = static_cast<int>((kPlaces * part + kBlock - 1) / kBlock);
      partial.watching.pass(blocks);
      partial.unseen.pass(blocks);
    }
    first += part * sizeof(T);
    count -= part;
  }
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
  if (count >= 4 * kBlock) {
    const std::size_t part = count / (kPlaces * kUnit<T>)*kUnit<T>;
    add_in_pieces<T, kPlaces>(elements, part * sizeof(T), part, partial);
    take(kPlaces * part);
  }
  const std::size_t units = count / kUnit<T> * kUnit<T>;
  add_in_pieces<T, 1>(elements, 0, units, partial);
  take(units);
  partial.add_one_by_one(elements, count);
}

template <class T>
T plain_sum(const std::byte* elements, std::uint64_t count) {
  constexpr std::size_t kSums = 8;
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kSums];
  for (auto& sum : sums) sum = hn::Zero(d);
  std::uint64_t i = 0;
  for (; i + kSums * lanes <= count; i += kSums * lanes) {
    for (std::size_t chain = 0; chain < kSums; ++chain) {
      sums[chain] = hn::Add(sums[chain], load(d, elements + (i + chain * lanes) * sizeof(T)));
    }
  }
  for (std::size_t chain = 1; chain < kSums; ++chain) sums[0] = hn::Add(sums[0], sums[chain]);
  return plain_sum_tail(elements + i * sizeof(T), count - i, hn::GetLane(hn::SumOfLanes(d, sums[0])));
}

#endif  // HWY_SCALAR

// Adds a block of 16-bit floats, `count` of them from each of several places; or nothing, and returns false, where that may not be exact.
template <class Half>
bool add_halves([[maybe_unused]] const std::array<const std::byte*, 4>& places, [[maybe_unused]] std::size_t count,
                [[maybe_unused]] PartialSum<float>& partial) {
#if HWY_TARGET == HWY_SCALAR
  return false;
#else
  if (partial.only_negative_zeros) return false;
  return add_watched<Half>(Block<4>{places, count * sizeof(Half)}, partial);
#endif
}
bool add_float16(const std::array<const std::byte*, 4>& places, std::size_t count, PartialSum<float>& partial) {
  return add_halves<core::Float16>(places, count, partial);
}
bool add_bfloat16(const std::array<const std::byte*, 4>& places, std::size_t count, PartialSum<float>& partial) {
  return add_halves<core::BFloat16>(places, count, partial);
}

void add_float32(const std::byte* elements, std::uint64_t count, PartialSum<float>& partial) { add(elements, count, partial); }
void add_float64(const std::byte* elements, std::uint64_t count, PartialSum<double>& partial) { add(elements, count, partial); }
float plain_sum_float32(const std::byte* elements, std::uint64_t count) { return plain_sum<float>(elements, count); }
double plain_sum_float64(const std::byte* elements, std::uint64_t count) { return plain_sum<double>(elements, count); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::reduction {

SIMD_EXPORT(add_float16);
SIMD_EXPORT(add_bfloat16);
SIMD_EXPORT(add_float32);
SIMD_EXPORT(add_float64);
SIMD_EXPORT(plain_sum_float32);
SIMD_EXPORT(plain_sum_float64);

void add_elements(const std::byte* elements, std::uint64_t count, DType type, PartialSum<float>& partial) {
  partial.elements += count;
  if (type == DType::float32) return SIMD_CALL(add_float32)(elements, count, partial);
  constexpr std::size_t kFloats = 4096, kFour = 4, kPart = kFloats / kFour;  // half of a first-level cache, read in four places
  alignas(64) float block[kFloats];
  const std::uint64_t distance = count / kFloats * kPart;
  for (std::uint64_t i = 0; i < distance; i += kPart) {
    std::array<const std::byte*, kFour> places;
    for (std::size_t n = 0; n < kFour; ++n) places[n] = elements + 2 * (n * distance + i);
    if (type == DType::float16 ? SIMD_CALL(add_float16)(places, kPart, partial) : SIMD_CALL(add_bfloat16)(places, kPart, partial)) continue;
    for (std::size_t n = 0; n < kFour; ++n) halves_to_floats(places[n], kPart, type, block + n * kPart);
    SIMD_CALL(add_float32)(reinterpret_cast<const std::byte*>(block), kFloats, partial);
  }
  const std::size_t left = count % kFloats;
  halves_to_floats(elements + 2 * (count - left), left, type, block);
  SIMD_CALL(add_float32)(reinterpret_cast<const std::byte*>(block), left, partial);
}
void add_elements(const std::byte* elements, std::uint64_t count, DType, PartialSum<double>& partial) {
  partial.elements += count;
  SIMD_CALL(add_float64)(elements, count, partial);
}
template <>
float plain_sum_simd<float>(const std::byte* elements, std::uint64_t count) {
  return SIMD_CALL(plain_sum_float32)(elements, count);
}
template <>
double plain_sum_simd<double>(const std::byte* elements, std::uint64_t count) {
  return SIMD_CALL(plain_sum_float64)(elements, count);
}

}  // namespace samesum::reduction
#endif  // HWY_ONCE
