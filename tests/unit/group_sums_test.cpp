// Exact sums into groups: the bits of sum() of each group's elements alone, whatever the order, the threads and the parts.
#include "support/informative.hpp"
#include "support/simd_levels.hpp"

#include "support/same_bits.hpp"

#include <samesum/by.hpp>
#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

std::vector<std::uint64_t> bits(const Values& values) {
  std::vector<std::uint64_t> all;
  for (const double value : values.as<double>()) all.push_back(bits(value));
  return all;
}

template <class T>
std::vector<std::vector<T>> divided(const std::vector<T>& values, const std::vector<std::uint32_t>& groups, std::size_t count) {
  std::vector<std::vector<T>> parts(count);
  for (std::size_t i = 0; i < values.size(); ++i) parts[groups[i]].push_back(values[i]);
  return parts;
}

// Everything against the same of each group's elements by the functions for whole arrays.
template <class T>
void expect_like_parts(const GroupSums& sums, const std::vector<T>& values, const std::vector<std::uint32_t>& groups) {
  const auto parts = divided(values, groups, sums.groups());
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    const Values totals = sums.sums(nan), means = sums.means(nan), variances = sums.variances(0, nan), squares = sums.squares(nan);
    for (std::size_t group = 0; group < parts.size(); ++group) {
      SCOPED_TRACE(group);
      const Statistics all = collect(parts[group], {true, true, true, false});
      ASSERT_EQ(sums.sum(group), all.sum());
      ASSERT_EQ(sums.statistics(group).squares(), all.squares());
      ASSERT_EQ(sums.count(group), parts[group].size());
      ASSERT_EQ(sums.nan_count(group), all.nan_count());
      if constexpr (std::is_floating_point_v<T>) {
        ASSERT_EQ(bits(totals.as<double>()[group]), bits(sum(parts[group], {.nan = nan})));
      } else {
        ASSERT_EQ(totals.as<SumOf<std::vector<T>>>()[group], sum(parts[group]));
      }
      ASSERT_EQ(bits(squares.as<double>()[group]), bits(all.squared_norm(nan)));
      const std::uint64_t used = all.count() - (nan == NanPolicy::skip ? all.nan_count() : 0);
      if (used == 0) {
        ASSERT_TRUE(std::isnan(means.as<double>()[group]));
        ASSERT_TRUE(std::isnan(variances.as<double>()[group]));
        ASSERT_THROW(sums.min(group, nan), Error);
        continue;
      }
      ASSERT_EQ(bits(means.as<double>()[group]), bits(all.mean(nan)));
      ASSERT_EQ(bits(variances.as<double>()[group]), bits(all.variance(0, nan)));
      ASSERT_EQ(bits(sums.min(group, nan).as_double()), bits(all.min(nan).value.as_double()));
      ASSERT_EQ(bits(sums.max(group, nan).as_double()), bits(all.max(nan).value.as_double()));
      if constexpr (!std::is_floating_point_v<T>) {
        ASSERT_EQ(sums.min(group, nan).number, all.min(nan).value.number);
        ASSERT_EQ(sums.max(group, nan).number, all.max(nan).value.number);
      }
    }
  }
}

enum class Data { plain, wide, denormal, cancelling, zeros, special };

double number(Data data, std::mt19937_64& random) {
  const double unit = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
  const int power = static_cast<int>(random() % 2000) - 1000;
  switch (data) {
    case Data::plain:
      return unit;
    case Data::wide:
      return std::ldexp(unit, power);
    case Data::denormal:
      return static_cast<double>(random() % 1000) * std::numeric_limits<double>::denorm_min() * (random() % 2 == 0 ? 1 : -1);
    case Data::cancelling:
      return (random() % 2 == 0 ? 1 : -1) * std::ldexp(1.0, static_cast<int>(random() % 3) * 60);
    case Data::zeros:
      return random() % 8 == 0 ? 0.0 : -0.0;
    case Data::special:
      return random() % 50 == 0 ? kNan : random() % 50 == 0 ? kInf : random() % 90 == 0 ? -kInf : random() % 30 == 0 ? 1.7e308 : unit;
  }
  return 0;
}

constexpr GroupOptions kAll{.squares = true, .extrema = true};

TEST(GroupSums, HaveTheBitsOfEachGroupsElementsAlone) {
  std::mt19937_64 random(1);
  for (const Data data : {Data::plain, Data::wide, Data::denormal, Data::cancelling, Data::zeros, Data::special}) {
    for (const std::size_t count : {1u, 7u, 300u}) {
      for (const std::size_t size : {0u, 1u, 1023u, 1025u, 20'000u}) {
        SCOPED_TRACE(static_cast<int>(data) * 1000000 + static_cast<int>(count * 10000 + size));
        std::vector<double> values(size);
        std::vector<std::uint32_t> groups(size);
        for (double& value : values) value = number(data, random);
        for (std::uint32_t& group : groups) group = static_cast<std::uint32_t>(random() % count / (1 + random() % 3));  // not alike
        GroupSums sums(count, kAll);
        sums.add(values, groups);
        if (data == Data::plain && size == 20'000) {
          const Values rounded = sums.sums();
          ASSERT_TRUE(test::informative(rounded.as<double>()));
        }
        expect_like_parts(sums, values, groups);
      }
    }
  }
}

TEST(GroupSums, OfIntegersAndFloat32) {
  std::mt19937_64 random(2);
  const auto check = [&](auto element, int shift) {
    using T = decltype(element);
    std::vector<T> values(5000);
    std::vector<std::uint32_t> groups(values.size());
    for (T& value : values)
      value = static_cast<T>(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(random()) >> shift);
    for (std::uint32_t& group : groups) group = static_cast<std::uint32_t>(random() % 40);
    GroupSums sums(41, kAll);  // the last is empty
    sums.add(values, groups);
    expect_like_parts(sums, values, groups);
  };
  check(std::int8_t{}, 0);
  check(std::uint16_t{}, 0);
  check(std::int32_t{}, 0);
  check(std::int64_t{}, 9);
  check(std::uint64_t{}, 9);
  check(float{}, 0);
}

// The words that elements are split into (split.hpp), at the boundaries: the greatest number of a unit that fits and the next, the last bit
// of the lower word and the one behind it, and what has no words, as one element in a block of good ones.
TEST(GroupSums, InEveryInstructionSet) {
  const std::vector<double> odd = {0x1p3 - 0x1p-33,
                                   0x1p3,
                                   -0x1p3,
                                   std::nextafter(0x1p3, 0),
                                   1 + 0x1p-52,
                                   0x1p-69,
                                   -0x1p-69,
                                   0x1p-70,
                                   0x1.8p-34,
                                   0x1p-33,
                                   0x1.8p-33,
                                   0.0,
                                   -0.0,
                                   0x1p-1074,
                                   kInf,
                                   -kInf,
                                   kNan,
                                   1e300,
                                   -0.5 - 0x1p-40,
                                   0x1.fffffffffffffp-1};
  std::mt19937_64 random(5);
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    std::vector<double> values;
    std::vector<std::uint32_t> groups;
    for (const double one : odd) {
      const std::size_t place = random() % 64;
      for (std::size_t i = 0; i < 64; ++i) {
        const double unit = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;  // below 1, which decides on the units
        values.push_back(i == place ? one : unit);
        groups.push_back(static_cast<std::uint32_t>(random() % 5));
      }
    }
    const std::vector<float> narrow(values.begin(), values.end());
    for (const bool squares : {false, true}) {
      GroupSums wide(5, {.squares = squares, .threads = 1}), short_ones(5, {.squares = squares, .threads = 1});
      wide.add(values, groups);
      short_ones.add(narrow, groups);
      const auto parts = divided(values, groups, 5);
      const auto narrow_parts = divided(narrow, groups, 5);
      for (std::uint32_t group = 0; group < 5; ++group) {
        const Statistics all = collect(parts[group], {false, true, squares, false}),
                         few = collect(narrow_parts[group], {false, true, squares, false});
        ASSERT_EQ(wide.sum(group), all.sum());
        ASSERT_EQ(short_ones.sum(group), few.sum());
        if (!squares) continue;
        ASSERT_EQ(wide.statistics(group).squares(), all.squares());
        ASSERT_EQ(short_ones.statistics(group).squares(), few.squares());
      }
    }
    simd::restrict_to(best);
  }
}

TEST(GroupSums, DoNotDependOnThreadsOrderOrParts) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {3u, 5000u, 150'000u}) {  // tables for each thread, and sorted
    for (const Data data : {Data::plain, Data::special, Data::wide}) {
      std::vector<double> values(100'000);
      std::vector<std::uint32_t> groups(values.size());
      for (double& value : values) value = number(data, random);
      for (std::uint32_t& group : groups) group = static_cast<std::uint32_t>(random() % count);
      GroupOptions how = kAll;
      how.threads = 1;
      GroupSums one(count, how);
      one.add(values, groups);
      how.threads = 3;
      GroupSums three(count, how), parts(count, how), other(count, how);
      three.add(values, groups);
      const Array all(values), to(groups);
      other.add(all.part(80'000, 20'000), to.part(80'000, 20'000));
      parts.add(all.part(40'001, 39'999), to.part(40'001, 39'999));
      parts.add(all.part(0, 40'001), to.part(0, 40'001));
      parts += other;
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        EXPECT_EQ(bits(one.sums(nan)), bits(three.sums(nan)));
        EXPECT_EQ(bits(one.sums(nan)), bits(parts.sums(nan)));
        EXPECT_EQ(bits(one.squares(nan)), bits(three.squares(nan)));
        EXPECT_EQ(bits(one.squares(nan)), bits(parts.squares(nan)));
      }
      for (std::size_t group = 0; group < count; group += 97) {
        ASSERT_EQ(one.sum(group), three.sum(group));
        ASSERT_EQ(one.sum(group), parts.sum(group));
        ASSERT_EQ(one.count(group), parts.count(group));
        if (one.count(group) == 0) continue;
        ASSERT_EQ(bits(one.min(group).as_double()), bits(three.min(group).as_double()));
        ASSERT_EQ(bits(one.max(group).as_double()), bits(parts.max(group).as_double()));
      }
    }
  }
}

TEST(GroupSums, TakeStridesAxesAndEveryTypeOfIndex) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> groups = {0, 1, 0, 2, 2, 0};
  const Array a(values.data(), {2, 3}, DType::float32), b(groups.data(), {3, 2}, DType::int64);
  GroupSums sums(3);
  sums.add(a.transposed(), b);  // 1 4 2 5 3 6
  EXPECT_EQ(bits(sums.sums()), (std::vector<std::uint64_t>{bits(1 + 2 + 6.0), bits(4.0), bits(5 + 3.0)}));
  sums.add(a.row(1).slice(0, 2, 3, -1), std::vector<std::uint8_t>{2, 1, 2});  // 6 5 4
  EXPECT_EQ(bits(sums.sums()), (std::vector<std::uint64_t>{bits(9.0), bits(9.0), bits(18.0)}));
  sums.add(0.5, 2);
  EXPECT_EQ(sums.count(2), 5u);
  EXPECT_EQ(sums.sum(2).round(), 18.5);
}

std::string message(const auto& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(GroupSums, IndicesOutsideAreErrorsThatAddNothingOrAreLeftOut) {
  std::vector<double> values(3000, 1.0);
  std::vector<std::int32_t> groups(3000, 1);
  groups[2000] = -1;
  groups[2500] = 2;
  GroupSums sums(2);
  EXPECT_NE(message([&] { sums.add(values, groups); }).find("element 2000 has the index -1"), std::string::npos);
  groups[2000] = 0;
  EXPECT_NE(message([&] { sums.add(values, groups); }).find("element 2500 has the index 2"), std::string::npos);
  EXPECT_EQ(sums.count(1), 0u);
  EXPECT_NE(message([&] { sums.add(1.0, 2); }).find("no group 2"), std::string::npos);
  EXPECT_NE(message([&] { sums.add(values, values); }).find("float64"), std::string::npos);
  EXPECT_NE(message([&] { sums.add(values, std::vector{1}); }).find("shape"), std::string::npos);
  EXPECT_NE(message([&] { GroupSums(0).add(values, groups); }).find("element 0"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(sums.squares()); }).find("squares"), std::string::npos);
  groups[2000] = -7;
  for (const std::uint32_t threads : {1u, 3u}) {
    GroupSums ignoring(2, {.ignore_outside = true, .threads = threads});
    ignoring.add(values, groups);
    EXPECT_EQ(ignoring.outside(), 2u);
    EXPECT_EQ(ignoring.count(1), 2998u);
    EXPECT_EQ(ignoring.sum(1).round(), 2998.0);
  }
}

TEST(GroupSums, MergeIntoACoarserDivisionAndGrow) {
  GroupSums fine(4, kAll), coarse(2, kAll);
  fine.add(std::vector{1e300, 1.0, -1e300, 0x1p-1074}, std::vector{0, 1, 2, 3});
  const std::vector<std::uint64_t> to = {1, 0, 1, 1};
  coarse.merge(fine, to);
  EXPECT_EQ(coarse.sum(1).round(), 0x1p-1074);
  EXPECT_EQ(coarse.max(1).as_double(), 1e300);
  EXPECT_EQ(coarse.count(0), 1u);
  coarse.grow(100'000);
  coarse.add(2.0, 99'999);
  EXPECT_EQ(coarse.sum(1).round(), 0x1p-1074);
  EXPECT_EQ(coarse.sum(99'999).round(), 2.0);
  const GroupSums copy = coarse;
  EXPECT_EQ(copy.sum(1), coarse.sum(1));
}

TEST(GroupSums, ExtremesOfIntegersOfBothTypes) {
  const std::vector<std::uint64_t> large = {UINT64_MAX, std::uint64_t{1} << 63, 3}, first = {0, 1, 2};
  const std::vector<std::int64_t> small = {-1, -5, (std::int64_t{1} << 53) + 1}, second = {0, 2, 2};
  GroupSums sums(3, {.extrema = true});
  sums.add(large, first);
  sums.add(small, second);
  const GroupSums copy = GroupSums::deserialize(sums.serialize());
  for (const GroupSums* const one : {static_cast<const GroupSums*>(&sums), &copy}) {
    EXPECT_EQ(one->max(0), (Value{UINT64_MAX, DType::uint64}));
    EXPECT_EQ(one->min(0), (Value{std::int64_t{-1}, DType::int64}));
    EXPECT_EQ(one->min(1), (Value{std::uint64_t{1} << 63, DType::uint64}));
    EXPECT_EQ(one->max(2), (Value{(std::int64_t{1} << 53) + 1, DType::int64}));
    test::expect_error(ErrorKind::no_answer, "group 0: its extremum 18446744073709551615 does not fit",
                       [&] { static_cast<void>(one->maxima()); });
    test::expect_error(ErrorKind::no_answer, "group 1", [&] { static_cast<void>(one->minima()); });
  }
  sums.add(1.5, 0);
  EXPECT_EQ(GroupSums::deserialize(sums.serialize()), sums);
}

TEST(GroupSums, OfIntegersThatDoNotFitNameTheGroup) {
  GroupSums sums(3);
  sums.add(std::vector<std::int64_t>(2, INT64_MAX), std::vector{1, 1});
  EXPECT_EQ(sums.type(), DType::int64);
  try {
    static_cast<void>(sums.sums());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_answer);
    EXPECT_NE(std::string(error.what()).find("group 1"), std::string::npos) << error.what();
  }
  EXPECT_EQ(sums.means().as<double>()[1], 0x1p63);
}

TEST(Segments, OfAnyLengthsHaveTheBitsOfTheirElementsAlone) {
  std::mt19937_64 random(4);
  for (const Data data : {Data::plain, Data::special, Data::zeros, Data::wide}) {
    std::vector<std::uint64_t> lengths(20'000);  // several ranges of groups; some empty, some long
    for (std::uint64_t& length : lengths) length = random() % 4;
    lengths[0] = 1500;
    lengths[9000] = 70'000;
    lengths[19'999] = 65'536;
    std::vector<double> values(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    for (double& value : values) value = number(data, random);
    const By groups = by_lengths(lengths);
    ASSERT_EQ(groups.groups(), lengths.size());
    for (const std::uint32_t threads : {1u, 3u}) {
      GroupOptions how = kAll;
      how.threads = threads;
      const GroupSums sums = groups.sums(values, how);
      std::uint64_t first = 0;
      for (std::size_t group = 0; group < lengths.size(); first += lengths[group++]) {
        if (group % 89 != 0 && lengths[group] < 4) continue;
        const Array part = Array(values).part(first, lengths[group]);
        const Statistics all = collect(part, {true, true, true, false});
        ASSERT_EQ(sums.sum(group), all.sum()) << group;
        ASSERT_EQ(sums.statistics(group).squares(), all.squares()) << group;
        if (lengths[group] == 0) continue;
        ASSERT_EQ(bits(sums.min(group, NanPolicy::propagate).as_double()), bits(all.min().value.as_double()));
        ASSERT_EQ(bits(sums.max(group, NanPolicy::propagate).as_double()), bits(all.max().value.as_double()));
      }
    }
  }
}

TEST(Segments, ByOffsetsOfAnyTypeAndStride) {
  const std::vector<std::int32_t> values = {9, 1, 2, 3, 4, 9};
  const std::vector<std::int16_t> offsets = {1, 1, 4, 5};
  const Values sums = sum(values, by_offsets(offsets));
  EXPECT_EQ(std::vector<std::int64_t>(sums.as<std::int64_t>().begin(), sums.as<std::int64_t>().end()),
            (std::vector<std::int64_t>{0, 6, 4}));
  const Values reversed = sum(Array(values.data() + 5, 6, DType::int32, -4), by_offsets(offsets));
  EXPECT_EQ(reversed.as<std::int64_t>()[1], 4 + 3 + 2);
  EXPECT_TRUE(std::isnan(mean(values, by_offsets(offsets)).as<double>()[0]));
  EXPECT_NE(message([&] { static_cast<void>(by_offsets(std::vector{0, 3, 2})); }).find("offset 2 is 2"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(by_offsets(std::vector{-1, 3})); }).find("negative"), std::string::npos);
  EXPECT_NE(message([&] {
              static_cast<void>(sum(values, by_offsets(std::vector{0, 7})));
            }).find("there are 6 elements"),
            std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(by_lengths(std::vector{1, -2})); }).find("length 1 is negative"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(by_offsets(std::vector<int>{})); }).find("one offset more"), std::string::npos);
}

template <class Key>
void expect_by(std::vector<Key> keys, const std::vector<double>& values) {
  std::map<Key, std::vector<double>> expected;
  std::vector<Key> seen;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::vector<double>& part = expected[keys[i]];
    if (part.empty()) seen.push_back(keys[i]);
    part.push_back(values[i]);
  }
  for (const KeyOrder order : {KeyOrder::sorted, KeyOrder::first_seen}) {
    const By groups = by(keys, order);
    ASSERT_EQ(groups.groups(), expected.size());
    const Values sums = sum(values, groups), means = mean(values, groups), least = min(values, groups), counts = count(values, groups);
    const Values spread = variance(values, groups), greatest = max(values, groups);
    std::vector<Key> order_of = seen;
    if (order == KeyOrder::sorted) std::ranges::sort(order_of);
    for (std::size_t group = 0; group < order_of.size(); ++group) {
      const std::vector<double>& part = expected[order_of[group]];
      ASSERT_EQ(groups.keys().template as<Key>()[group], order_of[group]);
      ASSERT_EQ(bits(sums.as<double>()[group]), bits(sum(part)));
      const Statistics all = collect(part);
      ASSERT_EQ(bits(means.as<double>()[group]), bits(all.mean()));
      ASSERT_EQ(bits(spread.as<double>()[group]), bits(all.variance()));
      ASSERT_EQ(least.as<double>()[group], all.min().value.as_double());
      ASSERT_EQ(greatest.as<double>()[group], all.max().value.as_double());
      ASSERT_EQ(counts.as<std::uint64_t>()[group], part.size());
    }
  }
}

TEST(Keys, AreIntegersOfAnyKindInEitherOrder) {
  std::mt19937_64 random(5);
  std::vector<double> values(3000);
  for (double& value : values) value = number(Data::plain, random);
  std::vector<std::int64_t> wide(values.size()), near(values.size()), different(values.size());
  std::vector<std::uint64_t> large(values.size());
  std::vector<std::int8_t> small(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    wide[i] = static_cast<std::int64_t>(random() % 50 * 0x0123456789abcdef);
    near[i] = static_cast<std::int64_t>(random() % 7) - 3;
    different[i] = static_cast<std::int64_t>(random());
    large[i] = ~std::uint64_t{0} - random() % 3;
    small[i] = static_cast<std::int8_t>(random());
  }
  expect_by(wide, values);
  expect_by(near, values);
  expect_by(different, values);
  expect_by(large, values);
  expect_by(small, values);
  expect_by(std::vector<std::int64_t>(values.size(), INT64_MIN), values);
  expect_by(std::vector<std::int32_t>{}, {});
  EXPECT_EQ(sum(values, by(near)).size(), 7u);
  const Values dense = sum(std::vector{1.0, 2.0, 4.0}, by(std::vector{2, 0, 2}, 4));
  EXPECT_EQ(bits(dense), (std::vector<std::uint64_t>{bits(2.0), 0, bits(5.0), 0}));
  EXPECT_NE(message([&] { static_cast<void>(by(values)); }).find("float64"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(sum(values, by(std::vector{1}))); }).find("3000 elements"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(sum(std::vector{1.0}, by(std::vector{4}, 4))); }).find("index 4"), std::string::npos);
}

// Zeros of both signs among numbers that are added as integers, which have no -0.0.
TEST(GroupSums, NegativeZerosAmongNumbers) {
  const auto check = [](auto one) {
    using T = decltype(one);
    std::vector<T> values;
    std::vector<std::uint32_t> groups;
    for (std::uint32_t i = 0; i < 4096; ++i) {
      groups.push_back(i % 4);
      values.push_back(i % 4 == 0 ? T(-0.0) : i % 4 == 1 ? T(0.5) : i % 4 == 2 ? (i == 2 ? T(0.0) : T(-0.0)) : (i % 8 == 3 ? T(1) : T(-1)));
    }
    GroupSums sums(4);
    sums.add(values, groups);
    const double expected[] = {-0.0, 512.0, 0.0, 0.0};
    for (std::size_t group = 0; group < 4; ++group) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sums.sums().as<double>()[group]), std::bit_cast<std::uint64_t>(expected[group])) << group;
    }
  };
  check(float{1});
  check(double{1});
}

}  // namespace
}  // namespace samesum
