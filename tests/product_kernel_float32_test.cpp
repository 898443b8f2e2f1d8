// product.cl for float32, run on the host.
#define BITS 32
#define FLOATS 1
#define SIGNED 1
#define FRACTION_BITS 23
#define EXPONENT_BITS 8
#define GROUP_SIZE 64
#define LOADS 8
#include "support/product_kernel_test.hpp"

namespace samesum::test {
namespace {

TEST(ProductKernel32, IsTheTreeOfEachTile) { check_trees_of_tiles<float>(); }

}  // namespace
}  // namespace samesum::test
