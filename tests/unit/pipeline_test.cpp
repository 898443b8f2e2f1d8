// Blocks that are filled, processed and taken in order.
#include "io/pipeline.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace samesum::io {
namespace {

// What next() throws for a block is what it throws from then on: none of the blocks behind it is taken for another.
TEST(Pipeline, EndsWithAnError) {
  for (const int wrong : {0, 1, 4}) {
    for (const bool in_work : {false, true}) {
      int filled = 0;
      const auto check = [&](bool here, int number) {
        if (here && number == wrong) throw std::runtime_error("block " + std::to_string(number));
      };
      Pipeline<int> blocks(
          2,
          [&](int& block) {
            block = filled++;
            check(!in_work, block);
            return block == 20;
          },
          [&](const int& block) { check(in_work, block); }, [] {});
      for (int number = 0; number < wrong; ++number) {
        const int* const block = blocks.next();
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(*block, number);
      }
      for (int again = 0; again < 3; ++again) {
        try {
          blocks.next();
          ADD_FAILURE() << wrong;
        } catch (const std::runtime_error& error) {
          EXPECT_EQ(error.what(), "block " + std::to_string(wrong));
        }
      }
    }
  }
}

}  // namespace
}  // namespace samesum::io
