// The CPU's innermost loops, compiled once for each instruction set.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "histogram/histogram_cpu_loops.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "histogram/histogram_cpu.hpp"
#include "histogram/slots_cpu.hpp"

#include <hwy/highway.h>

#include <cmath>
#include <cstring>
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

constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, which the lowest bits then hold

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

void add_singles(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  auto& table = tables.single;
  std::size_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    if (all_equal(from + i)) {
      table[0][from[i]] += kRun;
      continue;
    }
    for (std::size_t k = 0; k < kRun; k += 8) {
      const std::uint64_t word = load_word(from + i + k);
      ++table[0][word & 255];
      ++table[1][word >> 8 & 255];
      ++table[2][word >> 16 & 255];
      ++table[3][word >> 24 & 255];
      ++table[4][word >> 32 & 255];
      ++table[5][word >> 40 & 255];
      ++table[6][word >> 48 & 255];
      ++table[7][word >> 56];
    }
  }
  for (; i < count; ++i) ++table[0][from[i]];
}

void add_pairs(const std::uint8_t* from, std::size_t count, ByteTables& tables) {
  std::uint32_t* table = tables.pairs.data();
  std::size_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    if (all_equal(from + i)) {
      tables.single[0][from[i]] += kRun;
      continue;
    }
    for (std::size_t k = 0; k < kRun; k += 8) {
      const std::uint64_t word = load_word(from + i + k);
      ++table[word & 65535];
      ++table[word >> 16 & 65535];
      ++table[word >> 32 & 65535];
      ++table[word >> 48];
    }
  }
  for (; i < count; ++i) ++tables.single[0][from[i]];
}

// One sample, as in slots.cl.
HWY_INLINE std::uint32_t even_slot(float x, const Even& even, const Plan& plan) {
  const auto low = static_cast<float>(even.low), scale = static_cast<float>(even.scale), top = static_cast<float>(even.top);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return static_cast<std::uint32_t>(plan.nan_slot());
  float real = real_of(x, low, scale);
  real = real > -0.5f ? real : -0.5f;
  real = real < top ? real : top;
  const auto edge = static_cast<std::uint32_t>(real + 0.5f);
  const float off = real - static_cast<float>(edge);
  const bool near_last = std::fabs(real - static_cast<float>(even.top - 0.5)) < static_cast<float>(even.last_tolerance);
  if (!(std::fabs(off) < static_cast<float>(even.tolerance)) && !near_last) return edge + (off >= 0 ? 1 : 0);
  return edge + (float_key(bits) >= plan.thresholds()[edge] ? 1 : 0);
}

// The slots alone.
void even_float_slots(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* slots) {
  const Even& even = *plan.even();
  const auto sample = [&](std::size_t i) {
    float value;
    std::memcpy(&value, from + 4 * i, sizeof value);
    return value;
  };
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::RebindToUnsigned<decltype(d)> words;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  const auto low = hn::Set(d, static_cast<float>(even.low)), scale = hn::Set(d, static_cast<float>(even.scale));
  const auto top = hn::Set(d, static_cast<float>(even.top)), bottom = hn::Set(d, -0.5f);
  const auto tolerance = hn::Set(d, static_cast<float>(even.tolerance));
  const auto last = hn::Set(d, static_cast<float>(even.top - 0.5)), last_tolerance = hn::Set(d, static_cast<float>(even.last_tolerance));
  const auto rounder = hn::Set(d, kRounder);
  const auto first = hn::Set(integers, std::bit_cast<std::int32_t>(kRounder) - 1);
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + 4 * i)));
    const auto real = hn::Min(hn::Max(hn::Mul(hn::Sub(x, low), scale), bottom), top);
    const auto shifted = hn::Add(real, rounder);
    const auto off = hn::Sub(real, hn::Sub(shifted, rounder));
    const auto slot = hn::Add(hn::Sub(hn::BitCast(integers, shifted), first), hn::ShiftRight<31>(hn::BitCast(integers, off)));
    const auto sure = hn::And(hn::And(hn::Ge(hn::Abs(off), tolerance), hn::Ge(hn::Abs(hn::Sub(real, last)), last_tolerance)), hn::Eq(x, x));
    if (HWY_LIKELY(hn::AllTrue(d, sure))) {
      hn::StoreU(hn::BitCast(words, slot), words, slots + i);
    } else {
      for (std::size_t k = i; k < i + lanes; ++k) slots[k] = even_slot(sample(k), even, plan);
    }
  }
#endif
  for (; i < count; ++i) slots[i] = even_slot(sample(i), even, plan);
}

// A slot's copies are adjacent, and successive samples use them cyclically.
template <std::size_t kCopies>
void add_even(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* tables) {
  const Even& even = *plan.even();
  const auto sample = [&](std::size_t i) {
    float value;
    std::memcpy(&value, from + 4 * i, sizeof value);
    return value;
  };
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  const auto low = hn::Set(d, static_cast<float>(even.low)), scale = hn::Set(d, static_cast<float>(even.scale));
  const auto top = hn::Set(d, static_cast<float>(even.top)), bottom = hn::Set(d, -0.5f);
  const auto tolerance = hn::Set(d, static_cast<float>(even.tolerance));
  const auto last = hn::Set(d, static_cast<float>(even.top - 0.5)), last_tolerance = hn::Set(d, static_cast<float>(even.last_tolerance));
  const auto rounder = hn::Set(d, kRounder);
  const auto first =
      hn::Set(integers, std::bit_cast<std::int32_t>(kRounder) - 1);  // the difference between the rounded integer's bits and the slot
  constexpr int kShift = std::bit_width(kCopies) - 1;
  constexpr std::size_t kVectors = 4;
  const std::size_t lanes = hn::Lanes(d), block = kVectors * lanes;
  // Samples are counted while the next block's slots are computed: loading single words right after a vector store would stall.
  HWY_ALIGN std::int32_t buffers[2][kVectors * hn::MaxLanes(d)];
  std::int32_t *places = buffers[0], *before = buffers[1];
  const auto count_block = [&](const std::int32_t* from_places) HWY_ATTR {
    for (std::size_t k = 0; k < block; k += 8) {
      for (std::size_t j = 0; j < 8; ++j) ++tables[static_cast<std::uint32_t>(from_places[k + j]) + j % kCopies];
    }
  };
  for (; i + block <= count; i += block) {
    auto nearest = bottom, nearest_last = bottom, total = hn::Zero(d);
    for (std::size_t k = 0; k < kVectors; ++k) {
      const auto x = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + 4 * (i + k * lanes))));
      const auto real = hn::Min(hn::Max(hn::Mul(hn::Sub(x, low), scale), bottom), top);
      const auto shifted = hn::Add(real, rounder);
      // -0.0 only where real() rounded to that for a sample below edge 0, which is within the tolerance (see Even).
      const auto off = hn::Sub(real, hn::Sub(shifted, rounder));
      const auto slot = hn::Add(hn::Sub(hn::BitCast(integers, shifted), first), hn::ShiftRight<31>(hn::BitCast(integers, off)));
      hn::Store(hn::ShiftLeft<kShift>(slot), integers, places + k * lanes);
      const auto from_last = hn::Abs(hn::Sub(real, last));
      nearest = k == 0 ? hn::Abs(off) : hn::Min(nearest, hn::Abs(off));
      nearest_last = k == 0 ? from_last : hn::Min(nearest_last, from_last);
      total = hn::Add(total, x);
    }
    // The rare cases are tested once for the block: is any sample near an edge, or NaN?
    const auto sure = hn::And(hn::And(hn::Ge(nearest, tolerance), hn::Ge(nearest_last, last_tolerance)), hn::Eq(total, total));
    if (HWY_UNLIKELY(!hn::AllTrue(d, sure))) {
      for (std::size_t k = 0; k < block; ++k) places[k] = static_cast<std::int32_t>(even_slot(sample(i + k), even, plan) << kShift);
    }
    if (i != 0) count_block(before);
    std::swap(places, before);
  }
  if (i != 0) count_block(before);
#endif
  for (; i < count; ++i) ++tables[even_slot(sample(i), even, plan) * kCopies];
}

void add_even_floats(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables) {
  if (copies == 8) return add_even<8>(from, count, plan, tables);
  if (copies == 2) return add_even<2>(from, count, plan, tables);
  add_even<1>(from, count, plan, tables);
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
  // Text and similar data have few distinct pairs of bytes: their counters stay in the first-level cache, and one addition counts two
  // bytes.
  constexpr std::size_t kSample = 2048;
  constexpr std::size_t kWorthwhile = std::size_t{1} << 18;
  if (count >= kWorthwhile) {
    std::vector<bool> seen(65536);
    std::size_t different = 0;
    for (std::size_t i = 0; i < kSample; ++i) {
      const std::size_t pair = from[2 * i] | from[2 * i + 1] << 8;
      different += !seen[pair];
      seen[pair] = true;
    }
    if (different <= kSample / 2) {
      if (tables.pairs.empty()) tables.pairs.resize(65536);
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
