// extremes.cl for the least float32 alone, run on the host.
#define BITS 32
#define FRACTION_BITS 23
#define EXPONENT_BITS 8
#define LEAST 1
#define GREATEST 0
#define PLACES 0
#define LOADS 1
#define GROUP_SIZE 512
#include "support/polled_extremes.hpp"

namespace samesum::test {
namespace {

TEST(PolledExtremesMin32, AreThoseOfAllGroups) { check_polled_extremes(DType::float32); }

}  // namespace
}  // namespace samesum::test
