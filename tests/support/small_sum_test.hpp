// small_sum.cl for the hard cases, run on the host.
#pragma once

#include "reduce/small/small_sum_device.hpp"
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/informative.hpp"
#include "support/kernel_rows.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"

#include <samesum/sum.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {

/// The layout for each `turn`: kernels without strides need arrays aligned to 16 bytes.
inline ArrayLayout layout_for(const SmallSumKernel& kernel, int turn) {
  return anyhow(kernel.type, kernel.strided, kernel.strided ? turn : 0);
}

/// The cases of a check: all if it is thorough, else a sample.
class Sample {
 public:
  explicit Sample(const KernelRow& row) : every_(row.thorough ? 1 : 7) {}
  bool takes() { return cases_++ % every_ == 0; }

 private:
  unsigned every_, cases_ = 0;
};

/// Runs the kernel, and checks that it clears the memory that it shares with the next launch.
class SmallSumRun {
 public:
  using State = std::array<unsigned long, 16>;

  SmallSumRun(const SmallSumKernel& kernel, Array a, Array b, int turn, NanPolicy nan, const State& state = {})
      : result(kernel.entries + 1, -1), is_state_(kernel.fixed_point) {
    const std::uint64_t tiles = (a.size() + kernel.tile - 1) / kernel.tile;
    const std::uint64_t groups = std::clamp<std::uint64_t>(tiles, 1, kernel.most_groups);
    slots_.resize(kernel.slot_words);
    if (kernel.fixed_point) std::ranges::copy(state, slots_.begin());
    const Placed left(a, layout_for(kernel, turn)), right(b, layout_for(kernel, turn + 1));
    dialect::emulation().run(static_cast<dialect::uint>(groups), kernel.group_size, [&] {
      kernel.sum(left.base, left.offset, left.stride, right.base, right.offset, right.stride, a.size(), slots_.data(), result.data(),
                 reinterpret_cast<unsigned char*>(record), 0, nan == NanPolicy::skip);
    });
  }
  bool clean() const {
    return std::all_of(slots_.begin() + (is_state_ ? State{}.size() : 0), slots_.end(), [](unsigned long word) { return word == 0; });
  }

  /// The state passed to the next launch.
  State state() const {
    State state{};
    if (is_state_) std::copy_n(slots_.begin(), state.size(), state.begin());
    return state;
  }

  std::vector<long> result;
  unsigned long record[3] = {~0ul, ~0ul, ~0ul};

 private:
  bool is_state_;

  std::vector<unsigned long> slots_;
};

/// Elements of one sign whose last bits weigh 2^`exponent`.
inline std::vector<std::uint64_t> of_one_exponent(const hard::Format& format, hard::Random& random, std::uint64_t count, int exponent,
                                                  bool negative) {
  std::vector<std::uint64_t> patterns(count);
  for (std::uint64_t& pattern : patterns) {
    pattern = format.encode(random.bits(format.fraction_bits + 1), exponent) | (negative ? format.sign() : 0);
  }
  return patterns;
}

class SmallSum {
 public:
  explicit SmallSum(const SmallSumKernel& kernel) : kernel_(kernel) {}

  /// Compares the kernel with the oracle. Twice, as a launch passes hints to the next; sometimes after a launch with other data.
  void check(Array data, NanPolicy nan, const std::string& what) {
    if (++checks_ % 3 != 0) state_ = {};
    for (int launch = 0; launch < 2; ++launch) {
      check_launch(data, nan, fmt::format("{}, launch {}", what, launch));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// Sums of data that fit are fixed-point numbers from the second launch on. Where one element does not fit, its group reports it.
  void check_fixed_point() {
    const std::uint64_t length = 3 * kernel_.tile + 5;
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(5);
    std::vector<std::uint64_t> patterns(length);
    for (std::uint64_t& pattern : patterns) {
      pattern = format.encode(random.bits(format.fraction_bits + 1), random.between(-40, -30)) | (random.bits(1) != 0 ? format.sign() : 0);
    }
    const auto launch = [&](const std::string& what) {
      check_launch(hard::Data(patterns, kernel_.type).view(), NanPolicy::propagate, what);
      return std::exchange(fixed_, false);
    };
    state_ = {};
    EXPECT_TRUE(launch("first, by a sample"));
    EXPECT_TRUE(launch("second"));
    Sample sample(kernel_);
    for (const std::uint64_t place : {std::uint64_t{1}, length / 2, length - 1}) {
      for (const std::uint64_t pattern :
           {format.infinity() + 1, format.infinity(), format.encode(1, format.max_exponent() - 60), std::uint64_t{1}}) {
        if (!sample.takes()) continue;
        const std::uint64_t fits = std::exchange(patterns[place], pattern);
        EXPECT_FALSE(launch(fmt::format("{:#x} at {}", pattern, place)));
        patterns[place] = fits;
        int launches = 1;
        while (!launch("once more")) ASSERT_LT(++launches, 10) << "never again";
        while (launch("now it fits") && state_[0] >> 32 != 0) continue;  // until it retries after failures
      }
    }
    // Two elements of one load that cancel, from as great as others to far too great for the power.
    const std::vector<std::uint64_t> ordinary = patterns;
    for (int exponent = -30; exponent < 50; exponent += kernel_.thorough ? 1 : 5) {
      state_ = {};
      EXPECT_TRUE(launch("before"));
      patterns[1] = format.encode(std::uint64_t{1} << format.fraction_bits, exponent);
      patterns[2] = patterns[1] | format.sign();
      launch(fmt::format("cancelling 2^{}", exponent));
      if (testing::Test::HasFatalFailure()) return;
      patterns = ordinary;
    }
    state_ = {};
    std::ranges::fill(patterns, format.infinity());
    EXPECT_FALSE(launch("infinities leave the greatest power there is"));
    std::ranges::fill(patterns, 0);
    EXPECT_TRUE(launch("which zeros fit"));
  }

  /// The maximum of groups, some of which fail; and sums that grow by powers of two from launch to launch, until none fits.
  void check_many_groups() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(8);
    const auto make = [&](std::uint64_t groups, int exponent, bool negative) {
      return of_one_exponent(format, random, groups * kernel_.tile, exponent, negative);
    };
    const auto launch = [&](const std::vector<std::uint64_t>& patterns, const std::string& what) {
      check_launch(hard::Data(patterns, kernel_.type).view(), NanPolicy::propagate, what);
      return std::exchange(fixed_, false);
    };
    state_ = {};
    std::vector<std::uint64_t> many = make(1024, -40, true);
    ASSERT_TRUE(informative(add_each(hard::Data(many, kernel_.type).view())));
    EXPECT_TRUE(launch(many, "many groups, first"));
    EXPECT_TRUE(launch(many, "many groups"));
    for (const std::uint64_t group : {0, 1, 9, 511, 1022}) many[group * kernel_.tile + 7] = format.infinity() + 1;
    EXPECT_FALSE(launch(many, "many groups, some fail"));
    for (const bool negative : {false, true}) {
      int fitted = 0, growth = 0;
      for (; growth < 64; ++growth) {
        state_ = {};
        EXPECT_TRUE(launch(make(40, -40, negative), "before it grows"));
        fitted += launch(make(40, growth - 40, negative), fmt::format("grown by 2^{}", growth));
        if (testing::Test::HasFatalFailure()) return;
      }
      EXPECT_GT(fitted, 3);
      EXPECT_LT(fitted, growth);
    }
  }

  /// Elements with all bits that grow by powers of two from launch to launch: each group has so many that its sum, where each of them just
  /// fits, is a little below 2^64, and would look like a small negative number.
  void check_full_groups() {
    const hard::Format format = hard::format_of(kernel_.type);
    const auto launch = [&](std::uint64_t length, int exponent) {
      const std::vector<std::uint64_t> patterns(length, format.encode((std::uint64_t{2} << format.fraction_bits) - 1, exponent));
      check_launch(hard::Data(patterns, kernel_.type).view(), NanPolicy::propagate, fmt::format("2^{}", exponent));
      return std::exchange(fixed_, false);
    };
    int failed = 0;
    for (int growth = 0; growth < 64; ++growth) {
      state_ = {};
      EXPECT_TRUE(launch(kernel_.tile, -40));
      failed += !launch(kernel_.most_groups << 14, growth - 40);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(failed, 20);
  }

  /// Sums at the midpoint of two doubles or floats, decided by one element far below, with anything between.
  void check_ties() {
    const hard::Format format = hard::format_of(kernel_.type);
    Sample sample(kernel_);
    int decided = 0;
    for (const int top : {format.min_exponent() + 150, -3, 0, 7, format.max_exponent() - 1}) {
      for (const int bits : {24, 53}) {
        for (int below = bits + 1; below <= 145 && top - below >= format.min_exponent(); ++below) {
          for (const bool negative : {false, true}) {
            for (const std::uint64_t last : {std::uint64_t{0}, format.sign()}) {
              if (!sample.takes()) continue;
              const std::uint64_t sign = negative ? format.sign() : 0;
              std::vector<std::uint64_t> patterns(kernel_.tile + 9, format.sign());
              patterns[0] = format.power(top) | sign;
              patterns[1] = format.power(top - bits) | sign;
              patterns.back() = format.power(top - below) | last;
              ASSERT_TRUE(informative(add_each(hard::Data(patterns, kernel_.type).view())));
              state_ = {};
              for (int launch = 0; launch < 2; ++launch) {
                check_launch(hard::Data(patterns, kernel_.type).view(), NanPolicy::propagate,
                             fmt::format("2^{} and 2^{}, last 2^{}", top, top - bits, top - below));
              }
              if (testing::Test::HasFatalFailure()) return;
              ++decided;
            }
          }
        }
      }
    }
    EXPECT_GT(decided, kernel_.thorough ? 200 : 30);
  }

  /// Concurrent groups, which see each other's results late and in any order.
  void check_concurrent() {
    const dialect::ConcurrentGroups concurrent;
    for (int round = 0; round < 2; ++round) {
      for (const hard::Case& hard_case : hard::cases()) {
        const auto data = hard::make(hard_case, kernel_.type, (3 + round % 3) * kernel_.tile - 7);
        check(data.view(), NanPolicy::propagate, fmt::format("{}, round {}", hard_case.name, round));
        if (testing::Test::HasFatalFailure()) return;
      }
      check_fixed_point();
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  void check_hard_cases() {
    Sample sample(kernel_);
    for (const hard::Case& hard_case : hard::cases()) {
      for (const std::uint64_t length : {0, 1, 2, 3, 31, 257, 1025, 4999}) {
        const auto data = hard::make(hard_case, kernel_.type, length);
        for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
          if (!sample.takes()) continue;
          check(data.view(), nan, fmt::format("{}, {} elements", hard_case.name, length));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  /// Arrays in which every group has its own exponents: both ways to combine groups, slots and `merged`.
  void check_exponents() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(11);
    for (int round = 0; round < (kernel_.thorough ? 200 : 20); ++round) {
      const int wide = random.between(0, 40), drift = random.between(0, 60),
                start = random.between(format.min_exponent(), format.max_exponent() - 3000 / 60);
      std::vector<std::uint64_t> patterns(kernel_.tile * random.between(1, 6) + random.below(kernel_.tile));
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const int exponent = start + random.between(0, wide) - static_cast<int>(i / kernel_.tile) * drift;
        patterns[i] =
            format.encode(random.bits(format.fraction_bits + 1), std::clamp(exponent, format.min_exponent(), format.max_exponent() - 60)) |
            (random.bits(1) != 0 ? format.sign() : 0);
      }
      const hard::Data data(patterns, kernel_.type);
      check(data.view(), NanPolicy::propagate,
            fmt::format("round {}: {} elements, wide {}, drift {}, start {}", round, patterns.size(), wide, drift, start));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  void check_launch(Array data, NanPolicy nan, const std::string& what) {
    SmallSumRun run(kernel_, data, data, launches_++, nan, state_);
    state_ = run.state();
    auto& result = run.result;
    const auto& record = run.record;
    fixed_ = kernel_.fixed_point && result.back() != 0;
    if (fixed_) {
      ASSERT_LT((result.back() - 1 - kernel_.row_base) / 32 + 1, kernel_.digits) << what << ": the upper part lies within the digits";
      reduction::small_sum_entries(kernel_.type, reduction::Terms::elements).unfold(result);
    }
    Accumulator sum;
    for (int i = 0; i < kernel_.digits; ++i) sum.add_scaled(result[i], kernel_.row_base + 32 * i);
    const long* counters = &result[kernel_.digits];
    sum.add_counts(data.size(), counters[0], counters[1], counters[2], counters[3] == 0);
    ASSERT_EQ(sum, add_each(data)) << what;
    const Expected rounded{record[0], static_cast<std::uint32_t>(record[2]), sum.nan_count()};
    ASSERT_EQ(rounded, gmp_oracle(data, nan)) << what;
    ASSERT_EQ(record[1], 0u) << what;
    ASSERT_TRUE(run.clean()) << what;
  }

  SmallSumKernel kernel_;
  SmallSumRun::State state_{};
  int checks_ = 0, launches_ = 0;
  bool fixed_ = false;
};

}  // namespace samesum::test
