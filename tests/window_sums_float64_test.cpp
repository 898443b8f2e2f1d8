// sum_window.cl for float64, run on the host.
#include "support/window_test.hpp"

#define LOADS 2
#define GROUP_SIZE 64
#define RUNNING_SUM
#define NEAR_SUM
#define ELEMENTS_FILE "reduce/elements_float64.cl"
#define WINDOW_FILE "reduce/window_float64.cl"
namespace samesum::dialect::float64 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::float64

namespace samesum::test {
namespace {

using namespace dialect::float64;

const WindowKernel kKernel{DType::float64, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(SumWindow64, OfFloat64IsRight) { WindowSum(kKernel).check_hard_cases(); }
TEST(SumWindow64, OfFloat64OfAnyExponentsIsRight) { WindowSum(kKernel).check_exponents(); }
TEST(SumWindow64, OfFloat64OfOtherDataIsRight) { WindowSum(kKernel).check_fixed_point(); }
TEST(SumWindow64, OfFloat64OfManyGroupsIsRight) { WindowSum(kKernel).check_many_groups(); }
TEST(SumWindow64, OfConcurrentGroupsIsRight) { WindowSum(kKernel).check_concurrent(); }
TEST(SumWindow64, OfTiesIsRight) { WindowSum(kKernel).check_ties(); }

}  // namespace
}  // namespace samesum::test
