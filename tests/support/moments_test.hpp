// What statistics.cl finds of sums and squares, run on the host: for a file of its own for each type, which defines BITS, FRACTION_BITS and
// EXPONENT_BITS before.
#pragma once

#include "selftest/cases.hpp"
#include "statistics/collect.hpp"
#include "support/emulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#define FLOATS 1
#define SIGNED 1
#define LEAST 1
#define GREATEST 1
#define PLACES 1
#define KEEP_LOADS 0
#define COUNT_NANS 0
#define POLLED 0
#define EXTREMES 0
#define SUM 1
#define PRODUCTS 1
#define NONZEROS 0
#define DOT 0
#define WINDOWS 1
#define LOADS 1
#define STEPS 1
#define COLUMN_BITS 3
#define GROUP_SIZE 64
#define GROUP_ROUNDED GROUP_SIZE
#define RESIDENT 1
#define SAMESUM_INT64_ATOMICS 1
#define SAMESUM_DEVICE_FENCE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"  // of extremes
namespace samesum::dialect {
namespace {  // another kernel in each file
// clang-format off
#include "statistics/elements.h"
#include "statistics/extremes.h"
#include "statistics/bins.h"
#include "statistics/window.h"
#include "statistics/sums.h"
#include "statistics/statistics.cl"
// clang-format on
}  // namespace
}  // namespace samesum::dialect
#pragma GCC diagnostic pop

namespace samesum::test {
namespace {

/// A launch, its exact sums against those of the CPU, and the memory that it shares with the next, which it leaves clean.
class Moments {
 public:
  explicit Moments(DType type) : type_(type), merged_((COUNTER_WORDS + ALL_ROWS) * SPACING) {}

  void check(Array view, std::uint32_t groups, const std::string& what) {
    std::vector<dialect::uint4> memory(view.bytes() / 16 + 2);
    auto* const first = reinterpret_cast<unsigned char*>(memory.data());
    if (view.size() != 0) std::memcpy(first, view.data(), view.bytes());
    std::vector<unsigned long> result(RECORD), records(groups * EXTREMES_WORDS);
    const auto stride = static_cast<long>(size_of(type_));
    const auto count = static_cast<std::uint32_t>(view.size());
    dialect::emulation().run(groups, GROUP_SIZE, [&] {
      dialect::statistics(first, 0, stride, first, 0, stride, 0, count / ELEMENTS_PER_LOAD, count, records.data(), merged_.data(),
                          schedule_, result.data());
    });
    Accumulator sum;
    ProductAccumulator squares;
    const unsigned long* row = &result[FIRST_ROW];
    for (int i = 0; i < SUM_ROWS; ++i) sum.add_scaled(static_cast<std::int64_t>(*row++), 1074 - LOWEST_BIT + SUM_ROW_BITS * i);
    for (int i = 0; i < PRODUCT_ROWS; ++i) {
      squares.add_scaled(static_cast<std::int64_t>(*row++), 2 * (1074 - LOWEST_BIT) + PRODUCT_ROW_BITS * i);
    }
    const unsigned long* const counters = &result[COUNTERS];
    sum.add_counts(count, counters[COUNTED_NANS], counters[POSITIVE_INFINITIES], counters[NEGATIVE_INFINITIES], counters[OTHERS] == 0);
    squares.add_counts(count, counters[COUNTED_NANS], counters[POSITIVE_INFINITIES] + counters[NEGATIVE_INFINITIES], 0,
                       count == counters[COUNTED_NANS]);
    const Statistics expected = statistics::collect_cpu(view, {{false, true, true, false}});
    ASSERT_EQ(sum, expected.contents().sum) << what;
    ASSERT_EQ(squares, expected.contents().squares) << what;
    ASSERT_TRUE(std::all_of(merged_.begin(), merged_.end(), [](unsigned long word) { return word == 0; })) << what;
  }

  void check_hard_cases() {
    for (const hard::Case& hard_case : hard::cases()) {
      for (const std::uint64_t length : {1, 2, 127, 128, 1023, 4999}) {
        const auto data = hard::make(hard_case, type_, length);
        for (const std::uint32_t groups : {1u, 3u}) {
          check(data.view(), groups,
                std::string(hard_case.name) + ", " + std::to_string(length) + " elements, groups: " + std::to_string(groups));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  /// Exponents that drift: windows of the work-items of a sub-group are alike, or not, or some hold nothing.
  void check_windows() {
    const hard::Format format = hard::format_of(type_);
    hard::Random random(3);
    for (int round = 0; round < 60; ++round) {
      const int middle = random.between(-60, 60), wide = random.between(0, 12), apart = random.between(0, 40);
      std::vector<std::uint64_t> patterns(static_cast<std::size_t>(random.between(1, 3000)));
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const int exponent = middle + random.between(0, wide) + (i % 7 == 0 ? apart : 0) - static_cast<int>(i / 512) * (round % 3);
        const bool zero = round % 4 == 0 && i / 64 % 2 == 0;
        patterns[i] = zero ? 0 : format.encode(random.bits(format.fraction_bits + 1), exponent) | (random.bits(1) != 0 ? format.sign() : 0);
      }
      const hard::Data data(patterns, type_);
      check(data.view(), 2, "round " + std::to_string(round));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  DType type_;
  std::vector<unsigned long> merged_;
  std::uint32_t schedule_[2] = {0, 0};
};

}  // namespace
}  // namespace samesum::test
