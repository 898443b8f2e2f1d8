// sum_window.cl for products of float64, run on the host.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 1
#define FRACTION_BITS 52
#define LOADS 2
#define GROUP_SIZE 64
#define RUNNING_SUM
#define WINDOW_FILE "reduce/products_float64.cl"
namespace samesum::dialect::product64 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::product64

namespace samesum::test {
namespace {

using namespace dialect::product64;

const WindowKernel kKernel{DType::float64, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(ProductWindow64, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductWindow64, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductWindow64, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductWindow64, OfSmallProductsIsRight) { WindowProducts(kKernel, DOT == 0).check_small_products(); }
TEST(ProductWindow64, OfManyGroupsIsRight) { WindowProducts(kKernel, DOT == 0).check_many_groups(); }
TEST(ProductWindow64, AtTheGreatestPowerIsRight) { WindowProducts(kKernel, DOT == 0).check_greatest_power(); }
TEST(ProductWindow64, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
