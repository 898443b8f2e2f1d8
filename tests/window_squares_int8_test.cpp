// sum_integers.cl for squares of int8, run on the host.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 8
#define INTEGER_SIGNED 1
#define PRODUCTS 1
#define DOT 0
#define LOADS 2
#define GROUP_SIZE 64
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer8 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer8

namespace samesum::test {
namespace {

using namespace dialect::integer8;

const WindowKernel kKernel{DType::int8, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_integers};

TEST(IntegerWindow8, IsRight) { IntegerWindow<std::int8_t>(kKernel, IntegerTerms::squares).check_all(); }

}  // namespace
}  // namespace samesum::test
