// small_sum.cl for sums of elements, run on the host: every kernel that ships.
#include "support/small_sum_test.hpp"

namespace samesum::test {
namespace {

bool is_sum(const SmallSumKernel& kernel) { return !is_integer(kernel.type) && kernel.terms == SmallSumKernel::elements; }
bool is_thorough(const SmallSumKernel& kernel) { return is_sum(kernel) && kernel.thorough; }
bool is_streamed(const SmallSumKernel& kernel) { return is_thorough(kernel) && kernel.type == DType::float32 && kernel.most_groups < 8; }
bool is_fine(const SmallSumKernel& kernel) { return is_thorough(kernel) && kernel.type == DType::float64; }

struct SmallSums : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SmallSums, testing::ValuesIn(rows_where<SmallSumKernel>(is_sum)), RowName());
TEST_P(SmallSums, AreRight) { SmallSum(GetParam()).check_hard_cases(); }
TEST_P(SmallSums, OfAnyExponentsAreRight) { SmallSum(GetParam()).check_exponents(); }
TEST_P(SmallSums, OfOtherDataAreRight) { SmallSum(GetParam()).check_fixed_point(); }
TEST_P(SmallSums, OfTiesAreRight) { SmallSum(GetParam()).check_ties(); }

struct ConcurrentSums : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentSums, testing::ValuesIn(rows_where<SmallSumKernel>(is_thorough)), RowName());
TEST_P(ConcurrentSums, AreRight) { SmallSum(GetParam()).check_concurrent(); }

struct SumsOfFullGroups : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SumsOfFullGroups, testing::ValuesIn(rows_where<SmallSumKernel>(is_streamed)), RowName());
TEST_P(SumsOfFullGroups, AreRight) { SmallSum(GetParam()).check_full_groups(); }

struct SumsOfManyGroups : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SumsOfManyGroups, testing::ValuesIn(rows_where<SmallSumKernel>(is_fine)), RowName());
TEST_P(SumsOfManyGroups, AreRight) { SmallSum(GetParam()).check_many_groups(); }

}  // namespace
}  // namespace samesum::test
