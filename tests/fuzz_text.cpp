// Fuzzer of text: its numbers are those that the C library finds, and the same however the text is cut into blocks.
//   fuzz_text [--seconds N] [--seed S]      made-up texts and tables, some of them damaged
// With clang: -DSAMESUM_LIBFUZZER -fsanitize=fuzzer,address for coverage-guided inputs.
#include "support/fuzz.hpp"
#include "support/text_oracle.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum {
namespace {

using hard::Random;
using test::Mismatch;
using test::TextResult;

constexpr std::size_t kLongestWord = 60;

template <std::size_t kSize>
std::string_view pick(Random& random, const std::array<std::string_view, kSize>& from) {
  return from[random.below(kSize)];
}

std::string digits(Random& random, std::uint64_t most) {
  std::string text;
  for (std::uint64_t i = random.below(most + 1); i-- > 0;) text += static_cast<char>('0' + random.below(10));
  return text;
}

// A number, or what is nearly one.
std::string word(Random& random) {
  constexpr std::array<std::string_view, 34> kWords = {"0",
                                                       "-0",
                                                       "+0",
                                                       "-0.0",
                                                       "NA",
                                                       "nan",
                                                       "NaN",
                                                       "-nan",
                                                       "inf",
                                                       "-Infinity",
                                                       "1e400",
                                                       "-1e400",
                                                       "5e-324",
                                                       "2.4703282292062327e-324",
                                                       "2.4703282292062328e-324",
                                                       "9223372036854775807",
                                                       "9223372036854775808",
                                                       "-9223372036854775808",
                                                       "-9223372036854775809",
                                                       "18446744073709551615",
                                                       "18446744073709551616",
                                                       "0x1.8p1",
                                                       "-0x1f",
                                                       "0xffffffffffffffff",
                                                       "0x1p-1075",
                                                       "1.7976931348623159e308",
                                                       "9007199254740993",
                                                       "9007199254740993.0",
                                                       ".5",
                                                       "5.",
                                                       "1e5",
                                                       "1E+05",
                                                       "179769313486231580793e289",
                                                       "+7"};
  switch (random.below(8)) {
    case 0:
      return std::string(pick(random, kWords));
    case 1:
      return fmt::format("{}", static_cast<std::int64_t>(random.bits()) >> random.below(64));
    case 2:
      return fmt::format("{}", std::bit_cast<double>(random.bits()));
    case 3:
      return fmt::format("{:.17g}", static_cast<double>(random.bits()) * 0x1p-64);
    case 4:
      return fmt::format("{:.{}f}", (static_cast<double>(random.bits(40)) - 0x1p39) * 1e-6, random.below(12));
    case 5:
      return fmt::format("{:.{}e}", std::ldexp(static_cast<double>(random.bits()), random.between(-200, 100)), random.below(22));
    default:
      return (random.below(3) == 0 ? "-" : "") + digits(random, 21) + (random.below(2) == 0 ? "." + digits(random, 21) : "") +
             (random.below(3) == 0 ? fmt::format("e{}", random.between(-40, 40)) : "");
  }
}

void damage(Random& random, std::string& text) {
  constexpr std::array<std::string_view, 22> kPieces = {",", ";",   ",,",   "\n",     "\r\n",         "\r", " ", "\t",
                                                        "#", "\n#", "\"",   "\"\"",   "\xff",         "e",  "-", ".",
                                                        "x", "NA",  "\n\n", "nan(1)", "\xef\xbb\xbf", "\v"};
  for (std::uint64_t i = random.below(4); i-- > 0;) {
    const std::string_view piece = random.below(30) == 0 ? std::string_view("\0", 1) : pick(random, kPieces);
    text.replace(random.below(text.size() + 1), random.below(3), piece);
  }
}

void expect_equal(const TextResult& found, const TextResult& expected, std::string_view what, std::string_view text) {
  if (found == expected) return;
  throw Mismatch(fmt::format("{}: {} numbers, {} missing, error {}; expected {}, {}, {}; sums {} and {}; text: {}", what, found.sum.count(),
                             found.missing, found.error.value_or(~std::size_t{0}), expected.sum.count(), expected.missing,
                             expected.error.value_or(~std::size_t{0}), found.sum.round(), expected.sum.round(), io::printable(text)));
}

void check_cuts(Random& random, std::string_view text, const TextOptions& options, const TextResult& whole) {
  for (int i = 0; i < 3; ++i) {
    const std::size_t block = 2 * kLongestWord + random.below(300);
    expect_equal(test::read_in_blocks(text, options, block), whole, fmt::format("in blocks of {}", block), text);
  }
}

// Words may grow together where a text is damaged; what is longer than a block is refused by design.
bool has_long_words(std::string_view text) {
  std::size_t size = 0;
  for (const char c : text) {
    size = io::class_of(c) == io::CharClass::other ? size + 1 : 0;
    if (size > 2 * kLongestWord - 4) return true;
  }
  return false;
}

void check_all(Random& random, std::string_view text) {
  if (has_long_words(text)) return;
  const TextResult whole = test::read_in_blocks(text, {}, io::kTextBlockBytes);
  const TextResult expected = test::read_all(text);
  if (whole.error.has_value() != expected.error.has_value()) throw Mismatch("one of both found an error: " + io::printable(text));
  if (!whole.error) expect_equal(whole, expected, "whole", text);
  check_cuts(random, text, {}, whole);
}

void fuzz_all(Random& random) {
  constexpr std::array<std::string_view, 9> kBetween = {"\n", "\n", "\n", " ", "\t ", ",", ", ", "\r\n", "\n# 1 2 3\n"};
  std::string text = random.below(10) == 0 ? "\xef\xbb\xbf" : "";
  const std::string_view usual = pick(random, kBetween);
  for (std::uint64_t i = random.below(200); i-- > 0;) {
    text += word(random).substr(0, kLongestWord);
    text += random.below(4) == 0 ? pick(random, kBetween) : usual;
  }
  if (random.below(3) == 0) damage(random, text);
  check_all(random, text);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

// A table with a column of numbers among others, of which we know the sum.
void fuzz_column(Random& random) {
  constexpr std::array<char, 4> kDelimiters = {',', ';', '\t', ' '};
  constexpr std::array<std::string_view, 8> kTexts = {"a", "b c", "x,y", "p;q", "tab\there", "12", "two\nlines", "say \"hi\""};
  const char delimiter = kDelimiters[random.below(4)];
  const std::size_t columns = 1 + random.below(5), wanted = random.below(columns);
  const auto separator = delimiter == ' ' ? std::string("  ") : std::string(1, delimiter);
  const std::string line_end = random.below(2) == 0 ? "\n" : "\r\n";
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) text += (i == 0 ? "" : separator) + (i == wanted ? "price" : fmt::format("c{}", i));
  text += line_end;
  TextResult expected;
  for (std::uint64_t row = random.below(60); row-- > 0;) {
    if (random.below(20) == 0) text += "# a comment, with a \" in it" + line_end;
    if (random.below(20) == 0) text += line_end;
    for (std::size_t i = 0; i < columns; ++i) {
      if (i != 0) text += separator;
      if (i != wanted) {
        const std::string_view other = pick(random, kTexts);
        text += delimiter == ' ' || other.find_first_of(",;\t\n\"") != std::string_view::npos || random.below(4) == 0 ? quoted(other)
                                                                                                                      : std::string(other);
      } else if (random.below(10) == 0 && delimiter != ' ' && columns > 1) {
        ++expected.missing;
      } else {
        const std::string number = word(random);
        if (test::add_word(number, expected)) {
          text += random.below(6) == 0 ? quoted(number) : number;
        } else {
          text += "0x0p0";
          expected.sum.add(0.0);
        }
      }
    }
    text += line_end;
  }
  if (!text.empty() && random.below(3) == 0) text.resize(text.size() - line_end.size());
  TextOptions options;
  options.column = random.below(2) == 0 ? "price" : std::to_string(wanted + 1);
  // Without its line end, a last line whose only or last field is missing may be no line at all.
  const TextResult whole = test::read_in_blocks(text, options, io::kTextBlockBytes);
  expect_equal(whole, expected, "column " + options.column, text);
  check_cuts(random, text, options, whole);

  damage(random, text);
  check_cuts(random, text, options, test::read_in_blocks(text, options, io::kTextBlockBytes));
}

}  // namespace
}  // namespace samesum

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samesum::hard::Random random(size);
  samesum::check_all(random, {reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef SAMESUM_LIBFUZZER
int main(int argc, char** argv) {
  return samesum::test::fuzz("fuzz_text", argc, argv, [](samesum::hard::Random& random) {
    random.below(3) == 0 ? samesum::fuzz_column(random) : samesum::fuzz_all(random);
  });
}
#endif
