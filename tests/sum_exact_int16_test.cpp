// sum_exact.cl for int16, run on the host.
#include "support/sum_exact_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 16
#define INTEGER_SIGNED 1
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::exact_int16 {
#include "support/sum_exact_kernel.inc"

// What signed elements are counted too high is taken off: so many times 2^15.
inline void take_off(long* entries, unsigned long count) { take_off_offsets(entries, count); }
}  // namespace samesum::dialect::exact_int16

namespace samesum::test {
namespace {

using dialect::exact_int16::kKernel;

TEST(SumExactInt16, IsRight) { ExactSum(kKernel, DType::int16).check_hard_cases(); }
TEST(SumExactInt16, OfConcurrentGroupsIsRight) {
  const dialect::ConcurrentGroups concurrent;
  ExactSum(kKernel, DType::int16).check_hard_cases();
}

// No test has the time for 2^32 elements; their number is an argument.
TEST(SumExactInt16, TakesOffTheOffsetsOfAnyNumberOfElements) {
  for (const unsigned long count : {1ul, 0xfffffffful, 0x100000000ul, 0x123456789abcul}) {
    std::vector<long> entries(kKernel.entries);
    dialect::emulation().run(1, 32, [&] { dialect::exact_int16::take_off(entries.data(), count); });
    Accumulator sum, expected;
    for (int i = 0; i < kKernel.digits; ++i) sum.add_scaled(entries[i], kKernel.row_base + 32 * i);
    expected.add_scaled(-static_cast<long>(count), 1074 + 15);
    EXPECT_EQ(sum, expected) << count;
  }
}

}  // namespace
}  // namespace samesum::test
