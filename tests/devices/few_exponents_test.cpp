// How plans of large sums adapt to the sums that were read.
#include "reduce/few_exponents.hpp"

#include <samesum/buffer.hpp>
#include <samesum/plan.hpp>

#include "selftest/cases.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace samesum {
namespace {

using reduce::FewExponents;

Accumulator sum_of(std::initializer_list<double> terms) {
  Accumulator sum;
  for (const double term : terms) sum.add(term);
  return sum;
}

TEST(FewExponents, AreExpectedWhereASumsBitsLieNearEachOther) {
  FewExponents data;
  EXPECT_FALSE(data.expected()) << "nothing is known";
  data.learn(sum_of({1, 0x1p-75}));
  EXPECT_TRUE(data.expected());
  data.learn(sum_of({1, 0x1p-76}));
  EXPECT_FALSE(data.expected());
  data.learn(sum_of({-1, 0x1p-75}));
  EXPECT_TRUE(data.expected());
  for (const double nothing : {0.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    data.learn(sum_of({nothing}));
    EXPECT_TRUE(data.expected()) << nothing << " tells nothing";
  }
}

TEST(FewExponents, AreNotExpectedAgainWhereThatWasInVain) {
  FewExponents data;
  data.learn(sum_of({1}));
  data.learn(false);
  EXPECT_TRUE(data.expected()) << "the first knows no powers yet";
  data.learn(true);
  data.learn(false);
  data.learn(false);
  EXPECT_FALSE(data.expected());
  data.learn(sum_of({1}));
  EXPECT_FALSE(data.expected());
}

// Sums of an array so large that the choice is made: the same bits for any state of the plan.
TEST(FewExponents, ChangeNoBit) {
  constexpr std::uint64_t kSize = (std::uint64_t{1} << 23) + 5;
  hard::Random random(3);
  const hard::Format format = hard::format_of(DType::float32);
  std::vector<std::uint64_t> few(kSize), any(kSize);
  for (std::uint64_t i = 0; i < kSize; ++i) {
    few[i] = format.encode(random.bits(24), random.between(-30, -24)) | (random.bits(1) * format.sign());
    any[i] = random.bits(32);
    if ((any[i] & format.infinity()) == format.infinity()) any[i] = 0;
  }
  const hard::Data data[] = {hard::Data(few, DType::float32), hard::Data(any, DType::float32)};
  const Accumulator expected[] = {test::add_each(data[0].view()), test::add_each(data[1].view())};
  for (const Accumulator& sum : expected) ASSERT_TRUE(test::informative(sum));
  for (const Device& device : open_devices("all", 0)) {
    Plan plan(device, ops::sum, DType::float32, kSize);
    Buffer buffer(device, 4 * kSize);
    for (const int kind : {0, 0, 0, 1, 0, 1, 1, 1, 0}) {
      buffer.write(data[kind].view().data(), 4 * kSize);
      plan.enqueue({buffer, kSize, DType::float32});
      ASSERT_EQ(plan.result<Accumulator>(), expected[kind]) << device.info().selector << ", " << plan.configuration();
    }
  }
}

}  // namespace
}  // namespace samesum
