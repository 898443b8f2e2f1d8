// sum_integers.cl for squares of int32, run on the host: one group alone.
#include "support/integer_window_test.hpp"

#define INTEGERS 1
#define INTEGER_BITS 32
#define INTEGER_SIGNED 1
#define PRODUCTS 1
#define DOT 0
#define LOADS 2
#define GROUP_SIZE 256
#define ALONE 1
#define ELEMENTS_FILE "reduce/elements_integer.cl"
namespace samesum::dialect::integer32_squares {
#include "support/window_kernel.inc"
}  // namespace samesum::dialect::integer32_squares

namespace samesum::test {
namespace {

using namespace dialect::integer32_squares;

const WindowKernel kKernel{.type = DType::int32,
                           .digits = kDigits,
                           .row_base = kRowBase,
                           .entries = kEntries,
                           .slot_words = kSlotWords,
                           .group_size = kGroupSize,
                           .tile = kTile,
                           .most_groups = kMostGroups,
                           .sum = sum_integers,
                           .alone = ALONE != 0};

TEST(IntegerWindow32Squares, IsRight) { IntegerWindow<std::int32_t>(kKernel, IntegerTerms::squares).check_all(); }

}  // namespace
}  // namespace samesum::test
