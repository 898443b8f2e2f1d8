// small_sum.cl for products and squares, run on the host: every kernel that ships.
#include "support/small_product_test.hpp"

namespace samesum::test {
namespace {

bool is_product(const SmallSumKernel& kernel) { return !is_integer(kernel.type) && kernel.terms != SmallSumKernel::elements; }
bool is_thorough(const SmallSumKernel& kernel) { return is_product(kernel) && kernel.thorough; }
bool is_dot(const SmallSumKernel& kernel) { return is_thorough(kernel) && kernel.terms == SmallSumKernel::products; }
bool is_fine(const SmallSumKernel& kernel) { return is_thorough(kernel) && kernel.type == DType::float64; }
bool is_fine_dot(const SmallSumKernel& kernel) { return is_fine(kernel) && is_dot(kernel); }

struct SmallSumsOfProducts : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SmallSumsOfProducts, testing::ValuesIn(rows_where<SmallSumKernel>(is_product)), RowName());
TEST_P(SmallSumsOfProducts, IsRight) { SmallProductSum(GetParam()).check_hard_cases(); }
TEST_P(SmallSumsOfProducts, OfAnyExponentsIsRight) { SmallProductSum(GetParam()).check_exponents(); }
TEST_P(SmallSumsOfProducts, OfOtherDataIsRight) { SmallProductSum(GetParam()).check_fixed_point(); }
TEST_P(SmallSumsOfProducts, OfTiesIsRight) { SmallProductSum(GetParam()).check_ties(); }

struct SmallProducts : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SmallProducts, testing::ValuesIn(rows_where<SmallSumKernel>(is_fine)), RowName());
TEST_P(SmallProducts, AreRight) { SmallProductSum(GetParam()).check_small_products(); }
TEST_P(SmallProducts, BesideGreatOnesAreRight) { SmallProductSum(GetParam()).check_great_and_small(); }
TEST_P(SmallProducts, AreRightToTheLastBit) { SmallProductSum(GetParam()).check_last_bits(); }

struct GreatProducts : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, GreatProducts, testing::ValuesIn(rows_where<SmallSumKernel>(is_dot)), RowName());
TEST_P(GreatProducts, AreRight) { SmallProductSum(GetParam()).check_greatest_power(); }

struct ProductsOfManyGroups : testing::TestWithParam<SmallSumKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ProductsOfManyGroups, testing::ValuesIn(rows_where<SmallSumKernel>(is_fine_dot)), RowName());
TEST_P(ProductsOfManyGroups, AreRight) { SmallProductSum(GetParam()).check_many_groups(); }

}  // namespace
}  // namespace samesum::test
