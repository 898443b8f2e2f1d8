// What a text comes to, read in the plainest way: line by line, word by word, by the C library.
#pragma once

#include "io/text.hpp"

#include <samesum/accumulator.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace samesum::test {

struct TextResult {
  Accumulator sum;
  std::uint64_t missing = 0;
  std::optional<std::size_t> error;  ///< where it is wrong: offset of the character, behind a byte order mark

  friend bool operator==(const TextResult&, const TextResult&) = default;
};

/// Adds `word`, a number or a missing one; false where it is neither.
inline bool add_word(const std::string& word, TextResult& result) {
  if (word == "NA") {
    ++result.missing;
    return true;
  }
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
      if (negative || magnitude < kTop) {
        result.sum.add(static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude));
      } else {
        result.sum.add(static_cast<std::uint64_t>(magnitude));
      }
      return true;
    }
  }
  if (word.empty() || word.find('\0') != std::string::npos || word.find('(') != std::string::npos) return false;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (*end != '\0') return false;
  result.sum.add(value);
  return true;
}

/// Of all numbers of `text`, without columns. Of the error it only says that there is one.
inline TextResult read_all(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\v\f";
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  TextResult result;
  bool comma = false, semicolon = false;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || line[first] == '#') continue;
    const bool divided = line.find_first_of(",;") != std::string_view::npos;
    comma = comma || line.find(',') != std::string_view::npos;
    semicolon = semicolon || line.find(';') != std::string_view::npos;
    for (bool more = true; more;) {
      const std::size_t field_size = std::min(line.find_first_of(",;"), line.size());
      std::string_view field = line.substr(0, field_size);
      more = field_size < line.size();
      line.remove_prefix(more ? field_size + 1 : field_size);
      bool any = false;
      for (;;) {
        field.remove_prefix(std::min(field.find_first_not_of(kBlanks), field.size()));
        if (field.empty()) break;
        const std::size_t word_size = std::min(field.find_first_of(kBlanks), field.size());
        if (!add_word(std::string(field.substr(0, word_size)), result)) result.error = 0;
        any = true;
        field.remove_prefix(word_size);
      }
      if (!any && divided) ++result.missing;
    }
  }
  if (comma && semicolon) result.error = 0;
  return result;
}

/// What the library makes of it, in blocks of `block_bytes`; the characters arrive whole.
inline TextResult read_in_blocks(std::string_view text, const TextOptions& options, std::size_t block_bytes) {
  std::size_t at = 0;
  io::TextReader reader(
      [&](std::span<char> into) {
        const std::size_t count = std::min(into.size(), text.size() - at);
        std::copy_n(text.data() + at, count, into.data());
        at += count;
        return count;
      },
      options, block_bytes);
  TextResult result;
  std::size_t before = 0;
  bool comma = false, semicolon = false;
  io::TextBlock block;
  for (bool last = false; !last;) {
    last = reader.fill(block);
    reader.parse(block);
    comma = comma || block.comma;
    semicolon = semicolon || block.semicolon;
    if (comma && semicolon) return {{}, 0, 0};
    for (const std::int64_t value : block.numbers.integers()) result.sum.add(value);
    for (const std::uint64_t value : block.numbers.large()) result.sum.add(value);
    for (const double value : block.numbers.reals()) result.sum.add(value);
    result.missing += block.missing;
    if (block.error) {
      result.error = before + block.error->offset;
      return result;
    }
    before += block.end;
  }
  return result;
}

}  // namespace samesum::test
