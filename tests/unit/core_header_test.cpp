// samesum_core.hpp beside the library that it is written from.
#include "selftest/cases.hpp"
#include "support/core_golden.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/samesum_core.hpp>

#include <gtest/gtest.h>

namespace samesum {
namespace {

TEST(CoreHeader, TheLibraryHasItsGoldenHash) {
  EXPECT_EQ((test::CoreGolden().hash<Accumulator, ProductAccumulator, NanPolicy>()), test::kCoreGolden);
  EXPECT_EQ((test::CoreGolden().hash<samesum_core::Accumulator, samesum_core::ProductAccumulator, samesum_core::NanPolicy>()),
            test::kCoreGolden);
}

// Words go from one to the other.
TEST(CoreHeader, HardCasesHaveTheWordsOfTheLibrary) {
  for (const hard::Case& one : hard::cases()) {
    const auto data = hard::make(one, DType::float64, 1000);
    const auto* const x = static_cast<const double*>(data.view().data());
    Accumulator sum;
    ProductAccumulator squares;
    samesum_core::Accumulator core_sum;
    samesum_core::ProductAccumulator core_squares;
    for (std::size_t i = 0; i < 1000; ++i) {
      sum.add(x[i]);
      core_sum.add(x[i]);
      squares.add(x[i], x[999 - i]);
      core_squares.add(x[i], x[999 - i]);
    }
    EXPECT_EQ(core_sum.words(), sum.words()) << one.name;
    EXPECT_EQ(core_squares.words(), squares.words()) << one.name;
    EXPECT_EQ(Accumulator::from_words(core_sum.words()), sum) << one.name;
    EXPECT_EQ(samesum_core::ProductAccumulator::from_words(squares.words()), core_squares) << one.name;
  }
}

}  // namespace
}  // namespace samesum
