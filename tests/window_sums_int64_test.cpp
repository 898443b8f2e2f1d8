// sum_integers.cl for sums of int64, run on the host.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 64
#define INTEGER_SIGNED 1
#define PRODUCTS 0
#define DOT 0
#define LOADS 2
#define GROUP_SIZE 64
#define STREAM 1
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer64_sums {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer64_sums

namespace samesum::test {
namespace {

using namespace dialect::integer64_sums;

const WindowKernel kKernel{DType::int64, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_integers};

TEST(IntegerWindow64Sums, IsRight) { IntegerWindow<std::int64_t>(kKernel, IntegerTerms::elements).check_all(); }

}  // namespace
}  // namespace samesum::test
