// axes.cl, run on the host: rows by loads of 16 bytes. Among `races` it is watched for accesses outside of its arrays.
#include "support/emulation.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SAMESUM_SUBGROUPS 1
#define GROUP_SIZE 64
#define ELEMENT int
#define VALUE(x) ((long)(x))
#define MISSING 0
#define UNROLL 16
#define INTEGERS 1
#define SIGNED 1
namespace samesum::dialect::along_axes {
// The order of these files matters.
// clang-format off
#include "groups/device/axes_sums.h"
#include "groups/device/pending.h"
#include "groups/device/axes.h"
#include "groups/device/axes.cl"
// clang-format on
}  // namespace samesum::dialect::along_axes
#pragma GCC diagnostic pop

namespace samesum {
namespace {

using dialect::emulation;
using dialect::uint;
using dialect::ulong;

TEST(AxesKernel, AddsRowsByLoads) {
  std::mt19937_64 random(1);
  constexpr ulong kRows = 5;
  for (const ulong length : {4, 96, 260, 1024 + 4}) {
    for (const uint width : {1u, 4u}) {
      std::vector<int> data(kRows * length + 4);
      for (int& x : data) x = static_cast<int>(random());
      auto* const base = data.data() + (16 - reinterpret_cast<std::uintptr_t>(data.data()) % 16) % 16 / 4;
      std::vector<ulong> words = {0, kRows, 4 * length, length, 4}, found(kRows), pending(kRows);
      emulation().run((static_cast<uint>(kRows) + width - 1) / width, GROUP_SIZE, [&] {
        dialect::along_axes::axes(reinterpret_cast<const unsigned char*>(base), 0, words.data(), 1, 1, kRows, length,
                                  static_cast<long>(4 * length), 4, 1, 0, width, 0, 1, 0, 0, nullptr, found.data(), 0, pending.data(),
                                  pending.size());
      });
      EXPECT_EQ(words[0], 0);
      for (ulong row = 0; row < kRows; ++row) {
        EXPECT_EQ(static_cast<long>(found[row]), std::accumulate(base + row * length, base + (row + 1) * length, 0L))
            << row << " of " << length;
      }
    }
  }
}

}  // namespace
}  // namespace samesum
