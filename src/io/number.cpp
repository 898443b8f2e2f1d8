#include "io/number.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace samesum::io {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Adds the integer `digits`, where it has 64 bits at most.
bool add_integer(std::string_view digits, int base, bool negative, Numbers& numbers) {
  std::uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, magnitude, base);
  if (error != std::errc() || stop != end) return false;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  if (negative) {
    if (magnitude == 0 || magnitude > kTop) return false;
    numbers.add(static_cast<std::int64_t>(0 - magnitude));
  } else if (magnitude < kTop) {
    numbers.add(static_cast<std::int64_t>(magnitude));
  } else {
    numbers.add_large(magnitude);
  }
  return true;
}

// What a hexadecimal number beyond the range of doubles rounds to: it is far above 1, or far below.
double out_of_range(std::string_view word) noexcept {
  const std::size_t mark = std::min(word.find_first_of("pP"), word.size());
  const std::string_view digits = word.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_not_of("0."), digits.size());
  const auto position = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);  // of the first digit that counts
  std::string_view power = mark < word.size() ? word.substr(mark + 1) : "0";
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto result = std::from_chars(power.data(), power.data() + power.size(), exponent);
  const bool large = result.ec == std::errc() ? exponent + 4 * position > 0 : !power.starts_with('-');
  return large ? std::numeric_limits<double>::infinity() : 0;
}

// Adds a hexadecimal number, without its sign and its "0x".
bool parse_hexadecimal(std::string_view word, bool negative, const NumberRules& rules, Numbers& numbers) {
  if (std::string_view("0123456789abcdef.").find(lower(word[0])) == std::string_view::npos) return false;
  if (rules.integers && add_integer(word, 16, negative, numbers)) return true;
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value, std::chars_format::hex);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = out_of_range(word);
  numbers.add(negative ? -value : value);
  return true;
}

}  // namespace

void Numbers::reset(std::size_t count) {
  if (count > capacity_) {
    integers_ = std::make_unique_for_overwrite<std::int64_t[]>(count);  // pages that are not written to take no memory
    reals_ = std::make_unique_for_overwrite<double[]>(count);
    capacity_ = count;
  }
  integers_end_ = integers_.get();
  reals_end_ = reals_.get();
  large_.clear();
}

bool NumberRules::is_missing(std::string_view word) const noexcept { return std::ranges::find(missing, word) != missing.end(); }

bool parse_number(std::string_view word, const NumberRules& rules, Numbers& numbers) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  if (word.empty()) return false;
  if (word.size() > 2 && word[0] == '0' && lower(word[1]) == 'x') return parse_hexadecimal(word.substr(2), negative, rules, numbers);

  const char first = lower(word[0]);
  if (first == 'i' || first == 'n') {  // of the words that begin like this, no other form than these, as in "nan(7)"
    const auto same = [&](std::string_view other) { return std::ranges::equal(word, other, {}, lower); };
    if (!same("inf") && !same("infinity") && !same("nan")) return false;
  } else if (!is_digit(first) && first != '.') {
    return false;
  }
  if (rules.integers && std::ranges::all_of(word, is_digit) && add_integer(word, 10, negative, numbers)) return true;

  double value = 0;
  const char* const end = word.data() + word.size();
  const auto result = fast_float::from_chars(word.data(), end, value);
  // Some versions report what is out of range, and give the rounded value all the same: infinity or zero.
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return false;
  numbers.add(negative ? -value : value);
  return true;
}

}  // namespace samesum::io
