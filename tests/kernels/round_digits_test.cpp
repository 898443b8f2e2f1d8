// Rounding by a sub-group (exact/exact_lanes.h), run on the host, against the rounding of the same digits by one work-item.
#include "support/emulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#define GROUP_SIZE 32
namespace samesum::dialect::rounding {
// The order of these files matters.
// clang-format off
#include "exact/exact.h"
#include "exact/exact_lanes.h"
// clang-format on
}  // namespace samesum::dialect::rounding
#pragma GCC diagnostic pop

namespace samesum {
namespace {

using dialect::ulong;
using dialect::rounding::ROUNDED_SUM;
__extension__ using Wide = __int128;

std::string text_of(const ROUNDED_SUM& sum, bool integers) {
  std::string text = std::to_string(sum.float64) + " " + std::to_string(sum.float32);
  if (integers) text += " " + std::to_string(sum.integer) + " " + std::to_string(sum.bits) + " " + std::to_string(sum.is_lowest);
  return text;
}

void check(const std::vector<long>& digits, int base, bool integers) {
  const int count = static_cast<int>(digits.size());
  std::vector<long> scratch(static_cast<std::size_t>(count) + 200);
  const ROUNDED_SUM expected = dialect::rounding::round_serially(digits.data(), count, base, scratch.data());
  ROUNDED_SUM rounded;
  dialect::emulation().run(1, GROUP_SIZE, [&] {
    const ROUNDED_SUM lane = dialect::rounding::round_digits(digits.data(), count, base, scratch.data());
    if (dialect::local_id() == 0) rounded = lane;
  });
  if (text_of(rounded, integers) == text_of(expected, integers)) return;
  std::string all;
  for (const long digit : digits) all += " " + std::to_string(digit);
  FAIL() << text_of(rounded, integers) << " instead of " << text_of(expected, integers) << ", base " << base << ":" << all;
}

// Digits whose carries go far, whose highest ones cancel, and that are zero in between.
long hard_digit(std::mt19937_64& random) {
  constexpr long kZero = 0, kHalf = 1L << 31, kWhole = 1L << 32, kMost = (1L << 62) - 1;
  static const long kHard[] = {kZero,     kZero, kZero,      1,      2,          kHalf - 1,          kHalf,
                               kHalf + 1, kZero, kWhole - 1, kWhole, kWhole + 1, kWhole + kHalf - 1, kMost};
  const ulong word = random();
  const long sign = word % 2 == 0 ? 1 : -1;
  if (word / 2 % 4 == 0) return static_cast<long>(random()) >> (2 + word / 8 % 61);
  return sign * kHard[word / 8 % std::size(kHard)];
}

TEST(RoundDigits, IsThatOfOneWorkItem) {
  std::mt19937_64 random(1);
  for (const int count : {1, 2, 3, 5, 13, 29, 30, 31, 32, 33, 34, 62, 63, 64, 65, 71, 96, 140}) {
    for (int i = 0; i < 600; ++i) {
      std::vector<long> digits(static_cast<std::size_t>(count));
      for (long& digit : digits) digit = hard_digit(random);
      // Zeros above and below.
      const auto zeros = [&] { return static_cast<std::size_t>(random() % 2 == 0 ? 0 : random() % (static_cast<ulong>(count) + 1)); };
      std::fill_n(digits.begin(), zeros(), 0);
      std::fill_n(digits.rbegin(), zeros(), 0);
      // From 71 digits on: those of float64 sums and of their products.
      const int base = count < 60 ? static_cast<int>(random() % 300) : count < 100 ? 0 : -1100;
      for (int k = EXACT_DIGITS - 3; base >= 0 && k < count; ++k) digits[static_cast<std::size_t>(k)] = 0;
      ASSERT_NO_FATAL_FAILURE(check(digits, base, false));
    }
  }
}

TEST(RoundDigits, IntegersAreThoseOfOneWorkItem) {
  std::mt19937_64 random(2);
  for (const int count : {2, 3, 6, 9}) {
    for (int i = 0; i < 3000; ++i) {
      std::vector<long> digits(static_cast<std::size_t>(count));
      for (std::size_t k = 0; k < digits.size(); ++k) digits[k] = k < 2 || random() % 4 == 0 ? hard_digit(random) : 0;
      ASSERT_NO_FATAL_FAILURE(check(digits, 1074, true));
    }
  }
  ASSERT_NO_FATAL_FAILURE(check({0, -0x80000000L, 0}, 1074, true));
  ASSERT_NO_FATAL_FAILURE(check({0, 0x80000000L, 0}, 1074, true));
  ASSERT_NO_FATAL_FAILURE(check({0, 0x80000000L, -1}, 1074, true));
}

// Sums of halves of a unit in the last place, with a rest far below.
TEST(RoundDigits, TiesAreDecidedByTheRest) {
  for (const int count : {8, 33, 62, 140}) {
    for (int shift = 0; shift < 32; ++shift) {
      for (const long rest : {0L, 1L, -1L}) {
        for (const long sign : {1L, -1L}) {
          std::vector<long> digits(static_cast<std::size_t>(count));
          const auto top = static_cast<std::size_t>(count - 2);
          // 54 bits, of which the lowest is set, and zeros: a tie of float64, in three digits.
          const Wide number = ((Wide{1} << 53) + 3) << 32 << shift >> 8;
          digits[top] = sign * static_cast<long>(number >> 64);
          digits[top - 1] = sign * static_cast<long>(number >> 32 & 0xffffffff);
          digits[top - 2] = sign * static_cast<long>(number & 0xffffffff);
          digits[0] = rest;
          ASSERT_NO_FATAL_FAILURE(check(digits, count > 100 ? -1100 : 40, false));
        }
      }
    }
  }
}

}  // namespace
}  // namespace samesum
