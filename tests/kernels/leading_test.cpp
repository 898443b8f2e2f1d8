// Quotients and roots of leading.h, run on the host, against division and multiplication of integers.
#include "support/emulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#define GROUP_SIZE 32
namespace samesum::dialect::leading {
// The order of these files matters.
// clang-format off
#include "exact/exact.h"
#include "exact/exact_lanes.h"
#include "exact/number.h"
#include "exact/leading.h"
// clang-format on
}  // namespace samesum::dialect::leading
#pragma GCC diagnostic pop

namespace samesum {
namespace {

using dialect::uint;
using dialect::ulong;
__extension__ using Wide = unsigned __int128;

// A bit in the highest digit and one below it, whatever their distance: the upper bits are exact, and what is below them is noticed.
TEST(Leading, BitsHaveTheirPlaces) {
  for (int high = 0; high < 32; ++high) {
    for (int below = 1; below <= 320; ++below) {
      long digits[12] = {};
      const int top = 32 * 11 + high, low = top - below;
      digits[11] = 1l << high;
      digits[low / 32] += 1l << low % 32;
      const auto x = dialect::leading::leading_of({digits, low / 32, 11, 0});
      EXPECT_EQ(x.top, top);
      ulong expected[3] = {1ul << 63, 0, 0};
      if (below < 192) expected[below / 64] |= 1ul << (63 - below % 64);
      for (int k = 0; k < 3; ++k) ASSERT_EQ(x.words[k], expected[k]) << high << " " << below;
      ASSERT_EQ(x.rest != 0, below >= 192) << high << " " << below;
    }
  }
}

TEST(Leading, RootsAreWhole) {
  std::mt19937_64 random(1);
  const auto check = [](Wide x) {
    uint rest = 0;
    const ulong root = dialect::leading::whole_root(static_cast<ulong>(x >> 64), static_cast<ulong>(x), &rest);
    const Wide left = x - Wide{root} * root;  // wraps where the root is too great
    ASSERT_LE(left, 2 * Wide{root}) << static_cast<ulong>(x >> 64) << " " << static_cast<ulong>(x);
    ASSERT_EQ(rest != 0, left != 0);
  };
  const Wide least = Wide{1} << 126;
  check(least);
  check(~Wide{0});
  for (int i = 0; i < 200000; ++i) {
    check((Wide{random()} << 64 | random()) | least);
    const ulong root = i < 1000 ? ~0ul - static_cast<ulong>(i) : random() | 1ul << 63;
    for (const Wide near : {Wide{root} * root, Wide{root} * root + 2 * Wide{root}, Wide{root} * root - 1}) {
      if (near >= least) check(near);
    }
  }
}

TEST(Leading, QuotientsAreThoseOfDivision) {
  std::mt19937_64 random(2);
  const auto divide = [](ulong* words, uint divisor) {
    ulong rest = 0;
    for (int k = 0; k < 3; ++k) {
      const Wide dividend = Wide{rest} << 64 | words[k];
      words[k] = static_cast<ulong>(dividend / divisor);
      rest = static_cast<ulong>(dividend % divisor);
    }
    return rest != 0;
  };
  for (int i = 0; i < 200000; ++i) {
    uint divisors[2];
    for (uint& divisor : divisors)
      divisor = i % 5 == 0 ? ~0u - static_cast<uint>(random() % 3) : std::max(static_cast<uint>(random()) >> random() % 32, 1u);
    dialect::leading::LEADING x{{random() | 1ul << 63, random(), random()}, 100, 0};
    if (i % 3 == 0) x.words[1] = x.words[2] = i % 2 == 0 ? 0 : ~0ul;
    ulong expected[3] = {x.words[0], x.words[1], x.words[2]};
    bool rest = divide(expected, divisors[0]);
    rest |= divide(expected, divisors[1]);
    const auto found = dialect::leading::divided(x, divisors[0], dialect::leading::reciprocal_of(divisors[0]), divisors[1],
                                                 dialect::leading::reciprocal_of(divisors[1]));
    for (int k = 0; k < 3; ++k) ASSERT_EQ(found.words[k], expected[k]) << divisors[0] << " " << divisors[1];
    ASSERT_EQ(found.rest != 0, rest);
    const auto top = dialect::leading::with_top_bit(found);
    ASSERT_EQ(top.words[0] >> 63, 1u);
    const Wide upper = Wide{expected[0]} << 64 | expected[1], shift = static_cast<Wide>(100 - top.top);
    ASSERT_EQ(
        top.words[0],
        static_cast<ulong>((upper << static_cast<int>(shift) | (shift == 0 ? 0 : expected[2] >> (64 - static_cast<int>(shift)))) >> 64));
  }
}

}  // namespace
}  // namespace samesum
