// What sum_exact.cl makes of an array, run on the host; sum_exact_kernel.inc makes the kernel.
#pragma once

#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/oracle.hpp"

#include <samesum/accumulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace samesum::test {

struct ExactKernel {
  int digits, row_base, entries, spacing, group_size;
  std::uint64_t elements_per_load, tile;  ///< a tile in loads of 16 bytes
  void (*sum)(const unsigned char* data, unsigned long offset, long stride, unsigned head, unsigned long count, unsigned long* merged,
              unsigned* schedule, long* result, unsigned char* record, unsigned long record_offset, int skip_nans);
};

class ExactSum {
 public:
  ExactSum(const ExactKernel& kernel, DType type) : kernel_(kernel), type_(type), merged_(kernel.entries * kernel.spacing) {}

  /// A launch of `groups` against the oracle; the memory that groups meet in is clean again after it.
  void check(Array data, unsigned groups, const std::string& what) {
    std::vector<dialect::uint4> memory(data.bytes() / 16 + 2);
    auto* const first = reinterpret_cast<unsigned char*>(memory.data());
    if (data.size() != 0) std::memcpy(first, data.data(), data.bytes());
    std::vector<long> result(kernel_.entries, -1);
    unsigned long record[3] = {~0ul, ~0ul, ~0ul};
    dialect::emulation().run(groups, kernel_.group_size, [&] {
      kernel_.sum(first, 0, static_cast<long>(size_of(type_)), 0, data.size(), merged_.data(), schedule_, result.data(),
                  reinterpret_cast<unsigned char*>(record), 0, 0);
    });
    Accumulator sum;
    for (int i = 0; i < kernel_.digits; ++i) sum.add_scaled(result[i], kernel_.row_base + 32 * i);
    if (is_integer(type_)) {
      sum.add_integer_count(data.size(), is_signed(type_));
    } else {
      const long* const counters = &result[kernel_.digits];
      sum.add_counts(data.size(), counters[0], counters[1], counters[2], counters[3] == 0);
    }
    ASSERT_EQ(sum, add_each(data)) << what;
    ASSERT_EQ(record[0], result_of(sum).float64) << what;
    ASSERT_TRUE(std::all_of(merged_.begin(), merged_.end(), [](unsigned long word) { return word == 0; })) << what;
    ASSERT_EQ(schedule_[0] | schedule_[1], 0u) << what;
  }

  /// The hard cases, by groups that draw more tiles than there are groups and fewer.
  void check_hard_cases() {
    const std::uint64_t tile = kernel_.tile * kernel_.elements_per_load;
    for (const hard::Case& hard_case : hard::cases()) {
      if (is_integer(type_) && hard_case.name != "random_bits") continue;  // the others are of floats
      for (const std::uint64_t length : {std::uint64_t{1}, tile - 1, tile, 2 * tile + 5, 9 * tile + 3}) {
        const auto data = hard::make(hard_case, type_, length);
        for (const unsigned groups : {1u, 2u, 4u}) {
          check(data.view(), groups, std::string(hard_case.name) + ", " + std::to_string(length) + ", groups: " + std::to_string(groups));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

 private:
  ExactKernel kernel_;
  DType type_;
  std::vector<unsigned long> merged_;
  unsigned schedule_[2] = {0, 0};
};

}  // namespace samesum::test
