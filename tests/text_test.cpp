// Text: numbers as the C library reads them, columns, and errors that say where.
#include "support/text_oracle.hpp"

#include <samesum/error.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace samesum {
namespace {

namespace fs = std::filesystem;
using test::read_in_blocks;

void expect_as_by_the_c_library(const std::string& text) {
  const test::TextResult found = read_in_blocks(text, {}, io::kTextBlockBytes);
  EXPECT_EQ(found, test::read_all(text)) << text.substr(0, 100);
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
    // Halfway between two doubles, exactly, a little more and a little less: 54 bits over a power of five or two.
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

// As near to halfway as 19 digits and a power of ten come.
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
  options.column = std::move(name);
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

// Files and pipes of text, through the public interface.
class TextFiles : public testing::Test {
 protected:
  TextFiles() {
    std::string name = (fs::temp_directory_path() / "samesum.XXXXXX").string();
    path_ = fs::path(mkdtemp(name.data())) / "x.txt";
  }
  ~TextFiles() override {
    std::error_code ignored;
    fs::remove_all(path_.parent_path(), ignored);
  }

  void write(std::string_view text) const {
    std::ofstream(path_, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  Accumulator sum(const InputOptions& options = {}) const { return accumulate(*open_source(path_, options), Device::open("cpu")); }

  std::string refused(std::string_view text, const InputOptions& options = {}) const {
    write(text);
    try {
      sum(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      const std::string message = error.what();
      EXPECT_EQ(message.find(path_.string() + ":"), 0u) << message;
      return message.substr(path_.string().size() + 1);
    }
    return "accepted";
  }

  fs::path path_;
};

TEST_F(TextFiles, OfManyBlocks) {
  std::string text;
  Accumulator expected;
  std::mt19937_64 random(2);
  for (int i = 0; i < 300000; ++i) {
    const double value = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 100) - 80);
    if (i % 3 == 0) {
      text += fmt::format("{}\n", i);
      expected.add(static_cast<std::int64_t>(i));
    } else {
      text += fmt::format("{} ", value);
      expected.add(value);
    }
  }
  write(text);
  for (const std::uint32_t threads : {1u, 2u, 7u, 100u}) {
    InputOptions options;
    options.threads = threads;
    EXPECT_EQ(sum(options), expected) << threads;
  }
  std::ranges::replace(text, '\n', ' ');  // one line, which is longer than any block
  write(text);
  EXPECT_EQ(sum(), expected);
}

TEST_F(TextFiles, SayWhereTheyAreWrong) {
  EXPECT_EQ(refused("1\n2\n 3x\n"), "3:2: '3x' is no number");
  EXPECT_EQ(refused("1 2 3\n4 5\x01\n"), " not a .npy file, and no text; for raw numbers give their type (--dtype float32, say)");
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "123456.5\n";
  EXPECT_EQ(refused(text + "1,2,3..\n"), "200001:5: '3..' is no number");
  EXPECT_EQ(refused(text + std::string("12\0", 3)), "200001:1: '12?' is no number");
  EXPECT_EQ(refused(text + "1,2\n" + text + "3;4"), "400002:2: both commas and semicolons divide numbers; decimal commas are not read");
  std::ranges::replace(text, '\n', ' ');
  EXPECT_EQ(refused(text + "oops"),
            "1:1800001: 'oops' is no number (of a table, --column reads one column; --missing names words for missing numbers)");
  EXPECT_NE(refused(std::string(1 << 20, '1')).find("1:1: a number of over 262144 characters ('1111"), std::string::npos);
  InputOptions options;
  options.text.column = "b";
  EXPECT_EQ(refused("a,b\n1,2\n3\n", options), "3:2: a line of 1 field, which has no column 2 ('b')");
  EXPECT_EQ(refused("a,c\n1,2\n3\n", options), "1:1: there is no column 'b'; there are 'a', 'c'");
  EXPECT_NE(refused("a,b\n1,2\n\"" + std::string(5 << 20, 'x'), options).find("3:1: a line, or a quoted field, of over 2097152 bytes"),
            std::string::npos);
}

TEST_F(TextFiles, HaveFewWaysToBeOpened) {
  InputOptions options;
  options.raw = RawType{DType::float64, false};
  options.text.column = "1";
  write("1\n");
  EXPECT_THROW(open_source(path_, options), Error);
  EXPECT_EQ(refused(""), " the file is empty");
  EXPECT_EQ(refused("\x1f\x8b\x08").substr(0, 20), " the gzip data end e");
  write("\n");
  EXPECT_EQ(sum().count(), 0u);
  EXPECT_EQ(open_source(path_)->format(), "text");
}

}  // namespace
}  // namespace samesum
