// sum_window.cl for squares of float64, run on the host.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 0
#define FRACTION_BITS 52
#define LOADS 2
#define GROUP_SIZE 64
#define STREAM 1
#define RUNNING_SUM
#define WINDOW_FILE "reduce/products_float64.cl"
namespace samesum::dialect::product64_squares {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::product64_squares

namespace samesum::test {
namespace {

using namespace dialect::product64_squares;

const WindowKernel kKernel{DType::float64, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_window, true};

TEST(ProductWindow64Squares, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductWindow64Squares, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductWindow64Squares, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductWindow64Squares, OfSmallProductsIsRight) { WindowProducts(kKernel, DOT == 0).check_small_products(); }
TEST(ProductWindow64Squares, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
