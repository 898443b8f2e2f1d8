// The serialized forms of all results that merge, as specified in docs/accumulator-format.md. (Of sums: serialize_test.cpp.)
#include "support/parts.hpp"

#include <samesum/error.hpp>
#include <samesum/plan.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

using Bytes = std::vector<std::byte>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The functions that every result that merges has.
template <class Result>
concept Mergeable = requires(Result result, const Result& other, const Bytes& bytes) {
  result.merge(other);
  { result += other } -> std::same_as<Result&>;
  { other == other } -> std::same_as<bool>;
  { other.serialize() } -> std::same_as<Bytes>;
  { Result::deserialize(bytes) } -> std::same_as<Result>;
  { other.words()[0] } -> std::convertible_to<std::int64_t>;
};
static_assert(Mergeable<Accumulator> && Mergeable<ProductAccumulator> && Mergeable<Statistics> && Mergeable<Histogram>);
static_assert(Mergeable<HistogramNd> && Mergeable<GroupSums> && Mergeable<WeightedHistogram>);

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    for (const int digit : {std::to_integer<int>(byte) >> 4, std::to_integer<int>(byte) & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

// Only the digits.
std::string packed(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  return digits;
}

template <class Result>
std::string refusal(const Bytes& bytes) {
  try {
    Result::deserialize(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

template <class Result>
struct Serialized : testing::Test {};
using Results = testing::Types<Accumulator, ProductAccumulator, Statistics, Histogram, HistogramNd, GroupSums, WeightedHistogram>;
TYPED_TEST_SUITE(Serialized, Results);

TYPED_TEST(Serialized, ComesBackEqual) {
  EXPECT_EQ(TypeParam::deserialize(test::nothing<TypeParam>().serialize()), test::nothing<TypeParam>());
  constexpr bool kMany = std::is_same_v<TypeParam, GroupSums> || std::is_same_v<TypeParam, WeightedHistogram>;
  for (std::uint64_t seed = 0; seed < (kMany ? 200 : 2000); ++seed) {
    hard::Random random(seed);
    auto result = test::random_part<TypeParam>(random);
    const auto more = test::random_part<TypeParam>(random);
    const Bytes bytes = result.serialize();
    auto back = TypeParam::deserialize(bytes);
    ASSERT_EQ(back, result) << seed;
    ASSERT_EQ(back.serialize(), bytes) << seed;
    back += more;
    result.merge(more);
    ASSERT_EQ(back, result) << seed;
    ASSERT_EQ(back.serialize(), result.serialize()) << seed;
    ASSERT_EQ(TypeParam::deserialize(back.serialize()), back) << seed;
  }
}

TYPED_TEST(Serialized, EveryDamagedBitAndEveryLengthIsRefused) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    hard::Random random(seed);
    const Bytes good = test::random_part<TypeParam>(random).serialize();
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        Bytes bad = good;
        bad[i] ^= static_cast<std::byte>(1 << bit);
        ASSERT_NE(refusal<TypeParam>(bad), "accepted") << i;
      }
      ASSERT_NE(refusal<TypeParam>(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i))), "accepted") << i;
    }
    Bytes longer = good;
    longer.push_back(std::byte{0});
    EXPECT_NE(refusal<TypeParam>(longer).find("bytes expected"), std::string::npos);
    EXPECT_NE(refusal<TypeParam>(test::forged(good, 8, {2})).find("of format version 2; this samesum knows version 1"), std::string::npos);
  }
}

TEST(SerializedResults, OneKindIsNotReadAsAnother) {
  const Histogram histogram(Bins::even(0, 1, 1));
  EXPECT_EQ(refusal<Accumulator>(histogram.serialize()), "a histogram, not a partial sum written by samesum");
  EXPECT_EQ(refusal<ProductAccumulator>(Accumulator().serialize()), "a partial sum, not a partial sum of products written by samesum");
  EXPECT_EQ(refusal<Statistics>(ProductAccumulator().serialize()), "a partial sum of products, not a set of statistics written by samesum");
  EXPECT_EQ(refusal<Histogram>(Statistics().serialize()), "a set of statistics, not a histogram written by samesum");
  EXPECT_EQ(refusal<Histogram>({}), "not a histogram written by samesum");
}

TEST(SerializedResults, GoldenBytes) {
  ProductAccumulator products;
  products.add(1.5, -0.5);
  products.add(kNan, 1.0);
  EXPECT_EQ(hex(products.serialize()), packed("89535350520d0a1a 0100 0000 4300 0100 "
                                              "0200000000000000 0100000000000000 "
                                              "0000000000000000 0000000000000000 "
                                              "f4ffffff b43194bfd6f326db"));
  const std::vector<float> values{-2.5f, 1.0f, static_cast<float>(kNan)};
  EXPECT_EQ(hex(collect(values, {true, true, true, true}).serialize()),
            packed("89535353540d0a1a 0100 ef00 0b00 0b00 3c000000 3c000000 "
                   "0300000000000000 0100000000000000 0300000000000000 0000000000000000 0200000000000000 "
                   "00000000000004c0 0000000000000000 000000000000f03f 0100000000000000 "
                   "895353554d0d0a1a 0100 0000 2100 0100 0300000000000000 0100000000000000 0000000000000000 0000000000000000 0000faff "
                   "611a3003a9d03fac "
                   "89535350520d0a1a 0100 0000 4300 0100 0300000000000000 0100000000000000 0000000000000000 0000000000000000 74000000 "
                   "a155c56077bd8398 "
                   "709bb23b323d1003"));
  const Histogram histogram(Bins::even(0, 1, 2), std::vector<std::uint64_t>{1, 2, 0x123456789a, 3, 4});
  EXPECT_EQ(hex(histogram.serialize()), packed("89535348490d0a1a 0100 0000 02000000 "
                                               "0000000000000000 000000000000e03f 000000000000f03f "
                                               "0100000000000000 0200000000000000 9a78563412000000 0300000000000000 0400000000000000 "
                                               "0c33079ec30fe4b7"));
}

// Equal statistics have equal bytes, for any division into parts.
TEST(SerializedResults, AreCanonical) {
  hard::Random random(5);
  std::vector<double> values(300);
  for (double& value : values) value = test::ugly_double(random);
  constexpr Fields kAll{true, true, true, true};
  const Options alone{.tuning = {.threads = 1}};
  const Array array = values;
  const Bytes whole = collect(array, kAll, alone).serialize();
  const Bins bins = test::bins_of_parts();
  for (const std::uint64_t cut : {0u, 1u, 17u, 299u, 300u}) {
    Statistics parts = collect(array.part(0, cut), kAll, alone);
    parts += Statistics::deserialize(collect(array.part(cut, 300 - cut), kAll, alone).serialize());
    EXPECT_EQ(parts.serialize(), whole) << cut;
    Histogram other = histogram(array.part(cut, 300 - cut), bins);
    other.merge(histogram(array.part(0, cut), bins));
    EXPECT_EQ(other.serialize(), histogram(array, bins).serialize()) << cut;
  }
}

// Valid checksums over contents that serialize() never writes.
TEST(SerializedResults, ForgedProductsAreRefused) {
  const std::string contradiction = "damaged partial sum of products: it contradicts itself";
  ProductAccumulator one;
  one.add(1.0, 1.0);
  const Bytes good = one.serialize();
  EXPECT_EQ(refusal<ProductAccumulator>(test::forged(good, 10, {1})), contradiction) << "only negative zeros, and yet a digit";
  EXPECT_EQ(refusal<ProductAccumulator>(test::forged(good, 10, {4})), contradiction) << "an unknown flag";
  EXPECT_EQ(refusal<ProductAccumulator>(test::forged(good, 12, {133})), contradiction) << "beyond what one product reaches";
  EXPECT_EQ(refusal<ProductAccumulator>(test::forged(good, 12, {255, 255})), contradiction);
  EXPECT_EQ(refusal<ProductAccumulator>(test::forged(good, 16, {0})), contradiction) << "a digit without an element";
  EXPECT_EQ(refusal<ProductAccumulator>(test::forged(good, 24, {2})), contradiction) << "more NaNs than elements";
}

TEST(SerializedResults, ForgedStatisticsAreRefused) {
  const std::string contradiction = "damaged set of statistics: it contradicts itself";
  const std::vector<float> values{-2.5f, 1.0f, static_cast<float>(kNan)};
  const Bytes good = collect(values, {true, true, true, true}).serialize();
  const auto refused = [&](std::size_t offset, std::initializer_list<int> bytes) {
    return refusal<Statistics>(test::forged(good, offset, bytes));
  };
  ASSERT_EQ(refused(0, {}), "accepted");
  EXPECT_EQ(refused(11, {1}), contradiction) << "an unknown flag";
  EXPECT_EQ(refused(10, {0xcf}), contradiction) << "a NaN, and none is the first";
  EXPECT_EQ(refused(12, {0}), contradiction) << "the minimum has no type";
  EXPECT_EQ(refused(12, {13}), contradiction) << "the minimum has an unknown type";
  EXPECT_EQ(refused(12, {1}), contradiction) << "the minimum is no int8";
  EXPECT_EQ(refused(24, {4}), contradiction) << "more elements than were summed";
  EXPECT_EQ(refused(32, {0}), contradiction) << "fewer NaNs than were summed";
  EXPECT_EQ(refused(40, {4}), contradiction) << "more numbers that are not zero than elements";
  EXPECT_EQ(refused(40, {0}), contradiction) << "fewer numbers that are not zero than NaNs";
  EXPECT_EQ(refused(48, {255, 255, 255, 255, 255, 255, 255, 255}), contradiction) << "more places than there are indices";
  EXPECT_EQ(refused(56, {3}), contradiction) << "the first NaN has no place";
  EXPECT_EQ(refused(56, {1}), contradiction) << "the first NaN stands where the maximum does";
  EXPECT_EQ(refused(64, {1}), contradiction) << "the minimum is no float32";
  EXPECT_EQ(refused(70, {0xf8, 0x7f}), contradiction) << "the minimum is NaN";
  EXPECT_EQ(refused(71, {0x40}), contradiction) << "the minimum is greater than the maximum";
  EXPECT_EQ(refused(72, {1}), contradiction) << "two numbers in one place";
  EXPECT_EQ(refused(88, {3}), contradiction) << "the maximum has no place";
  EXPECT_EQ(refused(16, {255, 255, 255, 255}).substr(0, 27), "truncated set of statistics");
}

// Each part is valid by itself.
TEST(SerializedResults, StatisticsWhosePartsDifferAreRefused) {
  const std::string contradiction = "damaged set of statistics: it contradicts itself";
  const std::vector<float> values{-2.5f, 1.0f, static_cast<float>(kNan)};
  const auto outcome = [](const Statistics::Contents& contents) { return refusal<Statistics>(Statistics(contents).serialize()); };
  Statistics::Contents contents = collect(values, {false, true, true, false}).contents();
  const Statistics::Contents good = contents;
  ASSERT_EQ(outcome(good), "accepted");
  contents.squares = {};
  contents.squares.add_counts(2, 0, 0, 0, false);
  contents.squares.add(kNan, 1.0);
  EXPECT_EQ(outcome(contents), contradiction) << "the squares are too small for the sum";
  contents.squares.add_scaled(-1, 0);
  EXPECT_EQ(outcome(contents), contradiction) << "a negative sum of squares";

  for (const bool of_sum : {true, false}) {
    contents = good;
    contents.fields = {false, of_sum, !of_sum, false};
    ASSERT_EQ(outcome(contents), "accepted");
    contents.count = 4;
    EXPECT_EQ(outcome(contents), contradiction) << "an element that was not added up";
    contents.count = 3;
    contents.nan_count = 0;
    EXPECT_EQ(outcome(contents), contradiction) << "a NaN that is not counted";
  }
  contents = good;
  contents.sum.add(kInfinity);
  contents.squares.add(1.0, 1.0);
  contents.count = 4;
  EXPECT_EQ(outcome(contents), contradiction) << "an infinity that has no square";
  contents = good;
  contents.sum.add(kInfinity);
  contents.sum.add(kInfinity);
  contents.squares.add_counts(2, 0, 1, 1, false);
  contents.count = 5;
  EXPECT_EQ(outcome(contents), contradiction) << "a negative infinity among squares";

  contents = collect(std::vector<double>{kNan}, {true, false, false, false}).contents();
  ASSERT_EQ(outcome(contents), "accepted");
  constexpr std::uint64_t kNowhere = ExtremaRecord::kNowhere;
  contents.min = Extremum{{2.0, DType::float64}, kNowhere};
  EXPECT_EQ(outcome(contents), contradiction) << "an extreme of NaNs alone";
  contents.count = 2;
  ASSERT_EQ(outcome(contents), "accepted");
  contents.max = Extremum{{1.0, DType::float64}, kNowhere};
  EXPECT_EQ(outcome(contents), contradiction) << "a minimum greater than the maximum";
}

// The limits of every type.
TEST(SerializedResults, InfinitiesAndIntegersAtTheEndsComeBack) {
  const std::uint16_t half[] = {0x7c00, 0xfc00}, bfloat[] = {0x7f80, 0xff80}, greatest[] = {0x7bff, 0x0001};
  const std::vector<float> floats{std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()};
  const std::vector<std::uint64_t> integers{0, ~std::uint64_t{0}};
  const std::vector<std::int64_t> signed_integers{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  const Array arrays[] = {{half, 2, DType::float16},
                          {bfloat, 2, DType::bfloat16},
                          {greatest, 2, DType::float16},
                          {greatest, 2, DType::bfloat16},
                          floats,
                          integers,
                          signed_integers};
  for (const Array& array : arrays) {
    const Statistics found = collect(array);
    EXPECT_EQ(Statistics::deserialize(found.serialize()), found) << name_of(array.type());
  }
}

// Sums that doubles hold, and others; what is added later, extrema and integers included.
TEST(SerializedResults, GroupsGoOnAfterwards) {
  const GroupOptions all{.squares = true, .extrema = true, .ignore_outside = false, .threads = 1};
  const std::vector<double> floats{1e300, 1e-300, 1, -1e300, kInfinity, kNan, -0.0, 5e-324, 0.1, -0.1};
  const std::vector<std::uint32_t> groups{0, 0, 0, 0, 1, 2, 3, 4, 5, 5};
  const std::vector<std::int64_t> integers{
      std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 3, -7, 0, 1, 2, 3, 4, 5};
  for (const Array& values : {Array(floats), Array(integers)}) {
    GroupSums sums(7, all);
    sums.add(values, groups);
    GroupSums back = GroupSums::deserialize(sums.serialize());
    EXPECT_EQ(back, sums);
    sums.add(values, groups);
    back.add(values, groups);
    EXPECT_EQ(back, sums);
    EXPECT_EQ(back.serialize(), sums.serialize());
    if (values.type() == DType::float64) {
      EXPECT_EQ(back.minima(NanPolicy::skip).as<double>()[0], -1e300);
    } else {
      EXPECT_EQ(std::get<std::int64_t>(back.min(0).number), std::numeric_limits<std::int64_t>::min());
    }
  }
}

TEST(SerializedResults, ForgedGroupsAreRefused) {
  const std::string contradiction = "damaged set of group sums: it contradicts itself";
  GroupSums sums(2, {.squares = true, .extrema = true, .ignore_outside = false, .threads = 1});
  sums.add(1.5, 0);
  const Bytes good = sums.serialize();
  const auto refused = [&](std::size_t offset, std::initializer_list<int> bytes) {
    return refusal<GroupSums>(test::forged(good, offset, bytes));
  };
  ASSERT_EQ(refused(0, {}), "accepted");
  EXPECT_EQ(refused(10, {2}), contradiction) << "no squares";
  EXPECT_EQ(refused(10, {11}), contradiction) << "an unknown flag";
  EXPECT_EQ(refused(12, {4}), contradiction) << "elements of no kind";
  EXPECT_NE(refused(12, {2}), "accepted") << "elements of another kind";
  EXPECT_EQ(refused(16, {3}), contradiction) << "fewer groups than are told";
  EXPECT_EQ(refused(16, {1}), contradiction) << "more groups than are told";
  EXPECT_EQ(refused(16, {255, 255, 255, 255, 255}), contradiction) << "too many groups";
  EXPECT_EQ(refused(32, {255, 255, 255, 255, 255}).substr(0, 23), "truncated set of group ");
  EXPECT_EQ(refused(40, {255, 255}), contradiction) << "a sum beyond the end";
  const std::size_t extrema = good.size() - 8 - 2 - 32;
  EXPECT_EQ(refused(extrema + 8, {1}), contradiction) << "a double and an integer";
  EXPECT_EQ(refused(extrema + 7, {0x40}), contradiction) << "a minimum above the maximum";
  const HistogramNd histogram(test::axes_of_parts());
  const Bytes cells = histogram.serialize();
  EXPECT_EQ(refusal<HistogramNd>(test::forged(cells, 12, {1})), "damaged histogram over several axes: it contradicts itself");
  EXPECT_EQ(refusal<HistogramNd>(test::forged(cells, 24, {255, 255, 255, 255, 255, 255, 255, 255})),
            "damaged histogram over several axes: it contradicts itself");
}

TEST(SerializedResults, ForgedHistogramsAreRefused) {
  const std::string contradiction = "damaged histogram: it contradicts itself";
  const Histogram histogram(Bins::even(0, 1, 2), std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  const Bytes good = histogram.serialize();
  const auto refused = [&](std::size_t offset, std::initializer_list<int> bytes) {
    return refusal<Histogram>(test::forged(good, offset, bytes));
  };
  ASSERT_EQ(refused(0, {}), "accepted");
  EXPECT_EQ(refused(10, {1}), contradiction) << "an unknown flag";
  EXPECT_EQ(refused(12, {1}).substr(0, 17), "damaged histogram");
  EXPECT_EQ(refused(12, {255, 255, 255, 255}).substr(0, 19), "truncated histogram");
  EXPECT_EQ(refused(23, {0x80}), contradiction) << "an edge of -0.0";
  EXPECT_EQ(refused(30, {0xf8, 0x7f}), contradiction) << "an edge of NaN";
  EXPECT_EQ(refused(30, {0x08, 0x40}), contradiction) << "edges that descend";
  EXPECT_EQ(refused(40, {255, 255, 255, 255, 255, 255, 255, 255}), contradiction) << "more samples than 64 bits count";
}

}  // namespace
}  // namespace samesum
