// product.cl for float64, run on the host.
#define BITS 64
#define FLOATS 1
#define SIGNED 1
#define FRACTION_BITS 52
#define EXPONENT_BITS 11
#define GROUP_SIZE 128
#define LOADS 4
#include "support/product_kernel_test.hpp"

namespace samesum::test {
namespace {

TEST(ProductKernel64, IsTheTreeOfEachTile) { check_trees_of_tiles<double>(); }

}  // namespace
}  // namespace samesum::test
