// extremes.cl for float32, whose last group waits for the others, run on the host.
#define BITS 32
#define FRACTION_BITS 23
#define EXPONENT_BITS 8
#include "support/polled_extremes.hpp"

namespace samesum::test {
namespace {

TEST(PolledExtremes32, AreThoseOfAllGroups) { check_polled_extremes(DType::float32); }
TEST(PolledExtremes32, OfConcurrentGroupsAreThoseOfAll) {
  const dialect::ConcurrentGroups concurrent;
  check_polled_extremes(DType::float32);
}

}  // namespace
}  // namespace samesum::test
