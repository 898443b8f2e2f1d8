// product.cl for float64, run on the host.
#define BITS 64
#define FLOATS 1
#define SIGNED 1
#define FRACTION_BITS 52
#define EXPONENT_BITS 11
#define GROUP_SIZE 128
#define LOADS 4
#include "support/product_kernel_test.hpp"

namespace samesum::test {
namespace {

// Whole tiles, of which each leaves its product: that of the balanced tree over its elements.
TEST(ProductKernel64, IsTheTreeOfEachTile) {
  constexpr std::size_t kElements = TILE * ELEMENTS_PER_LOAD;
  for (const std::size_t tiles : {1, 2, 7}) {
    for (const dialect::uint groups : {1u, 3u, 7u}) {
      hard::Random random(tiles);
      std::vector<dialect::uint4> memory(tiles * TILE);
      std::vector<double> leaves(tiles * kElements);
      double product = 1;
      for (double& leaf : leaves) {
        const double some = 1 + static_cast<double>(random.bits(20)) * double{0x1p-21};
        leaf = product > 1 ? 1 / some : some;
        product *= leaf;
      }
      std::memcpy(static_cast<void*>(memory.data()), leaves.data(), leaves.size() * sizeof(double));
      std::vector<double> found(tiles, -1);
      dialect::emulation().run(groups, GROUP_SIZE, [&] {
        dialect::product(reinterpret_cast<unsigned char*>(memory.data()), tiles, reinterpret_cast<unsigned char*>(found.data()));
      });
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        std::vector<double> nodes(leaves.begin() + static_cast<long>(tile * kElements), leaves.begin() + static_cast<long>((tile + 1) * kElements));
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

}  // namespace
}  // namespace samesum::test
