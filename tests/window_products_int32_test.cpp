// sum_integers.cl for products of int32, run on the host.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 32
#define INTEGER_SIGNED 1
#define PRODUCTS 1
#define DOT 1
#define LOADS 2
#define GROUP_SIZE 64
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer32_products {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer32_products

namespace samesum::test {
namespace {

using namespace dialect::integer32_products;

const WindowKernel kKernel{DType::int32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_integers};

TEST(IntegerWindow32Products, IsRight) { IntegerWindow<std::int32_t>(kKernel, IntegerTerms::products).check_all(); }

}  // namespace
}  // namespace samesum::test
