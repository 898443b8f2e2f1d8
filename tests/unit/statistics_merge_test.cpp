// Merging of statistics that have different fields.
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/statistics.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace samesum {
namespace {

Extremum at(double value, std::uint64_t index) { return {{value, DType::float64}, index}; }

Statistics extremes(std::uint64_t count, std::optional<Extremum> least, std::optional<Extremum> greatest) {
  Statistics::Contents contents;
  contents.fields = {true, false, false, false};
  contents.count = count;
  contents.min = least;
  contents.max = greatest;
  return Statistics(contents);
}

// As ExtremesPlan gives them where only one extremum was requested.
TEST(StatisticsMerge, NonzerosAloneHaveNoExtremes) {
  const std::vector<double> x = {0, 2, std::numeric_limits<double>::quiet_NaN()};
  const Statistics found = collect(x, {.extrema = false, .sum = false, .squares = false, .nonzeros = true});
  EXPECT_EQ(found.nonzero_count(NanPolicy::skip), 1u);
  EXPECT_EQ(found.nan_count(), 1u);
  EXPECT_THROW(static_cast<void>(found.min()), Error);
  EXPECT_NO_THROW(static_cast<void>(found.words()));
  const std::vector<float> nans(3, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(min(nans).value.type, DType::float32);
  EXPECT_EQ(minmax(nans).second.value.type, DType::float32);
}

TEST(StatisticsMerge, AnEndThatOnePartLacksIsLost) {
  Statistics all = extremes(1, at(7, 0), {});
  all += extremes(1, {}, at(3, 0));
  EXPECT_EQ(all, extremes(2, {}, {}));
  EXPECT_THROW(all.min(), Error);
  all = extremes(1, at(7, 0), at(7, 0));
  all += extremes(1, at(3, 0), {});
  EXPECT_EQ(all, extremes(2, at(3, 1), {}));
  all += extremes(1, at(1, 0), at(9, 0));
  EXPECT_EQ(all, extremes(3, at(1, 2), {}));
}

// A part without numbers has no extremum, and loses none of the other part's.
TEST(StatisticsMerge, APartOfNaNsLosesNoEnd) {
  const std::vector<double> nans(2, std::numeric_limits<double>::quiet_NaN()), one{5};
  Statistics all = collect(nans);
  all += collect(one);
  all += collect(nans);
  EXPECT_EQ(all.min(NanPolicy::skip), at(5, 2));
  EXPECT_EQ(all.max(NanPolicy::skip), at(5, 2));
}

TEST(StatisticsMerge, AnUnknownIndexStaysUnknown) {
  constexpr std::uint64_t kNowhere = ExtremaRecord::kNowhere;
  Statistics all = extremes(10, at(4, 3), at(5, 2));
  all += extremes(10, at(1, kNowhere), at(9, kNowhere));
  EXPECT_EQ(all, extremes(20, at(1, kNowhere), at(9, kNowhere)));
  Statistics behind(Statistics::Contents{.missing = 4});
  behind += extremes(10, at(1, kNowhere), at(9, 0));
  EXPECT_EQ(behind.min().index, kNowhere);
  EXPECT_EQ(behind.max().index, 4u);
}

TEST(StatisticsMerge, PlacesDoNotWrapAround) {
  Statistics::Contents contents;
  contents.count = 1;
  contents.fields = {false, false, false, false};
  contents.missing = std::numeric_limits<std::uint64_t>::max() - 1;
  Statistics full(contents);
  const Statistics before = full;
  EXPECT_THROW(full.merge(before), Error);
  EXPECT_THROW(full.merge(Statistics(Statistics::Contents{.missing = 1})), Error);
  EXPECT_EQ(full, before);
}

// So that statistics are equal where they have the same fields, whatever fields they had before.
TEST(StatisticsMerge, WhatIsLostLeavesNothingBehind) {
  const std::vector<double> values{1, 2, 3};
  const std::vector<Fields> fields = {
      {true, true, true, true}, {true, false, false, false}, {false, true, false, false}, {false, false, true, false}};
  for (const Fields& one : fields) {
    for (const Fields& other : fields) {
      Statistics all = collect(values, one), reverse = collect(values, other);
      all += collect(values, other);
      reverse += collect(values, one);
      EXPECT_EQ(all, reverse);
      EXPECT_EQ(Statistics(all.contents()), all);
    }
  }
}

}  // namespace
}  // namespace samesum
