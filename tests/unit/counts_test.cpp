// Counts of elements that exceed 64 bits are an error: they never wrap around.
#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace samesum {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

template <class Action>
std::string refusal(ErrorKind kind, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "accepted";
}

// Checks the exception, and that `value` is unchanged.
template <class Value, class Action>
void expect_too_many(Value& value, const Action& action) {
  const Value before = value;
  EXPECT_NE(refusal(ErrorKind::no_answer, action).find("2^64 - 1"), std::string::npos);
  EXPECT_EQ(value, before);
}

TEST(Counts, OfASumEndInAnError) {
  Accumulator full;
  full.add(1.5);
  full.add_counts(kMax - 1, 0, 0, 0, false);
  EXPECT_EQ(full.count(), kMax);
  EXPECT_EQ(full.round(), 1.5);
  expect_too_many(full, [&] { full.add(1.0); });
  expect_too_many(full, [&] { full.add(1.0f); });
  expect_too_many(full, [&] { full.add(1); });
  expect_too_many(full, [&] { full.add(1u); });
  expect_too_many(full, [&] { full.add_integer_count(1, true); });
  expect_too_many(full, [&] { full.add_counts(1, 0, 0, 0, false); });
  expect_too_many(full, [&] { full.merge(full); });
  Accumulator one;
  one.add(2.0);
  expect_too_many(full, [&] { full += one; });
  expect_too_many(one, [&] { one += full; });
  EXPECT_EQ(Accumulator::deserialize(full.serialize()), full);
}

TEST(Counts, OfProductsEndInAnError) {
  ProductAccumulator full;
  full.add(1.5, 2.0);
  full.add_counts(kMax - 1, 0, 0, 0, false);
  expect_too_many(full, [&] { full.add(1.0, 1.0); });
  expect_too_many(full, [&] { full.add(std::int64_t{1}, std::int64_t{1}); });
  expect_too_many(full, [&] { full.add(std::uint64_t{1}, std::uint64_t{1}); });
  expect_too_many(full, [&] { full.merge(full); });
  EXPECT_EQ(full.round(), 3);
}

TEST(Counts, OfStatisticsEndInAnError) {
  Statistics::Contents contents;
  contents.fields = {true, false, false, true};
  contents.count = contents.nonzeros = kMax;
  contents.min = contents.max = Extremum{{1.0, DType::float64}, 3};
  Statistics full(contents);
  contents.count = contents.nonzeros = 1;
  const Statistics one(contents);
  expect_too_many(full, [&] { full.merge(one); });
  expect_too_many(full, [&] { full.merge(full); });
  EXPECT_EQ(full.nonzero_count(), kMax);
}

TEST(Counts, OfAHistogramEndInAnError) {
  const Bins bins = Bins::even(0, 1, 2);
  const auto over = [&](std::vector<std::uint64_t> slots) { return Histogram(bins, slots); };
  Histogram full = over({1, kMax - 4, 1, 1, 1});
  EXPECT_EQ(full.total(), kMax);
  for (std::size_t slot = 0; slot < 5; ++slot) {
    std::vector<std::uint64_t> slots(5);
    slots[slot] = 1;
    expect_too_many(full, [&] { full += over(slots); });
  }
  full += over({0, 0, 0, 0, 0});
  EXPECT_NE(refusal(ErrorKind::no_answer, [&] { over({0, kMax, 0, 0, 1}); }).find("2^64 - 1"), std::string::npos);
  EXPECT_NE(refusal(ErrorKind::usage, [&] { over({1, 2, 3, 4}); }).find("5 counts"), std::string::npos);
  EXPECT_NE(refusal(ErrorKind::usage, [&] { over({}); }).find("here are 0"), std::string::npos);
}

}  // namespace
}  // namespace samesum
