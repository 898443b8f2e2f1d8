// sum_window.cl for float64, run on the host: one group alone.
#include "support/window_test.hpp"

#define LOADS 2
#define GROUP_SIZE 64
#define ALONE 1
#define QUICK_FILE "reduce/quick_float64.h"
#define ELEMENTS_FILE "reduce/elements_float64.cl"
#define RUNNING_SUM 1
#define NEAR_SUM 1
#define WINDOW_FILE "reduce/window_float64.cl"
namespace samesum::dialect::float64_tile {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::float64_tile

namespace samesum::test {
namespace {

using namespace dialect::float64_tile;

const WindowKernel kKernel{DType::float64, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true, true};

TEST(SumTile64, OfFloat64IsRight) { WindowSum(kKernel).check_hard_cases(); }
TEST(SumTile64, OfFloat64OfAnyExponentsIsRight) { WindowSum(kKernel).check_exponents(); }
TEST(SumTile64, OfFloat64OfOtherDataIsRight) { WindowSum(kKernel).check_fixed_point(); }
TEST(SumTile64, OfFloat64AsIntegersIsRight) { WindowSum(kKernel).check_tiles(); }
TEST(SumTile64, OfTiesIsRight) { WindowSum(kKernel).check_ties(); }

}  // namespace
}  // namespace samesum::test
