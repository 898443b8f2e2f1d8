// Fuzzer of text: its numbers are those that the C library parses, and the same for any division into blocks.
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
using io::Layout;
using test::Mismatch;
using test::TableResult;
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

// A number, or something similar.
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

void expect_equal(const TableResult& found, const TableResult& expected, const TextOptions& options, std::string_view what,
                  std::string_view text) {
  if (found == expected) return;
  std::string message = fmt::format("{}: {} columns, error {}; expected {}, {}; decimal {}, thousands {}, separator {}, {} lines skipped",
                                    what, found.columns.size(), found.error.value_or(~std::size_t{0}), expected.columns.size(),
                                    expected.error.value_or(~std::size_t{0}), options.decimal, int{options.thousands},
                                    int{options.separator}, options.skip_lines);
  for (std::size_t i = 0; i < std::min(found.columns.size(), expected.columns.size()); ++i) {
    if (found.columns[i] == expected.columns[i]) continue;
    const auto& a = found.columns[i];
    const auto& b = expected.columns[i];
    message += fmt::format("; column {}: {} numbers, {} missing, {} words; expected {}, {}, {}; same sums: {}, same places: {}", i,
                           a.all.sum.count(), a.all.missing, a.words, b.all.sum.count(), b.all.missing, b.words, a.all.sum == b.all.sum,
                           a.placed == b.placed);
  }
  throw Mismatch(message + "; text: " + io::printable(text, 4000));
}

void check_cuts(Random& random, std::string_view text, const TextOptions& options, Layout layout) {
  const TableResult whole = test::read_table(text, options, layout, io::kTextBlockBytes);
  const std::size_t least = layout != Layout::sequence ? 4 : 2 * kLongestWord;
  for (int i = 0; i < 3; ++i) {
    expect_equal(test::read_table(text, options, layout, least + random.below(300)), whole, options, "in blocks", text);
  }
}

// Where a text is damaged, words may be joined; those longer than a block are refused by design.
bool has_long_words(std::string_view text, const TextOptions& options) {
  const std::string between = test::separators_of(options) + " \t\v\f\r\n";
  std::size_t size = 0;
  for (const char c : text) {
    size = between.find(c) == std::string::npos ? size + 1 : 0;
    if (size > 2 * kLongestWord - 4) return true;
  }
  return false;
}

void check_all(Random& random, std::string_view text, const TextOptions& options) {
  if (has_long_words(text, options)) return;
  const TableResult whole = test::read_table(text, options, Layout::sequence, io::kTextBlockBytes);
  TableResult expected{{test::read_all(text, options)}, {}, {}};
  if (whole.error.has_value() != expected.columns[0].all.error.has_value()) {
    throw Mismatch("one of both found an error: " + io::printable(text, 4000));
  }
  if (!whole.error) expect_equal(whole, expected, options, "whole", text);
  check_cuts(random, text, options, Layout::sequence);
}

// `word` with the separators in the options, where it is a decimal number.
std::string written(Random& random, std::string word, const TextOptions& options) {
  const std::size_t first = word.find_first_of("0123456789"), point = word.find('.');
  const bool plain = first <= 1 && word.find_first_of("xX") == std::string::npos;
  if (point != std::string::npos && (plain || random.below(2) == 0)) word[point] = options.decimal;
  if (!plain || options.thousands == 0 || random.below(3) == 0) return word;
  const std::size_t end = std::min(word.find_first_not_of("0123456789", first), word.size());
  const std::size_t group = random.below(12) == 0 ? 2 : 3;  // some are wrong
  for (std::size_t at = end; at > first + group; at -= group) word.insert(at - group, 1, options.thousands);
  return word;
}

TextOptions some_options(Random& random, bool table) {
  constexpr std::array<char, 6> kThousands = {',', '.', '\'', '_', ' ', 0};
  TextOptions options;
  if (random.below(2) == 0) return options;
  options.decimal = random.below(2) == 0 ? ',' : '.';
  options.thousands = kThousands[random.below(kThousands.size())];
  if (options.thousands == options.decimal || (!table && options.thousands == ' ')) options.thousands = 0;
  options.skip_lines = random.below(3) == 0 ? random.below(4) : 0;
  options.in_order = random.below(2) == 0;
  if (!table && random.below(2) == 0) options.separator = "|;: "[random.below(4)];
  return options;
}

void fuzz_all(Random& random) {
  constexpr std::array<std::string_view, 9> kBetween = {"\n", "\n", "\n", " ", "\t ", ",", ", ", "\r\n", "\n# 1 2 3\n"};
  const TextOptions options = some_options(random, false);
  std::string text = random.below(10) == 0 ? "\xef\xbb\xbf" : "";
  const std::string_view usual = pick(random, kBetween);
  for (std::uint64_t i = random.below(200); i-- > 0;) {
    std::string between(random.below(4) == 0 ? pick(random, kBetween) : usual);
    const std::size_t comma = between.find(',');
    if (comma != std::string::npos && options != TextOptions()) between[comma] = options.separator != 0 ? options.separator : ';';
    text += written(random, word(random).substr(0, kLongestWord / 2), options) + between;
  }
  if (random.below(3) == 0) damage(random, text);
  check_all(random, text, options);
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

// A column of a generated table, and its expected result.
struct MadeColumn {
  bool numbers = true;  ///< or words, with some numbers among them
  std::string name;
  TableResult::Column expected;
};

// A field of `column` in row `row`; adds it to the expected result.
std::string made_field(Random& random, MadeColumn& column, std::uint64_t row, char delimiter, bool may_be_missing,
                       const TextOptions& options) {
  constexpr std::array<std::string_view, 8> kTexts = {"a", "b c", "x,y", "p;q", "tab\there", "two\nlines", "say \"hi\"", "caf\xc3\xa9"};
  std::string field;
  if (may_be_missing && random.below(10) == 0) {
    ++column.expected.all.missing;
    return field;
  }
  if (!column.numbers && random.below(8) != 0) {
    field = pick(random, kTexts);
    ++column.expected.words;
  } else {
    field = written(random, word(random), options);
    long double value = 0;
    const std::uint64_t missing = column.expected.all.missing;
    if (!column.numbers) row = column.expected.all.sum.count() + missing;  // words take up no index
    if (!test::add_word(field, column.expected.all, options, &value)) {
      field = "0x0p0";
      test::add_word(field, column.expected.all, options, &value);
    }
    if (options.in_order && column.expected.all.missing == missing) column.expected.placed.emplace_back(row, value);
  }
  const std::string divides = std::string("\"\n") + (delimiter == ' ' ? " \t" : std::string(1, delimiter)) + ",;\t";
  return field.find_first_of(divides) != std::string::npos || random.below(6) == 0 ? in_quotes(field) : field;
}

// A generated table with columns of numbers and of words, with known results; all or some of the columns are read.
void fuzz_table(Random& random) {
  constexpr std::array<char, 5> kDelimiters = {',', ';', '\t', ' ', '|'};
  TextOptions options = some_options(random, true);
  char delimiter = kDelimiters[random.below(kDelimiters.size())];
  std::vector<MadeColumn> columns(1 + random.below(5));
  if (columns.size() == 1) delimiter = ' ';  // the default for a line without delimiters
  if (delimiter == '|' || (delimiter == ',' && options.decimal == ',') || random.below(3) == 0) options.separator = delimiter;
  if (delimiter == ' ' && options.thousands == ' ') options.thousands = 0;
  const auto separator = delimiter == ' ' ? std::string("  ") : std::string(1, delimiter);
  const std::string line_end = random.below(2) == 0 ? "\n" : "\r\n";

  std::string text;
  for (std::uint64_t i = 0; i < options.skip_lines; ++i) text += "to be, \"skipped" + line_end;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].numbers = i == 0 || random.below(2) == 0;
    columns[i].name = fmt::format("c\xc3\xb6{}", i);
    text += (i == 0 ? "" : separator) + columns[i].name;
  }
  text += line_end;
  const std::uint64_t rows = random.below(60);
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (random.below(20) == 0) text += "# a comment, with a \" in it" + line_end;
    if (random.below(20) == 0) text += line_end;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += (i == 0 ? "" : separator) + made_field(random, columns[i], row, delimiter, delimiter != ' ' && columns.size() > 1, options);
    }
    text += line_end;
  }
  // Without its line end, a last line whose only or last field is missing may be no line at all.
  if (random.below(3) == 0 && !text.ends_with(separator + line_end)) text.resize(text.size() - line_end.size());

  TableResult expected;
  std::vector<std::size_t> taken(columns.size());
  for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = i;
  if (random.below(2) == 0) {  // some columns of numbers, in any order, by name or number
    std::erase_if(taken, [&](std::size_t i) { return !columns[i].numbers || (i != 0 && random.below(3) == 0); });
    for (std::size_t i = taken.size(); i > 1; --i) std::swap(taken[i - 1], taken[random.below(i)]);
    for (const std::size_t i : taken) options.columns.push_back(random.below(2) == 0 ? columns[i].name : std::to_string(i + 1));
  }
  for (const std::size_t i : taken) {
    expected.columns.push_back(columns[i].expected);
    expected.names.push_back(columns[i].name);
  }
  const char separates = options.separator;
  const bool looks_like_one = options.columns.empty() && delimiter != ' ' && options.thousands != ' ' &&
                              (separates == 0 || (separates != options.decimal && separates != options.thousands));
  const Layout layout = looks_like_one && random.below(2) == 0 ? Layout::by_first_line : Layout::table;
  expect_equal(test::read_table(text, options, layout, io::kTextBlockBytes), expected, options, "whole", text);
  check_cuts(random, text, options, layout);
  damage(random, text);
  check_cuts(random, text, options, Layout::table);
}

}  // namespace
}  // namespace samesum

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samesum::hard::Random random(size);
  samesum::check_all(random, {reinterpret_cast<const char*>(data), size}, {});
  return 0;
}

#ifndef SAMESUM_LIBFUZZER
int main(int argc, char** argv) {
  return samesum::test::fuzz("fuzz_text", argc, argv, [](samesum::hard::Random& random) {
    random.below(3) == 0 ? samesum::fuzz_table(random) : samesum::fuzz_all(random);
  });
}
#endif
