// extremes.cl for the greatest float64 alone, run on the host: without places, and with more sub-groups.
#define BITS 64
#define FRACTION_BITS 52
#define EXPONENT_BITS 11
#define LEAST 0
#define GREATEST 1
#define PLACES 0
#define LOADS 2
#define GROUP_SIZE 256
#include "support/polled_extremes.hpp"

namespace samesum::test {
namespace {

TEST(PolledExtremesMax64, AreThoseOfAllGroups) { check_polled_extremes(DType::float64); }

}  // namespace
}  // namespace samesum::test
