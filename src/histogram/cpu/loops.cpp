// The CPU's innermost loops, compiled once for each instruction set.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "histogram/cpu/loops.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "histogram/cpu/count.hpp"
#include "histogram/cpu/slots.hpp"

#include <hwy/highway.h>

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

constexpr std::size_t kRun = 64;  // bytes compared for equality

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

// Takes runs from several places in turns. `add` takes 16 bytes of runs that are not all equal; returns how many bytes that leaves.
template <class Add>
HWY_INLINE std::size_t add_runs(const std::uint8_t* from, std::size_t count, ByteTables& tables, const Add& add) {
  const std::size_t distance = count / (kPlaces * kRun) * kRun;
  for (std::size_t i = 0; i < distance; i += kRun) {
    for (std::size_t place = 0; place < kPlaces; ++place) {
      const std::uint8_t* const run = from + place * distance + i;
      __builtin_prefetch(run + kPrefetchBytes);
      if (all_equal(run)) {
        tables.single[0][run[0]] += kRun;
      } else {
        for (std::size_t k = 0; k < kRun; k += 16) add(run + k);
      }
    }
  }
  return count - kPlaces * distance;
}

void add_singles(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  auto& table = tables.single;
  const std::size_t left = add_runs(from, count, tables, [&](const std::uint8_t* bytes) HWY_ATTR {
    static_assert(ByteTables::kCopies == 16);
    for (std::size_t half = 0; half < 16; half += 8) {
      const std::uint64_t word = load_word(bytes + half);
      ++table[half][word & 255];
      ++table[half + 1][word >> 8 & 255];
      ++table[half + 2][word >> 16 & 255];
      ++table[half + 3][word >> 24 & 255];
      ++table[half + 4][word >> 32 & 255];
      ++table[half + 5][word >> 40 & 255];
      ++table[half + 6][word >> 48 & 255];
      ++table[half + 7][word >> 56];
    }
  });
  for (std::size_t i = count - left; i < count; ++i) ++table[0][from[i]];
}

// Loads of two bytes are faster here than shifts of a word.
HWY_INLINE std::size_t load_pair(const std::uint8_t* from) {
  std::uint16_t pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

void add_pairs(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  auto& table = tables.pairs->counts;
  const std::size_t left = add_runs(from, count, tables, [&](const std::uint8_t* bytes) HWY_ATTR {
    for (std::size_t k = 0; k < 16; k += 2) {
      const std::size_t pair = load_pair(bytes + k);
      // Compilers make a load, an addition and a store of this, all with an index. On some processors an addition to memory, or an address
      // in one register, takes half as long again: they take such a load for one of what was stored last by the same register.
      if (HWY_LIKELY(!__builtin_add_overflow(table[pair], 1, &table[pair]))) continue;
      tables.single[0][pair & 255] += 65536;
      tables.single[0][pair >> 8] += 65536;
    }
  });
  for (std::size_t i = count - left; i < count; ++i) ++tables.single[0][from[i]];
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
SIMD_EXPORT(add_pairs);
SIMD_EXPORT(add_even_floats);
SIMD_EXPORT(even_float_slots);

void add_bytes(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  // Where few of the counters of pairs of bytes are needed, these stay in the first-level cache, and one addition counts two bytes: of
  // text, of images, of labels.
  constexpr std::size_t kSample = 2048, kParts = 8;
  constexpr std::size_t kWorthwhile = std::size_t{1} << 18;
  constexpr std::size_t kLine = 64 / sizeof ByteTables::Pairs::counts[0], kMostLines = 640;
  if (count >= kWorthwhile) {
    std::bitset<65536 / kLine> lines;
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::uint8_t* const sample = from + part * (count / kParts);
      for (std::size_t i = 0; i < 2 * kSample / kParts; i += 2) lines.set((sample[i] | sample[i + 1] << 8) / kLine);
    }
    if (lines.count() <= kMostLines) {
      if (tables.pairs == nullptr) tables.pairs = std::make_unique<ByteTables::Pairs>();
      return SIMD_CALL(add_pairs)(from, count, tables);
    }
  }
  SIMD_CALL(add_singles)(from, count, tables);
}

void add_even(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables) {
  SIMD_CALL(add_even_floats)(from, count, plan, copies, tables);
}

void even_slots(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* slots) {
  SIMD_CALL(even_float_slots)(from, count, plan, slots);
}

}  // namespace samesum::binning
#endif  // HWY_ONCE
