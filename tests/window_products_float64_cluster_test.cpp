// sum_window.cl for products of float64, run on the host: a cluster of groups.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 1
#define FRACTION_BITS 52
#define LOADS 2
#define GROUP_SIZE 64
#define STREAM 1
#define ALONE 1
#define CLUSTER 8
#define RUNNING_SUM
#define QUICK_FILE "reduce/quick_products64.h"
#define WINDOW_FILE "reduce/products_float64.cl"
namespace samesum::dialect::product64_cluster {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::product64_cluster

namespace samesum::test {
namespace {

using namespace dialect::product64_cluster;

const WindowKernel kKernel{DType::float64, kDigits,     kRowBase,   kEntries, kSlotWords, kGroupSize,
                           kTile,          kMostGroups, sum_window, true,     true,       kCluster};

TEST(ProductCluster64, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductCluster64, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductCluster64, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductCluster64, AsIntegersIsRight) { WindowProducts(kKernel, DOT == 0).check_tiles(); }
TEST(ProductCluster64, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
