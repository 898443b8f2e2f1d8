// Files and pipes of text, through the public interface.
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum {
namespace {

namespace fs = std::filesystem;

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

  Accumulator sum(const InputOptions& options = {}) const {
    return accumulate(*open_source(path_, options), {.device = Device::open("cpu")});
  }

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
  std::ranges::replace(text, '\n', ' ');  // one line, longer than any block
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
  EXPECT_EQ(refused(text + "1,2\n" + text + "3;4"),
            "400002:2: both commas and semicolons divide numbers; for decimal commas say --decimal ,");
  std::ranges::replace(text, '\n', ' ');
  EXPECT_EQ(refused(text + "oops"),
            "1:1800001: 'oops' is no number (of a table, --column reads one column; --missing names words for missing numbers)");
  EXPECT_NE(refused(std::string(1 << 20, '1')).find("1:1: a number of over 262144 characters ('1111"), std::string::npos);
  InputOptions options;
  options.text.columns = {"b"};
  EXPECT_EQ(refused("a,b\n1,2\n3\n", options), "3:2: a line of 1 field, which has no column 2 ('b'): write NA for a missing number");
  EXPECT_EQ(refused("a,c\n1,2\n3\n", options), "1:1: there is no column 'b'; there are 'a', 'c'");
  EXPECT_NE(refused("a,b\n1,2\n\"" + std::string(5 << 20, 'x'), options).find("3:1: a line, or a quoted field, of over 2097152 bytes"),
            std::string::npos);
}

// Whichever of the columns are read, and in blocks with quotes and without.
TEST_F(TextFiles, RowsHaveAsManyFieldsAsColumns) {
  for (const bool quotes : {false, true}) {
    for (const std::string end : {"", "\n", "\r\n", "\n7,8,9\n"}) {
      for (const std::string column : {"a", "b", "c"}) {
        InputOptions options;
        options.text.columns = {column};
        const auto refused_row = [&](const std::string& row) {
          std::string text = "a,b,c\n1,2,3\n" + row + end;
          if (quotes) text += "\n\"4\",5,6\n";
          return refused(text, options);
        };
        EXPECT_TRUE(refused_row("4,5,6,7").starts_with("3:7: a line of over 3 fields, the number of columns: ")) << column;
        EXPECT_TRUE(refused_row("4,5,6,").starts_with("3:7: a line of over 3 fields")) << column;
        EXPECT_NE(refused_row("4,5").find(": a line of 2 fields, which has no column 3"), std::string::npos) << column;
        EXPECT_NE(refused_row("4").find(": a line of 1 field, which has no column "), std::string::npos) << column;
      }
    }
  }
  InputOptions options;
  options.text.columns = {"1"};
  write("PID RSS COMMAND\n1 20 init\n2 22 sh -c 'a b'\n3 30 a \"b c\"d\n");
  options.text.columns = {"RSS"};
  EXPECT_EQ(sum(options).round(), 72);
  options.text.columns = {"2"};
  EXPECT_TRUE(refused("1 2\n3 4 5\n", options).starts_with("2:5: a line of over 2 fields"));
  options.text.columns = {"1"};
  EXPECT_TRUE(refused("1 2\n3 \n", options).starts_with("2:2: a line of 1 field, which has no column 2"));
  write("  1  2 \n3   4 \r\n\n5 6");
  EXPECT_EQ(sum(options).round(), 9);
}

// What stands between a name's closing quote and the next separator is no column of its own, however long it is.
TEST_F(TextFiles, HeadersMayGoOnAfterAQuote) {
  InputOptions options;
  options.text.columns = {"b"};
  for (const std::string after : {"", "x", "xy", "x y z", "x\"y\""}) {
    write("\"a\"" + after + ",b,c\n1,20,300\n4,50,600\n");
    EXPECT_EQ(sum(options).round(), 70) << after;
  }
}

// Wherever the line ends.
TEST_F(TextFiles, NumbersDoNotGoOnAfterAQuote) {
  InputOptions options;
  options.text.columns = {"b"};
  for (const std::string line_end : {"", "\n", "\n5,6\n"}) {
    for (const std::string after : {"xyz", "x\"", " x"}) {
      EXPECT_EQ(refused("a,b\n1,2\n3,\"5\"" + after + line_end, options), "3:3: the quoted field '5' goes on after its closing quote");
    }
    write("a,b\n1,2\n3,\"5\" " + line_end);
    EXPECT_EQ(sum(options).round(), line_end.size() > 1 ? 13 : 7);
  }
  EXPECT_EQ(refused("a,b\n1,2\n3,\"5", options), "3:3: the quoted field '5' is not closed");
  EXPECT_EQ(refused("a,b\n1,2\n3,\"5\"\"\n", options), "3:3: the quoted field '5\"\"?' is not closed");
}

TEST_F(TextFiles, HaveFewWaysToBeOpened) {
  InputOptions options;
  options.raw = RawType{DType::float64, false};
  options.text.columns = {"1"};
  write("1\n");
  EXPECT_THROW(open_source(path_, options), Error);
  EXPECT_EQ(refused(""), " the file is empty (--allow-empty takes that for no numbers)");
  EXPECT_EQ(refused("\x1f\x8b\x08").substr(0, 20), " the gzip data end e");
  write("\n");
  EXPECT_THROW(sum(), Error);
  options = {};
  options.allow_empty = true;
  EXPECT_EQ(sum(options).count(), 0u);
  EXPECT_EQ(open_source(path_)->format(), "text");
}

TEST_F(TextFiles, HaveExtremesToTheLastBit) {
  InputOptions options;
  options.text.in_order = true;
  const Device device = Device::open("cpu");
  const auto collected = [&](std::string_view text) {
    write(text);
    return collect(*open_source(path_, options), {}, {.device = device});
  };
  Statistics found = collected("0.5 9007199254740992 9007199254740993 NA 9007199254740993 -9007199254740993 -9007199254740992");
  EXPECT_EQ(found.max(), (Extremum{{std::int64_t{9007199254740993}, DType::int64}, 2}));
  EXPECT_EQ(found.min(), (Extremum{{std::int64_t{-9007199254740993}, DType::int64}, 5}));
  EXPECT_EQ(found.missing(), 1u);
  found = collected("7,,18446744073709551615,18446744073709551614,3");
  EXPECT_EQ(found.max(), (Extremum{{std::uint64_t{18446744073709551615u}, DType::uint64}, 2}));
  EXPECT_EQ(found.min().index, 4u);
  for (const std::uint64_t great : {std::uint64_t{18446744073709551614u}, std::uint64_t{9223372036854775808u}}) {
    found = collected("4 " + std::to_string(great) + " 3 5");
    EXPECT_EQ(found.max(), (Extremum{{great, DType::uint64}, 1}));
    EXPECT_EQ(found.min(), (Extremum{{std::int64_t{3}, DType::int64}, 2}));
  }
  found = collected("NA 2.5 1 -0 0 NA nan");
  EXPECT_EQ(found.min(NanPolicy::skip), (Extremum{{-0.0, DType::float64}, 3}));
  EXPECT_EQ(found.min().index, 6u);
  found = collected("NA,1,,2");
  found.merge(collected(",NA,7,0"));
  EXPECT_EQ(found.max().index, 6u);
  EXPECT_EQ(found.min().index, 7u);
  EXPECT_EQ(found.missing(), 4u);
  Statistics nothing = collected("NA NA");
  nothing.merge(found);
  EXPECT_EQ(nothing.max().index, 8u);
  EXPECT_EQ(nothing.missing(), 6u);
  EXPECT_EQ(nothing.count(), 4u);
}

// A chunk's type depends on neighbouring numbers; the values do not.
TEST_F(TextFiles, HaveOneTypeWhereverTheyAreCut) {
  InputOptions options;
  options.text.in_order = true;
  const Device device = Device::open("cpu");
  std::string zeros;
  for (int i = 0; i < 200000; ++i) zeros += "0\n";
  const auto ends = [&](const std::string& text) {
    write(text);
    const Statistics found = collect(*open_source(path_, options), {}, {.device = device});
    return std::pair(found.min().value, found.max().value);
  };
  for (const char* some : {"-3 0.5 9 ", "-3 9 ", "3 18446744073709551615 ", "-9007199254740993 0.5 9007199254740993 "}) {
    const std::string text = some;
    EXPECT_EQ(ends(text + "0"), ends(text + zeros)) << some;
    EXPECT_EQ(ends(text + "0"), ends(zeros + text)) << some;
  }
}

TEST_F(TextFiles, HaveDotProductsToTheLastBit) {
  const Device device = Device::open("cpu");
  const fs::path other = path_.parent_path() / "y.txt";
  InputOptions options;
  options.text.in_order = true;
  const auto dot_of = [&](std::string_view a, std::string_view b) {
    write(b);
    fs::rename(path_, other);
    write(a);
    return dot(*open_source(path_, options), *open_source(other, options), {.device = device});
  };
  EXPECT_EQ(dot_of("9007199254740993 2", "3 -1").to_int64(), 27021597764222977);
  EXPECT_EQ(dot_of("9007199254740993 18446744073709551615", "0.5 -0.5").round(),
            static_cast<double>((9007199254740993.0L - 18446744073709551615.0L) / 2));
  EXPECT_EQ(dot_of("1 -2 3", "0.5 0.25 4").round(), 12);
  EXPECT_EQ(dot_of("18446744073709551615 2", "-1 9223372036854775808").to_int64(), 1) << "2^64 - (2^64 - 1)";
  EXPECT_TRUE(std::isinf(dot_of("9007199254740993 1", "inf 1").round()));
  EXPECT_EQ(dot_of("9007199254740993 0 7", "0.5 inf 1").nan_count(), 1u);
  EXPECT_THROW(dot_of("1,,2", "1,2"), Error);
  EXPECT_THROW(dot_of("1,,2", "1,2,"), Error) << "places would no longer be those of one row";
}

TEST_F(TextFiles, AreTablesOfSeveralColumns) {
  std::string text = "row,value,name\n";
  std::vector<Accumulator> expected(2);
  for (int i = 0; i < 100000; ++i) {
    text += fmt::format("{},{},x{}\n", i, i * 0.1, i);
    expected[0].add(i);
    expected[1].add(i * 0.1);
  }
  write(text);
  const Device device = Device::open("cpu");
  for (const std::uint32_t threads : {1u, 3u}) {
    InputOptions options;
    options.threads = threads;
    options.text.columns = {"1", "value"};
    EXPECT_EQ(accumulate_columns(*open_table(path_, options), {.device = device}), expected);
    options.text.columns.clear();
    options.text.in_order = true;
    const auto source = open_table(path_, options);
    const std::vector<Statistics> all = collect_columns(*source, {}, {.device = device});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].sum(), expected[1]);
    EXPECT_EQ(all[1].max().index, 99999u);
    EXPECT_EQ(source->columns()[2].words, 100000u);
    EXPECT_EQ(source->columns()[2].first_word, "x0");
    EXPECT_EQ(source->columns()[2].first_line, 2u);
    EXPECT_THROW(collect(*open_table(path_, options), {}, {.device = device}), Error);
  }
  InputOptions options;
  options.text.columns = {"row", "value"};
  EXPECT_THROW(open_source(path_, options), Error);
}

TEST_F(TextFiles, MayBeRawWithAHeader) {
  const double values[] = {1, 2, 4, 8};
  write("header!" + std::string(reinterpret_cast<const char*>(values), sizeof values));
  InputOptions options;
  for (const bool big_endian : {false, true}) {  // mapped, and as a stream
    options = {};
    options.raw = RawType{DType::float64, big_endian};
    options.offset = 7;
    EXPECT_EQ(sum(options).count(), 4u);
    if (!big_endian) {
      EXPECT_EQ(sum(options).round(), 15);
    }
    options.count = 3;
    if (!big_endian) {
      EXPECT_EQ(sum(options).round(), 7);
    }
    EXPECT_EQ(sum(options).count(), 3u);
    options.offset = 15;
    options.count = 0;
    EXPECT_EQ(sum(options).count(), 0u);
    options.count = 4;
    EXPECT_THROW(sum(options), Error) << "there are three";
    options.count = ~std::uint64_t{0} / 4;
    EXPECT_THROW(sum(options), Error);
    options.count.reset();
    options.offset = 8;
    EXPECT_THROW(sum(options), Error) << "no multiple";
    options.offset = 40;
    EXPECT_THROW(sum(options), Error);
    options.raw.reset();
    EXPECT_THROW(sum(options), Error) << "of text";
  }
}

}  // namespace
}  // namespace samesum
