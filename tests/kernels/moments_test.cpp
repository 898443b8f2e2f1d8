// statistics.cl for sums, squares and products of floats, run on the host: a subset of the kernels that ship that covers all pairs of
// settings.
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/kernel_rows.hpp"
#include "support/placed.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace samesum::test {
namespace {

/// Checks the exact sums of a launch against accumulators that add sequentially, and that the memory shared with the next launch is
/// cleared.
class Moments {
 public:
  explicit Moments(const StatisticsKernel& kernel) : kernel_(kernel), merged_(kernel.merged_words) {}

  void check(Array view, std::uint32_t groups, const std::string& what) {
    // Contiguous arrays are read in vector loads, two arrays where they are equally aligned.
    const bool in_loads = launches_ % 2 == 0;
    const Placed a(view, anyhow(kernel_.type, !in_loads, launches_)),
        b(view, anyhow(kernel_.type, !in_loads, in_loads ? launches_ : launches_ + 1));
    ++launches_;
    std::vector<unsigned long> result(kernel_.result_words), records(groups * kernel_.record_words);
    const auto count = static_cast<std::uint32_t>(view.size());
    const std::uint32_t head = in_loads ? a.head() : 0;
    const auto loads = static_cast<std::uint32_t>(in_loads ? (count - head) / kernel_.elements_per_load : 0);
    dialect::emulation().run(groups, kernel_.group_size, [&] {
      kernel_.collect(a.base, a.offset, a.stride, b.base, b.offset, b.stride, head, loads, count, records.data(), merged_.data(), schedule_,
                      result.data());
    });
    Accumulator sum, expected_sum;
    ProductAccumulator products, expected_products;
    const unsigned long* row = &result[kernel_.first_row];
    for (int i = 0; i < kernel_.sum_rows; ++i) {
      sum.add_scaled(static_cast<std::int64_t>(*row++), 1074 - kernel_.lowest_bit + kernel_.sum_row_bits * i);
    }
    for (int i = 0; i < kernel_.product_rows; ++i) {
      products.add_scaled(static_cast<std::int64_t>(*row++), 2 * (1074 - kernel_.lowest_bit) + kernel_.product_row_bits * i);
    }
    const unsigned long* const counters = &result[kernel_.counters];
    const unsigned long nans = counters[kernel_.nans], positive = counters[kernel_.positive_infinities],
                        negative = counters[kernel_.negative_infinities];
    sum.add_counts(count, nans, positive, negative, counters[kernel_.others] == 0);
    if (kernel_.dot) {
      products.add_counts(count, nans, positive, negative, counters[kernel_.others] == 0);
    } else {
      products.add_counts(count, nans, positive + negative, 0, count == nans);
    }
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      const double number = number_at(view, i);
      expected_sum.add(number);
      expected_products.add(number, number);
    }
    if (kernel_.sum) {
      ASSERT_EQ(sum, expected_sum) << what;
    }
    if (kernel_.products) {
      ASSERT_EQ(products, expected_products) << what;
    }
    ASSERT_TRUE(std::all_of(merged_.begin(), merged_.end(), [](unsigned long word) { return word == 0; })) << what;
  }

  void check_hard_cases() {
    unsigned turn = 0;
    for (const hard::Case& hard_case : hard::cases()) {
      for (const std::uint64_t length : {1, 2, 127, 128, 1023, 4999}) {
        const auto data = hard::make(hard_case, kernel_.type, length);
        for (const std::uint32_t groups : {1u, 3u}) {
          if (!kernel_.thorough && ++turn % 5 != 0) continue;
          check(data.view(), groups,
                std::string(hard_case.name) + ", " + std::to_string(length) + " elements, groups: " + std::to_string(groups));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  /// Exponents that drift: the windows of a sub-group's work-items are equal, or differ, or some are empty.
  void check_windows() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(3);
    for (int round = 0; round < (kernel_.thorough ? 60 : 8); ++round) {
      const int middle = random.between(-60, 60), wide = random.between(0, 12), apart = random.between(0, 40);
      std::vector<std::uint64_t> patterns(static_cast<std::size_t>(random.between(1, 3000)));
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const int exponent = middle + random.between(0, wide) + (i % 7 == 0 ? apart : 0) - static_cast<int>(i / 512) * (round % 3);
        const bool zero = round % 4 == 0 && i / 64 % 2 == 0;
        patterns[i] = zero ? 0 : format.encode(random.bits(format.fraction_bits + 1), exponent) | (random.bits(1) != 0 ? format.sign() : 0);
      }
      const hard::Data data(patterns, kernel_.type);
      check(data.view(), 2, "round " + std::to_string(round));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  StatisticsKernel kernel_;
  std::vector<unsigned long> merged_;
  std::uint32_t schedule_[2] = {0, 0};
  int launches_ = 0;
};

bool is_any(const StatisticsKernel&) { return true; }
bool is_concurrent(const StatisticsKernel& kernel) { return kernel.thorough && kernel.type == DType::float32; }

struct MomentsOf : testing::TestWithParam<StatisticsKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, MomentsOf, testing::ValuesIn(rows_where<StatisticsKernel>(is_any)), RowName());
TEST_P(MomentsOf, HardCasesAreRight) { Moments(GetParam()).check_hard_cases(); }
TEST_P(MomentsOf, AnyWindowsAreRight) { Moments(GetParam()).check_windows(); }

struct ConcurrentMoments : testing::TestWithParam<StatisticsKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentMoments, testing::ValuesIn(rows_where<StatisticsKernel>(is_concurrent)), RowName());
TEST_P(ConcurrentMoments, AreRight) {
  const dialect::ConcurrentGroups concurrent;
  Moments(GetParam()).check_hard_cases();
}

}  // namespace
}  // namespace samesum::test
