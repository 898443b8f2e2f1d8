// extremes.cl for float64, whose last group waits for the others, run on the host.
#define BITS 64
#define FRACTION_BITS 52
#define EXPONENT_BITS 11
#include "support/polled_extremes.hpp"

namespace samesum::test {
namespace {

TEST(PolledExtremes64, AreThoseOfAllGroups) { check_polled_extremes(DType::float64); }

}  // namespace
}  // namespace samesum::test
