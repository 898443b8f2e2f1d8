// sum_window.cl for squares of bfloat16, run on the host: a cluster of groups.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 0
#define FRACTION_BITS 7
#define LOADS 2
#define GROUP_SIZE 64
#define STREAM 1
#define ALONE 1
#define CLUSTER 8
#define RUNNING_SUM
#define NEAR_SUM
#define QUICK_FILE "reduce/quick_float64.h"
#define WINDOW_FILE "reduce/products_float32.cl"
namespace samesum::dialect::squares16_cluster {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::squares16_cluster

namespace samesum::test {
namespace {

using namespace dialect::squares16_cluster;

const WindowKernel kKernel{DType::bfloat16, kDigits,     kRowBase,   kEntries, kSlotWords, kGroupSize,
                           kTile,           kMostGroups, sum_window, true,     true,       kCluster};

TEST(ProductCluster16Squares, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductCluster16Squares, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductCluster16Squares, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductCluster16Squares, AsIntegersIsRight) { WindowProducts(kKernel, DOT == 0).check_tiles(); }
TEST(ProductCluster16Squares, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
