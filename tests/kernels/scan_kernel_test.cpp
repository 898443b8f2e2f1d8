// once.cl with sub-groups, as it is on GPUs, run on the host: groups at the same time, whose stores appear late and in any order.
#include "support/emulation.hpp"

#include <samesum/accumulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#define REAL double
#define GROUP_SIZE 64
#define RESIDENT 1
#define NUMBER_OF(x) (x)
#define NUMBER ELEMENT
#define SKIP 0
#define INFINITE 0
#define LEAST 0

namespace samesum::dialect::of_floats {
#define KIND PAIRS
#define ELEMENT float
#define ELEMENT_BYTES 4
#define RESULT double
#define RESULT_BYTES 8
#define STAGE_BYTES 8
#define SINGLE 1
#define SIGNED 0
#define NARROW 0
#define SEGMENTS 0
#define ITEMS 8
// The order of these files matters.
// clang-format off
#include "groups/expansion.h"
#include "scan/device/exact_pair.h"
#include "scan/device/prefix.h"
#include "scan/device/group.h"
#include "scan/device/stage.h"
#include "scan/device/items.h"
#include "scan/device/once.cl"
// clang-format on
#undef PREFIX
#undef PREFIX_WORDS
#undef prefix_zero
#undef prefix_merge
#undef prefix_settled
#undef FRACTION_BITS
#undef FLAGS
#undef ITEM_BITS
#undef TEAM_SUMS
#undef TEAM_BITS
#undef FLAG_OF_LANE
#undef RESULT
#undef RESULT_BYTES
#undef STAGE_BYTES
#undef NARROW
#undef SEGMENTS
#undef ITEMS
}  // namespace samesum::dialect::of_floats

namespace samesum::dialect::of_floats_to_floats {
#define RESULT float
#define RESULT_BYTES 4
#define STAGE_BYTES 4
#define NARROW 1
#define SEGMENTS 0
#define ITEMS 32
// The order of these files matters.
// clang-format off
#include "groups/expansion.h"
#include "scan/device/exact_pair.h"
#include "scan/device/prefix.h"
#include "scan/device/group.h"
#include "scan/device/stage.h"
#include "scan/device/items.h"
#include "scan/device/once.cl"
// clang-format on
#undef PREFIX
#undef PREFIX_WORDS
#undef prefix_zero
#undef prefix_merge
#undef prefix_settled
#undef FRACTION_BITS
#undef FLAGS
#undef ITEM_BITS
#undef TEAM_SUMS
#undef TEAM_BITS
#undef FLAG_OF_LANE
#undef RESULT
#undef RESULT_BYTES
#undef STAGE_BYTES
#undef NARROW
#undef SEGMENTS
#undef ITEMS
}  // namespace samesum::dialect::of_floats_to_floats

namespace samesum::dialect::of_floats_in_segments {
#define RESULT float
#define RESULT_BYTES 4
#define STAGE_BYTES 4
#define NARROW 1
#define SEGMENTS 1
#define ITEMS 4
// The order of these files matters.
// clang-format off
#include "groups/expansion.h"
#include "scan/device/exact_pair.h"
#include "scan/device/prefix.h"
#include "scan/device/group.h"
#include "scan/device/stage.h"
#include "scan/device/items.h"
#include "scan/device/once.cl"
#include "scan/device/starts.cl"
// clang-format on
#undef PREFIX
#undef PREFIX_WORDS
#undef prefix_zero
#undef prefix_merge
#undef prefix_settled
#undef FRACTION_BITS
#undef FLAGS
#undef ITEM_BITS
#undef TEAM_SUMS
#undef TEAM_BITS
#undef FLAG_OF_LANE
#undef ELEMENT
#undef ELEMENT_BYTES
#undef RESULT
#undef RESULT_BYTES
#undef STAGE_BYTES
#undef SINGLE
#undef NARROW
#undef SEGMENTS
#undef ITEMS
}  // namespace samesum::dialect::of_floats_in_segments

namespace samesum::dialect::of_doubles {
#define ELEMENT double
#define ELEMENT_BYTES 8
#define RESULT double
#define RESULT_BYTES 8
#define STAGE_BYTES 8
#define SINGLE 0
#define NARROW 0
#define SEGMENTS 0
#define ITEMS 2
// The order of these files matters.
// clang-format off
#include "groups/expansion.h"
#include "scan/device/exact_pair.h"
#include "scan/device/prefix.h"
#include "scan/device/group.h"
#include "scan/device/stage.h"
#include "scan/device/items.h"
#include "scan/device/once.cl"
// clang-format on
#undef KIND
#undef PREFIX
#undef PREFIX_WORDS
#undef prefix_zero
#undef prefix_merge
#undef prefix_settled
#undef FRACTION_BITS
#undef FLAGS
#undef ITEM_BITS
#undef TEAM_SUMS
#undef TEAM_BITS
#undef FLAG_OF_LANE
#undef ELEMENT
#undef RESULT
#undef SIGNED
}  // namespace samesum::dialect::of_doubles

namespace samesum::dialect::of_integers {
#define KIND LONG_SUMS
#define ELEMENT long
#define RESULT long
#define SIGNED 1
// The order of these files matters.
// clang-format off
#include "scan/device/prefix.h"
#include "scan/device/group.h"
#include "scan/device/stage.h"
#include "scan/device/items.h"
#include "scan/device/once.cl"
// clang-format on
}  // namespace samesum::dialect::of_integers
#pragma GCC diagnostic pop

namespace samesum {
namespace {

using dialect::emulation;
using dialect::uint;
using dialect::ulong;

constexpr uint kGroup = 64, kWords = 4, kGivenUp = 1u << 31;

// What launches keep from one to the next.
struct Kept {
  std::vector<ulong> states;
  uint launch = 0;
  std::vector<uint> drawn = {0}, gave_up = {0};
};

// Whether all results are known.
template <class Kernel>
bool run(Kept& kept, std::size_t size, uint items, const Kernel& kernel) {
  const auto groups = static_cast<uint>((size + kGroup * items - 1) / (kGroup * items));
  kept.states.resize(std::max<std::size_t>(kept.states.size(), groups * kWords));
  const uint before = kept.drawn[0];
  ++kept.launch;
  const dialect::ConcurrentGroups at_once;
  emulation().run(groups, kGroup, [&] { kernel(before); });
  const bool known = (kept.drawn[0] & kGivenUp) == 0;
  EXPECT_EQ(known, kept.gave_up[0] != kept.launch);
  if (known) {
    EXPECT_EQ(kept.drawn[0], before + groups);
  } else {
    kept.drawn[0] = 0;
  }
  return known;
}

// Floats of some kinds: uniform, walks, wide, what cancels, whole numbers whose ties something small decides, zeros of both signs.
template <class T>
std::vector<T> numbers(int kind, std::size_t size, std::mt19937_64& random) {
  std::vector<T> x(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53, sign = random() % 2 == 0 ? 1 : -1;
    double value = uniform;
    if (kind == 1) value = sign;
    if (kind == 2) value = sign * std::ldexp(uniform + 0.5, static_cast<int>(random() % 40) - 20);
    if (kind == 3) value = i % 2 == 0 ? std::ldexp(uniform, static_cast<int>(random() % 30)) : -static_cast<double>(x[i - 1]);
    if (kind == 4) value = i == 0 ? (sizeof(T) == 4 ? 0x1p24 : 0x1p53) : i % 50 == 17 ? sign * 0x1p-30 : 0.5 * static_cast<double>(random() % 7);
    if (kind == 5) value = i < size / 3 ? -0.0 : i % 3 == 0 ? 0.0 : std::ldexp(sign, sizeof(T) == 4 ? -149 : -1074);
    x[i] = static_cast<T>(value);
  }
  return x;
}

template <class T, class R>
void expect_prefixes(const std::vector<T>& x, const std::vector<std::size_t>& offsets, bool exclusive, const std::vector<R>& found) {
  Accumulator sum;
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (next < offsets.size() && offsets[next] == i) {
      sum = {};
      ++next;
    }
    if (!exclusive) sum.add(x[i]);
    R expected = 0;
    if constexpr (std::is_same_v<R, float>) {
      expected = sum.round_to_float();
    } else if constexpr (std::is_same_v<R, double>) {
      expected = sum.round();
    } else {
      expected = static_cast<R>(sum.count() == 0 ? 0 : sum.to_int64());
    }
    using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
    ASSERT_EQ(std::bit_cast<Bits>(found[i]), std::bit_cast<Bits>(expected)) << i << ": " << found[i] << " for " << expected;
    if (exclusive) sum.add(x[i]);
  }
}

constexpr std::size_t kSizes[] = {1, 63, 512, 513, 3001, 12 * 512};

TEST(ScanKernel, FloatsInOneLaunch) {
  std::mt19937_64 random(1);
  Kept kept;
  for (const std::size_t size : kSizes) {
    for (int kind = 0; kind < 6 && !HasFatalFailure(); ++kind) {
      SCOPED_TRACE(std::to_string(size) + ", kind " + std::to_string(kind));
      const auto x = numbers<float>(kind, size, random);
      const bool exclusive = kind % 2 != 0;
      std::vector<double> found(size + 2, 7);
      ASSERT_TRUE(run(kept, size, 8, [&](uint before) {
        dialect::of_floats::scan_once(x.data(), 0, size, kept.states.data(), kept.launch, kept.drawn.data(), before, found.data(), 1,
                                      exclusive, nullptr, kept.gave_up.data());
      }));
      EXPECT_EQ(found[0], 7);
      EXPECT_EQ(found[size + 1], 7);
      found.erase(found.begin());
      expect_prefixes(x, {}, exclusive, found);
    }
  }
}

// Sums of a sub-group that are exact as doubles, and results that are nearest to a double's neighbours: uniform numbers, ties, sums that cancel the one
// before them, numbers too small for floats, and those whose exponents are as far apart as just holds, or just does not.
TEST(ScanKernel, FloatsToFloats) {
  std::mt19937_64 random(6);
  Kept kept;
  for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{1024}, std::size_t{2049}, std::size_t{20000}}) {
    for (int kind = 0; kind < 13 && !HasFatalFailure(); ++kind) {
      SCOPED_TRACE(std::to_string(size) + ", kind " + std::to_string(kind));
      auto x = numbers<float>(kind < 6 ? kind : 0, size, random);
      for (std::size_t i = 0; i < size && kind >= 6; ++i) {
        const auto sign = random() % 2 == 0 ? 1.0F : -1.0F;
        if (kind == 6) x[i] = 0x1p24F + static_cast<float>(random() % 2);                                     // ties
        if (kind == 7) x[i] = i == 0 ? 0x1.000002p60F : i % 1024 == 900 ? 0x1p36F * sign : 0x1p18F * x[i];    // beside places of the double
        if (kind == 8) x[i] = i < 2048 ? x[i] : i == 2048 ? -1.0F * 1024 : (x[i] - 0.5F) * 0x1p-8F;           // cancels
        if (kind == 9) x[i] = std::ldexp(sign, -149 + static_cast<int>(random() % 4));                        // denormal
        if (kind == 10) x[i] = std::ldexp(x[i], static_cast<int>(random() % 12)) * sign;                      // near the bound of exponents
        if (kind == 11) x[i] = i % 3 == 0 ? 0x1.fffffep126F : -0x1.fffffep125F;                               // beyond floats
        if (kind == 12) x[i] = i == 0 ? 0x1p24F : i % 40 == 7 ? std::ldexp(sign, -40) : i % 40 == 8 ? -x[i - 1] : 1.0F;  // ties that E decides
      }
      for (const bool exclusive : {false, true}) {
        std::vector<float> found(size + 5, 7);
        const std::size_t offset = (random() % 4 + 4 - reinterpret_cast<std::uintptr_t>(found.data()) / 4 % 4) % 4;
        const bool known = run(kept, size, 32, [&](uint before) {
          dialect::of_floats_to_floats::scan_once(x.data(), 0, size, kept.states.data(), kept.launch, kept.drawn.data(), before, found.data(), offset,
                                                  exclusive, nullptr, kept.gave_up.data());
        });
        if (kind != 11) {
          ASSERT_TRUE(known);
        }
        if (!known) continue;
        EXPECT_EQ(found[offset + size], 7);
        expect_prefixes(x, {}, exclusive, std::vector<float>(found.begin() + static_cast<std::ptrdiff_t>(offset), found.end()));
      }
    }
  }
}

TEST(ScanKernel, SegmentsOfFloats) {
  std::mt19937_64 random(2);
  Kept kept;
  for (const std::size_t size : {std::size_t{1}, std::size_t{257}, std::size_t{3000}}) {
    for (int kind = 0; kind < 6 && !HasFatalFailure(); ++kind) {
      SCOPED_TRACE(std::to_string(size) + ", kind " + std::to_string(kind));
      const auto x = numbers<float>(kind, size, random);
      std::vector<std::size_t> offsets = {0};
      while (offsets.back() < size) offsets.push_back(offsets.back() + 1 + random() % (kind % 2 == 0 ? 9 : 1500));
      const std::size_t words = (size + 255) / 256 * 8 + 1;
      std::vector<uint> starts(words);
      for (const std::size_t offset : offsets) {
        if (offset < size) starts[offset / 32] |= 1u << offset % 32;
      }
      const bool exclusive = kind > 2;
      std::vector<float> found(size);
      ASSERT_TRUE(run(kept, size, 4, [&](uint before) {
        dialect::of_floats_in_segments::scan_once(x.data(), 0, size, kept.states.data(), kept.launch, kept.drawn.data(), before,
                                                  found.data(), 0, exclusive, starts.data(), kept.gave_up.data());
      }));
      expect_prefixes(x, offsets, exclusive, found);
    }
  }
}

TEST(ScanKernel, Doubles) {
  std::mt19937_64 random(3);
  Kept kept;
  for (const std::size_t size : {std::size_t{1}, std::size_t{129}, std::size_t{1500}}) {
    for (int kind = 0; kind < 6 && !HasFatalFailure(); ++kind) {
      SCOPED_TRACE(std::to_string(size) + ", kind " + std::to_string(kind));
      const auto x = numbers<double>(kind, size, random);
      std::vector<double> found(size);
      ASSERT_TRUE(run(kept, size, 2, [&](uint before) {
        dialect::of_doubles::scan_once(x.data(), 0, size, kept.states.data(), kept.launch, kept.drawn.data(), before, found.data(), 0, 0,
                                       nullptr, kept.gave_up.data());
      }));
      expect_prefixes(x, {}, false, found);
    }
  }
}

TEST(ScanKernel, Integers) {
  std::mt19937_64 random(4);
  Kept kept;
  for (const std::size_t size : {std::size_t{1}, std::size_t{129}, std::size_t{1500}}) {
    std::vector<long> x(size), found(size);
    for (long& value : x) value = static_cast<long>(random() >> 12);
    for (std::size_t i = 1; i < size; i += 2) {
      x[i - 1] = std::numeric_limits<long>::max() - x[i];  // totals that cancel
      x[i] = -x[i - 1] - x[i];
    }
    ASSERT_TRUE(run(kept, size, 2, [&](uint before) {
      dialect::of_integers::scan_once(x.data(), 0, size, kept.states.data(), kept.launch, kept.drawn.data(), before, found.data(), 0, 0,
                                      nullptr, kept.gave_up.data());
    }));
    expect_prefixes(x, {}, false, found);
  }
}

// What two doubles do not hold is not known; the next launch begins as if nothing had been.
TEST(ScanKernel, GivesUp) {
  std::mt19937_64 random(5);
  Kept kept;
  for (const double wrong : {0x1p-300, 0x1p300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const bool right : {false, true}) {
      auto x = numbers<double>(0, 1500, random);
      if (!right) x[700] = wrong;
      std::vector<double> found(x.size());
      ASSERT_EQ(run(kept, x.size(), 2, [&](uint before) {
        dialect::of_doubles::scan_once(x.data(), 0, x.size(), kept.states.data(), kept.launch, kept.drawn.data(), before, found.data(), 0,
                                       0, nullptr, kept.gave_up.data());
      }), right) << wrong;
      if (right) expect_prefixes(x, {}, false, found);
    }
  }
}

}  // namespace
}  // namespace samesum
