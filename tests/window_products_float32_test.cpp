// sum_window.cl for products of float32, run on the host.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 1
#define FRACTION_BITS 23
#define LOADS 2
#define GROUP_SIZE 64
#define STREAM 1
#define RUNNING_SUM
#define NEAR_SUM
#define WINDOW_FILE "reduce/products_float32.cl"
namespace samesum::dialect::product32 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::product32

namespace samesum::test {
namespace {

using namespace dialect::product32;

const WindowKernel kKernel{DType::float32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(ProductWindow32, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductWindow32, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductWindow32, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductWindow32, AtTheGreatestPowerIsRight) { WindowProducts(kKernel, DOT == 0).check_greatest_power(); }
TEST(ProductWindow32, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
