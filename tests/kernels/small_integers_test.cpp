// sum_integers.cl for sums, squares and products, run on the host: every kernel that ships.
#include "support/small_integer_test.hpp"

namespace samesum::test {
namespace {

void check(const SmallSumKernel& kernel) {
  core::visit(kernel.type, [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) SmallIntegerSum<decltype(element)>(kernel).check_all();
  });
}
bool has_integers(const SmallSumKernel& kernel) { return is_integer(kernel.type); }
bool is_concurrent(const SmallSumKernel& kernel) { return kernel.name == "sums_int32_loads2"; }

struct SmallIntegers : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SmallIntegers, testing::ValuesIn(rows_where<SmallSumKernel>(has_integers)), RowName());
TEST_P(SmallIntegers, AreRight) { check(GetParam()); }

struct ConcurrentIntegers : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentIntegers, testing::ValuesIn(rows_where<SmallSumKernel>(is_concurrent)), RowName());
TEST_P(ConcurrentIntegers, AreRight) {
  const dialect::ConcurrentGroups concurrent;
  check(GetParam());
}

}  // namespace
}  // namespace samesum::test
