// sum_window.cl for products and squares, run on the host: every kernel that ships.
#include "support/product_window_test.hpp"

namespace samesum::test {
namespace {

bool is_product(const WindowKernel& kernel) { return !is_integer(kernel.type) && kernel.terms != WindowKernel::elements; }
bool is_thorough(const WindowKernel& kernel) { return is_product(kernel) && kernel.thorough; }
bool is_dot(const WindowKernel& kernel) { return is_thorough(kernel) && kernel.terms == WindowKernel::products; }
bool is_fine(const WindowKernel& kernel) { return is_thorough(kernel) && kernel.type == DType::float64; }
bool is_fine_dot(const WindowKernel& kernel) { return is_fine(kernel) && is_dot(kernel); }

struct WindowOfProducts : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, WindowOfProducts, testing::ValuesIn(rows_where<WindowKernel>(is_product)), RowName());
TEST_P(WindowOfProducts, IsRight) { WindowProducts(GetParam()).check_hard_cases(); }
TEST_P(WindowOfProducts, OfAnyExponentsIsRight) { WindowProducts(GetParam()).check_exponents(); }
TEST_P(WindowOfProducts, OfOtherDataIsRight) { WindowProducts(GetParam()).check_fixed_point(); }
TEST_P(WindowOfProducts, OfTiesIsRight) { WindowProducts(GetParam()).check_ties(); }

struct SmallProducts : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SmallProducts, testing::ValuesIn(rows_where<WindowKernel>(is_fine)), RowName());
TEST_P(SmallProducts, AreRight) { WindowProducts(GetParam()).check_small_products(); }
TEST_P(SmallProducts, BesideGreatOnesAreRight) { WindowProducts(GetParam()).check_great_and_small(); }
TEST_P(SmallProducts, AreRightToTheLastBit) { WindowProducts(GetParam()).check_last_bits(); }

struct GreatProducts : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, GreatProducts, testing::ValuesIn(rows_where<WindowKernel>(is_dot)), RowName());
TEST_P(GreatProducts, AreRight) { WindowProducts(GetParam()).check_greatest_power(); }

struct ProductsOfManyGroups : testing::TestWithParam<WindowKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ProductsOfManyGroups, testing::ValuesIn(rows_where<WindowKernel>(is_fine_dot)), RowName());
TEST_P(ProductsOfManyGroups, AreRight) { WindowProducts(GetParam()).check_many_groups(); }

}  // namespace
}  // namespace samesum::test
