// product.cl for float32, run on the host.
#define BITS 32
#define FLOATS 1
#define SIGNED 1
#define FRACTION_BITS 23
#define EXPONENT_BITS 8
#define GROUP_SIZE 64
#define LOADS 8
#include "support/product_kernel_test.hpp"

namespace samesum::test {
namespace {

// Whole tiles, of which each leaves its product: that of the balanced tree over its elements.
TEST(ProductKernel32, IsTheTreeOfEachTile) {
  constexpr std::size_t kElements = TILE * ELEMENTS_PER_LOAD;
  for (const std::size_t tiles : {1, 2, 7}) {
    for (const dialect::uint groups : {1u, 3u, 7u}) {
      hard::Random random(tiles);
      std::vector<dialect::uint4> memory(tiles * TILE);
      std::vector<float> leaves(tiles * kElements);
      float product = 1;
      for (float& leaf : leaves) {
        const float some = 1 + static_cast<float>(random.bits(20)) * float{0x1p-21};
        leaf = product > 1 ? 1 / some : some;
        product *= leaf;
      }
      std::memcpy(static_cast<void*>(memory.data()), leaves.data(), leaves.size() * sizeof(float));
      std::vector<float> found(tiles, -1);
      dialect::emulation().run(groups, GROUP_SIZE, [&] {
        dialect::product(reinterpret_cast<unsigned char*>(memory.data()), tiles, reinterpret_cast<unsigned char*>(found.data()));
      });
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        std::vector<float> nodes(leaves.begin() + static_cast<long>(tile * kElements), leaves.begin() + static_cast<long>((tile + 1) * kElements));
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
