// small_sum.cl for products, run on the host, compared with the accumulator that adds products sequentially, and with MPFR.
#pragma once

#include "support/small_sum_test.hpp"

#include "core/visit.hpp"

#include <samesum/product_accumulator.hpp>

#include <mpfr.h>

#include <cmath>
#include <utility>

namespace samesum::test {

/// The exact sum of products, rounded once by MPFR to a format with that precision.
inline double mpfr_dot(const std::vector<double>& a, const std::vector<double>& b, int precision, int least, int greatest) {
  mpfr_t sum, product, rounded;
  mpfr_init2(sum, 4400);  // all bits of any such sum
  mpfr_init2(product, 106);
  mpfr_init2(rounded, precision);
  mpfr_set_zero(sum, 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    mpfr_set_d(product, a[i], MPFR_RNDN);
    mpfr_mul_d(product, product, b[i], MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
  }
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_set_emin(least);
  mpfr_set_emax(greatest);
  int ternary = mpfr_set(rounded, sum, MPFR_RNDN);
  ternary = mpfr_check_range(rounded, ternary, MPFR_RNDN);
  mpfr_subnormalize(rounded, ternary, MPFR_RNDN);
  const double value = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  mpfr_clears(sum, product, rounded, nullptr);
  return value;
}

class SmallProductSum {
 public:
  explicit SmallProductSum(const SmallSumKernel& kernel) : kernel_(kernel), squares_(kernel.terms == SmallSumKernel::squares) {}

  /// Twice, as a launch passes hints to the next; sometimes after a launch with other data.
  void check(Array a, Array b, NanPolicy nan, const std::string& what) {
    if (++checks_ % 3 != 0) state_ = {};
    const Expected expected = expect(a, squares_ ? a : b, nan);
    for (int launch = 0; launch < (kernel_.fixed_point ? 2 : 1); ++launch) {
      check_launch(a, b, expected, nan, fmt::format("{}, launch {}", what, launch));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// Sums of products that fit are fixed-point numbers from the second launch on. Where one does not fit, its group reports it.
  void check_fixed_point() {
    const std::uint64_t length = 3 * kernel_.tile + 5;
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(6);
    const int bottom = format.fraction_bits > 10 ? -40 : -12;
    std::vector<std::uint64_t> patterns(length);
    for (std::uint64_t& pattern : patterns) {
      pattern = format.encode(random.bits(format.fraction_bits + 1), random.between(bottom, bottom + 8)) |
                (random.bits(1) != 0 ? format.sign() : 0);
    }
    const hard::Data other(patterns, kernel_.type);
    const auto launch = [&](const std::string& what) {
      const hard::Data data(patterns, kernel_.type);
      check_launch(data.view(), other.view(), NanPolicy::propagate, what);
      return std::exchange(fixed_, false);
    };
    state_ = {};
    EXPECT_TRUE(launch("first, by a sample"));
    EXPECT_TRUE(launch("second"));
    Sample sample(kernel_);
    for (const std::uint64_t place : {std::uint64_t{1}, std::min(kernel_.tile + 3, length / 2), length - 1}) {
      for (const std::uint64_t pattern : {format.infinity() + 1, format.infinity(), format.encode(1, format.max_exponent() - 10)}) {
        if (!sample.takes()) continue;
        const std::uint64_t fits = std::exchange(patterns[place], pattern);
        EXPECT_FALSE(launch(fmt::format("{:#x} at {}", pattern, place)));
        patterns[place] = fits;
        int launches = 1;
        while (!launch("once more")) ASSERT_LT(++launches, 10) << "never again";
        while (launch("now it fits") && state_[0] >> 32 != 0) continue;  // until it retries after failures
      }
    }
    state_ = {};
    std::ranges::fill(patterns, format.infinity());
    EXPECT_FALSE(launch("infinities leave the greatest power there is"));
    std::ranges::fill(patterns, 0);
    EXPECT_TRUE(launch("which zeros fit"));
  }

  /// For float64: products far below the greatest are fixed-point numbers too, with finer bits, and so are zeros; products farther below
  /// are not.
  void check_small_products() {
    const std::uint64_t length = 3 * kernel_.tile + 5;
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(7);
    const auto number = [&](int exponent) {
      return format.encode(random.bits(53) | 1, exponent) | (random.bits(1) != 0 ? format.sign() : 0);
    };
    std::vector<std::uint64_t> patterns(length);
    for (std::uint64_t& pattern : patterns) pattern = number(random.between(-56, -53));
    const auto launch = [&](const std::string& what) {
      const hard::Data data(patterns, kernel_.type);
      check_launch(data.view(), data.view(), NanPolicy::propagate, what);
      return std::exchange(fixed_, false);
    };
    for (const std::uint64_t place : {std::uint64_t{2}, kernel_.tile + 5, length - 1}) {
      const std::uint64_t before = patterns[place];
      state_ = {};  // after a failure there is more headroom
      EXPECT_TRUE(launch("first, by a sample"));
      for (const int exponent : {-75, -78, -79, -80}) {
        patterns[place] = number(exponent);
        EXPECT_TRUE(launch(fmt::format("exponent {} at {}", exponent, place))) << exponent << " at " << place;
      }
      patterns[place] = format.sign();
      EXPECT_TRUE(launch("a zero"));
      for (const int exponent : {-82, -120, -600}) {
        patterns[place] = number(exponent);
        EXPECT_FALSE(launch(fmt::format("exponent {} at {}", exponent, place)));
        patterns[place] = before;
        int launches = 1;
        while (!launch("once more")) ASSERT_LT(++launches, 10) << "never again";
        while (launch("now it fits") && state_[0] >> 32 != 0) continue;  // until it retries after failures
      }
    }
  }

  /// Products up to the greatest for which sums are fixed-point numbers, and others so much smaller that their rests might have bits below
  /// the last word. Factors have few bits, so that products are exact.
  void check_great_and_small() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(8);
    int fixed = 0;
    for (int top = 460; top <= 484; ++top) {
      for (const int apart : {25, 27}) {
        std::vector<std::uint64_t> patterns(3 * kernel_.tile + 5);
        for (std::size_t i = 0; i < patterns.size(); ++i) {
          patterns[i] = format.encode(random.bits(16) << 1 | 1 << 17 | 1, top - 17 - (i % 7 == 3 ? apart : 0)) |
                        (random.bits(1) != 0 ? format.sign() : 0);
        }
        const hard::Data data(patterns, kernel_.type);
        state_ = {};
        for (int launch = 0; launch < 3; ++launch) {  // the first finds out which power is needed
          check_launch(data.view(), data.view(), NanPolicy::propagate, fmt::format("up to 2^{}, {} less, launch {}", top, apart, launch));
          if (testing::Test::HasFatalFailure()) return;
          fixed += std::exchange(fixed_, false);
        }
      }
    }
    EXPECT_GT(fixed, 0);
  }

  /// Products of the factors with the most bits, so far below the greatest that their last bit is that of the last word, or the one below.
  void check_last_bits() {
    const hard::Format format = hard::format_of(kernel_.type);
    int fixed = 0;
    for (int below = 36; below <= 64; ++below) {
      std::vector<std::uint64_t> a(kernel_.tile + 5, format.power(0)), b = a;
      const int half = below / 2;
      for (std::size_t i = 2; i < a.size(); i += 3) {
        a[i] = format.encode((std::uint64_t{1} << 53) - 1, -53 - half);
        b[i] = squares_ ? a[i] : format.encode((std::uint64_t{1} << 53) - 1, -53 - (below - half)) | (i % 2 != 0 ? format.sign() : 0);
      }
      const hard::Data left(a, kernel_.type), right(b, kernel_.type);
      state_ = {};
      for (int launch = 0; launch < 3; ++launch) {
        check_launch(left.view(), right.view(), NanPolicy::propagate, fmt::format("2^-{}, launch {}", below, launch));
        if (testing::Test::HasFatalFailure()) return;
        fixed += std::exchange(fixed_, false);
      }
    }
    EXPECT_GT(fixed, 0);
  }

  /// Sums at the midpoint of two doubles or floats, decided by one product far below, with anything between.
  void check_ties() {
    const hard::Format format = hard::format_of(kernel_.type);
    const int reach = format.fraction_bits > 10 ? 145 : 40;
    Sample sample(kernel_);
    int decided = 0;
    for (const int top : {-4, 0, 6}) {  // even, for squares
      for (const int bits : {24, 53}) {
        for (int below = bits + 2 + bits % 2; below <= reach; below += 2) {
          for (const std::uint64_t last : {std::uint64_t{0}, squares_ ? 0 : format.sign()}) {
            if (!sample.takes()) continue;
            std::vector<std::uint64_t> a(kernel_.tile + 9, 0), b = a;
            std::size_t i = 0;
            const auto term = [&](int exponent, std::uint64_t sign) {  // two halves, where squares need that
              const int half = exponent / 2;
              const bool twice = squares_ && exponent % 2 != 0;
              for (int times = 0; times <= static_cast<int>(twice); ++times, ++i) {
                a[i] = format.power(twice ? (exponent - 1) / 2 : half);
                b[i] = format.power(twice ? (exponent - 1) / 2 : exponent - half) | sign;
              }
            };
            term(top, 0);
            term(top - bits, 0);
            term(top - below, last);
            std::swap(a[i - 1], a.back());
            std::swap(b[i - 1], b.back());
            state_ = {};
            for (int launch = 0; launch < 2; ++launch) {
              const hard::Data left(a, kernel_.type), right(squares_ ? a : b, kernel_.type);
              check_launch(left.view(), right.view(), NanPolicy::propagate,
                           fmt::format("2^{} and 2^{}, last 2^{}", top, top - bits, top - below));
            }
            if (testing::Test::HasFatalFailure()) return;
            ++decided;
          }
        }
      }
    }
    EXPECT_GT(decided, kernel_.thorough ? 20 : 5);
  }

  /// The maximum of groups, some of which fail; and sums that grow by powers of two from launch to launch, until none fits.
  void check_many_groups() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(9);
    const auto make = [&](std::uint64_t groups, int exponent, bool negative) {
      return of_one_exponent(format, random, groups * kernel_.tile, exponent, negative);
    };
    const auto launch = [&](const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, const std::string& what) {
      const hard::Data left(a, kernel_.type), right(b, kernel_.type);
      check_launch(left.view(), right.view(), NanPolicy::propagate, what);
      return std::exchange(fixed_, false);
    };
    state_ = {};
    std::vector<std::uint64_t> many = make(1024, -40, true);
    const std::vector<std::uint64_t> other = make(1024, -40, false), few = make(40, -40, false);
    EXPECT_TRUE(launch(many, other, "many groups, first"));
    EXPECT_TRUE(launch(many, other, "many groups"));
    for (const std::uint64_t group : {0, 1, 9, 511, 1022}) many[group * kernel_.tile + 7] = format.infinity() + 1;
    EXPECT_FALSE(launch(many, other, "many groups, some fail"));
    for (const bool negative : {false, true}) {
      bool fits = true;
      for (int growth = 0; growth < 60; growth += growth < 8 ? 1 : 7) {
        state_ = {};
        EXPECT_TRUE(launch(make(40, -40, negative), few, "before it grows"));
        const bool fitted = std::exchange(fits, launch(make(40, growth - 40, negative), few, fmt::format("grown by 2^{}", growth)));
        EXPECT_TRUE(growth == 0 ? fits : fitted || !fits) << growth;
        if (testing::Test::HasFatalFailure()) return;
      }
      EXPECT_FALSE(fits);
    }
  }

  /// Negative sums at the greatest power, which infinities leave in the state, where one group has failed.
  void check_greatest_power() {
    const hard::Format format = hard::format_of(kernel_.type);
    const std::uint64_t length = 3 * kernel_.tile;
    std::vector<std::uint64_t> a(length, format.infinity()), b(length, format.encode(1, format.max_exponent() - 3));
    const auto launch = [&](const std::string& what) {
      const hard::Data left(a, kernel_.type), right(b, kernel_.type);
      check_launch(left.view(), right.view(), NanPolicy::propagate, what);
      return std::exchange(fixed_, false);
    };
    state_ = {};
    EXPECT_FALSE(launch("infinities"));
    std::ranges::fill(a, b.front() | format.sign());
    a[kernel_.tile + 2] = 1;
    EXPECT_FALSE(launch("great and negative, and a small one"));
  }

  /// All pairs of hard cases, in both orders.
  void check_hard_cases() {
    const auto cases = hard::cases();
    Sample sample(kernel_);
    for (std::size_t first = 0; first < cases.size(); ++first) {
      for (const std::uint64_t length : {0, 1, 2, 3, 31, 257, 1025, 2999}) {
        if (!sample.takes()) continue;
        const auto a = hard::make(cases[first], kernel_.type, length, 3);
        const auto b = hard::make(cases[(first + length) % cases.size()], kernel_.type, length);
        check(a.view(), b.view(), length % 2 != 0 ? NanPolicy::skip : NanPolicy::propagate,
              fmt::format("{} and {}, {} elements", cases[first].name, cases[(first + length) % cases.size()].name, length));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  /// Arrays in which every group has its own exponents, from products below all floats to products above.
  void check_exponents() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(12);
    for (int round = 0; round < (kernel_.thorough ? 150 : 15); ++round) {
      const int wide = random.between(0, 40), drift = random.between(0, 60);
      const std::uint64_t count = kernel_.tile * random.between(1, 5) + random.below(kernel_.tile);
      const auto make = [&] {
        const int start = random.between(format.min_exponent(), format.max_exponent());
        std::vector<std::uint64_t> patterns(count);
        for (std::size_t i = 0; i < count; ++i) {
          const int exponent = start + random.between(0, wide) - static_cast<int>(i / kernel_.tile) * drift;
          const int lowest = format.min_exponent(), highest = format.max_exponent() - format.fraction_bits - 1;
          patterns[i] = format.encode(random.bits(format.fraction_bits + 1), std::clamp(exponent, lowest, highest)) |
                        (random.bits(1) != 0 ? format.sign() : 0);
          if (random.bits(4) == 0) patterns[i] &= format.sign();
        }
        return hard::Data(patterns, kernel_.type);
      };
      const hard::Data a = make(), b = make();
      check(a.view(), b.view(), NanPolicy::propagate, fmt::format("round {}: {} elements, wide {}, drift {}", round, count, wide, drift));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  // The expected results; the floats where all terms that count are finite.
  struct Expected {
    ProductAccumulator sum;
    bool finite = true;
    double float64 = 0, float32 = 0;
  };
  Expected expect(Array a, Array b, NanPolicy nan) const {
    Expected expected;
    const std::vector<double> left = numbers(a), right = numbers(b);
    std::vector<double> kept_left, kept_right;
    for (std::size_t i = 0; i < left.size(); ++i) {
      expected.sum.add(left[i], right[i]);
      if (nan == NanPolicy::skip && std::isnan(left[i] * right[i])) continue;
      kept_left.push_back(left[i]);
      kept_right.push_back(right[i]);
      expected.finite = expected.finite && std::isfinite(left[i]) && std::isfinite(right[i]);
    }
    if (expected.finite) {
      expected.float64 = mpfr_dot(kept_left, kept_right, 53, -1073, 1024);
      expected.float32 = mpfr_dot(kept_left, kept_right, 24, -148, 128);
    }
    return expected;
  }

  void check_launch(Array a, Array b, NanPolicy nan, const std::string& what) {
    check_launch(a, b, expect(a, squares_ ? a : b, nan), nan, what);
  }
  void check_launch(Array a, Array b, const Expected& expected, NanPolicy nan, const std::string& what) {
    if (squares_) b = a;
    SmallSumRun run(kernel_, a, b, launches_++, nan, state_);
    state_ = run.state();
    auto& result = run.result;
    fixed_ = kernel_.fixed_point && result.back() != 0;
    if (fixed_) {
      ASSERT_LT((result.back() - 1 - kernel_.row_base) / 32 + 1, kernel_.digits) << what << ": the upper part lies within the digits";
      reduction::small_sum_entries(kernel_.type, squares_ ? reduction::Terms::squares : reduction::Terms::products).unfold(result);
    }
    ProductAccumulator sum;
    for (int i = 0; i < kernel_.digits; ++i) {
      if (result[i] != 0) sum.add_scaled(result[i], kernel_.row_base + 1074 + 32 * i);
    }
    const long* counters = &result[kernel_.digits];
    sum.add_counts(a.size(), counters[0], counters[1], counters[2], squares_ ? a.size() == std::uint64_t(counters[0]) : counters[3] == 0);
    ASSERT_EQ(sum, expected.sum) << what;
    const double value = std::bit_cast<double>(run.record[0]), value32 = std::bit_cast<float>(static_cast<std::uint32_t>(run.record[2]));
    ASSERT_EQ(run.record[0], std::bit_cast<std::uint64_t>(expected.sum.round(nan))) << what;
    ASSERT_EQ(run.record[1], 0u) << what;
    if (expected.finite) {
      ASSERT_EQ(value, expected.float64) << what;
      ASSERT_EQ(value32, expected.float32) << what;
    } else {
      ASSERT_FALSE(std::isfinite(value)) << what;
      ASSERT_EQ(std::isnan(value32), std::isnan(value)) << what;
      ASSERT_TRUE(std::isnan(value) || value32 == value) << what;
    }
    ASSERT_TRUE(run.clean()) << what;
  }

  static std::vector<double> numbers(Array data) {
    std::vector<double> all(data.size());
    core::visit(data.type(), [&](auto element) {
      for (std::uint64_t i = 0; i < data.size(); ++i) {
        std::memcpy(&element, static_cast<const std::byte*>(data.data()) + i * sizeof element, sizeof element);
        if constexpr (std::is_same_v<decltype(element), double> || std::is_integral_v<decltype(element)>) {
          all[i] = static_cast<double>(element);
        } else {
          all[i] = static_cast<float>(element);
        }
      }
    });
    return all;
  }

  SmallSumKernel kernel_;
  bool squares_;  // squares of the first array
  SmallSumRun::State state_{};
  int checks_ = 0, launches_ = 0;
  bool fixed_ = false;
};

}  // namespace samesum::test
