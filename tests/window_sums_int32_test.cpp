// sum_integers.cl for sums of int32, run on the host.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 32
#define INTEGER_SIGNED 1
#define PRODUCTS 0
#define DOT 0
#define LOADS 2
#define GROUP_SIZE 64
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer32 {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer32

namespace samesum::test {
namespace {

using namespace dialect::integer32;

const WindowKernel kKernel{DType::int32, kDigits, kRowBase, kEntries, kSlotWords, kGroupSize, kTile, kMostGroups, sum_integers};

TEST(IntegerWindow32, IsRight) { IntegerWindow<std::int32_t>(kKernel, IntegerTerms::elements).check_all(); }
TEST(IntegerWindow32, OfConcurrentGroupsIsRight) {
  const dialect::ConcurrentGroups concurrent;
  IntegerWindow<std::int32_t>(kKernel, IntegerTerms::elements).check_all();
}

}  // namespace
}  // namespace samesum::test
