// sum_window.cl for float32, run on the host.
#include "support/window_test.hpp"

#define LOADS 2
#define GROUP_SIZE 64
#define STREAM 1
#define ELEMENTS_FILE "reduce/elements_float32.cl"
#define WINDOW_FILE "reduce/window_float32.cl"
namespace samesum::dialect::float32 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::float32

namespace samesum::test {
namespace {

using namespace dialect::float32;

const WindowKernel kKernel{DType::float32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(SumWindow32, OfFloat32IsRight) { WindowSum(kKernel).check_hard_cases(); }
TEST(SumWindow32, OfFloat32OfAnyExponentsIsRight) { WindowSum(kKernel).check_exponents(); }
TEST(SumWindow32, OfFloat32OfOtherDataIsRight) { WindowSum(kKernel).check_fixed_point(); }
TEST(SumWindow32, OfConcurrentGroupsIsRight) { WindowSum(kKernel).check_concurrent(); }
TEST(SumWindow32, OfTiesIsRight) { WindowSum(kKernel).check_ties(); }

}  // namespace
}  // namespace samesum::test
