// sum_window.cl for sums of elements, run on the host: every kernel that ships.
#include "support/window_test.hpp"

namespace samesum::test {
namespace {

bool is_sum(const WindowKernel& kernel) { return !is_integer(kernel.type) && kernel.terms == WindowKernel::elements; }
bool is_thorough(const WindowKernel& kernel) { return is_sum(kernel) && kernel.thorough; }
bool is_fine(const WindowKernel& kernel) { return is_thorough(kernel) && kernel.type == DType::float64; }

struct WindowSums : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, WindowSums, testing::ValuesIn(rows_where<WindowKernel>(is_sum)), RowName());
TEST_P(WindowSums, AreRight) { WindowSum(GetParam()).check_hard_cases(); }
TEST_P(WindowSums, OfAnyExponentsAreRight) { WindowSum(GetParam()).check_exponents(); }
TEST_P(WindowSums, OfOtherDataAreRight) { WindowSum(GetParam()).check_fixed_point(); }
TEST_P(WindowSums, OfTiesAreRight) { WindowSum(GetParam()).check_ties(); }

struct ConcurrentSums : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentSums, testing::ValuesIn(rows_where<WindowKernel>(is_thorough)), RowName());
TEST_P(ConcurrentSums, AreRight) { WindowSum(GetParam()).check_concurrent(); }

struct SumsOfManyGroups : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SumsOfManyGroups, testing::ValuesIn(rows_where<WindowKernel>(is_fine)), RowName());
TEST_P(SumsOfManyGroups, AreRight) { WindowSum(GetParam()).check_many_groups(); }

}  // namespace
}  // namespace samesum::test
