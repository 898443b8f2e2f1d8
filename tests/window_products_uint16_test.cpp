// sum_integers.cl for products of uint16, run on the host.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 16
#define INTEGER_SIGNED 0
#define PRODUCTS 1
#define DOT 1
#define LOADS 1
#define GROUP_SIZE 64
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer16 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer16

namespace samesum::test {
namespace {

using namespace dialect::integer16;

const WindowKernel kKernel{DType::uint16, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_integers};

TEST(IntegerWindow16, IsRight) { IntegerWindow<std::uint16_t>(kKernel, IntegerTerms::products).check_all(); }

}  // namespace
}  // namespace samesum::test
