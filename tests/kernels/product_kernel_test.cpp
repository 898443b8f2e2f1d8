// product.cl run on the host: every kernel that ships.
#include "core/visit.hpp"
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/informative.hpp"
#include "support/kernel_rows.hpp"
#include "support/placed.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace samesum::test {
namespace {

/// Whole tiles: the product of each is that of the balanced tree over its elements.
template <class Real>
void check_trees_of_tiles(const ProductKernel& kernel) {
  const std::size_t elements = kernel.tile * kernel.elements_per_load;
  const hard::Format format = hard::format_of(kernel.type);
  for (const std::size_t tiles : {1, 2, 7}) {
    for (const dialect::uint groups : {1u, 3u, 7u}) {
      hard::Random random(tiles);
      std::vector<std::uint64_t> patterns(tiles * elements);
      double product = 1;
      for (std::size_t i = 0; i < patterns.size(); ++i) {  // numbers on both sides of 1, so that the product stays close to 1
        patterns[i] = format.encode((std::uint64_t{1} << format.fraction_bits) | random.bits(format.fraction_bits),
                                    -format.fraction_bits - (product > 1 ? 1 : 0));
        product *= number_at(hard::Data(std::span(patterns).subspan(i, 1), kernel.type).view(), 0);
        if (kernel.skip && i % 97 == 5) patterns[i] = format.infinity() + 1;
      }
      const hard::Data data(patterns, kernel.type);
      std::vector<Real> found(tiles, -1);
      dialect::emulation().run(groups, kernel.group_size, [&] {
        kernel.multiply(static_cast<const unsigned char*>(data.view().data()), tiles, reinterpret_cast<unsigned char*>(found.data()));
      });
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        std::vector<Real> nodes(elements);
        for (std::size_t i = 0; i < elements; ++i) {
          const double leaf = number_at(data.view(), tile * elements + i);
          nodes[i] = static_cast<Real>(leaf == leaf ? leaf : 1);
        }
        while (nodes.size() > 1) {
          for (std::size_t i = 0; i < nodes.size() / 2; ++i) nodes[i] = nodes[2 * i] * nodes[2 * i + 1];
          nodes.resize(nodes.size() / 2);
        }
        ASSERT_TRUE(informative(nodes[0], 1));
        ASSERT_EQ(found[tile], nodes[0]) << "tile " << tile << " of " << tiles << ", groups " << groups;
      }
    }
  }
}

struct Found {
  unsigned long flags, magnitude;  ///< 1: zero, 2: negative, 4: too large
};

template <class Integer>
Found product_of(const ProductKernel& kernel, const std::vector<Integer>& values) {
  std::vector<dialect::uint4> memory(values.size() * sizeof(Integer) / 16 + 1);
  std::memcpy(static_cast<void*>(memory.data()), values.data(), values.size() * sizeof(Integer));
  Found found{};
  dialect::emulation().run(1, kernel.group_size, [&] {
    kernel.multiply(reinterpret_cast<unsigned char*>(memory.data()), values.size(), reinterpret_cast<unsigned char*>(&found));
  });
  return found;
}

/// Two factors of half of 80 bits at every two positions: in one load, in one work-item's loads, and in two work-items. For narrow integers
/// as many factors as necessary.
template <class Integer>
void check_integers(const ProductKernel& kernel) {
  constexpr int kBits = std::min(40, std::numeric_limits<Integer>::digits - 1);
  const std::size_t size = 4 * static_cast<std::size_t>(kernel.group_size) + 3;
  for (std::size_t i = 0; i < size; i += kernel.type == DType::int64 || i < 8 ? 1 : 37) {
    for (std::size_t k = i + 1; k < size; k += 1 + (k - i) / 8) {
      std::vector<Integer> values(size, 1);
      values[i] = static_cast<Integer>(Integer{1} << kBits);
      int bits = kBits;
      for (std::size_t at = k; at < size && bits < 64; ++at, bits += kBits) values[at] = values[i];
      if (bits >= 64) {
        ASSERT_EQ(product_of(kernel, values).flags & 4, 4u) << i << " and " << k;
      }
      std::fill(values.begin() + static_cast<long>(k), values.end(), Integer{1});
      values[k] = static_cast<Integer>(-3);
      const Found fits = product_of(kernel, values);
      constexpr auto kMagnitude = std::is_signed_v<Integer> ? 3ul : static_cast<unsigned long>(std::numeric_limits<Integer>::max()) - 2;
      const bool large = kMagnitude >> (64 - kBits) != 0;
      ASSERT_EQ(fits.flags, large ? 4u : std::is_signed_v<Integer> ? 2u : 0u) << i << " and " << k;
      if (!large) {
        ASSERT_EQ(fits.magnitude, kMagnitude << kBits) << i << " and " << k;
      }
      values[k] = 0;
      ASSERT_EQ(product_of(kernel, values).flags & 1, 1u) << i << " and " << k;
    }
  }
}

bool has_floats(const ProductKernel& kernel) { return !is_integer(kernel.type); }
bool has_integers(const ProductKernel& kernel) { return is_integer(kernel.type); }

struct ProductKernels : testing::TestWithParam<ProductKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ProductKernels, testing::ValuesIn(rows_where<ProductKernel>(has_floats)), RowName());
TEST_P(ProductKernels, MakeTheTreeOfEachTile) {
  GetParam().type == DType::float64 ? check_trees_of_tiles<double>(GetParam()) : check_trees_of_tiles<float>(GetParam());
}

struct IntegerProductKernels : testing::TestWithParam<ProductKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, IntegerProductKernels, testing::ValuesIn(rows_where<ProductKernel>(has_integers)), RowName());
TEST_P(IntegerProductKernels, NoticeEveryOverflow) {
  core::visit(GetParam().type, [](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) check_integers<decltype(element)>(GetParam());
  });
}

}  // namespace
}  // namespace samesum::test
