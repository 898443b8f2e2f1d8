// sum_window.cl for float32, run on the host: one group alone.
#include "support/window_test.hpp"

#define LOADS 2
#define GROUP_SIZE 64
#define ALONE 1
#define QUICK_FILE "reduce/quick_float32.h"
#define ELEMENTS_FILE "reduce/elements_float32.cl"
#define WINDOW_FILE "reduce/window_float32.cl"
namespace samesum::dialect::float32_tile {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::float32_tile

namespace samesum::test {
namespace {

using namespace dialect::float32_tile;

const WindowKernel kKernel{DType::float32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true, true};

TEST(SumTile32, OfFloat32IsRight) { WindowSum(kKernel).check_hard_cases(); }
TEST(SumTile32, OfFloat32OfAnyExponentsIsRight) { WindowSum(kKernel).check_exponents(); }
TEST(SumTile32, OfFloat32OfOtherDataIsRight) { WindowSum(kKernel).check_fixed_point(); }
TEST(SumTile32, OfFloat32AsIntegersIsRight) { WindowSum(kKernel).check_tiles(); }
TEST(SumTile32, OfTiesIsRight) { WindowSum(kKernel).check_ties(); }

}  // namespace
}  // namespace samesum::test
