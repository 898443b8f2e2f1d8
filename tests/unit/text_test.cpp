// Text: numbers compared with the C library's parser, columns, and errors with their position.
#include "support/text_oracle.hpp"

#include <samesum/error.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace samesum {
namespace {

using test::read_in_blocks;

void expect_as_by_the_c_library(const std::string& text) {
  const test::TextResult found = read_in_blocks(text, {}, io::kTextBlockBytes);
  EXPECT_EQ(found, test::read_all(text).all) << text.substr(0, 100);
  EXPECT_FALSE(found.error) << text.substr(0, 100);
}

TEST(TextNumbers, AreTheNearestDoubles) {
  for (const char* text : {"0.1",
                           "1e22",
                           "1e23",
                           "8.5e22",
                           "9007199254740993.0",
                           "9007199254740992.9",
                           "9007199254740993.1",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "0.000000000000000000000000000001234567890123456789",
                           "1234567890123456789e-27",
                           "1234567890123456789e27",
                           "9999999999999999999e-28",
                           "18446744073709551615.0",
                           "0.30000000000000004",
                           "5.",
                           ".5",
                           "1e+05",
                           "1E-5",
                           "-0",
                           "-0.0",
                           "+3",
                           "00012",
                           "0x1p-1074",
                           "0x1p-1075",
                           "0x1.8p-1075",
                           "0x1p1024",
                           "-0x1.fffffffffffff8p1023",
                           "0x0p99999999999999999999",
                           "0x1p-99999999999999999999",
                           "0X1.8P1",
                           "0xff",
                           "-0xff",
                           "0x.8",
                           "inf",
                           "-INF",
                           "Infinity",
                           "nan",
                           "-NaN"}) {
    expect_as_by_the_c_library(text);
  }
}

TEST(TextNumbers, RoundHalfwayToEven) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    // The midpoint of two doubles, exactly, and slightly more and less: 54 bits over a power of five or two.
    const std::uint64_t odd = (random() >> 10 | std::uint64_t{1} << 53) | 1;
    const int power = static_cast<int>(random() % 9);
    const std::string digits = std::to_string(odd);
    for (const char* tail : {"", "0", "00000000000000000000000000000001"}) {
      expect_as_by_the_c_library(fmt::format("{}.{}", digits, tail));
      expect_as_by_the_c_library(fmt::format("{}e{}", digits, power));
    }
    expect_as_by_the_c_library(fmt::format("{}.{}", odd >> 4, "0625"));
    expect_as_by_the_c_library(fmt::format("{}e-{}", random() >> random() % 12, random() % 30));
    expect_as_by_the_c_library(fmt::format("{}e{}", random() % 10000000000000000000u, random() % 30));
  }
}

// As close to a midpoint as 19 digits and a power of ten allow.
TEST(TextNumbers, RoundRightNearHalfway) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const int power = 1 + static_cast<int>(random() % 27);
    __extension__ unsigned __int128 product = (random() >> 10 | std::uint64_t{1} << 53) | 1;
    for (int n = 0; n < power; ++n) product *= 5;
    while (product >> 63 != 0) product = product >> 1 | (product & 1);
    const auto digits = static_cast<std::uint64_t>(product);
    for (const std::uint64_t near : {digits - 1, digits, digits + 1}) expect_as_by_the_c_library(fmt::format("{}e-{}", near, power));
  }
}

TEST(TextNumbers, MayBeLong) {
  std::string digits = "0.";
  for (int i = 0; i < 800; ++i) digits += static_cast<char>('0' + i * 7 % 10);
  expect_as_by_the_c_library(digits);
  expect_as_by_the_c_library(digits + "e-310\n" + std::string(1000, '0') + "7\n7" + std::string(300, '0'));
  expect_as_by_the_c_library(std::string(100000, '9'));
}

TEST(TextNumbers, AreExactIntegersOfUpTo64Bits) {
  Accumulator expected;
  expected.add(std::numeric_limits<std::int64_t>::max());
  expected.add(std::numeric_limits<std::int64_t>::min());
  expected.add(std::int64_t{9007199254740993});
  EXPECT_EQ(read_in_blocks("9223372036854775807 -9223372036854775808 9007199254740993", {}, 100).sum, expected);
  expected.add(std::uint64_t{18446744073709551615u});
  EXPECT_EQ(read_in_blocks("9223372036854775807 -9223372036854775808 9007199254740993 18446744073709551615", {}, 100).sum, expected);
  EXPECT_EQ(read_in_blocks("1 2 3", {}, 100).sum.result_type(), DType::int64);
  EXPECT_EQ(read_in_blocks("1 2 3.0", {}, 100).sum.result_type(), DType::float64);
  EXPECT_EQ(read_in_blocks("1 18446744073709551616", {}, 100).sum.result_type(), DType::float64) << "an integer of 65 bits";
}

TEST(Text, IsNumbersWithAnythingBetween) {
  for (const std::string_view text : {"1\n2\n3\n4\n", "1 2 3 4", "1,2,3,4\n", "1;2;3;4", "1, 2,\t3 ,4",
                                      "\xef\xbb\xbf"
                                      "1\r\n2\r\n3\r\n4\r\n",
                                      "1\r2\r3\r4", "\n\n 1\v2\f3\n\n4", "# 7 8\n1 2\n  # 9 \"x\" ;\n3 4\n#", "#\r1 2 3 4"}) {
    const test::TextResult result = read_in_blocks(text, {}, 100);
    EXPECT_EQ(result.sum.to_int64(), 10) << text;
    EXPECT_EQ(result.sum.count(), 4u) << text;
    EXPECT_EQ(result.missing, 0u) << text;
  }
  EXPECT_EQ(read_in_blocks("", {}, 100).sum.count(), 0u);
}

TEST(Text, CountsWhatIsMissing) {
  EXPECT_EQ(read_in_blocks("1,,2", {}, 100).missing, 1u);
  EXPECT_EQ(read_in_blocks(",1,\n", {}, 100).missing, 2u);
  EXPECT_EQ(read_in_blocks("1 NA 2 NA", {}, 100).missing, 2u);
  EXPECT_EQ(read_in_blocks("1, ,2,", {}, 100).missing, 2u);
  for (std::size_t bytes = 4; bytes < 20; ++bytes) {  // wherever a block ends: among the blanks too
    EXPECT_EQ(read_in_blocks("1, \t  ,2,   3  ,  \n", {}, bytes).missing, 2u) << bytes;
  }
  TextOptions options;
  options.missing = {"-9999", "null"};
  const test::TextResult result = read_in_blocks("1 -9999 null NA 2 -9999.0", options, 100);
  EXPECT_EQ(result.missing, 3u);
  EXPECT_EQ(result.sum.round(), -9996.0) << "word for word";
}

TEST(Text, SkipsNothingInSilence) {
  for (const std::string_view text : {"1 x",
                                      "1 2x",
                                      "1_000",
                                      "1.2.3",
                                      "--1",
                                      "+-1",
                                      "-",
                                      ".",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "0x",
                                      "0xg",
                                      "nan(1)",
                                      "infinit",
                                      "1 # 2",
                                      "\"1\"",
                                      "1d5",
                                      "5L",
                                      "$5",
                                      "1'000",
                                      "na",
                                      "1\xc2\xa0"
                                      "2",
                                      "\xff",
                                      "1,5;2,5",
                                      "1,2\n3;4"}) {
    EXPECT_TRUE(read_in_blocks(text, {}, 100).error) << text;
  }
  EXPECT_TRUE(read_in_blocks(std::string_view("1\0"
                                              "2",
                                              3),
                             {}, 100)
                  .error);
  EXPECT_TRUE(read_in_blocks(std::string(1000, '1'), {}, 100).error) << "a number that is longer than a block";
}

TEST(Text, TakesAllNumbersAsDoublesOnRequest) {
  TextOptions options;
  options.integers = false;
  const test::TextResult result = read_in_blocks("9007199254740993 0x20000000000001 3 0.5 -0", options, 100);
  EXPECT_EQ(result.sum.round(), 9007199254740992.0 * 2 + 3.5);
  EXPECT_EQ(result.sum.result_type(), DType::float64);
}

TextOptions column(std::string name, std::optional<bool> header = {}) {
  TextOptions options;
  options.columns = {std::move(name)};
  options.header = header;
  return options;
}

TEST(TextColumn, IsFoundByNameOrNumber) {
  for (const std::string_view text :
       {"id,price\n1,10\n2,20\n", "id;price\n1;10\n2;20", "id\tprice\r\n1\t10\r\n2\t20\r\n", "id  price\n1   10\n 2 20 \n",
        "\"id\",\"price\"\n\"a, b\",\"10\"\n\"c\n\"\"d\"\"\",20\n", "\xef\xbb\xbf# about\n\nid,price\n1,10\n\n# x\n2,20\n"}) {
    EXPECT_EQ(read_in_blocks(text, column("2"), 8).sum.to_int64(), 30) << text;
    EXPECT_EQ(read_in_blocks(text, column("price"), 8).sum.to_int64(), 30) << text;
  }
  EXPECT_EQ(read_in_blocks("1,10\n2,20", column("2"), 8).sum.to_int64(), 30) << "no header";
  EXPECT_EQ(read_in_blocks("2019,2020\n2,20", column("2"), 8).sum.to_int64(), 2040);
  EXPECT_EQ(read_in_blocks("2019,2020\n2,20", column("2", true), 8).sum.to_int64(), 20);
  EXPECT_EQ(read_in_blocks("x,10\ny,20", column("2", false), 8).sum.to_int64(), 30);
  EXPECT_TRUE(read_in_blocks("x,10\ny,20", column("2"), 8).error) << "a header or none?";
}

TEST(TextColumn, MayHaveMissingNumbers) {
  const test::TextResult result = read_in_blocks("a,b\n1,\n2,NA\n3,\"\"\n4, 5 \n6,nan\n", column("b"), 8);
  EXPECT_EQ(result.missing, 3u);
  EXPECT_EQ(result.sum.count(), 2u);
  EXPECT_EQ(result.sum.nan_count(), 1u);
  EXPECT_EQ(read_in_blocks("a\tb\n\t\n1\t2\n\t\t\n", column("b"), 8).missing, 2u) << "tabs are no blanks here";
}

TEST(TextColumn, SkipsNothingInSilence) {
  for (const std::string_view text : {"a,b\n1\n", "a,b\n1,x\n", "a,b\n1,2 3\n", "a;b\n1;2,5\n", "a,b\n1,\"2\n", "a,b\n\"1\"x,2\n",
                                      "a,c\n1,2", "b,b\n1,2", "", "# b\n", "a,b\n1,\"2,000\"\n"}) {
    EXPECT_TRUE(read_in_blocks(text, column("b"), 8).error) << text;
  }
  EXPECT_TRUE(read_in_blocks("a,b\n1,2", column("3"), 8).error);
  EXPECT_TRUE(read_in_blocks("a,b\n1,2", column("0"), 8).error);
  EXPECT_TRUE(read_in_blocks("a,b\n1,2", column("b", false), 8).error);
}

TextOptions with_separators(char decimal, char thousands, char separator = 0) {
  TextOptions options;
  options.decimal = decimal;
  options.thousands = thousands;
  options.separator = separator;
  return options;
}

TEST(TextNumbers, HaveTheSeparatorsThatAreSaid) {
  const auto sum = [](std::string_view text, const TextOptions& options) { return read_in_blocks(text, options, 100).sum.round(); };
  EXPECT_EQ(sum("1,5;-2,25\n,5 3", with_separators(',', 0)), 2.75);
  EXPECT_EQ(sum("1.234.567,5;12.345;-1.000", with_separators(',', '.')), 1245912.5);
  EXPECT_EQ(sum("1,234.5 12,345,678", with_separators('.', ',')), 12346912.5);
  EXPECT_EQ(sum("1'234'567 12 -1'000.5", with_separators('.', '\'')), 1233578.5);
  EXPECT_EQ(read_in_blocks("9.007.199.254.740.993", with_separators(',', '.'), 100).sum.to_int64(), 9007199254740993);
  EXPECT_EQ(sum("1|2|3", with_separators('.', 0, '|')), 6);
  EXPECT_EQ(sum("1 2\t3\n4", with_separators('.', 0, ' ')), 10);
  for (const std::string_view text : {"1.5", "1,5,5", "1,,5", "0x1.8"}) {
    EXPECT_TRUE(read_in_blocks(text, with_separators(',', 0), 100).error) << text;
  }
  for (const std::string_view text : {"1,23", "12,34", "1234,567", ",123", "1,234,", "1,2345", "1.5,000", "1e1,000", "0x1,000"}) {
    EXPECT_TRUE(read_in_blocks(text, with_separators('.', ','), 100).error) << text;
  }
  EXPECT_TRUE(read_in_blocks("1,2", with_separators('.', 0, '|'), 100).error);
  EXPECT_TRUE(read_in_blocks("1 2", with_separators('.', 0, '|'), 100).sum.count() == 2) << "blanks divide too";
}

TEST(TextNumbers, OptionsThatMakeNoSenseAreRefused) {
  for (const TextOptions& options :
       {with_separators('.', '.'), with_separators(';', 0), with_separators('.', '5'), with_separators('.', ' '),
        with_separators('.', 0, '1'), with_separators('.', 0, 'x'), with_separators('.', 0, '"'), with_separators('.', 0, '-'),
        with_separators('.', 0, '\n'), with_separators('.', 0, '\xe9'), with_separators('.', 0, '.'), with_separators(',', 0, ',')}) {
    EXPECT_THROW(read_in_blocks("1", options, 100), Error);
  }
}

// 2^53 + 1 and its neighbours, in one text with fractions: every value is preserved, at its position.
TEST(TextNumbers, KeepTheirOrderAndTheirValues) {
  TextOptions options;
  options.in_order = true;
  for (const std::string_view text : {"1 2.5 9007199254740993 NA -0 18446744073709551615 -9007199254740993 0.5 7 9223372036854775808 -1",
                                      "1 2 3", "0.5 1 2 3", "-1 9223372036854775808 -2", "9223372036854775808 1 2 9223372036854775809",
                                      "9007199254740993 0.5 9007199254740993 0.5", "1,,NA,2.5,\n,7", "nan inf 9007199254740993 -nan"}) {
    const auto found = test::read_table(text, options, io::Layout::sequence, 100);
    EXPECT_EQ(found.columns[0], test::read_all(text, options)) << text;
  }
  const auto found = test::read_table("1 2.5 3", options, io::Layout::sequence, 100).columns[0];
  EXPECT_EQ(found.placed, (std::vector<std::pair<std::uint64_t, long double>>{{0, 1}, {1, 2.5L}, {2, 3}}));
}

// A chunk ends only where no type has all of its numbers: short ones cost their readers much.
TEST(TextNumbers, WholeNumbersAmongFractionsEndNoChunk) {
  for (const std::int64_t whole : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 53, std::numeric_limits<std::int64_t>::min()}) {
    io::Numbers numbers;
    numbers.reset(8);
    for (int i = 0; i < 4; ++i) {
      numbers.add(0.5);
      numbers.add(whole);
    }
    numbers.finish(true);
    ASSERT_EQ(numbers.chunks().size(), 1u) << whole;
    const auto* const found = static_cast<const double*>(numbers.chunks()[0].data());
    EXPECT_EQ(std::vector<double>(found, found + 4),
              (std::vector<double>{0.5, static_cast<double>(whole), 0.5, static_cast<double>(whole)}));
  }
}

TEST(Text, MayBeginWithLinesToSkip) {
  TextOptions options;
  options.skip_lines = 2;
  for (const std::size_t block : {8, 20, 100}) {
    EXPECT_EQ(read_in_blocks("no \"number\nnor here, at some length\n1 2\n3", options, block).sum.to_int64(), 6) << block;
    EXPECT_EQ(read_in_blocks("\xef\xbb\xbfx\n\n4", options, block).sum.to_int64(), 4) << block;
    EXPECT_EQ(read_in_blocks("1\n2", options, block).sum.count(), 0u) << block;
    options.columns = {"b"};
    EXPECT_EQ(read_in_blocks("about\n1,2\na,b\n1,2\n3,4", options, block).sum.to_int64(), 6) << block;
    options.columns.clear();
  }
}

TEST(TextColumn, MayBeSeveral) {
  TextOptions options;
  options.in_order = true;
  const std::string_view text = "id,name,price\n1,a,0.5\n2,b,\n3,\"c,d\",2\n";
  using Placed = std::vector<std::pair<std::uint64_t, long double>>;
  for (const std::size_t block : {8, 30, 1000}) {
    options.columns = {"price", "1"};
    auto found = test::read_table(text, options, io::Layout::table, block);
    ASSERT_EQ(found.columns.size(), 2u);
    EXPECT_EQ(found.names, (std::vector<std::string>{"price", "id"}));
    EXPECT_EQ(found.columns[0].placed, (Placed{{0, 0.5L}, {2, 2}}));
    EXPECT_EQ(found.columns[0].all.missing, 1u);
    EXPECT_EQ(found.columns[1].placed, (Placed{{0, 1}, {1, 2}, {2, 3}}));
    options.columns.clear();
    found = test::read_table(text, options, io::Layout::table, block);
    EXPECT_EQ(found.names, (std::vector<std::string>{"id", "name", "price"}));
    EXPECT_EQ(found.columns[1].words, 3u);
    EXPECT_EQ(found.columns[2].placed, (Placed{{0, 0.5L}, {2, 2}}));
  }
  for (const std::vector<std::string>& names : {std::vector<std::string>{"id", "1"}, {"id", "cost"}, {"4"}}) {
    options.columns = names;
    EXPECT_TRUE(test::read_table(text, options, io::Layout::table, 1000).error);
  }
  options.columns.clear();
  EXPECT_TRUE(test::read_table("a,b\n1,2,3\n", options, io::Layout::table, 1000).error) << "more fields than columns";
  EXPECT_TRUE(test::read_table("a,b\n1\n", options, io::Layout::table, 1000).error) << "fewer";
}

TEST(TextColumn, MayHaveAnySeparator) {
  TextOptions options = with_separators(',', '.', '|');
  options.columns = {"b"};
  EXPECT_EQ(read_in_blocks("a|b\n1;2|1.234,5\n,|\"0,5\"\n", options, 8).sum.round(), 1235);
  options = with_separators('.', ',', ',');
  options.columns = {"2"};
  EXPECT_EQ(read_in_blocks("a,b\n1,\"1,234.5\"\n5,6\n", options, 8).sum.round(), 1240.5) << "in quotes alone";
  options = with_separators(',', 0, ',');
  options.columns = {"1"};
  EXPECT_EQ(read_in_blocks("1,5\n2,5\n\"3,5\",6\n", options, 8).sum.round(), 6.5) << "the fields are 1, 2 and 3,5";
  options = with_separators(',', ' ', ';');
  options.columns = {"1"};
  options.header = false;
  EXPECT_EQ(read_in_blocks("1 234,5;x\n12\xc2\xa0"
                           "345;y\n1\xe2\x80\xaf"
                           "000;z\n",
                           options, 8)
                .sum.round(),
            14579.5);
  options = with_separators(',', 0);
  options.columns = {"1"};
  EXPECT_EQ(read_in_blocks("price\n1,5\n2,5\n", options, 8).sum.round(), 4) << "a decimal comma divides no fields";
  options = {};
  options.columns = {"\"2024\""};
  EXPECT_EQ(read_in_blocks("2023,2024\n1,2\n", options, 8).sum.to_int64(), 2) << "a name that looks like a number";
}

TEST(Text, IsATableByItsFirstLine) {
  const auto is_table = [](std::string_view text) { return !test::read_table(text, {}, io::Layout::by_first_line, 1000).names.empty(); };
  for (const std::string_view text : {"a,b\n1,2\n", "a;b\n", "# x\n\na\tb\n1\t2", ",a,b\n0,1,2\n", "\"a b\",c\n"})
    EXPECT_TRUE(is_table(text)) << text;
  for (const std::string_view text : {"1,2\n3,4", "a b\n1 2", "price\n1\n", "", "NA,,\n1,2,3", "nan,inf\n", "a,1\n", "1 2 3"}) {
    EXPECT_FALSE(is_table(text)) << text;
  }
}

TEST(Text, IsPrintedAsItIsWhereThatIsSafe) {
  EXPECT_EQ(io::printable("gr\xc3\xb6\xc3\x9f"
                          "e \xe4\xbb\xb7\xe6\xa0\xbc \xf0\x9f\x98\x80"),
            "gr\xc3\xb6\xc3\x9f"
            "e \xe4\xbb\xb7\xe6\xa0\xbc \xf0\x9f\x98\x80");
  EXPECT_EQ(io::printable("a\x1b[31m\t\x7f"), "a?[31m??");
  EXPECT_EQ(io::printable("\xff\xc3(\xc3"), "?\?(?") << "no UTF-8";
  EXPECT_EQ(io::printable("\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80"), "?????????") << "overlong, a surrogate, too large";
  EXPECT_EQ(io::printable("\xc2\x9b\xe2\x80\xae"), "?????") << "a control of 8 bits, an override of the direction";
  std::string long_name;
  for (int i = 0; i < 50; ++i) long_name += "\xc3\xb6";
  EXPECT_EQ(io::printable(long_name), long_name.substr(0, 80) + "...");
}

}  // namespace
}  // namespace samesum
