// The serialized form of a partial sum, as specified in docs/accumulator-format.md.
#include "support/parts.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::forged;
using Bytes = std::vector<std::byte>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

Accumulator sum_of(std::initializer_list<double> values) {
  Accumulator sum;
  for (const double value : values) sum.add(value);
  return sum;
}

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\n') {
      ++i;
      continue;
    }
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
    i += 2;
  }
  return bytes;
}

std::string refusal(const Bytes& bytes) {
  try {
    Accumulator::deserialize(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Serialize, GoldenBytes) {
  EXPECT_EQ(sum_of({1.0, -0.5}).serialize(), from_hex("89 53 53 55 4d 0d 0a 1a  01 00  00 00  21 00  01 00"
                                                      "02 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
                                                      "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
                                                      "00 00 02 00  55 e6 7e 82 0d b5 43 70"));
  EXPECT_EQ(sum_of({-1.0, kNan, kInfinity}).serialize(), from_hex("89 53 53 55 4d 0d 0a 1a  01 00  00 00  21 00  01 00"
                                                                  "03 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00"
                                                                  "01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
                                                                  "00 00 fc ff  4f d9 11 2a 8c a0 35 28"));
  EXPECT_EQ(Accumulator().serialize(), from_hex("89 53 53 55 4d 0d 0a 1a  01 00  01 00  00 00  00 00"
                                                "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
                                                "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
                                                "9f c2 51 0e 8a 18 e9 1b"));
}

TEST(Serialize, ComesBackEqual) {
  const std::vector<Accumulator> sums = {sum_of({}),
                                         sum_of({0.0}),
                                         sum_of({-0.0, -0.0}),
                                         sum_of({-0.0, kNan}),
                                         sum_of({kNan}),
                                         sum_of({kInfinity, -kInfinity, kNan, 3.0}),
                                         sum_of({kTiny}),
                                         sum_of({-kTiny}),
                                         sum_of({-kTiny * std::ldexp(1, 31)}),
                                         sum_of({-kTiny * std::ldexp(1, 32)}),
                                         sum_of({kTiny * std::ldexp(1, 31)}),
                                         sum_of({kMax, kMax, kMax}),
                                         sum_of({-kMax, -kMax, kTiny}),
                                         sum_of({1e300, -1e300}),
                                         sum_of({0.1, 0.2, 0.3, -1e20})};
  for (const Accumulator& sum : sums) {
    const Bytes bytes = sum.serialize();
    const Accumulator back = Accumulator::deserialize(bytes);
    EXPECT_EQ(back, sum);
    EXPECT_EQ(back.serialize(), bytes);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.round()), std::bit_cast<std::uint64_t>(sum.round()));
    EXPECT_LE(bytes.size(), 328u);
    Accumulator merged = back;
    merged += sum_of({2.5});
    Accumulator expected = sum;
    expected.add(2.5);
    EXPECT_EQ(merged, expected);
  }
}

TEST(Serialize, IsCanonical) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  while (values.size() < 500) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  Accumulator forward, backward, halves, rest;
  for (const double value : values) forward.add(value);
  for (std::size_t i = values.size(); i-- > 0;) backward.add(values[i]);
  for (std::size_t i = 0; i < values.size(); ++i) (i % 2 == 0 ? halves : rest).add(values[i]);
  halves += Accumulator::deserialize(rest.serialize());
  EXPECT_EQ(forward.serialize(), backward.serialize());
  EXPECT_EQ(forward.serialize(), halves.serialize());
}

TEST(Serialize, EveryPowerOfTwoAndItsNegative) {
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    for (const double value : {std::ldexp(1.0, exponent), -std::ldexp(1.0, exponent)}) {
      const Bytes bytes = sum_of({value}).serialize();
      EXPECT_LE(bytes.size(), 64u) << value;  // one digit, or two where the sign needs another
      EXPECT_EQ(Accumulator::deserialize(bytes).round(), value);
    }
  }
}

TEST(Serialize, RefusesEveryDamagedByteAndEveryLength) {
  const Bytes good = sum_of({1e300, -3.5, kNan}).serialize();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] ^= static_cast<std::byte>(1 << bit);
      EXPECT_NE(refusal(bad), "accepted") << i;
    }
    EXPECT_NE(refusal(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i))), "accepted") << i;
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_NE(refusal(longer).find("bytes expected"), std::string::npos);
}

TEST(Serialize, SaysWhatIsWrong) {
  const Bytes good = sum_of({1.0}).serialize();
  EXPECT_EQ(refusal({}), "not a partial sum written by samesum");
  EXPECT_EQ(refusal(from_hex("93 4e 55 4d 50 59 01 00")), "not a partial sum written by samesum");
  EXPECT_NE(refusal(Bytes(good.begin(), good.begin() + 20)).find("truncated"), std::string::npos);
  EXPECT_EQ(refusal(forged(good, 8, {2})), "partial sum of format version 2; this samesum knows version 1");
  Bytes damaged = good;
  damaged[50] ^= std::byte{1};
  EXPECT_EQ(refusal(damaged), "damaged partial sum: its checksum does not match");
}

// Valid checksums over contents that serialize() never writes.
TEST(Serialize, RefusesForgeries) {
  const std::string contradiction = "damaged partial sum: it contradicts itself";
  const Bytes one = sum_of({1.0}).serialize();   // first 33, one digit
  const Bytes zero = sum_of({0.0}).serialize();  // no digits
  EXPECT_EQ(refusal(forged(one, 10, {8})), contradiction) << "an unknown flag";
  EXPECT_EQ(refusal(forged(one, 10, {6})), contradiction) << "two flags of which one includes the other";
  EXPECT_EQ(refusal(forged(sum_of({0.5}).serialize(), 10, {4})), contradiction) << "integers, and yet a fraction";
  EXPECT_EQ(refusal(forged(Accumulator().serialize(), 10, {5})), contradiction) << "integers, and yet nothing was added";
  EXPECT_EQ(refusal(forged(one, 10, {1})), contradiction) << "only negative zeros, and yet a digit";
  EXPECT_EQ(refusal(forged(one, 12, {69})), contradiction) << "beyond what doubles reach";
  EXPECT_EQ(refusal(forged(one, 12, {255, 255})), contradiction);
  EXPECT_EQ(refusal(forged(one, 16, {0})), contradiction) << "a digit without an element";
  EXPECT_EQ(refusal(forged(one, 24, {1})), contradiction) << "the only element is NaN, and yet a digit";
  EXPECT_EQ(refusal(forged(one, 24, {255, 255, 255, 255, 255, 255, 255, 255})), contradiction);
  EXPECT_EQ(refusal(forged(one, 48, {0, 0, 0, 0})), contradiction) << "a lowest digit of zero";
  EXPECT_EQ(refusal(forged(zero, 12, {1})), contradiction) << "zero begins at digit 0";
  EXPECT_EQ(refusal(forged(sum_of({-0.0}).serialize(), 32, {1})), contradiction) << "only negative zeros, and yet an infinity";
  EXPECT_EQ(refusal(forged(zero, 16, {0})), contradiction) << "nothing was added, but for a positive zero";
  EXPECT_EQ(refusal(forged(Accumulator().serialize(), 10, {0})), contradiction);
  const auto sum_of_integers = [](auto value) {
    Accumulator sum;
    sum.add(value);
    return sum.serialize();
  };
  const Bytes minus_one = sum_of_integers(std::int64_t{-1});
  EXPECT_EQ(refusal(minus_one), "accepted");
  EXPECT_EQ(refusal(forged(minus_one, 10, {2})), contradiction) << "unsigned integers, and yet a negative sum";
  Accumulator zeros;
  zeros.add(0);
  zeros.add(0);
  EXPECT_EQ(refusal(forged(zeros.serialize(), 24, {1})), contradiction) << "integers, and yet a NaN";
  EXPECT_EQ(refusal(sum_of_integers(~std::uint64_t{0})), "accepted");
  Accumulator two;
  two.add(~std::uint64_t{0});
  two.add(std::uint64_t{1});
  EXPECT_EQ(refusal(forged(two.serialize(), 16, {1})), contradiction) << "one unsigned integer, and yet 2^64";
  Accumulator below;
  below.add(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(refusal(below.serialize()), "accepted");
  below.add(std::int64_t{-1});
  EXPECT_EQ(refusal(forged(below.serialize(), 16, {1})), contradiction) << "one integer, and yet less than all";
  EXPECT_EQ(refusal(sum_of({kMax}).serialize()), "accepted");
  EXPECT_EQ(refusal(forged(sum_of({-kMax, -kTiny}).serialize(), 16, {1})), contradiction) << "one double, and yet less than all";
  const Bytes two_digits = sum_of({std::ldexp(kTiny, 31), kTiny}).serialize();
  ASSERT_EQ(two_digits.size(), 64u);
  EXPECT_EQ(refusal(forged(two_digits, 48, {1, 0, 0, 0})), contradiction) << "a highest digit that is not needed";
}

}  // namespace
}  // namespace samesum
