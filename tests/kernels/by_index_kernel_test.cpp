// by_index.cl, by_runs.cl and digits.cl with sub-groups, as they are on GPUs, run on the host.
#include "support/emulation.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/types.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SAMESUM_SUBGROUPS 1
#define SAMESUM_FP64 1
#define SAMESUM_DENORMALS 1
#define GROUP_SIZE 64
#define ITEMS 2
#define SIGNED 0
#define FLOAT_BITS(x) (x)

namespace samesum::dialect::by_key {
#define FLOATS 32
#define VALUE uint
#define VALUE_BITS 24
#define INDEX int
#define SEGMENTS 0
#define COUNTS 1
#define SQUARES 1
#define EXTREMA 1
#define FIELDS 0
// The order of these files matters.
// clang-format off
#include "exact/exact.h"
#include "groups/index/device/digits.h"
#include "groups/index/device/shares.h"
#include "groups/index/device/loads.h"
#include "groups/index/device/by_index.cl"
#include "groups/index/device/digits.cl"
// clang-format on
}  // namespace samesum::dialect::by_key
#undef COUNTS
#undef SQUARES
#undef EXTREMA
#undef EXTREMA_PARAMETERS
#undef FIELDS

// Of few groups; keys are samples, of which a file ahead makes indices.
namespace samesum::dialect::by_few {
#undef ITEMS
#define ITEMS 4
#define COUNTS 1
#define SQUARES 0
#define EXTREMA 0
#define FIELDS 1
#undef INDEX_OF
#undef INDEX_PARAMETERS
#undef INDEX_SETUP
#define INDEX_OF(x) ((ulong)((x) ^ flip))
#define INDEX_PARAMETERS , int mask
#define INDEX_SETUP const int flip = mask;
// The order of these files matters.
// clang-format off
#include "exact/exact.h"
#include "groups/index/device/shares.h"
#include "groups/index/device/fields.h"
#include "groups/index/device/loads.h"
#include "groups/index/device/by_index.cl"
#include "groups/index/device/digits.cl"
// clang-format on
}  // namespace samesum::dialect::by_few
#undef COUNTS
#undef SQUARES
#undef EXTREMA
#undef EXTREMA_PARAMETERS
#undef FIELDS
#undef ITEMS

namespace samesum::dialect::by_sorted_key {
#define ITEMS 8
#define COUNTS 1
#define SQUARES 0
#define EXTREMA 0
// The order of these files matters.
// clang-format off
#include "exact/exact.h"
#include "groups/index/device/shares.h"
#include "groups/index/device/loads.h"
#include "groups/index/device/runs.h"
#include "groups/index/device/divided_tile.h"
#include "groups/index/device/by_runs.cl"
#include "groups/index/device/digits.cl"
// clang-format on
}  // namespace samesum::dialect::by_sorted_key
#undef FLOATS
#undef VALUE
#undef VALUE_BITS
#undef INDEX
#undef SEGMENTS
#undef COUNTS
#undef SQUARES
#undef EXTREMA
#undef IN_REGISTERS
#undef WHOLE_NUMBER
#undef EXTREMA_PARAMETERS
#undef ITEMS

namespace samesum::dialect::by_segment {
#define ITEMS 4
#define FLOATS 64
#define VALUE ulong
#define VALUE_BITS 53
#define INDEX ulong
#define SEGMENTS 1
#define COUNTS 0
#define SQUARES 0
#define EXTREMA 0
// The order of these files matters.
// clang-format off
#include "exact/exact.h"
#include "groups/index/device/shares.h"
#include "groups/index/device/loads.h"
#include "groups/index/device/runs.h"
#include "groups/index/device/divided_tile.h"
#include "groups/index/device/by_runs.cl"
#include "groups/index/device/digits.cl"
// clang-format on
}  // namespace samesum::dialect::by_segment
#undef INDEX
#undef SEGMENTS
#undef SQUARES
#undef INDEX_OF
#undef INDEX_PARAMETERS
#undef INDEX_SETUP

// Numbers whose squares no word holds, with sums of these.
namespace samesum::dialect::by_wide {
#define INDEX int
#define SEGMENTS 0
#define SQUARES 1
#define FIELDS 0
// The order of these files matters.
// clang-format off
#include "groups/index/device/shares.h"
#include "groups/index/device/loads.h"
#include "groups/index/device/by_index.cl"
#include "groups/index/device/runs.h"
#include "groups/index/device/divided_tile.h"
#include "groups/index/device/by_runs.cl"
// clang-format on
}  // namespace samesum::dialect::by_wide
#pragma GCC diagnostic pop

namespace samesum {
namespace {

using dialect::emulation;
using dialect::uint;
using dialect::ulong;

constexpr int kDigit = 34;
constexpr uint kVectors = 3;  // both arrays are loaded by 16 bytes

// Numbers that cancel, of all exponents but `near` each other, with denormals, zeros and, where asked for, NaNs and infinities.
double number(bool wide, bool near, bool special, std::mt19937_64& random) {
  const double unit = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
  if (special && random() % 100 == 0)
    return random() % 2 == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (random() % 20 == 0) return -0.0;
  if (near) return unit;
  return std::ldexp(unit, static_cast<int>(random() % (wide ? 2096 : 276)) - (wide ? 1073 : 148));
}

struct Planes {
  Planes(std::uint64_t groups_, uint rows) : groups(groups_), words(groups_ * rows), others(groups_ / 32 + 1), noted(9) {}
  std::uint64_t groups;
  std::vector<ulong> words;
  std::vector<uint> others, noted;
};

void expect_sums(const std::vector<ulong>& found, const std::vector<Accumulator>& exact, NanPolicy nan) {
  for (std::size_t group = 0; group < exact.size(); ++group) {
    ASSERT_EQ(found[group], std::bit_cast<ulong>(exact[group].round(nan))) << group;
  }
}

TEST(ByIndexKernel, AddsWithSubgroupsWhateverTheOrderOfKeys) {
  std::mt19937_64 random(1);
  constexpr uint kRows = 10, kSquareRows = 18;
  for (const std::uint64_t groups : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{700}}) {
    for (int how = 0; how < 8; ++how) {
      const bool sorted = (how & 1) != 0, near = (how & 2) != 0, skewed = (how & 4) != 0;
      SCOPED_TRACE(std::to_string(groups) + " " + std::to_string(how));
      const std::size_t size = 3001;
      std::vector<float> values(size);
      std::vector<std::int32_t> keys(size);
      for (float& value : values) value = static_cast<float>(number(false, near, how == 3, random));
      for (std::int32_t& key : keys) key = static_cast<std::int32_t>(skewed && random() % 3 != 0 ? groups / 2 : random() % groups);
      if (sorted) std::ranges::sort(keys);
      keys[1234] = -1;
      Planes planes(groups, kRows + 5 + kSquareRows + 2);
      const uint copies = groups <= 5 ? 4 : 0, slots = copies != 0 ? static_cast<uint>(groups) * copies : 64;
      const uint phase = near ? 5 : 11, pair = near ? 3 : 5;
      const ulong chunk = 1024;
      emulation().run(3, GROUP_SIZE, [&] {
        dialect::by_key::sums_by_index(reinterpret_cast<const uint*>(values.data()), 0, 1, keys.data(), 0, 1, size, chunk, groups,
                                       planes.words.data(), planes.others.data(), planes.noted.data(), kRows, phase, pair, kSquareRows, 3,
                                       7, slots, copies, 0, how % 3 != 0 ? static_cast<uint>(groups) : 0);
      });
      EXPECT_EQ(planes.noted[0], 1u);
      EXPECT_EQ(planes.noted[1], size - 1234);
      std::vector<Accumulator> exact(groups);
      std::vector<ProductAccumulator> squares(groups);
      std::vector<ulong> least(groups), greatest(groups);
      for (std::size_t i = 0; i < size; ++i) {
        if (i == 1234) continue;
        exact[static_cast<std::size_t>(keys[i])].add(values[i]);
        if (!std::isnan(values[i])) {
          const auto bits = std::bit_cast<uint>(values[i]);
          const ulong key = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
          least[static_cast<std::size_t>(keys[i])] = std::max(least[static_cast<std::size_t>(keys[i])], ~key);
          greatest[static_cast<std::size_t>(keys[i])] = std::max(greatest[static_cast<std::size_t>(keys[i])], key);
        }
        if (std::isfinite(values[i]))
          squares[static_cast<std::size_t>(keys[i])].add(static_cast<double>(values[i]), static_cast<double>(values[i]));
      }
      const uint first = std::min(pair, kRows - planes.noted[3]), last = std::min(std::max(pair + 2, planes.noted[2]), kRows - 1);
      emulation().run(2, GROUP_SIZE, [&] { dialect::by_key::carry_digits(planes.words.data(), 0, groups, first, last); });
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        std::vector<ulong> found(groups);
        emulation().run(2, GROUP_SIZE, [&] {
          dialect::by_key::round_sums(planes.words.data(), groups, planes.others.data(), planes.noted.data(), kRows, first, last,
                                      925 - static_cast<int>(phase), static_cast<int>(planes.noted[6]), nan == NanPolicy::skip, 0,
                                      found.data(), 0);
        });
        expect_sums(found, exact, nan);
      }
      for (std::uint64_t group = 0; group < groups; ++group) {
        ASSERT_EQ(planes.words[(kRows + 4) * groups + group], exact[group].count());
        ASSERT_EQ(planes.words[(kRows + 5 + kSquareRows) * groups + group], least[group]);
        ASSERT_EQ(planes.words[(kRows + 6 + kSquareRows) * groups + group], greatest[group]);
        ProductAccumulator sum;
        for (uint d = 0; d < kSquareRows; ++d) {
          // In units of 2^-298, of which the phase leaves the lowest bits of the lowest digit free.
          const auto digit = static_cast<std::int64_t>(planes.words[(kRows + 5 + d) * groups + group]);
          const int position = ProductAccumulator::kUnit - 298 - 3 + kDigit * static_cast<int>(d);
          sum.add_scaled(digit >> 32, position + 32);
          sum.add_scaled(digit & 0xffffffff, position);
        }
        ASSERT_EQ(sum.canonical_digits(), squares[group].canonical_digits()) << group;
      }
    }
  }
}

// Fields that fill: by numbers at the window's upper end, all of one sign, for longer than fields have room.
TEST(ByIndexKernel, AddsToFieldsOfFewGroups) {
  std::mt19937_64 random(4);
  constexpr uint kRows = 10, kPhase = 5, kPair = 3;
  constexpr int kMask = 0x55;
  const float top = std::ldexp(16777215.0f, 131 - 127 - 23);
  for (const std::uint64_t groups : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{67}}) {
    for (int kind = 0; kind < 6; ++kind) {
      SCOPED_TRACE(std::to_string(groups) + " " + std::to_string(kind));
      const bool full = kind >= 4;
      if (full && groups > 3) continue;
      const std::size_t size = full ? 100'001 : 3001;
      std::vector<float> values(size);
      for (float& value : values) {
        value = static_cast<float>(number(false, kind != 1, kind == 2, random));
        if (kind == 3) value = std::ldexp(value, random() % 50 == 0 ? 60 : -40);
        if (full) value = kind == 4 ? top : random() % 9 == 0 ? -top : -std::nextafter(top, 0.0f);
      }
      if (full) values[77] = std::ldexp(top, 1);
      std::vector<std::int32_t> keys(size);
      for (std::int32_t& key : keys) key = static_cast<std::int32_t>(full && random() % 100 != 0 ? 0 : random() % groups);
      Planes planes(groups, kRows + 5);
      const uint copies = groups < 67 ? 4 : 1;
      std::vector<std::int32_t> samples = keys;
      for (std::int32_t& sample : samples) sample ^= kMask;
      // Values may lie apart, and are then loaded one by one, if indices are not.
      const std::size_t stride = kind == 0 ? 3 : 1;
      std::vector<float> apart(size * stride, 1e30f);
      for (std::size_t i = 0; i < size; ++i) apart[i * stride] = values[i];
      emulation().run(2, GROUP_SIZE, [&] {
        dialect::by_few::sums_by_index(reinterpret_cast<const uint*>(apart.data()), 0, static_cast<long>(stride), samples.data(), 0, 1,
                                       size, full ? 98'304 : 2048, groups, planes.words.data(), planes.others.data(), planes.noted.data(),
                                       kRows, kPhase, kPair, 0, 0, 0, static_cast<uint>(groups) * copies, copies,
                                       stride == 1 ? kVectors : uint{VECTORS_OF_INDICES}, kMask);
      });
      EXPECT_EQ(planes.noted[0], 0);
      std::vector<Accumulator> exact(groups);
      for (std::size_t i = 0; i < size; ++i) exact[static_cast<std::size_t>(keys[i])].add(values[i]);
      emulation().run(1, GROUP_SIZE, [&] { dialect::by_few::carry_digits(planes.words.data(), 0, groups, 0, kRows - 1); });
      std::vector<ulong> found(groups);
      emulation().run(1, GROUP_SIZE, [&] {
        dialect::by_few::round_sums(planes.words.data(), groups, planes.others.data(), planes.noted.data(), kRows, 0, kRows - 1,
                                    925 - static_cast<int>(kPhase), static_cast<int>(planes.noted[6]), 0, 0, found.data(), 0);
      });
      expect_sums(found, exact, NanPolicy::propagate);
      for (std::uint64_t group = 0; group < groups; ++group) ASSERT_EQ(planes.words[(kRows + 4) * groups + group], exact[group].count());
    }
  }
}

// Runs of all lengths, in which sums are whole numbers first, of data that these hold and do not hold.
TEST(ByIndexKernel, AddsRunsOfSortedKeys) {
  std::mt19937_64 random(3);
  constexpr uint kRows = 10;
  for (const std::uint64_t groups : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{40}, std::uint64_t{700}}) {
    for (int kind = 0; kind < 4; ++kind) {
      SCOPED_TRACE(std::to_string(groups) + " " + std::to_string(kind));
      const std::size_t size = 6001;
      const auto vectors = static_cast<uint>(kind);  // values or indices, both or none, by loads of 16 bytes
      std::vector<float> values(size);
      for (float& value : values) {
        value = static_cast<float>(number(false, kind != 1, kind == 2, random));
        if (kind == 3) value = std::ldexp(value, random() % 50 == 0 ? 60 : -40);  // most are below what a sample sees, or above
      }
      std::vector<std::int32_t> keys(size);
      for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() % groups);
      std::ranges::sort(keys);
      keys[4321] = 0;
      keys[17] = -1;
      Planes planes(groups, kRows + 5);
      const uint phase = kind == 1 ? 11 : 5, pair = kind == 1 ? 5 : 3;
      emulation().run(3, GROUP_SIZE, [&] {
        dialect::by_sorted_key::sums_by_runs(reinterpret_cast<const uint*>(values.data()), 0, 1, keys.data(), 0, 1, size, 2048, groups,
                                             planes.words.data(), planes.others.data(), planes.noted.data(), kRows, phase, pair, 0, 0, 0, 0,
                                             vectors);
      });
      EXPECT_EQ(planes.noted[0], 1);
      std::vector<Accumulator> exact(groups);
      for (std::size_t i = 0; i < size; ++i) {
        if (keys[i] >= 0) exact[static_cast<std::size_t>(keys[i])].add(values[i]);
      }
      emulation().run(1, GROUP_SIZE, [&] { dialect::by_sorted_key::carry_digits(planes.words.data(), 0, groups, 0, kRows - 1); });
      std::vector<ulong> found(groups);
      emulation().run(1, GROUP_SIZE, [&] {
        dialect::by_sorted_key::round_sums(planes.words.data(), groups, planes.others.data(), planes.noted.data(), kRows, 0, kRows - 1,
                                           925 - static_cast<int>(phase), static_cast<int>(planes.noted[6]), 0, 0, found.data(), 0);
      });
      expect_sums(found, exact, NanPolicy::propagate);
      for (std::uint64_t group = 0; group < groups; ++group) ASSERT_EQ(planes.words[(kRows + 4) * groups + group], exact[group].count());
    }
  }
}

// The digits that hold float64s, and squares of them, of which the greatest are below 1; chosen as DeviceTable does.
struct Held {
  Held(uint greatest, uint digits) : phase((64 - greatest % kDigit) % kDigit), first((greatest + phase) / kDigit - (digits - 1)) {}
  uint phase, first;
};

TEST(ByIndexKernel, AddsSquaresOfWideNumbers) {
  std::mt19937_64 random(5);
  constexpr uint kRows = 63, kSquareRows = 125;
  const Held sums(1073, 2), squares(2147, 4);
  for (const std::uint64_t groups : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{300}}) {
    for (int how = 0; how < 4; ++how) {
      const bool sorted = (how & 1) != 0, near = (how & 2) != 0;
      SCOPED_TRACE(std::to_string(groups) + " " + std::to_string(how));
      const std::size_t size = 5001;
      std::vector<double> values(size);
      for (double& value : values) value = number(true, near, false, random) * (near && random() % 50 == 0 ? 0x1p-40 : 1);
      std::vector<std::int32_t> keys(size);
      for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() % groups);
      if (sorted) std::ranges::sort(keys);
      Planes planes(groups, kRows + 4 + kSquareRows);
      const auto* const bits = reinterpret_cast<const ulong*>(values.data());
      emulation().run(3, GROUP_SIZE, [&] {
        if (sorted) {
          dialect::by_wide::sums_by_runs(bits, 0, 1, keys.data(), 0, 1, size, 2048, groups, planes.words.data(), planes.others.data(),
                                         planes.noted.data(), kRows, sums.phase, sums.first, kSquareRows, squares.phase, squares.first, 0,
                                         1);
        } else {
          const uint copies = groups <= 5 ? 4 : 0, slots = copies != 0 ? static_cast<uint>(groups) * copies : 64;
          dialect::by_wide::sums_by_index(bits, 0, 1, keys.data(), 0, 1, size, 2048, groups, planes.words.data(), planes.others.data(),
                                          planes.noted.data(), kRows, sums.phase, sums.first, kSquareRows, squares.phase, squares.first,
                                          slots, copies, 0);
        }
      });
      std::vector<Accumulator> exact(groups);
      std::vector<ProductAccumulator> exact_squares(groups);
      for (std::size_t i = 0; i < size; ++i) {
        exact[static_cast<std::size_t>(keys[i])].add(values[i]);
        exact_squares[static_cast<std::size_t>(keys[i])].add(values[i], values[i]);
      }
      for (std::uint64_t group = 0; group < groups; ++group) {
        ProductAccumulator sum;
        for (uint d = 0; d < kSquareRows; ++d) {
          const auto digit = static_cast<std::int64_t>(planes.words[(kRows + 4 + d) * groups + group]);
          const int position = ProductAccumulator::kUnit - 2148 - static_cast<int>(squares.phase) + kDigit * static_cast<int>(d);
          if (position < 0) {  // the phase leaves the lowest bits of the lowest digit free
            sum.add_scaled(digit >> -position, 0);
          } else {
            sum.add_scaled(digit >> 32, position + 32);
            sum.add_scaled(digit & 0xffffffff, position);
          }
        }
        ASSERT_EQ(sum.canonical_digits(), exact_squares[group].canonical_digits()) << group;
      }
      emulation().run(1, GROUP_SIZE, [&] { dialect::by_segment::carry_digits(planes.words.data(), 0, groups, 0, kRows - 1); });
      std::vector<ulong> found(groups);
      emulation().run(1, GROUP_SIZE, [&] {
        dialect::by_segment::round_sums(planes.words.data(), groups, planes.others.data(), planes.noted.data(), kRows, 0, kRows - 1,
                                        -static_cast<int>(sums.phase), static_cast<int>(planes.noted[6]), 0, 0, found.data(), 0);
      });
      expect_sums(found, exact, NanPolicy::propagate);
    }
  }
}

TEST(ByIndexKernel, AddsSegmentsWithSubgroups) {
  std::mt19937_64 random(2);
  constexpr uint kRows = 63;
  for (const bool near : {true, false}) {
    std::vector<ulong> offsets = {7};
    for (int i = 0; i < 300; ++i) offsets.push_back(offsets.back() + (i == 20 ? 1500 : random() % 5));
    const std::uint64_t groups = offsets.size() - 1;
    std::vector<double> values(offsets.back() + 3);
    for (double& value : values) value = number(true, near, false, random);
    Planes planes(groups, kRows + 4);
    const uint phase = 30, pair = near ? 31 : 20;
    const ulong begun = 4;  // the elements of the launch
    emulation().run(4, GROUP_SIZE, [&] {
      dialect::by_segment::sums_by_runs(reinterpret_cast<const ulong*>(values.data()), begun, 1, offsets.data(), 0, 1,
                                        values.size() - begun, 512 + 256, groups, planes.words.data(), planes.others.data(),
                                        planes.noted.data(), kRows, phase, pair, 0, 0, 0, begun, near ? 1 : 0);
    });
    std::vector<Accumulator> exact(groups);
    for (std::size_t group = 0; group < groups; ++group) {
      for (ulong i = offsets[group]; i < offsets[group + 1]; ++i) exact[group].add(values[i]);
    }
    emulation().run(1, GROUP_SIZE, [&] { dialect::by_segment::carry_digits(planes.words.data(), 0, groups, 0, kRows - 1); });
    std::vector<ulong> found(groups);
    emulation().run(1, GROUP_SIZE, [&] {
      dialect::by_segment::round_sums(planes.words.data(), groups, planes.others.data(), planes.noted.data(), kRows, 0, kRows - 1,
                                      -static_cast<int>(phase), static_cast<int>(planes.noted[6]), 0, 0, found.data(), 0);
    });
    expect_sums(found, exact, NanPolicy::propagate);
  }
}

}  // namespace
}  // namespace samesum
