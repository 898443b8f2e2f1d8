// sum_integers.cl for products of uint32, run on the host.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 32
#define INTEGER_SIGNED 0
#define PRODUCTS 1
#define DOT 1
#define LOADS 1
#define GROUP_SIZE 64
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer32_unsigned {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer32_unsigned

namespace samesum::test {
namespace {

using namespace dialect::integer32_unsigned;

const WindowKernel kKernel{DType::uint32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_integers};

TEST(IntegerWindow32Unsigned, IsRight) { IntegerWindow<std::uint32_t>(kKernel, IntegerTerms::products).check_all(); }

}  // namespace
}  // namespace samesum::test
