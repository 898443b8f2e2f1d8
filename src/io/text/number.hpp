// Parsing numbers.
#pragma once

#include "core/view.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {

static_assert(std::endian::native == std::endian::little);

/// The role of a character between numbers.
enum class CharClass : std::uint8_t { other, blank, line_end, separator };

using CharClasses = std::array<CharClass, 256>;

/// The role of each character, given the `separators` between numbers.
constexpr CharClasses char_classes(std::string_view separators) {
  CharClasses classes{};
  for (const unsigned char c : {' ', '\t', '\v', '\f'}) classes[c] = CharClass::blank;
  for (const unsigned char c : {'\n', '\r'}) classes[c] = CharClass::line_end;
  for (const char c : separators) classes[static_cast<unsigned char>(c)] = CharClass::separator;
  return classes;
}
inline constexpr CharClasses kCharClasses = char_classes(",;");

inline CharClass class_of(char c) noexcept { return kCharClasses[static_cast<unsigned char>(c)]; }

/// A growing sequence of parsed numbers: integers exactly, all others as the nearest doubles; and the positions of missing ones.
class Numbers {
 public:
  /// Removes all numbers and reserves memory for `count`.
  void reset(std::size_t count);
  /// Reserves memory for one more.
  void reserve_one() {
    if (size() == capacity_) grow();
  }

  void add(std::int64_t value) noexcept {
    *integers_end_++ = value;
    *kinds_end_++ = Kind::integer;
  }
  void add(double value) noexcept {
    *reals_end_++ = value;
    *kinds_end_++ = Kind::real;
  }
  void add_large(std::uint64_t value) {  ///< for integers of 2^63 and more
    large_.push_back(value);
    *kinds_end_++ = Kind::large;
  }
  void add_missing() { gaps_.push_back(size()); }
  void remove_last() noexcept;

  /// Must be called after the last number: divides them into chunks(), of one type each. With `in_order` the chunks have the numbers in the
  /// order in which they were added, with their exact values: an integer is given as a double only among doubles, where that is exact.
  void finish(bool in_order);

  std::span<const View> chunks() const noexcept { return chunks_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(kinds_end_ - kinds_.get()); }
  std::uint64_t missing() const noexcept { return gaps_.size(); }
  /// How many are missing before the number at `index`.
  std::uint64_t missing_before(std::size_t index) const noexcept {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(gaps_, index) - gaps_.begin());
  }

 private:
  enum class Kind : std::uint8_t { integer, real, large };

  void grow();
  void reallocate(std::size_t capacity, std::size_t kept);
  void put_in_order();

  std::size_t capacity_ = 0;
  std::unique_ptr<std::int64_t[]> integers_;
  std::unique_ptr<double[]> reals_;
  std::unique_ptr<Kind[]> kinds_;  // of all numbers, in order
  std::int64_t* integers_end_ = nullptr;
  double* reals_end_ = nullptr;
  Kind* kinds_end_ = nullptr;
  std::vector<std::uint64_t> large_;
  std::vector<std::size_t> gaps_;  // for each missing one, the count of numbers before it
  std::vector<View> chunks_;
  std::vector<std::uint64_t> ordered_;  // bits of int64, uint64 and float64
};

/// The format of numbers, and of missing ones.
struct NumberRules {
  std::vector<std::string> missing;  ///< words that stand for a missing number
  bool integers = true;              ///< true: integers are exact; false: they are rounded to doubles
  bool missing_first = false;        ///< `missing` is tested first, as one of them looks like a number
  char decimal = '.';                ///< decimal separator
  char thousands = 0;                ///< separator between groups of three digits; 0: none
  CharClasses classes = kCharClasses;

  CharClass class_of(char c) const noexcept { return classes[static_cast<unsigned char>(c)]; }
  bool is_missing(std::string_view word) const noexcept;
};

/// How many bytes after a text may be read (their values do not matter).
inline constexpr std::size_t kTextPadding = 16;

/// Parses `word` as one number: decimal, hexadecimal ("0x1.8p1"), "inf", "infinity", "nan" in any case; with the decimal and thousands
/// separators of `rules`. False where it is not a number. Correctly rounded, to nearest even.
bool parse_number(std::string_view word, const NumberRules& rules, Numbers& numbers);

/// The fast path: parses a number in a common form that begins at `at`. Returns the position of the first character that is not
/// CharClass::other, or null where the number (if it is one) needs parse_number(). A line end must follow the text.
inline const char* parse_common_number(const char* at, const NumberRules& rules, Numbers& numbers) noexcept;

// --- implementation ---------------------------------------------------------------------------------------------------------------

namespace detail {

inline constexpr std::uint64_t kTens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
inline constexpr int kMaxExactTen = 22;  // 10^22 is the largest power of ten that is a double
inline constexpr double kExactTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline constexpr int kMaxDigits = 19;  // any number of 19 digits fits 64 bits
inline constexpr int kMaxFive = 27;    // 5^27 is the largest power of five that fits 64 bits
constexpr auto powers_of_five() {
  std::array<std::uint64_t, kMaxFive + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 5 * powers[i - 1];
  return powers;
}
inline constexpr auto kFives = powers_of_five();

__extension__ using Wide = unsigned __int128;

// 2^127 / (5^i, shifted so that its highest bit is set), rounded down.
constexpr auto reciprocals_of_five() {
  std::array<std::uint64_t, kMaxFive + 1> reciprocals{~std::uint64_t{0}};
  for (std::size_t i = 1; i < reciprocals.size(); ++i) {
    reciprocals[i] = static_cast<std::uint64_t>((Wide{1} << 127) / (kFives[i] << std::countl_zero(kFives[i])));
  }
  return reciprocals;
}
inline constexpr auto kFifths = reciprocals_of_five();

// value · 10^exponent as the nearest double, for value > 0 and |exponent| <= kMaxFive: at least 62 bits of the quotient (or product) by the
// power of five, with a sticky last bit for the remaining ones, are rounded by the conversion.
inline double scaled(std::uint64_t value, int exponent) noexcept {
  const std::size_t place = static_cast<std::size_t>(exponent < 0 ? -exponent : exponent);
  const std::uint64_t five = kFives[place];
  const int value_shift = std::countl_zero(value), five_shift = std::countl_zero(five);
  value <<= value_shift;
  std::uint64_t bits = 0;
  int power = 0;
  if (exponent < 0) {
    // By the reciprocal, whose error is less than 2 in the last place: that suffices unless the bits that are rounded away are close to
    // half.
    bits = static_cast<std::uint64_t>((static_cast<Wide>(value) * kFifths[place]) >> 64);
    if (((bits + 4) & 0x1ff) <= 8) {
      const std::uint64_t divisor = five << five_shift;
      const Wide dividend = static_cast<Wide>(value) << 63;  // its upper half is less than the divisor
      bits = static_cast<std::uint64_t>(dividend / divisor);
      bits |= static_cast<std::uint64_t>(dividend) != bits * divisor;
    }
    power = five_shift - value_shift - 63 + exponent;
  } else {
    const Wide product = static_cast<Wide>(value) * (five << five_shift);
    bits = static_cast<std::uint64_t>(product >> 64) | (static_cast<std::uint64_t>(product) != 0);
    power = 64 - five_shift - value_shift + exponent;
  }
  bits = bits >> 1 | (bits & 1);  // signed integers are converted faster
  return static_cast<double>(static_cast<std::int64_t>(bits)) * std::bit_cast<double>(static_cast<std::uint64_t>(1024 + power) << 52);
}

// A run of decimal digits.
struct Digits {
  std::uint64_t value = 0;
  int count = 0;
};

// The value of eight digits, given as the numbers 0 to 9, the first one in the lowest byte.
// D. Lemire, Number Parsing at a Gigabyte per Second, Software: Practice and Experience 51 (2021).
inline std::uint64_t value_of_eight(std::uint64_t digits) noexcept {
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  digits = digits * 10 + (digits >> 8);
  return ((digits & kPairs) * (100 + (std::uint64_t{1000000} << 32)) + ((digits >> 16) & kPairs) * (1 + (std::uint64_t{10000} << 32))) >>
         32;
}

// Adds the digits that begin at `at`, eight at a time; returns the position after the last one, or where there are more than kMaxDigits.
inline const char* read_digits(const char* at, Digits& digits) noexcept {
  for (;;) {
    std::uint64_t eight;
    std::memcpy(&eight, at, sizeof eight);
    eight ^= 0x3030303030303030;
    // The lowest marked byte is the first non-digit: carries only go upwards.
    const std::uint64_t marks = ((eight + 0x7676767676767676) | eight) & 0x8080808080808080;
    if (marks != 0) {
      const int count = std::countr_zero(marks) / 8;
      eight = eight << 1 << (63 - 8 * count);  // leading zeros replace the non-digits
      digits.value = digits.value * kTens[count] + value_of_eight(eight);
      digits.count += count;
      return at + count;
    }
    digits.value = digits.value * kTens[8] + value_of_eight(eight);
    digits.count += 8;
    at += 8;
    if (digits.count > kMaxDigits) return at;
  }
}

}  // namespace detail

inline const char* parse_common_number(const char* at, const NumberRules& rules, Numbers& numbers) noexcept {
  const bool negative = *at == '-';
  at += negative;
  detail::Digits digits;
  at = detail::read_digits(at, digits);
  if (rules.class_of(*at) != CharClass::other) {
    if (digits.count == 0 || digits.count > 18) return nullptr;
    const auto value = static_cast<std::int64_t>(digits.value);
    if ((negative && value == 0) || !rules.integers) {
      if (digits.value > std::uint64_t{1} << 53) return nullptr;
      numbers.add(negative ? -static_cast<double>(value) : static_cast<double>(value));
    } else {
      numbers.add(negative ? -value : value);
    }
    return at;
  }
  int exponent = 0;
  if (*at == rules.decimal) {
    const int whole = digits.count;
    at = detail::read_digits(at + 1, digits);
    exponent = whole - digits.count;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    const bool negative_exponent = *at == '-';
    at += negative_exponent || *at == '+';
    detail::Digits power;
    at = detail::read_digits(at, power);
    if (power.count == 0 || power.count > 3) return nullptr;
    exponent += negative_exponent ? -static_cast<int>(power.value) : static_cast<int>(power.value);
  }
  if (digits.count == 0 || digits.count > detail::kMaxDigits || rules.class_of(*at) == CharClass::other) return nullptr;
  double value = 0;
  if (digits.value <= std::uint64_t{1} << 53 && exponent >= -detail::kMaxExactTen && exponent <= detail::kMaxExactTen) {
    // Both the digits and the power of ten are exact doubles, so one operation rounds once (Clinger, How to Read Floating Point Numbers
    // Accurately, PLDI 1990).
    const auto whole = static_cast<double>(static_cast<std::int64_t>(digits.value));
    value = exponent < 0 ? whole / detail::kExactTens[-exponent] : whole * detail::kExactTens[exponent];
  } else if (digits.value != 0 && exponent >= -detail::kMaxFive && exponent <= detail::kMaxFive) {
    value = detail::scaled(digits.value, exponent);
  } else {
    return nullptr;
  }
  numbers.add(negative ? -value : value);
  return at;
}

}  // namespace samesum::io
