// sum_window.cl for squares of bfloat16, run on the host.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 0
#define FRACTION_BITS 7
#define LOADS 1
#define GROUP_SIZE 64
#define RUNNING_SUM
#define NEAR_SUM
#define WINDOW_FILE "reduce/products_float32.cl"
namespace samesum::dialect::product16 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::product16

namespace samesum::test {
namespace {

using namespace dialect::product16;

const WindowKernel kKernel{DType::bfloat16, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(ProductWindow16, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductWindow16, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductWindow16, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductWindow16, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
