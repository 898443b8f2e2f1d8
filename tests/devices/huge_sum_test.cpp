// More than 2^32 elements, without the memory for them: one file of 64 MiB, mapped repeatedly, end to end.
#include <samesum/device.hpp>
#include <samesum/sum.hpp>

#include "selftest/cases.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"
#include "support/repeated.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace samesum {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kBlocks = 257;
constexpr std::uint64_t kBytes = kBlocks * kBlockBytes;
constexpr double kMaxSeconds = 60;

const hard::Case& case_named(std::string_view name) {
  for (const auto& hard_case : hard::cases()) {
    if (hard_case.name == name) return hard_case;
  }
  throw std::invalid_argument(std::string(name));
}

TEST(HugeSum, OfMoreThan32BitsCanCount) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the shadow memory of a sanitizer would be larger than this machine's";
#endif
  const auto data = hard::make(case_named("quiet_nan"), DType::float32, kBlockBytes / 4);
  const Accumulator block = test::add_each(data.view());
  const test::Repeated repeated(data.view(), kBlocks);
  if (!repeated.why_not().empty()) GTEST_SKIP() << repeated.why_not();
  const Array all = repeated.view();
  const std::uint64_t last = 3;  // an odd part of a block, so that nothing is aligned at the end

  Accumulator expected;
  for (std::uint64_t i = 0; i + 1 < kBlocks; ++i) expected.merge(block);
  const std::uint64_t whole = (kBlocks - 1) * kBlockBytes / 4;
  expected.merge(test::add_each(all.part(whole, last)));
  ASSERT_EQ(expected.count(), (std::uint64_t{1} << 32) + last);
  ASSERT_TRUE(test::informative(expected.round(NanPolicy::skip)));

  for (const Device& device : open_devices("all", 0)) {
    // The speed of a device is not tested here.
    const auto start = std::chrono::steady_clock::now();
    accumulate(all.part(0, kBlockBytes / 2), {.device = device});
    const double per_part = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double seconds = per_part * static_cast<double>(kBytes / 4) / static_cast<double>(kBlockBytes / 2);
    if (seconds > kMaxSeconds) {
      std::printf("%s: left out, it would take %.0f seconds\n", device.info().selector.c_str(), seconds);
      continue;
    }
    EXPECT_EQ(accumulate(all.part(0, expected.count()), {.device = device}), expected) << device.info().selector;
    EXPECT_EQ(accumulate(all.part(kBlockBytes / 4, whole - kBlockBytes / 4 + last), {.device = device}).count(),
              whole - kBlockBytes / 4 + last);
  }
}

}  // namespace
}  // namespace samesum
