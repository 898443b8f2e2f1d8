// Words that merge by addition: the sum of the words of parts is the words of the merged result.
#include "support/parts.hpp"

#include <samesum/error.hpp>
#include <samesum/sum_message.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

using Words = std::vector<std::int64_t>;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

template <class Result>
Words words_of(const Result& result) {
  const auto words = result.words();
  return {words.begin(), words.end()};
}

template <class Result>
Result from(const Words& words) {
  return Result::from_words(std::span<const std::int64_t, Result::kWords>(words));
}
template <>
Histogram from(const Words& words) {
  return Histogram::from_words(test::bins_of_parts(), words);
}

template <>
HistogramNd from(const Words& words) {
  return HistogramNd::from_words(test::axes_of_parts(), words);
}
template <>
GroupSums from(const Words& words) {
  return GroupSums::from_words(test::kGroupsOfParts, test::kOptionsOfParts, words);
}
template <>
WeightedHistogram from(const Words& words) {
  return WeightedHistogram::from_words(test::axes_of_parts(), words);
}

// The operation of MPI_SUM.
void add(Words& to, const Words& words) { std::ranges::transform(to, words, to.begin(), std::plus<>()); }

// Words require that extremes are dropped; without elements words exist for any fields.
Statistics without_extrema(const Statistics& one) { return one.count() != 0 ? one.without_extrema() : one; }
template <class Result>
const Result& without_extrema(const Result& one) {
  return one;
}

void expect_equal_rounded(const Accumulator& a, const Accumulator& b) {
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.round(nan)), std::bit_cast<std::uint64_t>(b.round(nan)));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(a.round_to_float(nan)), std::bit_cast<std::uint32_t>(b.round_to_float(nan)));
  }
  EXPECT_EQ(a.result_type(), b.result_type());
}
void expect_equal_rounded(const ProductAccumulator& a, const ProductAccumulator& b) {
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.round(nan)), std::bit_cast<std::uint64_t>(b.round(nan)));
  }
}
void expect_equal_rounded(const Statistics& a, const Statistics& b) {
  expect_equal_rounded(a.contents().sum, b.contents().sum);
  expect_equal_rounded(a.contents().squares, b.contents().squares);
}
template <class Result>
void expect_equal_rounded(const Result&, const Result&) {}

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

template <class Result>
struct WordsOf : testing::Test {};
using Results = testing::Types<Accumulator, ProductAccumulator, Statistics, Histogram, HistogramNd, GroupSums, WeightedHistogram>;
// Their parts are many sums.
template <class Result>
constexpr bool kMany = std::is_same_v<Result, GroupSums> || std::is_same_v<Result, WeightedHistogram>;
TYPED_TEST_SUITE(WordsOf, Results);

TYPED_TEST(WordsOf, RandomPartsAddUpToThoseOfTheWhole) {
  for (const std::size_t parts : {1, 2, 3, 5, 1000}) {
    for (std::uint64_t seed = 0; seed < (parts > 10 ? kMany<TypeParam> ? 1 : 3 : kMany<TypeParam> ? 40 : 400); ++seed) {
      hard::Random random(seed * 2000 + parts);
      TypeParam merged = without_extrema(test::random_part<TypeParam>(random));
      Words sum = words_of(merged);
      for (std::size_t i = 1; i < parts; ++i) {
        const TypeParam part = without_extrema(test::random_part<TypeParam>(random));
        merged.merge(part);
        add(sum, words_of(part));
      }
      const TypeParam found = from<TypeParam>(sum);
      ASSERT_EQ(found, without_extrema(merged)) << parts << " parts, seed " << seed;
      expect_equal_rounded(found, without_extrema(merged));
      EXPECT_EQ(words_of(found), words_of(merged));
    }
  }
}

// The same part 2^20 times.
TYPED_TEST(WordsOf, AMillionPartsHaveRoom) {
  constexpr std::int64_t kParts = std::int64_t{1} << 20;
  for (std::uint64_t seed = 0; seed < (kMany<TypeParam> ? 20 : 200); ++seed) {
    hard::Random random(seed);
    TypeParam merged = without_extrema(test::random_part<TypeParam>(random));
    Words sum = words_of(merged);
    for (std::int64_t& word : sum) {
      ASSERT_FALSE(__builtin_mul_overflow(word, kParts, &word));
      ASSERT_LT(std::abs(word), std::int64_t{1} << 53);  // more headroom than is guaranteed
    }
    for (std::int64_t parts = 1; parts < kParts; parts *= 2) merged.merge(TypeParam(merged));
    ASSERT_EQ(from<TypeParam>(sum), merged) << seed;
  }
}

TYPED_TEST(WordsOf, NothingAddsNothing) {
  const TypeParam nothing = without_extrema(test::nothing<TypeParam>());
  EXPECT_EQ(from<TypeParam>(words_of(nothing)), without_extrema(nothing));
  hard::Random random(1);
  const TypeParam part = without_extrema(test::random_part<TypeParam>(random));
  Words sum = words_of(part);
  add(sum, words_of(nothing));
  EXPECT_EQ(from<TypeParam>(sum), part);
}

TYPED_TEST(WordsOf, WhatIsNoSumOfWordsIsRefused) {
  hard::Random random(9);
  TypeParam part = test::random_part<TypeParam>(random);
  for (int i = 0; i < 8; ++i) part.merge(test::random_part<TypeParam>(random));
  const Words good = words_of(without_extrema(part));
  const std::size_t sign = std::is_same_v<TypeParam, Accumulator> ? Accumulator::kDigits - 1u : ProductAccumulator::kDigits - 1u;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (std::is_same_v<TypeParam, Statistics> || kMany<TypeParam>) break;  // made of the others: some words are ignored beside others
    for (const std::int64_t bad : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
      if (i == sign && bad == -1) continue;
      Words words = good;
      words[i] = bad;
      EXPECT_NE(refusal(ErrorKind::usage, [&] { from<TypeParam>(words); }).find("no sum of words"), std::string::npos) << i << " " << bad;
    }
  }
}

TEST(Words, ASumThatItsElementsCannotHaveIsRefused) {
  Accumulator sum;
  sum.add(1.0);
  Words words = words_of(sum);
  words[Accumulator::kDigits] = 0;
  EXPECT_NE(refusal(ErrorKind::usage, [&] { from<Accumulator>(words); }).find("no sum of words"), std::string::npos);
  words = words_of(sum);
  words[Accumulator::kDigits - 1] = 1;
  EXPECT_NE(refusal(ErrorKind::usage, [&] { from<Accumulator>(words); }).find("no sum of words"), std::string::npos);
}

TEST(Words, CountsOfMoreThan64BitsEndInAnError) {
  Accumulator sum;
  sum.add_counts(kMax, 0, 0, 0, false);
  EXPECT_EQ(from<Accumulator>(words_of(sum)), sum);
  ProductAccumulator products;
  products.add_counts(kMax, 0, 0, 0, false);
  EXPECT_EQ(from<ProductAccumulator>(words_of(products)), products);
  Words words = words_of(sum), other = words_of(products);
  add(words, words_of(sum));
  add(other, words_of(products));
  EXPECT_NE(refusal(ErrorKind::no_answer, [&] { from<Accumulator>(words); }).find("2^64 - 1"), std::string::npos);
  EXPECT_NE(refusal(ErrorKind::no_answer, [&] { from<ProductAccumulator>(other); }).find("2^64 - 1"), std::string::npos);
  const Statistics missing(Statistics::Contents{.fields = {false, false, false, false}, .count = 1, .missing = kMax - 1});
  Words places = words_of(missing);
  EXPECT_EQ(from<Statistics>(places), missing);
  add(places, words_of(Statistics(Statistics::Contents{.fields = {false, false, false, false}, .count = 1})));
  EXPECT_NE(refusal(ErrorKind::no_answer, [&] { from<Statistics>(places); }).find("2^64 - 1"), std::string::npos);
  std::vector<std::uint64_t> slots(test::bins_of_parts().count() + 3);
  slots[2] = kMax;
  const Histogram full(test::bins_of_parts(), slots);
  Words counts = words_of(full);
  EXPECT_EQ(from<Histogram>(counts), full);
  ++counts[0];
  EXPECT_NE(refusal(ErrorKind::no_answer, [&] { from<Histogram>(counts); }).find("2^64 - 1"), std::string::npos);
  counts.pop_back();
  EXPECT_NE(refusal(ErrorKind::usage, [&] { from<Histogram>(counts); }).find("24 words; here are 23"), std::string::npos);
}

// The words of many sums that some of them use, and those of one that is sent without asking.
TEST(Words, MessagesOfSumsAddUpToThoseOfTheWhole) {
  EXPECT_EQ(SumMessage::ordinary().words(), SumMessage::kOrdinaryWords);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    hard::Random random(seed);
    const std::size_t count = random.below(6), parts = 1 + random.below(4);
    const bool ordinary = seed % 3 == 0, near = seed % 3 == 1;
    std::vector<std::vector<Accumulator>> all(parts, std::vector<Accumulator>(count));
    std::vector<Accumulator> merged(count);
    SumMessage::Needs needs{};
    for (std::vector<Accumulator>& part : all) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!ordinary && !near) part[i] = test::random_part<Accumulator>(random);
        const double unit = ordinary ? 0x1p-178 : 0x1p60;
        for (std::uint64_t terms = ordinary || near ? random.below(9) : 0; terms > 0; --terms) {
          part[i].add((static_cast<double>(random.bits(53)) - 0x1p52) * unit *
                      (near ? 1 : std::ldexp(1.0, static_cast<int>(random.below(320)))));
        }
        merged[i].merge(part[i]);
      }
      const SumMessage::Needs mine = SumMessage::needs(part);
      for (std::size_t k = 0; k < needs.size(); ++k) needs[k] |= mine[k];
    }
    const SumMessage message = ordinary && seed % 2 == 0 ? SumMessage::ordinary() : SumMessage(needs);
    ASSERT_TRUE(message.holds(needs)) << seed;
    if (near) {
      ASSERT_LE(message.words(), 9u) << seed;
    }
    Words sum(message.words() * count);
    for (const std::vector<Accumulator>& part : all) {
      Words words(sum.size());
      message.write(part, words);
      add(sum, words);
    }
    for (std::vector<Accumulator>& part : all) {
      message.read(sum, part);
      ASSERT_EQ(part, merged) << seed;
    }
  }
}

// Flags share a word, which must keep them apart for 2^20 senders; so must a count of one word.
TEST(Words, OrdinaryMessagesTellTheKindsOfElements) {
  Accumulator none, zeros, naturals, integers, floats, many;
  zeros.add(-0.0);
  naturals.add(std::uint8_t{3});
  integers.add(std::int32_t{-3});
  floats.add(0.5f);
  many.add(1.5);
  many.add_counts((std::uint64_t{1} << 42) - 2, 0, 0, 0, true);
  const SumMessage message = SumMessage::ordinary();
  for (const std::int64_t senders : {std::int64_t{1}, std::int64_t{1} << 20}) {
    for (const Accumulator& a : {none, zeros, naturals, integers, floats, many}) {
      for (const Accumulator& b : {none, zeros, naturals, integers, floats}) {
        std::array<Accumulator, 1> one{a}, other{b};
        ASSERT_TRUE(message.holds(one[0]) && message.holds(other[0]));
        Words words(message.words()), more(message.words());
        message.write(one, words);
        message.write(other, more);
        for (std::size_t i = 0; i < words.size(); ++i) words[i] += (senders - 1) * more[i];
        message.read(words, one);
        Accumulator expected = a, rest = b;
        for (std::int64_t left = senders - 1; left > 0; left /= 2) {  // rest is b, 2 b, 4 b ...
          if (left % 2 != 0) expected.merge(rest);
          rest.merge(Accumulator(rest));
        }
        ASSERT_EQ(one[0], expected);
      }
    }
  }
  many.add(1.5);
  EXPECT_FALSE(message.holds(many)) << "a count that takes two words";
}

TEST(Words, MessagesThatAreNoSumsOfWordsAreRefused) {
  std::vector<Accumulator> sums(2);
  sums[0].add(1.5);
  sums[1].add(-3.0);
  const SumMessage message(SumMessage::needs(sums));
  Words good(message.words() * 2);
  message.write(sums, good);
  for (std::size_t i = 0; i < good.size(); ++i) {
    Words words = good;
    words[i] = std::numeric_limits<std::int64_t>::max();
    EXPECT_NE(refusal(ErrorKind::usage, [&] { message.read(words, sums); }).find("no sum of words"), std::string::npos) << i;
  }
  // More NaNs or infinities than elements: the last three words of each sum.
  sums[1].add(std::numeric_limits<double>::infinity());
  const SumMessage special(SumMessage::needs(sums));
  good.resize(special.words() * 2);
  special.write(sums, good);
  special.read(good, sums);
  for (std::size_t i = 1; i <= 3; ++i) {
    Words words = good;
    words[words.size() - i] = 9;
    EXPECT_NE(refusal(ErrorKind::usage, [&] { special.read(words, sums); }).find("no sum of words"), std::string::npos) << i;
  }
  const Accumulator great = [] {
    Accumulator sum;
    sum.add(1e300);
    return sum;
  }();
  sums = {great};
  EXPECT_FALSE(SumMessage::ordinary().holds(SumMessage::needs(sums)));
  sums = {Accumulator()};
  EXPECT_TRUE(SumMessage::ordinary().holds(SumMessage::needs(sums)));
}

// Half a million merges into one, of the greatest numbers and of the least: carries go through all digits.
TEST(Words, HalfAMillionMerges) {
  Accumulator great, small;
  great.add(std::numeric_limits<double>::max());
  great.add(-5e-324);
  small.add(5e-324);
  Accumulator merged;
  for (int i = 0; i < 500'000; ++i) merged.merge(i % 5 != 0 ? great : small);
  // 400,000 of the one and 100,000 of the other, by doubling.
  Accumulator expected;
  for (const auto& [one, times] : {std::pair(great, 400'000), std::pair(small, 100'000)}) {
    Accumulator power = one;
    for (int left = times; left > 0; left /= 2) {
      if (left % 2 != 0) expected.merge(power);
      power.merge(Accumulator(power));
    }
  }
  EXPECT_EQ(merged, expected);
  EXPECT_EQ(merged.count(), 900'000u);
  for (int i = 0; i < 400'000; ++i) merged.add(-std::numeric_limits<double>::max());
  EXPECT_EQ(merged.round(), -300'000 * 5e-324);
}

TEST(Words, ExtremesHaveNone) {
  const std::vector<double> values{1, 2, 3};
  const Statistics all = collect(values, {true, true, true, true});
  EXPECT_NE(refusal(ErrorKind::usage, [&] { all.words(); }).find("without_extrema()"), std::string::npos);
  const Statistics rest = Statistics::from_words(all.without_extrema().words());
  EXPECT_EQ(rest.variance(), all.variance());
  EXPECT_EQ(rest.nonzero_count(), 3u);
  EXPECT_NE(refusal(ErrorKind::usage, [&] { rest.min(); }).find("was not collected"), std::string::npos);
}

// As in merge(): a field that one part with elements lacks is lost; parts without elements are ignored.
TEST(Words, FieldsOfStatisticsAreThoseOfAllPartsWithElements) {
  const std::vector<double> values{1, 2, 3};
  const Statistics both = collect(values, {false, true, true, false}), sum = collect(values, {false, true, false, false});
  const Statistics empty = collect(Array(nullptr, 0, DType::float64), {false, false, true, false});
  Words words = words_of(both);
  add(words, words_of(empty));
  EXPECT_EQ(from<Statistics>(words), both);
  add(words, words_of(sum));
  Statistics merged = both;
  merged += sum;
  EXPECT_EQ(from<Statistics>(words), merged);
  EXPECT_FALSE(merged.contents().fields.squares);
  Words none = words_of(empty);
  add(none, words_of(empty));
  EXPECT_EQ(from<Statistics>(none), empty);
}

}  // namespace
}  // namespace samesum
