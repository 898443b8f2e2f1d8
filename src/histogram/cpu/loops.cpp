// The CPU's innermost loops, compiled once for each instruction set.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "histogram/cpu/loops.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "histogram/cpu/count.hpp"
#include "histogram/cpu/slots.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace samesum::binning {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE std::uint64_t load_word(const std::uint8_t* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// 1.5 times 2 to the number of a mantissa's bits: adding it rounds to an integer, which the lowest bits then hold.
template <class T>
constexpr T kRounder = sizeof(T) == 8 ? T(0x1.8p52) : T(0x1.8p23);

HWY_INLINE bool all_equal(const std::uint8_t* from) {
  const std::uint64_t first = load_word(from);
  if (first != load_word(from + 8) || first != (first & 0xff) * 0x0101010101010101u) return false;  // the usual case
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 16; i < kRun; i += 8) {
    if (load_word(from + i) != first) return false;
  }
  return true;
#else
  const hn::ScalableTag<std::uint8_t> d;
  const auto expected = hn::Set(d, from[0]);
  auto same = hn::Eq(hn::LoadU(d, from), expected);
  for (std::size_t i = hn::Lanes(d); i < kRun; i += hn::Lanes(d)) same = hn::And(same, hn::Eq(hn::LoadU(d, from + i), expected));
  return hn::AllTrue(d, same);
#endif
}

// Takes runs from several places in turns: adds those that are all equal to `counts`, and calls add(run, place) for the others; returns how
// many bytes that leaves.
template <class Add>
HWY_INLINE std::size_t add_runs(const std::uint8_t* from, std::size_t count, std::uint32_t* counts, const Add& add) {
  const std::size_t distance = count / (kPlaces * kRun) * kRun;
  for (std::size_t i = 0; i < distance; i += kRun) {
    for (std::size_t place = 0; place < kPlaces; ++place) {
      const std::uint8_t* const run = from + place * distance + i;
      __builtin_prefetch(run + kPrefetchBytes);
      if (all_equal(run)) {
        counts[run[0]] += kRun;
      } else {
        add(run, place);
      }
    }
  }
  return count - kPlaces * distance;
}

void add_singles(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  auto& table = tables.single;
  const std::size_t left = add_runs(from, count, table[0], [&](const std::uint8_t* run, std::size_t) HWY_ATTR {
    static_assert(ByteTables::kCopies == 16);
    for (std::size_t k = 0; k < kRun; k += 16) {
      for (std::size_t half = 0; half < 16; half += 8) {
        const std::uint64_t word = load_word(run + k + half);
        ++table[half][word & 255];
        ++table[half + 1][word >> 8 & 255];
        ++table[half + 2][word >> 16 & 255];
        ++table[half + 3][word >> 24 & 255];
        ++table[half + 4][word >> 32 & 255];
        ++table[half + 5][word >> 40 & 255];
        ++table[half + 6][word >> 48 & 255];
        ++table[half + 7][word >> 56];
      }
    }
  });
  for (std::size_t i = count - left; i < count; ++i) ++table[0][from[i]];
}

// Counts `kCount` pairs, pair_at(i) for each i; calls wrapped(pair) where a counter comes to zero.
template <std::size_t kCount, class Counter, std::size_t kCounters, class PairAt, class Wrapped>
HWY_INLINE void count_pairs(Counter (&table)[kCounters], const PairAt& pair_at, const Wrapped& wrapped) {
  constexpr std::size_t kUnrolled = 8;
  for (std::size_t first = 0; first < kCount; first += kUnrolled) {
    // Of eight steps, which they unroll, and of an array, compilers make loads, additions and stores, all with an index. On some processors
    // an addition to memory, or an address in one register, takes half as long again: they take such a load for one of what was stored last
    // by the same register.
    for (std::size_t i = first; i < first + kUnrolled; ++i) {
      const std::size_t pair = pair_at(i);
      if (HWY_UNLIKELY(__builtin_add_overflow(table[pair], 1, &table[pair]))) wrapped(pair);
    }
  }
}

// Loads of two bytes are faster here than shifts of a word.
HWY_INLINE std::size_t load_pair(const std::uint8_t* from) {
  std::uint16_t pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

void add_ordered(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  auto& table = tables.ordered->counts;
  const std::size_t left = add_runs(from, count, tables.single[0], [&](const std::uint8_t* run, std::size_t) HWY_ATTR {
    count_pairs<kRun / 2>(
        table, [&](std::size_t i) HWY_ATTR { return load_pair(run + 2 * i); },
        [&](std::size_t pair) HWY_ATTR {
          tables.single[0][pair & 255] += 65536;
          tables.single[0][pair >> 8] += 65536;
        });
  });
  for (std::size_t i = count - left; i < count; ++i) ++tables.single[0][from[i]];
}

HWY_NOINLINE void move_to_bytes(UnorderedPairs& pairs) {
  const std::uint8_t* counts = pairs.counts;
  for (std::size_t distance = 0; distance <= 128; ++distance, counts += 256) {
    for (std::size_t i = 0; i < 256; ++i) pairs.bytes[0][i] += counts[i];
    for (std::size_t i = 0; i < 256 - distance; ++i) pairs.bytes[1][i + distance] += counts[i];
    for (std::size_t i = 0; i < distance; ++i) pairs.bytes[1][i] += counts[256 - distance + i];
  }
  std::memset(pairs.counts, 0, sizeof pairs.counts);
  pairs.wrapped = 0;
}

// Takes over from a counter of 8 bits that has wrapped around. The processor does not foresee that, which costs it more than ten additions.
// Of uniform data all counters wrap around at nearly the same time: so after the first ones all start again at zero.
HWY_NOINLINE void carry(UnorderedPairs& pairs, std::size_t pair) {
  constexpr std::uint32_t kMost = 1024;
  pairs.bytes[0][pair & 255] += 256;
  pairs.bytes[1][(pair + (pair >> 8)) & 255] += 256;
  if (++pairs.wrapped == kMost) move_to_bytes(pairs);
}

void add_unordered(const std::uint8_t* from, std::size_t count, UnorderedPairs& pairs) {
  constexpr std::size_t kHalf = kRun / 2;
  const hn::CappedTag<std::uint16_t, kHalf> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  // A run's pairs wait until the next run of the same place: to load single words of a vector that has just been stored would stall.
  auto& waiting = pairs.waiting;
  for (auto& run : waiting) std::fill(run, run + kHalf, UnorderedPairs::kNone);
  const auto count_run = [&](const std::uint16_t* run) HWY_ATTR {
    count_pairs<kHalf>(
        pairs.counts, [&](std::size_t i) HWY_ATTR { return std::size_t{run[i]}; }, [&](std::size_t pair) HWY_ATTR { carry(pairs, pair); });
  };
  const std::size_t left = add_runs(from, count, pairs.bytes[0], [&](const std::uint8_t* run, std::size_t place) HWY_ATTR {
    count_run(waiting[place]);
    for (std::size_t k = 0; k < kHalf; k += hn::Lanes(d)) {
      const auto x = hn::PromoteTo(d, hn::LoadU(bytes, run + k)), y = hn::PromoteTo(d, hn::LoadU(bytes, run + kHalf + k));
      const auto distance = hn::ShiftLeft<8>(hn::Sub(y, x));  // from x to y, modulo 256, in the upper byte
      // The smaller of the distances from x to y and from y to x, above the byte from which it is counted.
      hn::Store(hn::Min(hn::Add(x, distance), hn::Sub(y, distance)), d, waiting[place] + k);
    }
  });
  for (const auto& run : waiting) count_run(run);
  pairs.counts[UnorderedPairs::kNone] = 0;
  for (std::size_t i = count - left; i < count; ++i) ++pairs.bytes[0][from[i]];
}

template <class T>
HWY_INLINE T load_at(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + sizeof value * i, sizeof value);
  return value;
}

// One sample, as in slots.cl.
template <class T>
HWY_INLINE std::uint32_t even_slot(T x, const Even& even, const Plan& plan) {
  const auto low = static_cast<T>(even.low), scale = static_cast<T>(even.scale), top = static_cast<T>(even.top);
  if (x != x) return static_cast<std::uint32_t>(plan.nan_slot());
  T real = real_of(x, low, scale);
  real = real > T(-0.5) ? real : T(-0.5);
  real = real < top ? real : top;
  const auto edge = static_cast<std::uint32_t>(real + T(0.5));
  const T off = real - static_cast<T>(edge);
  const bool near_last = std::fabs(real - static_cast<T>(even.top - 0.5)) < static_cast<T>(even.last_tolerance);
  if (!(std::fabs(off) < static_cast<T>(even.tolerance)) && !near_last) return edge + (off >= 0 ? 1 : 0);
  std::uint64_t key;
  if constexpr (sizeof(T) == 8) {
    key = double_key(std::bit_cast<std::uint64_t>(x));
  } else {
    key = float_key(std::bit_cast<std::uint32_t>(x));
  }
  return edge + (key >= plan.thresholds()[edge] ? 1 : 0);
}

#if HWY_TARGET != HWY_SCALAR
// The slots of a vector of samples, and how far they are from the edges.
template <class T>
class EvenVector {
 public:
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<hn::ScalableTag<T>> integers;
  const hn::Rebind<std::uint32_t, hn::ScalableTag<T>> words;
  using V = hn::Vec<hn::ScalableTag<T>>;

  explicit EvenVector(const Even& even) : even_(even) {}

  HWY_INLINE V load(const std::byte* from, std::size_t i) const {
    const hn::Repartition<std::uint8_t, hn::ScalableTag<T>> bytes;
    return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + sizeof(T) * i)));
  }
  // Stores the slots times 2^kShift.
  template <int kShift>
  HWY_INLINE void find(V x, std::uint32_t* to, V& off, V& from_last) const {
    const auto low = hn::Set(d, static_cast<T>(even_.low)), scale = hn::Set(d, static_cast<T>(even_.scale));
    const auto top = hn::Set(d, static_cast<T>(even_.top)), last = hn::Set(d, static_cast<T>(even_.top - 0.5));
    const auto rounder = hn::Set(d, kRounder<T>);
    using Bits = hn::TFromD<decltype(integers)>;
    const auto first = hn::Set(integers, std::bit_cast<Bits>(kRounder<T>) - 1);  // between the rounded integer's bits and the slot
    const auto real = hn::Min(hn::Max(hn::Mul(hn::Sub(x, low), scale), hn::Set(d, T(-0.5))), top);
    const auto shifted = hn::Add(real, rounder);
    // -0.0 only where real() rounded to that for a sample below edge 0, which is within the tolerance (see Even).
    const auto signed_off = hn::Sub(real, hn::Sub(shifted, rounder));
    const auto slot =
        hn::Add(hn::Sub(hn::BitCast(integers, shifted), first), hn::ShiftRight<8 * sizeof(T) - 1>(hn::BitCast(integers, signed_off)));
    const auto place = hn::BitCast(hn::RebindToUnsigned<decltype(integers)>(), hn::ShiftLeft<kShift>(slot));
    if constexpr (sizeof(T) == 8) {
      hn::StoreU(hn::TruncateTo(words, place), words, to);
    } else {
      hn::StoreU(place, words, to);
    }
    off = hn::Abs(signed_off);
    from_last = hn::Abs(hn::Sub(real, last));
  }
  HWY_INLINE bool sure(V off, V from_last, V x) const {
    const auto tolerance = hn::Set(d, static_cast<T>(even_.tolerance)), last = hn::Set(d, static_cast<T>(even_.last_tolerance));
    return hn::AllTrue(d, hn::And(hn::And(hn::Ge(off, tolerance), hn::Ge(from_last, last)), hn::Eq(x, x)));
  }

 private:
  const Even& even_;
};
#endif

// The slots alone.
template <class T>
HWY_INLINE void even_slots_of(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* slots) {
  const Even& even = *plan.even();
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const EvenVector<T> vector(even);
  const std::size_t lanes = hn::Lanes(vector.d);
  for (; i + lanes <= count; i += lanes) {
    const auto x = vector.load(from, i);
    auto off = x, from_last = x;
    vector.template find<0>(x, slots + i, off, from_last);
    if (HWY_UNLIKELY(!vector.sure(off, from_last, x))) {
      for (std::size_t k = i; k < i + lanes; ++k) slots[k] = even_slot(load_at<T>(from, k), even, plan);
    }
  }
#endif
  for (; i < count; ++i) slots[i] = even_slot(load_at<T>(from, i), even, plan);
}

void even_float_slots(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* slots) {
  if (plan.type() == DType::float64) return even_slots_of<double>(from, count, plan, slots);
  even_slots_of<float>(from, count, plan, slots);
}

// A slot's copies are adjacent, and successive samples use them cyclically.
template <class T, std::size_t kCopies>
HWY_INLINE void add_even_of(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* tables) {
  const Even& even = *plan.even();
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const EvenVector<T> vector(even);
  constexpr int kShift = std::bit_width(kCopies) - 1;
  constexpr std::size_t kVectors = sizeof(T);
  const std::size_t lanes = hn::Lanes(vector.d), block = kVectors * lanes;
  // Samples are counted while the next block's slots are computed: loading single words right after a vector store would stall.
  HWY_ALIGN std::uint32_t buffers[2][kVectors * hn::MaxLanes(hn::ScalableTag<T>())];
  std::uint32_t *places = buffers[0], *before = buffers[1];
  const auto count_block = [&](const std::uint32_t* from_places) HWY_ATTR {
    for (std::size_t k = 0; k < block; k += 8) {
      for (std::size_t j = 0; j < 8; ++j) ++tables[from_places[k + j] + j % kCopies];
    }
  };
  for (; i + block <= count; i += block) {
    auto nearest = vector.load(from, i), nearest_last = nearest, total = nearest;
    vector.template find<kShift>(nearest, places, nearest, nearest_last);
    for (std::size_t k = 1; k < kVectors; ++k) {
      const auto x = vector.load(from, i + k * lanes);
      auto off = x, from_last = x;
      vector.template find<kShift>(x, places + k * lanes, off, from_last);
      nearest = hn::Min(nearest, off);
      nearest_last = hn::Min(nearest_last, from_last);
      total = hn::Add(total, x);
    }
    // The rare cases are tested once for the block: is any sample near an edge, or NaN?
    if (HWY_UNLIKELY(!vector.sure(nearest, nearest_last, total))) {
      for (std::size_t k = 0; k < block; ++k) places[k] = even_slot(load_at<T>(from, i + k), even, plan) << kShift;
    }
    if (i != 0) count_block(before);
    std::swap(places, before);
  }
  if (i != 0) count_block(before);
#endif
  for (; i < count; ++i) ++tables[even_slot(load_at<T>(from, i), even, plan) * kCopies];
}

template <class T>
HWY_INLINE void add_even_copies(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables) {
  if (copies == 8) return add_even_of<T, 8>(from, count, plan, tables);
  if (copies == 2) return add_even_of<T, 2>(from, count, plan, tables);
  add_even_of<T, 1>(from, count, plan, tables);
}

void add_even_floats(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables) {
  if (plan.type() == DType::float64) return add_even_copies<double>(from, count, plan, copies, tables);
  add_even_copies<float>(from, count, plan, copies, tables);
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::binning
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::binning {

SIMD_EXPORT(add_singles);
SIMD_EXPORT(add_ordered);
SIMD_EXPORT(add_unordered);
SIMD_EXPORT(move_to_bytes);
SIMD_EXPORT(add_even_floats);
SIMD_EXPORT(even_float_slots);

namespace {

enum class Counting { singles, ordered_pairs, unordered_pairs };

// The fastest way to count bytes, by a sample of them.
Counting choose(const std::uint8_t* from, std::size_t count) {
  constexpr std::size_t kWorthwhile = std::size_t{1} << 18;  // fewer bytes do not repay the clearing of pairs' counters
  constexpr std::size_t kSample = 4096, kParts = 8;
  constexpr std::size_t kLine = 64 / sizeof OrderedPairs::counts[0], kMostLines = 400;
  if (count < kWorthwhile) return Counting::singles;
  std::bitset<65536 / kLine> lines;
  std::uint32_t counts[256] = {}, sampled = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    for (std::size_t first = 0; first < kSample / kParts; first += kRun) {
      const std::uint8_t* const run = from + part * (count / kParts) + first;
      if (std::memcmp(run, run + 1, kRun - 1) == 0) continue;  // all equal, which is one addition in any way of counting
      for (std::size_t i = 0; i < kRun; i += 2) {
        lines.set((run[i] | run[i + 1] << 8) / kLine);
        ++counts[run[i]];
        ++counts[run[i + 1]];
      }
      sampled += kRun;
    }
  }
  // Where one value is more than half of all, additions to the counter of its pair would wait for each other.
  if (16 * *std::max_element(counts, counts + 256) > 9 * sampled) return Counting::singles;
  // Pairs in their order need no preparation. Of text, images and labels their counters stay in the first-level cache.
  return lines.count() <= kMostLines ? Counting::ordered_pairs : Counting::unordered_pairs;
}

}  // namespace

void add_bytes(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  switch (choose(from, count)) {
    case Counting::singles:
      return SIMD_CALL(add_singles)(from, count, tables);
    case Counting::ordered_pairs:
      if (tables.ordered == nullptr) tables.ordered = std::make_unique<OrderedPairs>();
      return SIMD_CALL(add_ordered)(from, count, tables);
    case Counting::unordered_pairs:
      if (tables.unordered == nullptr) tables.unordered = std::make_unique<UnorderedPairs>();
      return SIMD_CALL(add_unordered)(from, count, *tables.unordered);
  }
}

void move_counts(UnorderedPairs& pairs) { SIMD_CALL(move_to_bytes)(pairs); }

void add_even(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables) {
  SIMD_CALL(add_even_floats)(from, count, plan, copies, tables);
}

void even_slots(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* slots) {
  SIMD_CALL(even_float_slots)(from, count, plan, slots);
}

}  // namespace samesum::binning
#endif  // HWY_ONCE
