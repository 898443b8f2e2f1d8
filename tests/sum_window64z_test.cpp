// sum_window.cl for float64, run on the host.
#include "support/window_test.hpp"

#define LOADS 2
#define NEAR 1
#define GROUP_SIZE 64
#define RUNNING_SUM
#define ELEMENTS_FILE "reduce/elements_float64.cl"
#define WINDOW_FILE "reduce/window_float64.cl"
namespace samesum::dialect::float64z {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::float64

namespace samesum::test {
namespace {

using namespace dialect::float64z;

const WindowKernel kKernel{DType::float64, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(SumWindow64z, OfFloat64IsRight) { WindowSum(kKernel).check_hard_cases(); }
TEST(SumWindow64z, OfFloat64OfAnyExponentsIsRight) { WindowSum(kKernel).check_exponents(); }
TEST(SumWindow64z, OfFloat64OfOtherDataIsRight) { WindowSum(kKernel).check_fixed_point(); }

}  // namespace
}  // namespace samesum::test
