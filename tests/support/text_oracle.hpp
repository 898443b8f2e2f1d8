// The expected numbers of a text, read in the simplest way: line by line, word by word, by the C library.
#pragma once

#include "io/text/text.hpp"

#include <samesum/accumulator.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::test {

struct TextResult {
  Accumulator sum;
  std::uint64_t missing = 0;
  std::optional<std::size_t> error;  ///< the position of an error: offset of the character, after a byte order mark

  friend bool operator==(const TextResult&, const TextResult&) = default;
};

/// A number with its exact value, comparable: not NaN, and zeros of both signs differ. A long double holds all 64-bit integers.
template <class Number>
long double comparable(Number number) {
  const auto value = static_cast<long double>(number);
  if (std::isnan(value)) return 1e4000L;
  return value == 0 && std::signbit(value) ? -1e4001L : value;
}

/// `word` with a point as the decimal separator and without separators of thousands; no value where these are not at the standard
/// positions.
inline std::optional<std::string> as_c_writes(const std::string& word, const TextOptions& options) {
  const std::size_t sign = !word.empty() && (word[0] == '-' || word[0] == '+') ? 1 : 0;
  const std::string thousands = options.thousands == 0 ? "" : std::string(1, options.thousands);
  const std::size_t end = std::min(word.find_first_not_of("0123456789" + thousands, sign), word.size());
  const std::string whole = word.substr(sign, end - sign);
  std::string digits = whole, rest = word.substr(end);
  std::erase_if(digits, [&](char c) { return c < '0' || c > '9'; });
  std::string anew = digits;
  for (std::size_t at = anew.size(); at > 3; at -= 3) anew.insert(at - 3, thousands);
  if (whole != digits && whole != anew) return std::nullopt;
  const bool fraction = !rest.empty() && rest[0] == options.decimal;
  if (fraction) rest.erase(0, 1);
  if ((options.decimal != '.' && rest.find('.') != std::string::npos) ||
      (!thousands.empty() && rest.find(thousands) != std::string::npos)) {
    return std::nullopt;
  }
  return word.substr(0, sign) + digits + (fraction ? "." : "") + rest;
}

/// Adds `word`, a number or a missing one; false where it is neither. `value_there`, if given, receives the number.
inline bool add_word(const std::string& written, TextResult& result, const TextOptions& options = {}, long double* value_there = nullptr) {
  if (written == "NA") {
    ++result.missing;
    return true;
  }
  const auto add = [&](auto number) {
    result.sum.add(number);
    if (value_there != nullptr) *value_there = comparable(number);
    return true;
  };
  const std::optional<std::string> usual = as_c_writes(written, options);
  if (!usual) return false;
  const std::string& word = *usual;
  const std::size_t sign = !word.empty() && (word[0] == '-' || word[0] == '+') ? 1 : 0;
  const bool hexadecimal = word.size() > sign + 2 && word[sign] == '0' && (word[sign + 1] | 0x20) == 'x';
  const std::string digits = word.substr(hexadecimal ? sign + 2 : sign);
  const bool integer =
      !digits.empty() && digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") == std::string::npos;
  if (integer) {
    errno = 0;
    const unsigned long long magnitude = std::strtoull(digits.c_str(), nullptr, hexadecimal ? 16 : 10);
    const bool negative = word[0] == '-';
    constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
    if (errno == 0 && !(negative && (magnitude == 0 || magnitude > kTop))) {
      if (negative || magnitude < kTop) return add(static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude));
      return add(static_cast<std::uint64_t>(magnitude));
    }
  }
  if (word.empty() || word.find('\0') != std::string::npos || word.find('(') != std::string::npos) return false;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return *end == '\0' && add(value);
}

/// The expected columns of a table, or of a sequence of numbers.
struct TableResult {
  struct Column {
    TextResult all;
    std::uint64_t words = 0;
    std::vector<std::pair<std::uint64_t, long double>> placed = {};  ///< with TextOptions::in_order: rows and comparable values

    friend bool operator==(const Column&, const Column&) = default;
  };
  std::vector<Column> columns;
  std::vector<std::string> names;
  std::optional<std::size_t> error;

  friend bool operator==(const TableResult&, const TableResult&) = default;
};

/// The separators of numbers without columns, beside blanks.
inline std::string separators_of(const TextOptions& options) {
  if (options.separator != 0) return options.separator == ' ' ? "" : std::string(1, options.separator);
  return options.decimal != ',' && options.thousands != ',' ? ",;" : ";";
}

/// All numbers of `text`, without columns. An error is reported without its position.
inline TableResult::Column read_all(std::string_view text, const TextOptions& options = {}) {
  constexpr std::string_view kBlanks = " \t\v\f";
  const std::string separators = separators_of(options);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::uint64_t i = 0; i < options.skip_lines; ++i) {
    const std::size_t line_end = text.find('\n');
    text.remove_prefix(line_end == std::string_view::npos ? text.size() : line_end + 1);
  }
  TableResult::Column column;
  TextResult& result = column.all;
  bool comma = false, semicolon = false;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || line[first] == '#') continue;
    const auto has = [&](char c) { return separators.find(c) != std::string::npos && line.find(c) != std::string_view::npos; };
    const bool divided = line.find_first_of(separators) != std::string_view::npos;
    comma = comma || has(',');
    semicolon = semicolon || has(';');
    for (bool more = true; more;) {
      const std::size_t field_size = std::min(line.find_first_of(separators), line.size());
      std::string_view field = line.substr(0, field_size);
      more = field_size < line.size();
      line.remove_prefix(more ? field_size + 1 : field_size);
      bool any = false;
      for (;;) {
        field.remove_prefix(std::min(field.find_first_not_of(kBlanks), field.size()));
        if (field.empty()) break;
        const std::size_t word_size = std::min(field.find_first_of(kBlanks), field.size());
        const std::uint64_t place = result.sum.count() + result.missing, count = result.sum.count();
        long double value = 0;
        if (!add_word(std::string(field.substr(0, word_size)), result, options, &value)) result.error = 0;
        if (options.in_order && result.sum.count() != count) column.placed.emplace_back(place, value);
        any = true;
        field.remove_prefix(word_size);
      }
      if (!any && divided) ++result.missing;
    }
  }
  if (comma && semicolon) result.error = 0;
  return column;
}

inline void add_chunks(const io::TextColumn& read, bool in_order, TableResult::Column& column) {
  std::uint64_t index = 0;
  const std::uint64_t before = column.all.sum.count(), missing = column.all.missing;
  const auto add = [&](auto value) {
    // A chunk of uint64 may contain smaller integers, to preserve the order: which of the two types they have is unspecified.
    if constexpr (std::is_same_v<decltype(value), std::uint64_t>) {
      value >> 63 == 0 ? column.all.sum.add(static_cast<std::int64_t>(value)) : column.all.sum.add(value);
    } else {
      column.all.sum.add(value);
    }
    if (in_order) column.placed.emplace_back(before + missing + index + read.numbers.missing_before(index), comparable(value));
    ++index;
  };
  for (const Array chunk : read.numbers.chunks()) {
    for (std::uint64_t i = 0; i < chunk.size(); ++i) {
      const auto* const at = static_cast<const std::byte*>(chunk.data()) + 8 * i;
      const auto as = [at](auto value) {
        std::memcpy(&value, at, sizeof value);
        return value;
      };
      if (chunk.type() == DType::int64) add(as(std::int64_t{}));
      if (chunk.type() == DType::uint64) add(as(std::uint64_t{}));
      if (chunk.type() == DType::float64) add(as(double{}));
    }
  }
  column.all.missing += read.numbers.missing();
  column.words += read.words;
}

/// Reads in blocks of `block_bytes`; all characters are available at once.
inline TableResult read_table(std::string_view text, const TextOptions& options, io::Layout layout, std::size_t block_bytes) {
  std::size_t at = 0;
  io::TextReader reader(
      [&](std::span<char> into) {
        const std::size_t count = std::min(into.size(), text.size() - at);
        std::copy_n(text.data() + at, count, into.data());
        at += count;
        return count;
      },
      options, layout, block_bytes);
  TableResult result;
  std::size_t before = 0;
  bool comma = false, semicolon = false;
  io::TextBlock block;
  for (bool last = false; !last;) {
    last = reader.fill(block);
    reader.parse(block);
    comma = comma || block.comma;
    semicolon = semicolon || block.semicolon;
    if (comma && semicolon) return {{}, {}, 0};
    result.columns.resize(std::max(result.columns.size(), block.columns.size()));
    for (std::size_t i = 0; i < block.columns.size(); ++i) add_chunks(block.columns[i], options.in_order, result.columns[i]);
    if (block.error) {
      result.error = before + block.error->offset;
      break;
    }
    before += block.end;
  }
  for (const Column& column : reader.columns()) result.names.push_back(column.name);
  return result;
}

/// The same for one sequence, or one column.
inline TextResult read_in_blocks(std::string_view text, const TextOptions& options, std::size_t block_bytes) {
  TableResult table = read_table(text, options, options.columns.empty() ? io::Layout::sequence : io::Layout::table, block_bytes);
  TextResult result = table.columns.empty() ? TextResult() : table.columns.front().all;
  result.error = table.error;
  return result;
}

}  // namespace samesum::test
