// The CPU's sum with each instruction set of this processor, in difficult cases: at the ends of units, blocks and chunks, at any alignment,
// with any number of threads, and where the kind of data changes from block to block.
#include "reduce/cpu/sum_cpu.hpp"

#include "core/float_environment.hpp"
#include "core/half.hpp"
#include "reduce/cpu/halves.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"
#include "selftest/cases.hpp"
#include "support/oracle.hpp"
#include "support/simd_levels.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace samesum {
namespace {

using hard::Case;
using test::Expected;
using test::result_of;

// Whether the sum equals its reference, and the rounded sum has the same bits.
testing::AssertionResult sums_to(const Accumulator& reference, Array data, std::uint32_t threads) {
  const Accumulator sum = reduction::sum_cpu(data, threads);
  if (sum != reference) return testing::AssertionFailure() << "the sum is " << result_of(sum) << " instead of " << result_of(reference);
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    const double rounded = reduction::rounded_sum_cpu(data, threads, nan), expected = reference.round(nan);
    if (std::bit_cast<std::uint64_t>(rounded) != std::bit_cast<std::uint64_t>(expected)) {
      return testing::AssertionFailure() << "rounded at once it is " << rounded << " instead of " << expected;
    }
  }
  return testing::AssertionSuccess();
}

class SumCpu : public testing::TestWithParam<std::tuple<simd::Level, DType>> {
 protected:
  void SetUp() override { simd::restrict_to(std::get<0>(GetParam())); }
  void TearDown() override { simd::restrict_to(simd::detect()); }

  static DType type() { return std::get<1>(GetParam()); }
};

TEST_P(SumCpu, IsRightAtEveryEnd) {
  for (const Case& hard_case : hard::cases()) {
    for (const std::uint64_t length : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 257, 1023, 1024, 1025, 1039, 2047, 4097, 9000}) {
      const auto data = hard::make(hard_case, type(), length, length % 64);
      const Accumulator reference = test::add_each(data.view());
      ASSERT_TRUE(sums_to(reference, data.view(), 1)) << hard_case << ", " << length;
      ASSERT_EQ(result_of(reference), test::mpfr_oracle(data.view(), NanPolicy::propagate)) << hard_case << ", " << length;
      ASSERT_EQ(result_of(reference, NanPolicy::skip), test::gmp_oracle(data.view(), NanPolicy::skip)) << hard_case << ", " << length;
    }
  }
}

TEST_P(SumCpu, IsRightAtEveryAlignment) {
  for (const Case& hard_case : hard::cases()) {
    for (std::size_t offset = 0; offset < 64; ++offset) {
      const auto data = hard::make(hard_case, type(), 1100 + offset, offset);
      ASSERT_TRUE(sums_to(test::add_each(data.view()), data.view(), 1)) << hard_case << ", byte " << offset;
    }
  }
}

// Successive blocks of different kinds: each transition from one method of summation to another.
TEST_P(SumCpu, IsRightWhereTheDataChange) {
  hard::Random random(2);
  const hard::Format format = hard::format_of(type());
  std::vector<std::uint64_t> patterns;
  for (int part = 0; part < 300; ++part) {
    const Case& hard_case = hard::cases()[random.below(hard::cases().size())];
    std::vector<std::uint64_t> some(1 + random.below(4000));
    hard_case.fill(random, format, some);
    patterns.insert(patterns.end(), some.begin(), some.end());
  }
  const hard::Data data(patterns, type(), 12);
  const Accumulator reference = test::add_each(data.view());
  ASSERT_EQ(result_of(reference, NanPolicy::skip), test::gmp_oracle(data.view(), NanPolicy::skip));
  EXPECT_TRUE(sums_to(reference, data.view(), 1));
  EXPECT_TRUE(sums_to(reference, data.view(), 3));
}

// Numbers that span each number of binades, at the range's ends and between: the exact bounds of windows.
TEST_P(SumCpu, IsRightAtEverySpan) {
  hard::Random random(3);
  const hard::Format format = hard::format_of(type());
  const int lowest = format.min_exponent(), highest = format.max_exponent() - format.fraction_bits;
  for (int span = 0; span <= 120; ++span) {
    for (const int bottom : {lowest, lowest + 60, -format.fraction_bits - span / 2, highest - span - 30, highest - span}) {
      std::vector<std::uint64_t> patterns(1500);
      for (auto& pattern : patterns) {
        const std::uint64_t ones = (std::uint64_t{2} << format.fraction_bits) - 1;
        const std::uint64_t mantissa = random.bits(2) == 0 ? ones : random.bits(format.fraction_bits) | (ones / 2 + 1);
        pattern = format.encode(mantissa, random.between(bottom, bottom + span)) | (random.bits(1) != 0 ? format.sign() : 0);
      }
      if (random.bits(1) != 0) patterns[random.below(1024)] = format.power(bottom + format.fraction_bits);
      if (random.bits(1) != 0) patterns[random.below(1024)] = 0;
      const hard::Data data(patterns, type());
      ASSERT_TRUE(sums_to(test::add_each(data.view()), data.view(), 1)) << "span " << span << " from 2^" << bottom;
    }
  }
}

// Long arrays of numbers over some binades, with a few that are greater, and cancel or not, or smaller, or special: what few blocks
// contain.
TEST_P(SumCpu, IsRightWithFewOutliers) {
  hard::Random random(4);
  const hard::Format format = hard::format_of(type());
  const int spread = type() == DType::float32 ? 15 : 20;
  for (int kind = 0; kind < 8; ++kind) {
    std::vector<std::uint64_t> patterns(150'000);
    for (auto& pattern : patterns) {
      pattern = format.encode(random.bits(format.fraction_bits) | (std::uint64_t{1} << format.fraction_bits),
                              random.between(-spread, spread) - format.fraction_bits);
      if (kind % 2 != 0) pattern |= random.bits(1) * format.sign();
    }
    for (std::size_t at = 40'000; kind >= 2 && at + 100 < patterns.size(); at += 1 + random.below(20'000)) {
      const std::uint64_t greater = format.power(random.between(spread, spread + 60)),
                          smaller = format.power(random.between(-120, -spread));
      patterns[at] = kind < 6 ? greater : random.bits(1) != 0 ? smaller : 0;
      if (kind < 4) patterns[at + 1 + random.below(99)] = greater | format.sign();
      if (kind == 7 && at > 100'000) patterns[at + 1] = format.infinity() + random.bits(1);
    }
    const hard::Data data(patterns, type());
    ASSERT_TRUE(sums_to(test::add_each(data.view()), data.view(), 1)) << "kind " << kind;
  }
}

// Equal elements move the running sums to the ends of their anchors' binades.
TEST_P(SumCpu, IsRightForEqualElements) {
  const hard::Format format = hard::format_of(type());
  const std::uint64_t one = format.power(0), ones = 2 * format.power(0) - format.power(0) - 1;
  for (const std::uint64_t pattern : {one, ones, one | format.sign(), ones | format.sign(), one + 1, format.max(), format.min_normal(),
                                      format.min_normal() - 1, std::uint64_t{1}, format.sign() | 1, format.infinity() - 2}) {
    const std::vector<std::uint64_t> patterns(70'000, pattern);
    const hard::Data data(patterns, type());
    ASSERT_TRUE(sums_to(test::add_each(data.view()), data.view(), 1)) << std::hex << pattern;
  }
}

// Sums close to the midpoint of two doubles, of large numbers that cancel and small ones: what is rounded away is decisive, or not, or in
// between.
class SumCpuOfWideFloats : public SumCpu {};
TEST_P(SumCpuOfWideFloats, IsRoundedByTheLeastWhereThatDecides) {
  hard::Random random(5);
  const hard::Format format = hard::format_of(type());
  int off = 0, exact = 0;
  for (int largest = 0; largest <= format.max_exponent(); largest += type() == DType::float32 ? 9 : 89) {
    for (const int last : {-52, -53, -54, -55, -60, -70, -80, -90, -100, -120, -140, -149, -300, -700, -1000, -1074}) {
      if (last < format.min_exponent() - format.fraction_bits) continue;
      std::vector<std::uint64_t> patterns;
      while (patterns.size() < 4500) {
        const auto bits = format.encode(random.bits(format.fraction_bits) | (std::uint64_t{1} << format.fraction_bits),
                                        random.between(format.min_exponent(), largest) - format.fraction_bits);
        patterns.insert(patterns.end(), {bits, bits | format.sign()});
      }
      for (const int exponent : {0, -53}) patterns.push_back(format.power(exponent));
      patterns.push_back(format.power(last) | (random.bits(1) * format.sign()));
      for (std::size_t i = patterns.size(); i-- > 1;) std::swap(patterns[i], patterns[random.below(i + 1)]);
      const hard::Data data(patterns, type());
      ASSERT_TRUE(sums_to(test::add_each(data.view()), data.view(), 1)) << "up to 2^" << largest << ", last 2^" << last;

      reduction::PartialSum<float> float_sum(true);
      reduction::PartialSum<double> double_sum(true);
      const auto* const bytes = static_cast<const std::byte*>(data.view().data());
      if (type() == DType::float32) reduction::add_elements(bytes, patterns.size(), type(), float_sum);
      if (type() == DType::float64) reduction::add_elements(bytes, patterns.size(), type(), double_sum);
      float_sum.finish(), double_sum.finish();
      const double slack = float_sum.slack + double_sum.slack;
      ++(slack != 0 ? off : exact);
    }
  }
  if (std::get<0>(GetParam()) != simd::Level::baseline) {  // the baseline has no vectors, and rounds nothing
    EXPECT_GT(off, exact) << "this test is of what is rounded away";
  }
}

// Few binades, too far apart for a window, each with more elements than fit a word of a bin.
TEST_P(SumCpu, IsRightWhereBinsWrapAround) {
  hard::Random random(4);
  const hard::Format format = hard::format_of(type());
  const std::uint64_t ones = format.power(1) - 1;
  for (const std::uint64_t often : {ones, ones | format.sign(), std::uint64_t{1}, format.sign() | 5, format.infinity() - 1}) {
    std::vector<std::uint64_t> patterns(70'000, often);
    for (std::size_t i = 0; i < patterns.size(); i += 7) patterns[i] = format.min_normal() << random.below(3);
    for (std::size_t i = 3; i < patterns.size(); i += 7)
      patterns[i] = format.power(format.max_exponent() / 2) | (random.bits(1) * format.sign());
    const hard::Data data(patterns, type());
    const Accumulator reference = test::add_each(data.view());
    ASSERT_TRUE(sums_to(reference, data.view(), 1)) << std::hex << often;
    ASSERT_EQ(result_of(reference), test::gmp_oracle(data.view(), NanPolicy::propagate)) << std::hex << often;
  }
}

// Every float16 and bfloat16, at both alignments.
TEST_P(SumCpu, HalvesAreFloats) {
  std::vector<std::byte> halves(2 * 65536 + 1);
  std::vector<float> floats(65536);
  for (const DType type : {DType::float16, DType::bfloat16}) {
    for (const std::size_t first : {0, 1}) {
      for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        std::memcpy(halves.data() + first + 2 * i, &bits, sizeof bits);
      }
      const core::DefaultFloatEnvironment environment;
      reduction::halves_to_floats(halves.data() + first, floats.size(), type, floats.data());
      for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const float expected = type == DType::float16 ? float{core::Float16{bits}} : float{core::BFloat16{bits}};
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(floats[i])) << i;
        } else {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::bit_cast<std::uint32_t>(expected)) << i;
        }
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<SumCpu::ParamType>& info) {
  constexpr const char* kNames[] = {"avx512", "avx2", "sse4", "baseline"};
  const auto& [level, type] = info.param;
  return std::string(kNames[static_cast<int>(level)]) + "_" + std::string(name_of(type));
}

INSTANTIATE_TEST_SUITE_P(Levels, SumCpu,
                         testing::Combine(testing::ValuesIn(test::simd_levels()),
                                          testing::Values(DType::float16, DType::bfloat16, DType::float32, DType::float64)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Levels, SumCpuOfWideFloats,
                         testing::Combine(testing::ValuesIn(test::simd_levels()), testing::Values(DType::float32, DType::float64)),
                         test_name);

class SumCpuOf : public testing::TestWithParam<DType> {};

TEST_P(SumCpuOf, AnyNumberOfThreadsIsRight) {
  for (const Case& hard_case : hard::cases()) {
    const auto data = hard::make(hard_case, GetParam(), (1 << 18) + 7, 4);
    const Accumulator reference = test::add_each(data.view());
    for (const std::uint32_t threads : {0, 1, 2, 3, 5}) {
      std::uint32_t used = 0;
      ASSERT_TRUE(sums_to(reference, data.view(), threads)) << hard_case << ", threads " << threads;
      reduction::sum_cpu(data.view(), threads, &used);
      ASSERT_GE(used, 1u);
      if (threads != 0) {
        ASSERT_EQ(used, threads);
      }
    }
  }
}

TEST_P(SumCpuOf, MoreElementsThanBinsHaveRoomForAreRight) {
  for (const Case& hard_case : hard::cases()) {
    if (hard_case.name != "random_bits" && hard_case.name != "every_binade") continue;
    const auto data = hard::make(hard_case, GetParam(), (5 << 19) + 5);
    ASSERT_TRUE(sums_to(test::add_each(data.view()), data.view(), 1)) << hard_case;
  }
}

#if defined(__SSE2__)
TEST_P(SumCpuOf, AnyFloatingPointModeIsRight) {
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZeros = 0x0040, kDefault = 0x1f80, kHasRounded = 0x20;
  for (const Case& hard_case : hard::cases()) {
    const auto data = hard::make(hard_case, GetParam(), 100'000);
    const Accumulator reference = test::add_each(data.view());
    for (const unsigned mode :
         {0U, kHasRounded, kFlushToZero | kDenormalsAreZeros, unsigned{_MM_ROUND_UP}, unsigned{_MM_ROUND_TOWARD_ZERO}}) {
      for (const std::uint32_t threads : {1u, 2u}) {
        _mm_setcsr(kDefault | mode);
        const Accumulator sum = reduction::sum_cpu(data.view(), threads);
        const double rounded = reduction::rounded_sum_cpu(data.view(), threads);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(kDefault);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(rounded), std::bit_cast<std::uint64_t>(reference.round())) << hard_case;
        ASSERT_EQ(sum, reference) << hard_case << ", mode " << std::hex << mode;
        ASSERT_EQ(after, kDefault | mode) << "the caller's own, with the exceptions that it had seen";
      }
    }
  }
}
#endif

TEST(RoundingWatch, WorksHere) { EXPECT_TRUE(core::RoundingWatch::works()) << "sums are right all the same, but slower"; }

INSTANTIATE_TEST_SUITE_P(Types, SumCpuOf, testing::Values(DType::float32, DType::float64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(SumCpuThreads, SmallArraysTakeOne) {
  const std::vector<float> values(1000, 1.0f);
  std::uint32_t used = 0;
  reduction::sum_cpu(std::span<const float>(values), 0, &used);
  EXPECT_EQ(used, 1u);
}

TEST(SumCpuThreads, MaySumAtTheSameTime) {
  const auto data = hard::make(hard::cases()[0], DType::float64, 300'000);
  const Accumulator reference = test::add_each(data.view());
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (int& ok : right) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) ok += reduction::sum_cpu(data.view(), 2) == reference;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 5));
}

// Pages that were never written to are all the same page of zeros, so this takes little memory.
TEST(SumCpuThreads, MoreElementsThan32BitsCount) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "would take minutes";
#endif
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 32) + 5;
  void* pages = mmap(nullptr, kCount * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) GTEST_SKIP() << "no room for 16 GiB of addresses";
  madvise(pages, kCount * sizeof(float), MADV_HUGEPAGE);
  auto* values = static_cast<float*>(pages);
  values[0] = 1;
  values[kCount / 2] = 0x1p-40f;
  values[kCount - 6] = 0x1p100f;
  values[kCount - 1] = -0x1p100f;
  const Accumulator sum = reduction::sum_cpu(Array(pages, kCount, DType::float32), 0);
  munmap(pages, kCount * sizeof(float));
  EXPECT_EQ(sum.round(), 1 + 0x1p-40);
  EXPECT_EQ(sum.count(), kCount);
}

TEST(PlainSum, AddsInItsOrder) {
  const std::vector<float> values = {0x1p24f, 1, 1, -0x1p24f};
  EXPECT_EQ(reduction::plain_sum_forward(std::span<const float>(values)), 0);
  EXPECT_EQ(reduction::plain_sum_backward(std::span<const float>(values)), 2);
}

TEST(PlainSum, ParallelIsNearTheSumAndRepeatable) {
  for (const DType type : {DType::float32, DType::float64}) {
    for (const Case& hard_case : hard::cases()) {
      if (hard_case.name != "uniform" && hard_case.name != "normal") continue;
      for (const std::uint64_t length : {0, 1, 9, 1000, 300'001}) {
        const auto data = hard::make(hard_case, type, length, 3);
        const double exact = test::add_each(data.view()).round();
        for (const std::uint32_t threads : {1u, 2u, 5u}) {
          const double plain = reduction::plain_sum_parallel(data.view(), threads);
          const double epsilon = type == DType::float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
          EXPECT_NEAR(plain, exact, epsilon * static_cast<double>(length) * 10) << hard_case << ", " << length;
          EXPECT_EQ(reduction::plain_sum_parallel(data.view(), threads), plain);
        }
      }
    }
  }
}

}  // namespace
}  // namespace samesum
