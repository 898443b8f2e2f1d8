// What product.cl makes of an array, run on the host: for a file of its own for each type, which defines BITS, FLOATS, SIGNED, FRACTION_BITS,
// EXPONENT_BITS, GROUP_SIZE and LOADS before.
#pragma once

#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/informative.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#define SKIP 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"
namespace samesum::dialect {
namespace {  // another kernel in each file
// clang-format off
#include "device/kept.h"
#include "statistics/elements.h"
#include "product/product.cl"
// clang-format on
}  // namespace
}  // namespace samesum::dialect
#pragma GCC diagnostic pop

#if FLOATS
namespace samesum::test {
namespace {

// Whole tiles, of which each leaves its product: that of the balanced tree over its elements.
template <class Real>
void check_trees_of_tiles() {
  constexpr std::size_t kElements = TILE * ELEMENTS_PER_LOAD;
  for (const std::size_t tiles : {1, 2, 7}) {
    for (const dialect::uint groups : {1u, 3u, 7u}) {
      hard::Random random(tiles);
      std::vector<dialect::uint4> memory(tiles * TILE);
      std::vector<Real> leaves(tiles * kElements);
      Real product = 1;
      for (Real& leaf : leaves) {
        const Real some = 1 + static_cast<Real>(random.bits(20)) * Real{0x1p-21};
        leaf = product > 1 ? 1 / some : some;
        product *= leaf;
      }
      std::memcpy(static_cast<void*>(memory.data()), leaves.data(), leaves.size() * sizeof(Real));
      std::vector<Real> found(tiles, -1);
      dialect::emulation().run(groups, GROUP_SIZE, [&] {
        dialect::product(reinterpret_cast<unsigned char*>(memory.data()), tiles, reinterpret_cast<unsigned char*>(found.data()));
      });
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        std::vector<Real> nodes(leaves.begin() + static_cast<long>(tile * kElements), leaves.begin() + static_cast<long>((tile + 1) * kElements));
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
#endif
