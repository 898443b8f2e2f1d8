#include "support/window_test.hpp"

#define LOADS 1
#define DEPTH 3
#define GROUP_SIZE 64
#define STREAM 1
#define ELEMENTS_FILE "reduce/elements_float32.cl"
#define WINDOW_FILE "reduce/window_float32.cl"
namespace samesum::dialect::float32q {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::float32q

namespace samesum::test {
namespace {

using namespace dialect::float32q;

const WindowKernel kKernel{DType::float32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, kSpacing, kShift, sum_window};

TEST(SumWindow32q, OfFloat32IsRight) { WindowSum(kKernel).check_hard_cases(); }
TEST(SumWindow32q, OfFloat32OfAnyExponentsIsRight) { WindowSum(kKernel).check_exponents(); }

}  // namespace
}  // namespace samesum::test
