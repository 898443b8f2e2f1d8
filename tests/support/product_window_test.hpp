// What sum_window.cl makes of products, run on the host: the accumulator that adds one product after the other, and MPFR.
#pragma once

#include "support/window_test.hpp"

#include "core/visit.hpp"

#include <samesum/product_accumulator.hpp>

#include <mpfr.h>

#include <cmath>
#include <utility>

namespace samesum::test {

/// The exact sum of products, rounded once by MPFR to a format of so many bits.
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

class WindowProducts {
 public:
  /// `squares`: of the first array alone.
  WindowProducts(const WindowKernel& kernel, bool squares) : kernel_(kernel), squares_(squares) {}

  void check(View a, View b, NanPolicy nan, const std::string& what) {
    if (squares_) b = a;
    const WindowRun run(kernel_, a, b, 0, nan);
    ProductAccumulator sum, expected;
    for (int i = 0; i < kernel_.digits; ++i) {
      if (run.result[i] != 0) sum.add_scaled(run.result[i], kernel_.row_base + 1074 + 32 * i);
    }
    const long* counters = &run.result[kernel_.digits];
    sum.add_counts(a.size(), counters[0], counters[1], counters[2], squares_ ? a.size() == std::uint64_t(counters[0]) : counters[3] == 0);
    const std::vector<double> left = numbers(a), right = numbers(b);
    std::vector<double> kept_left, kept_right;
    bool finite = true;
    for (std::size_t i = 0; i < left.size(); ++i) {
      expected.add(left[i], right[i]);
      if (nan == NanPolicy::skip && std::isnan(left[i] * right[i])) continue;
      kept_left.push_back(left[i]);
      kept_right.push_back(right[i]);
      finite = finite && std::isfinite(left[i]) && std::isfinite(right[i]);
    }
    ASSERT_EQ(sum, expected) << what;
    const double value = std::bit_cast<double>(run.record[0]), value32 = std::bit_cast<float>(static_cast<std::uint32_t>(run.record[2]));
    ASSERT_EQ(run.record[0], std::bit_cast<std::uint64_t>(expected.round(nan))) << what;
    ASSERT_EQ(run.record[1], 0u) << what;
    if (finite) {
      ASSERT_EQ(value, mpfr_dot(kept_left, kept_right, 53, -1073, 1024)) << what;
      ASSERT_EQ(value32, mpfr_dot(kept_left, kept_right, 24, -148, 128)) << what;
    } else {
      ASSERT_FALSE(std::isfinite(value)) << what;
      ASSERT_EQ(std::isnan(value32), std::isnan(value)) << what;
      ASSERT_TRUE(std::isnan(value) || value32 == value) << what;
    }
    ASSERT_TRUE(run.clean()) << what;
  }

  /// Each hard case with each, in both orders.
  void check_hard_cases() {
    const auto cases = hard::cases();
    for (std::size_t first = 0; first < cases.size(); ++first) {
      for (const std::uint64_t length : {0, 1, 2, 3, 31, 257, 1025, 2999}) {
        const auto a = hard::make(cases[first], kernel_.type, length, 3);
        const auto b = hard::make(cases[(first + length) % cases.size()], kernel_.type, length);
        check(a.view(), b.view(), length % 2 != 0 ? NanPolicy::skip : NanPolicy::propagate,
              fmt::format("{} and {}, {} elements", cases[first].name, cases[(first + length) % cases.size()].name, length));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  /// Arrays in which every group has exponents of its own, down to where products are below all floats and up to where they are above.
  void check_exponents() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(12);
    for (int round = 0; round < 150; ++round) {
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
  static std::vector<double> numbers(View data) {
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

  WindowKernel kernel_;
  bool squares_;
};

}  // namespace samesum::test
