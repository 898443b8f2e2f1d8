// sum_integers.cl for sums, squares and products, run on the host: every kernel that ships.
#include "support/integer_window_test.hpp"

namespace samesum::test {
namespace {

void check(const WindowKernel& kernel) {
  core::visit(kernel.type, [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) IntegerWindow<decltype(element)>(kernel).check_all();
  });
}
bool has_integers(const WindowKernel& kernel) { return is_integer(kernel.type); }
bool is_concurrent(const WindowKernel& kernel) { return kernel.name == "sums_int32_loads2"; }

struct IntegerWindows : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, IntegerWindows, testing::ValuesIn(rows_where<WindowKernel>(has_integers)), RowName());
TEST_P(IntegerWindows, AreRight) { check(GetParam()); }

struct ConcurrentIntegers : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentIntegers, testing::ValuesIn(rows_where<WindowKernel>(is_concurrent)), RowName());
TEST_P(ConcurrentIntegers, AreRight) {
  const dialect::ConcurrentGroups concurrent;
  check(GetParam());
}

}  // namespace
}  // namespace samesum::test
