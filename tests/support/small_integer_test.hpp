// sum_integers.cl for integers and their products, run on the host, compared with accumulators that add sequentially.
#pragma once

#include "support/small_sum_test.hpp"

#include "core/visit.hpp"

#include <samesum/error.hpp>
#include <samesum/product_accumulator.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

namespace samesum::test {

template <class Element>
class SmallIntegerSum {
 public:
  explicit SmallIntegerSum(const SmallSumKernel& kernel) : kernel_(kernel) {}

  /// Arrays of all kinds of numbers, with sums that exceed 64 bits, and all lengths around loads and tiles.
  void check_all() {
    using Limits = std::numeric_limits<Element>;
    hard::Random random(5);
    const auto any = [&] { return static_cast<Element>(random.bits()); };
    const auto small = [&] { return static_cast<Element>(random.bits(3)); };
    const auto greatest = [] { return Limits::max(); };
    const auto lowest = [] { return Limits::lowest(); };
    const auto end = [&] { return random.bits(1) != 0 ? Limits::max() : Limits::lowest(); };
    const auto rare = [&] { return random.bits(8) == 0 ? Limits::max() : Element{0}; };
    const std::uint64_t lengths[] = {
        0, 1, 2, 7, 31, kernel_.tile - 1, kernel_.tile, kernel_.tile + 3, 5 * kernel_.tile + 1, 9 * kernel_.tile};
    for (const std::uint64_t length : lengths) {
      check(length, any, any, "any");
      check(length, small, greatest, "small");
      check(length, greatest, greatest, "greatest");
      check(length, lowest, lowest, "lowest");
      check(length, lowest, greatest, "lowest and greatest");
      check(length, end, end, "ends");
      check(length, rare, any, "rare");
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  using Wide = std::conditional_t<std::is_signed_v<Element>, std::int64_t, std::uint64_t>;

  template <class A, class B>
  void check(std::uint64_t length, const A& left, const B& right, const char* what) {
    std::vector<Element> a(length), b(length);
    for (std::uint64_t i = 0; i < length; ++i) {
      a[i] = left();
      b[i] = kernel_.terms == SmallSumKernel::squares ? a[i] : right();
    }
    const SmallSumRun run(kernel_, Array(a.data(), length, kernel_.type), Array(b.data(), length, kernel_.type), launches_++,
                          NanPolicy::propagate);
    Accumulator sum, expected_sum;
    ProductAccumulator products, expected_products;
    for (int i = 0; i < kernel_.digits; ++i) {
      sum.add_scaled(run.result[i], kernel_.row_base + 32 * i);
      products.add_scaled(run.result[i], kernel_.row_base + 1074 + 32 * i);
    }
    const long* counters = &run.result[kernel_.digits];
    sum.add_integer_count(length, std::is_signed_v<Element>);
    products.add_counts(length, counters[0], counters[1], counters[2], counters[3] == 0);
    for (std::uint64_t i = 0; i < length; ++i) {
      expected_sum.add(Wide{a[i]});
      expected_products.add(Wide{a[i]}, Wide{b[i]});
    }
    if (kernel_.terms == SmallSumKernel::elements) {
      ASSERT_EQ(sum, expected_sum) << what << ", " << length;
      check_record(run, expected_sum, what);
      ASSERT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(run.record[2])), expected_sum.round_to_float(NanPolicy::propagate)) << what;
    } else {
      ASSERT_EQ(products, expected_products) << what << ", " << length;
      check_record(run, expected_products, what);
    }
    ASSERT_TRUE(run.clean()) << what;
  }

  template <class Sum>
  void check_record(const SmallSumRun& run, const Sum& expected, const char* what) {
    ASSERT_EQ(run.record[0], std::bit_cast<std::uint64_t>(expected.round())) << what;
    std::uint64_t integer = 0;
    unsigned long overflow = 0;
    try {
      if constexpr (std::is_signed_v<Element>) {
        integer = static_cast<std::uint64_t>(expected.to_int64());
      } else {
        integer = expected.to_uint64();
      }
    } catch (const Error&) {
      overflow = 1;
    }
    ASSERT_EQ(run.record[1], integer) << what;
    ASSERT_EQ(run.record[2] >> 32, overflow) << what;
  }

  SmallSumKernel kernel_;
  int launches_ = 0;
};

}  // namespace samesum::test
