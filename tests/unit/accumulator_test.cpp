// The accumulator compared with big integers and MPFR: additions, carries, and all boundary cases of rounding.
#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>

#include "exact/exact_host.hpp"
#include "selftest/cases.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace samesum {
namespace {

using hard::Random;
using test::add_each;
using test::Expected;
using test::gmp_round;
using test::result_of;

constexpr int kLastPosition = 2144;

// A big integer in units of 2^-1074, with the accumulator's operations.
class Integer {
 public:
  Integer() { mpz_inits(value_, term_, nullptr); }
  ~Integer() { mpz_clears(value_, term_, nullptr); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;

  void add_scaled(std::int64_t value, int position) {
    mpz_set_si(term_, value);
    mpz_mul_2exp(term_, term_, static_cast<mp_bitcnt_t>(position));
    mpz_add(value_, value_, term_);
  }
  void multiply(unsigned long factor) { mpz_mul_ui(value_, value_, factor); }
  Expected rounded() const { return gmp_round(value_); }

 private:
  mpz_t value_;
  mpz_t term_;
};

// Applies the same additions to both; returns an empty message where they agree.
struct Pair {
  Accumulator accumulator;
  Integer integer;

  Pair() { accumulator.add_counts(1, 0, 0, 0, false); }
  void add(std::int64_t value, int position) {
    accumulator.add_scaled(value, position);
    integer.add_scaled(value, position);
  }
  void expect_equal(const std::string& what) const { ASSERT_EQ(result_of(accumulator), integer.rounded()) << what; }
};

TEST(Accumulator, EveryCaseAgainstBothOracles) {
  for (const auto type : {DType::float32, DType::float64}) {
    for (const auto& hard_case : hard::cases()) {
      for (const auto length : hard::lengths()) {
        if (length > 10000) continue;  // covered by sum_test
        const auto data = hard::make(hard_case, type, length);
        const Accumulator sum = add_each(data.view());
        for (const auto nan : {NanPolicy::propagate, NanPolicy::skip}) {
          const Expected expected = test::mpfr_oracle(data.view(), nan);
          ASSERT_EQ(expected, test::gmp_oracle(data.view(), nan)) << "the oracles disagree: " << hard_case.name << ", " << length;
          ASSERT_EQ(result_of(sum, nan), expected) << hard_case.name << ", " << name_of(type) << ", " << length;
        }
        ASSERT_EQ(sum.count(), length);
      }
    }
  }
}

TEST(Accumulator, OrderAndSplitDoNotMatter) {
  Random random(1);
  for (const auto& hard_case : hard::cases()) {
    const auto data = hard::make(hard_case, DType::float64, 1025);
    const Accumulator whole = add_each(data.view());
    std::vector<std::uint64_t> patterns(1025);
    std::memcpy(patterns.data(), data.view().data(), data.view().bytes());
    for (std::size_t i = patterns.size(); i > 1; --i) std::swap(patterns[i - 1], patterns[random.below(i)]);
    const Array shuffled(patterns.data(), patterns.size(), DType::float64);
    ASSERT_EQ(add_each(shuffled), whole) << hard_case.name;

    Accumulator merged;
    for (std::uint64_t first = 0; first < shuffled.size();) {
      const std::uint64_t count = std::min(random.below(300), shuffled.size() - first);
      Accumulator part = add_each(shuffled.part(first, count));
      if (random.bits(1) != 0) std::swap(part, merged);  // merging commutes
      merged.merge(part);
      first += count;
    }
    ASSERT_EQ(merged, whole) << hard_case.name;
    ASSERT_EQ(result_of(merged), result_of(whole)) << hard_case.name;
  }
}

TEST(Accumulator, MergeWithItselfAndWithNothing) {
  Accumulator sum;
  for (const double value : {1e300, -3.0, 5e-324}) sum.add(value);
  Accumulator same = sum;
  same.merge(Accumulator());
  EXPECT_EQ(same, sum);
  Accumulator nothing;
  nothing += sum;
  EXPECT_EQ(nothing, sum);
  sum.merge(sum);
  EXPECT_EQ(sum.count(), 6u);
  EXPECT_EQ(sum.round(), 2e300);
  Accumulator twice;
  for (int i = 0; i < 2; ++i) {
    for (const double value : {-3.0, 5e-324, 1e300}) twice.add(value);
  }
  EXPECT_EQ(twice, sum);
}

TEST(Accumulator, EqualityIsOfTheSumAndTheCounts) {
  Accumulator a;
  Accumulator b;
  EXPECT_EQ(a, b);
  a.add(2.0);
  EXPECT_NE(a, b);
  b.add(1.0);
  EXPECT_NE(a, b);
  b.add(1.0);
  EXPECT_NE(a, b) << "the counts differ";
  a.add(0.0);
  EXPECT_EQ(a, b);
  a.add(std::nan(""));
  b.add(std::numeric_limits<double>::infinity());
  EXPECT_NE(a, b);
}

TEST(Accumulator, FloatsAddAsDoubles) {
  Random random(2);
  Accumulator floats;
  Accumulator doubles;
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits(32)));
    floats.add(value);
    doubles.add(static_cast<double>(value));
  }
  EXPECT_EQ(floats, doubles);
}

TEST(Accumulator, AwkwardCases) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const auto bits_of = [](std::initializer_list<double> values, NanPolicy policy = NanPolicy::propagate) {
    Accumulator sum;
    for (const double value : values) sum.add(value);
    return result_of(sum, policy).float64;
  };
  const std::uint64_t canonical_nan = 0x7ff8000000000000;
  const std::uint64_t negative_zero = std::uint64_t{1} << 63;
  EXPECT_EQ(bits_of({}), 0u);
  EXPECT_EQ(bits_of({-0.0}), negative_zero);
  EXPECT_EQ(bits_of({-0.0, -0.0}), negative_zero);
  EXPECT_EQ(bits_of({-0.0, 0.0}), 0u);
  EXPECT_EQ(bits_of({1.0, -1.0, -0.0}), 0u);
  EXPECT_EQ(bits_of({-0.0, nan}), canonical_nan);
  EXPECT_EQ(bits_of({-0.0, nan}, NanPolicy::skip), negative_zero);
  EXPECT_EQ(bits_of({nan}, NanPolicy::skip), 0u);
  EXPECT_EQ(bits_of({infinity, 1.0}), std::bit_cast<std::uint64_t>(infinity));
  EXPECT_EQ(bits_of({-infinity, nan}, NanPolicy::skip), std::bit_cast<std::uint64_t>(-infinity));
  EXPECT_EQ(bits_of({infinity, -infinity}), canonical_nan);
  EXPECT_EQ(bits_of({infinity, -infinity}, NanPolicy::skip), canonical_nan);
  EXPECT_EQ(bits_of({infinity, -0.0}), std::bit_cast<std::uint64_t>(infinity));
}

TEST(Accumulator, AddScaledAtEveryPosition) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value :
       {std::int64_t{1}, std::int64_t{-1}, std::int64_t{0xffffffff}, (std::int64_t{1} << 53) - 1, kMax, -kMax, kMin}) {
    Pair all;
    for (int position = 0; position <= kLastPosition; ++position) {
      Pair one;
      one.add(value, position);
      one.expect_equal("position " + std::to_string(position));
      all.add(value, position);
      all.expect_equal("all up to position " + std::to_string(position));
    }
  }
}

// A number of 24 or 53 bits, the next bit, and something far below: at every position, in every combination. This crosses the borders
// between denormal and normal numbers, between finite ones and infinity, and between all digits.
TEST(Accumulator, EveryRoundingBoundary) {
  Random random(3);
  for (const int precision : {24, 53}) {
    for (int lowest = 0; lowest <= kLastPosition - 53; ++lowest) {  // position of the last bit that may be kept
      for (int combination = 0; combination < 16; ++combination) {
        const bool odd = combination & 1;
        const bool half = combination & 2;
        const int sticky = (combination >> 2) - 1;  // -1, 0, 1; 2: 1 directly below the half
        std::int64_t mantissa = static_cast<std::int64_t>(std::uint64_t{1} << (precision - 1) | random.bits(precision - 1));
        if (lowest % 5 == 0) mantissa = (std::int64_t{1} << precision) - 2;  // where rounding up carries into the next binade
        if (lowest % 5 == 1) mantissa = std::int64_t{1} << (precision - 1);  // the first numbers of a binade
        mantissa = (mantissa & ~std::int64_t{1}) | odd;
        const int sign = lowest % 2 == 0 ? 1 : -1;
        Pair pair;
        pair.add(sign * mantissa, lowest);
        if (half && lowest >= 1) pair.add(sign, lowest - 1);
        if (sticky == 2 && lowest >= 2) pair.add(sign, lowest - 2);
        if (sticky != 2 && lowest >= 2) pair.add(sign * sticky, static_cast<int>(random.below(static_cast<std::uint64_t>(lowest - 1))));
        pair.expect_equal("precision " + std::to_string(precision) + ", lowest bit " + std::to_string(lowest) + ", combination " +
                          std::to_string(combination));
      }
    }
  }
}

TEST(Accumulator, AStickyBitAnywhere) {
  for (const int lowest : {925, 953, 960, 1023, 1024, 1025, 2045}) {
    for (int sticky = 0; sticky < lowest - 1; ++sticky) {
      for (const int side : {-1, 1}) {
        Pair pair;
        pair.add((std::int64_t{1} << 52) + 1, lowest);
        pair.add(1, lowest - 1);
        pair.add(side, sticky);
        pair.expect_equal("lowest bit " + std::to_string(lowest) + ", sticky bit " + std::to_string(sticky));
      }
    }
  }
}

TEST(Accumulator, CarriesAndBorrowsOverAllDigits) {
  for (const int sign : {1, -1}) {
    Pair pair;
    for (int position = 0; position <= kLastPosition; ++position) pair.add(sign, position);  // 2^2145 - 1
    pair.expect_equal("all bits set");
    pair.add(sign, 0);  // carries to the top
    pair.expect_equal("a power of two");
    pair.add(-sign, 0);  // and back
    pair.expect_equal("all bits set again");
    for (int position = kLastPosition; position >= 0; --position) pair.add(-sign, position);
    pair.expect_equal("nothing left");
    pair.add(-sign, 0);
    pair.expect_equal("the smallest number of the other sign");
  }
}

TEST(Accumulator, RandomAdditionsEverywhere) {
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    Pair pair;
    const int low = static_cast<int>(random.below(kLastPosition));
    const int window = 1 + static_cast<int>(random.below(200));
    for (int i = 0; i < 100; ++i) {
      const auto value = static_cast<std::int64_t>(random.bits()) >> random.below(64);
      pair.add(value, std::min(low + static_cast<int>(random.below(static_cast<std::uint64_t>(window))), kLastPosition));
      pair.expect_equal("round " + std::to_string(round));
    }
  }
}

TEST(Accumulator, DigitsOfAnAccumulatorElsewhere) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    Pair pair;
    for (int part = 0; part < 5; ++part) {
      std::array<std::int64_t, Accumulator::kDigits> digits{};
      for (int i = 0; i < 67; ++i) {
        digits[static_cast<std::size_t>(i)] = (static_cast<std::int64_t>(random.bits()) >> 2) + random.between(0, 1);  // under 2^62
        if (round % 3 == 0)
          digits[static_cast<std::size_t>(i)] = round % 2 == 0 ? (std::int64_t{1} << 62) - 1 : 1 - (std::int64_t{1} << 62);
        pair.integer.add_scaled(digits[static_cast<std::size_t>(i)], 32 * i);
      }
      pair.accumulator.add_digits(digits);
      pair.add(static_cast<std::int64_t>(random.bits()), random.between(0, kLastPosition));
      pair.expect_equal("round " + std::to_string(round));
    }
  }
}

// Long enough for the accumulator to propagate carries before its digits overflow.
TEST(Accumulator, LongRunsOfTheLargestMantissas) {
  constexpr std::uint64_t kAdditions = (std::uint64_t{1} << 29) + 1000;
  constexpr std::int64_t kValue = -std::numeric_limits<std::int64_t>::max();
  Pair pair;
  for (std::uint64_t i = 0; i < kAdditions; ++i) pair.accumulator.add_scaled(kValue, 64);
  pair.integer.add_scaled(kValue, 64);
  pair.integer.multiply(kAdditions);
  pair.expect_equal("after 2^29 + 1000 additions");
}

// Kernels use only the digits first..last; those outside may have any value.
TEST(Accumulator, RoundingAWindowOfDigits) {
  Random random(6);
  for (int round = 0; round < 20000; ++round) {
    const int first = random.between(0, Accumulator::kDigits - 1);
    const int last = random.between(first, std::min(first + random.between(0, 8), Accumulator::kDigits - 1));
    std::array<std::int64_t, Accumulator::kDigits> digits;
    digits.fill(static_cast<std::int64_t>(random.bits()));
    Integer integer;
    for (int i = first; i <= last; ++i) {
      // Sums close to zero, of either sign, with room for the carry into the last digit.
      auto& digit = digits[static_cast<std::size_t>(i)] =
          static_cast<std::int64_t>(random.bits()) >> random.between(i == last ? 34 : 3, 63);
      integer.add_scaled(digit, 32 * i);
    }
    dialect::exact_normalize(digits.data(), first, last);
    const std::uint64_t sign = dialect::exact_make_magnitude(digits.data(), first, last);
    const Expected expected = integer.rounded();
    ASSERT_EQ(sign << 63 | dialect::exact_round_float64(digits.data(), first, last), expected.float64)
        << first << ".." << last << ", round " << round;
    ASSERT_EQ(sign << 31 | dialect::exact_round_float32(digits.data(), first, last), expected.float32)
        << first << ".." << last << ", round " << round;
  }
}

// The sum of 2^powers - 1 times what `power` holds, by doubling.
template <class Sum>
Sum many_times(Sum power, int powers) {
  Sum sum = power;
  for (int i = 1; i < powers; ++i) {
    power.merge(power);
    sum.merge(power);
  }
  return sum;
}

// 2^64 - 1 of the largest doubles.
TEST(Accumulator, AsManyOfTheLargestAsCanBeCounted) {
  const auto many = [](double value, int powers) {
    Accumulator one;
    one.add(value);
    return many_times(one, powers);
  };
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(many(kMax, 64).count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(many(kMax, 64).round(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(many(-kMax, 64).round(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Accumulator::deserialize(many(-kMax, 64).serialize()), many(-kMax, 64));
  Accumulator cancelled = many(-kMax, 63);
  cancelled.merge(many(kMax, 63));
  cancelled.add(1.5);
  EXPECT_EQ(cancelled.round(), 1.5);
}

TEST(ProductAccumulator, AsManyOfTheLargestAsCanBeCounted) {
  const auto many = [](double a, double b) {
    ProductAccumulator one;
    one.add(a, b);
    return many_times(one, 63);
  };
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(many(kMax, kMax).round(), std::numeric_limits<double>::infinity());
  ProductAccumulator cancelled = many(kMax, kMax);
  cancelled.merge(many(-kMax, kMax));
  cancelled.add(1.5, 3);
  EXPECT_EQ(cancelled.round(), 4.5);
  EXPECT_EQ(many(0x1p-500, 0x1.0000000000001p-500).round(), 0x1.0000000000001p-937);  // 2^-937 (1 + 2^-52) (1 - 2^-63)
}

}  // namespace
}  // namespace samesum
