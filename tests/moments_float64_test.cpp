// statistics.cl for sums and squares of float64, run on the host.
#define BITS 64
#define FRACTION_BITS 52
#define EXPONENT_BITS 11
#include "support/moments_test.hpp"

namespace samesum::test {
namespace {

TEST(Moments64, AreRight) { Moments(DType::float64).check_hard_cases(); }
TEST(Moments64, OfAnyWindowsAreRight) { Moments(DType::float64).check_windows(); }

}  // namespace
}  // namespace samesum::test
