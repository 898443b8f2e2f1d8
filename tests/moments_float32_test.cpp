// statistics.cl for sums and squares of float32, run on the host.
#define BITS 32
#define FRACTION_BITS 23
#define EXPONENT_BITS 8
#include "support/moments_test.hpp"

namespace samesum::test {
namespace {

TEST(Moments32, AreRight) { Moments(DType::float32).check_hard_cases(); }
TEST(Moments32, OfAnyWindowsAreRight) { Moments(DType::float32).check_windows(); }
TEST(Moments32, OfConcurrentGroupsAreRight) {
  const dialect::ConcurrentGroups concurrent;
  Moments(DType::float32).check_hard_cases();
}

}  // namespace
}  // namespace samesum::test
