#include <samesum/accumulator.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace samesum {
namespace {

TEST(Accumulator, EmptySumIsPositiveZero) {
  EXPECT_EQ(Accumulator().round(), 0.0);
  EXPECT_FALSE(std::signbit(Accumulator().round()));
}

}  // namespace
}  // namespace samesum
