// Arrays in Fortran order, iterated in C order: compared with a plain loop over indices.
#include "core/array/array_blocks.hpp"
#include "io/npy.hpp"
#include "selftest/cases.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace samesum {
namespace {

// The position in memory of an element, given its number in C order.
std::uint64_t place(std::uint64_t number, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = number % shape[i];
    number /= shape[i];
  }
  std::uint64_t at = 0, apart = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    at += index[i] * apart;
    apart *= shape[i];
  }
  return at;
}

void check(const std::vector<std::uint64_t>& shape, DType type, std::size_t block_bytes) {
  const std::uint64_t count = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  const std::size_t size = size_of(type);
  std::vector<std::byte> memory(count * size + 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = i * 0x9e3779b97f4a7c15 >> 3;
    std::memcpy(&memory[1 + i * size], &value, size);
  }
  const Array array(&memory[1], shape, type, io::strides_of(shape, type, true));
  core::ArrayBlocks order(array, core::Order::index, block_bytes);
  std::uint64_t number = 0;
  while (const std::optional<View> block = order.next()) {
    ASSERT_TRUE(block->contiguous());
    if (!core::single_view(array, core::Order::index)) {
      ASSERT_LE(block->bytes(), std::max(block_bytes, size));
    }
    ASSERT_GT(block->size(), 0u);
    for (std::uint64_t i = 0; i < block->size(); ++i, ++number) {
      const auto* given = static_cast<const std::byte*>(block->data()) + i * size;
      ASSERT_EQ(std::memcmp(given, &memory[1 + place(number, shape) * size], size), 0) << "element " << number;
    }
  }
  EXPECT_EQ(number, count);
}

TEST(ArrayBlocks, GivesEveryElementOnceAndInItsTurn) {
  for (const auto& shape : std::vector<std::vector<std::uint64_t>>{{2, 3},
                                                                   {3, 2},
                                                                   {1, 1},
                                                                   {7},
                                                                   {},
                                                                   {4, 1, 5},
                                                                   {2, 3, 4},
                                                                   {17, 33},
                                                                   {100, 3, 41},
                                                                   {5, 4, 3, 2, 1, 2},
                                                                   {0, 4},
                                                                   {9000, 2},
                                                                   {2, 9000}}) {
    for (const std::size_t block_bytes : {1, 8, 64, 1000, 4096, 1 << 20}) {
      for (const DType type : {DType::uint8, DType::float16, DType::float32, DType::int64}) {
        SCOPED_TRACE(testing::Message() << testing::PrintToString(shape) << " of " << name_of(type) << " in " << block_bytes);
        check(shape, type, block_bytes);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ArrayBlocks, OfAnyShape) {
  hard::Random random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> shape;
    for (std::uint64_t axes = 1 + random.below(5); axes-- > 0;) shape.push_back(1 + random.below(12));
    check(shape, kDTypes[random.below(kDTypes.size())], 1 + random.below(5000));
  }
}

}  // namespace
}  // namespace samesum
