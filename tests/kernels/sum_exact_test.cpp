// sum_exact.cl run on the host: a subset of the kernels that ship that covers all pairs of settings.
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/kernel_rows.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"

#include <samesum/accumulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace samesum::test {
namespace {

class ExactSum {
 public:
  explicit ExactSum(const ExactKernel& kernel) : kernel_(kernel), merged_(kernel.entries * kernel.spacing) {}

  /// Compares a launch of `groups` groups with the oracle; the memory shared by groups is cleared after it.
  void check(Array data, unsigned groups, const std::string& what) {
    const Placed place(data, anyhow(kernel_.type, kernel_.strided, launches_++));
    std::vector<long> result(kernel_.entries, -1);
    unsigned long record[3] = {~0ul, ~0ul, ~0ul};
    dialect::emulation().run(groups, kernel_.group_size, [&] {
      kernel_.sum(place.base, place.offset, place.stride, kernel_.strided ? 0 : place.head(), data.size(), merged_.data(), schedule_,
                  result.data(), reinterpret_cast<unsigned char*>(record), 0, 0);
    });
    Accumulator sum;
    for (int i = 0; i < kernel_.digits; ++i) sum.add_scaled(result[i], kernel_.row_base + 32 * i);
    if (is_integer(kernel_.type)) {
      sum.add_integer_count(data.size(), is_signed(kernel_.type));
    } else {
      const long* const counters = &result[kernel_.digits];
      sum.add_counts(data.size(), counters[0], counters[1], counters[2], counters[3] == 0);
    }
    ASSERT_EQ(sum, add_each(data)) << what;
    ASSERT_EQ(record[0], result_of(sum).float64) << what;
    ASSERT_TRUE(std::all_of(merged_.begin(), merged_.end(), [](unsigned long word) { return word == 0; })) << what;
    ASSERT_EQ(schedule_[0] | schedule_[1], 0u) << what;
  }

  /// The hard cases, with fewer groups than tiles, and with more.
  void check_hard_cases() {
    const std::uint64_t tile = kernel_.tile * kernel_.elements_per_load;
    unsigned turn = 0;
    for (const hard::Case& hard_case : hard::cases()) {
      if (is_integer(kernel_.type) && hard_case.name != "random_bits") continue;  // the others are of floats
      for (const std::uint64_t length : {std::uint64_t{1}, tile - 1, tile, 2 * tile + 5, 9 * tile + 3}) {
        const auto data = hard::make(hard_case, kernel_.type, length);
        for (const unsigned groups : {1u, 2u, 4u}) {
          if (!kernel_.thorough && !is_integer(kernel_.type) && ++turn % 7 != 0) continue;
          check(data.view(), groups, std::string(hard_case.name) + ", " + std::to_string(length) + ", groups: " + std::to_string(groups));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

 private:
  ExactKernel kernel_;
  std::vector<unsigned long> merged_;
  unsigned schedule_[2] = {0, 0};
  int launches_ = 0;
};

bool is_any(const ExactKernel&) { return true; }
bool is_thorough(const ExactKernel& kernel) { return kernel.thorough; }
bool has_offsets(const ExactKernel& kernel) { return kernel.take_off != nullptr; }

struct SumExact : testing::TestWithParam<ExactKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SumExact, testing::ValuesIn(rows_where<ExactKernel>(is_any)), RowName());
TEST_P(SumExact, IsRight) { ExactSum(GetParam()).check_hard_cases(); }

struct ConcurrentSumExact : testing::TestWithParam<ExactKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentSumExact, testing::ValuesIn(rows_where<ExactKernel>(is_thorough)), RowName());
TEST_P(ConcurrentSumExact, IsRight) {
  const dialect::ConcurrentGroups concurrent;
  ExactSum(GetParam()).check_hard_cases();
}

// 2^32 elements would take too long; their number is an argument.
struct SumExactOffsets : testing::TestWithParam<ExactKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SumExactOffsets, testing::ValuesIn(rows_where<ExactKernel>(has_offsets)), RowName());
TEST_P(SumExactOffsets, AreTakenOffForAnyNumberOfElements) {
  const ExactKernel& kernel = GetParam();
  for (const unsigned long count : {1ul, 0xfffffffful, 0x100000000ul, 0x123456789abcul}) {
    std::vector<long> entries(kernel.entries);
    dialect::emulation().run(1, 32, [&] { kernel.take_off(entries.data(), count); });
    Accumulator sum, expected;
    for (int i = 0; i < kernel.digits; ++i) sum.add_scaled(entries[i], kernel.row_base + 32 * i);
    expected.add_scaled(-static_cast<long>(count), 1074 + 8 * static_cast<int>(size_of(kernel.type)) - 1);
    EXPECT_EQ(sum, expected) << count;
  }
}

}  // namespace
}  // namespace samesum::test
