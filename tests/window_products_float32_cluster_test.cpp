// sum_window.cl for products of float32, run on the host: a cluster of groups.
#include "support/product_window_test.hpp"

#define PRODUCTS 1
#define DOT 1
#define FRACTION_BITS 23
#define LOADS 1
#define GROUP_SIZE 64
#define STREAM 1
#define ALONE 1
#define CLUSTER 8
#define RUNNING_SUM
#define NEAR_SUM
#define QUICK_FILE "reduce/quick_float64.h"
#define WINDOW_FILE "reduce/products_float32.cl"
namespace samesum::dialect::product32_cluster {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::product32_cluster

namespace samesum::test {
namespace {

using namespace dialect::product32_cluster;

const WindowKernel kKernel{DType::float32, kDigits,     kRowBase,   kEntries, kSlotWords, kGroupSize,
                           kTile,          kMostGroups, sum_window, true,     true,       kCluster};

TEST(ProductCluster32, IsRight) { WindowProducts(kKernel, DOT == 0).check_hard_cases(); }
TEST(ProductCluster32, OfAnyExponentsIsRight) { WindowProducts(kKernel, DOT == 0).check_exponents(); }
TEST(ProductCluster32, OfOtherDataIsRight) { WindowProducts(kKernel, DOT == 0).check_fixed_point(); }
TEST(ProductCluster32, AsIntegersIsRight) { WindowProducts(kKernel, DOT == 0).check_tiles(); }
TEST(ProductCluster32, OfConcurrentGroupsIsRight) {
  const dialect::ConcurrentGroups concurrent;
  WindowProducts(kKernel, DOT == 0).check_hard_cases();
}
TEST(ProductCluster32, OfTiesIsRight) { WindowProducts(kKernel, DOT == 0).check_ties(); }

}  // namespace
}  // namespace samesum::test
