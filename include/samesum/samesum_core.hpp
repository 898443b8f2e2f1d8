// samesum_core.hpp: exact sums and dot products in one header, which needs a C++20 compiler (GCC or Clang) and nothing else.
//
//   #include "samesum_core.hpp"
//
//   const std::vector<double> x{1e100, 1.0, -1e100};
//   samesum_core::sum(x);                          // 1.0: the exact sum, rounded once
//   samesum_core::Accumulator total;               // a sum as a value: the same bits in any order, merged from any parts
//   for (const double one : x) total.add(one);
//   total.round();
//
// These are the accumulators of the library samesum (its arithmetic on the CPU, without its vectors and threads): the same bits, and words()
// that the library reads. The library sums at the speed of memory; this header takes a few nanoseconds for each element. With -ffast-math
// (GCC's -fno-signed-zeros) a compiler may change the sign of a result that is zero, and nothing else.
//
// Written by tools/write-core-header.py from src/exact: change it there.
// clang-format off
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum_core {

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559, "numbers are those of IEEE 754");

enum class ErrorKind {
  usage,      ///< bad input
  no_answer,  ///< the input is fine, but has no correct answer
};

/// Thrown by all functions that fail.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// What a NaN among the elements does: the result is NaN, or the NaN is left out.
enum class NanPolicy { propagate, skip };

namespace dialect {

inline constexpr int kExactDigits = 70;
inline constexpr int kExactFloat32Shift = 925;  // the lowest bit of a float32 is 2^-149 = 2^(925 - 1074)

// Adds value * 2^(position - 1074): three digits change, by less than 2^32 each.
inline void exact_add_scaled(std::int64_t* digits, std::int64_t value, int position) {
  std::uint64_t magnitude = value < 0 ? 0 - (std::uint64_t)value : (std::uint64_t)value;
  int digit = position >> 5;
  int shift = position & 31;
  std::uint64_t low = magnitude << shift;
  std::int64_t d0 = (std::int64_t)(low & 0xffffffffu);
  std::int64_t d1 = (std::int64_t)(low >> 32);
  std::int64_t d2 = (std::int64_t)((magnitude >> 32) >> (32 - shift));
  digits[digit] += value < 0 ? -d0 : d0;
  digits[digit + 1] += value < 0 ? -d1 : d1;
  digits[digit + 2] += value < 0 ? -d2 : d2;
}

// Propagates carries: the normalized form, which is unique for a range. Requires digits under 2^62 in magnitude.
inline void exact_normalize(std::int64_t* digits, int first, int last) {
  std::int64_t carry = 0;
  for (int i = first; i < last; ++i) {
    std::int64_t digit = digits[i] + carry;
    carry = digit >> 32;  // arithmetic shift: rounds towards minus infinity
    digits[i] = digit & 0xffffffff;
  }
  digits[last] += carry;
}

// Replaces a normalized range by its magnitude; returns 1 where it was negative.
inline int exact_make_magnitude(std::int64_t* digits, int first, int last) {
  if (digits[last] >= 0) return 0;
  for (int i = first; i <= last; ++i) digits[i] = -digits[i];
  exact_normalize(digits, first, last);
  return 1;
}

// The index of the highest set bit of a magnitude, counted from digit 0; -1 for zero.
inline int exact_top_bit(const std::int64_t* magnitude, int first, int last) {
  int i = last;
  while (i >= first && magnitude[i] == 0) --i;
  return i < first ? -1 : 32 * i + 63 - (int)std::countl_zero((std::uint64_t)magnitude[i]);
}

inline std::uint64_t exact_digit_in(const std::int64_t* magnitude, int first, int last, int i) { return i < first || i > last ? 0 : (std::uint64_t)magnitude[i]; }

// Rounds magnitude / 2^drop to the nearest integer, ties to even; `drop` >= 0 and the quotient has at most 53 bits.
inline std::uint64_t exact_drop_bits(const std::int64_t* magnitude, int first, int last, int drop) {
  int half_digit = (drop - 1) >> 5;
  int half_bit = (drop - 1) & 31;
  int digit = drop >> 5;
  int shift = drop & 31;
  std::uint64_t quotient = exact_digit_in(magnitude, first, last, digit) >> shift;
  quotient |= exact_digit_in(magnitude, first, last, digit + 1) << (32 - shift);
  if (shift > 0) quotient |= exact_digit_in(magnitude, first, last, digit + 2) << (64 - shift);
  std::uint64_t half_word = exact_digit_in(magnitude, first, last, half_digit);
  std::uint64_t sticky = half_word & (((std::uint64_t)1 << half_bit) - 1);
  for (int i = first; i < half_digit && i <= last && sticky == 0; ++i) sticky = (std::uint64_t)magnitude[i];
  return quotient + (((half_word >> half_bit) & 1) & (std::uint64_t)(sticky != 0 || (quotient & 1) != 0));
}

// The bits of the float64 nearest to a magnitude, ties to even; +0.0 for zero. The caller sets the sign. Digits below `first` may weigh
// less than 2^-1074, as in sums of products.
inline std::uint64_t exact_round_float64(const std::int64_t* magnitude, int first, int last) {
  const std::uint64_t infinity = (std::uint64_t)0x7ff << 52;
  // Denormals have the same spacing as the first binade of normal numbers, so the quotient is their encoding.
  int top = exact_top_bit(magnitude, first, last);
  int drop = top > 52 ? top - 52 : 0;
  if (drop > 2046) return infinity;
  // The quotient's leading bit is bit 52: adding it increments the exponent field, and so does a carry out of rounding.
  std::uint64_t bits = ((std::uint64_t)drop << 52) + exact_drop_bits(magnitude, first, last, drop);
  return bits > infinity ? infinity : bits;
}

// The same for the nearest float32.
inline std::uint32_t exact_round_float32(const std::int64_t* magnitude, int first, int last) {
  int top = exact_top_bit(magnitude, first, last);
  int drop = top - 23 > kExactFloat32Shift ? top - 23 : kExactFloat32Shift;  // denormals have the lowest binade's spacing
  int exponent = drop - kExactFloat32Shift;
  if (exponent > 254) return 0x7f800000u;
  std::uint32_t bits = ((std::uint32_t)exponent << 23) + (std::uint32_t)exact_drop_bits(magnitude, first, last, drop);
  return bits > 0x7f800000u ? 0x7f800000u : bits;
}

// Results that are not determined by finite digits.
inline constexpr int kExactFinite = 0;
inline constexpr int kExactNan = 1;
inline constexpr int kExactPositiveInfinity = 2;
inline constexpr int kExactNegativeInfinity = 3;
inline constexpr int kExactNegativeZero = 4;

// Which of these applies to `count` elements with the given numbers of NaNs and infinities; `other` is 0 where all but the NaNs were -0.0.
inline int exact_special(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities, std::uint64_t negative_infinities, std::uint64_t other, int skip_nans) {
  if (nans != 0 && !skip_nans) return kExactNan;
  if (positive_infinities != 0) return negative_infinities != 0 ? kExactNan : kExactPositiveInfinity;
  if (negative_infinities != 0) return kExactNegativeInfinity;
  return other == 0 && count != nans ? kExactNegativeZero : kExactFinite;
}

// The bits of such a result; the NaN is the canonical one.
inline std::uint64_t exact_special_float64(int special) {
  if (special == kExactNan) return (std::uint64_t)0x7ff8 << 48;
  if (special == kExactPositiveInfinity) return (std::uint64_t)0x7ff0 << 48;
  return special == kExactNegativeInfinity ? (std::uint64_t)0xfff0 << 48 : (std::uint64_t)0x8000 << 48;
}
inline std::uint32_t exact_special_float32(int special) {
  if (special == kExactNan) return 0x7fc00000u;
  if (special == kExactPositiveInfinity) return 0x7f800000u;
  return special == kExactNegativeInfinity ? 0xff800000u : 0x80000000u;
}

}  // namespace dialect

using namespace dialect;

namespace exact {

/// The position of 2^0 in the digits of a sum.
inline constexpr int kUnit = 1074;
/// Additions between two normalizations: each changes a digit by less than 2^32; a normalized digit is under 2^32, the last under 2^31.
inline constexpr std::uint32_t kMaxPending = 1u << 29;

/// Adds the digits of another sum. `pending`, `more`: additions to either since it was normalized; a normalized sum counts as one more. No
/// digit reaches 2^63, even if both are about to be normalized. The two may be the same.
template <std::size_t kDigits>
void merge_digits(std::array<std::int64_t, kDigits>& digits, std::uint32_t& pending, const std::array<std::int64_t, kDigits>& others,
                  std::uint32_t more) noexcept {
  for (std::size_t i = 0; i < kDigits; ++i) digits[i] += others[i];
  pending += more + 1;
  if (pending < kMaxPending) return;
  dialect::exact_normalize(digits.data(), 0, kDigits - 1);
  pending = 0;
}

/// Throws Error (no_answer): the number of elements does not fit 64 bits.
[[noreturn]] void too_many_elements();

/// count + more. @throws Error (no_answer) where that is 2^64 or more.
inline std::uint64_t counted(std::uint64_t count, std::uint64_t more) {
  if (__builtin_add_overflow(count, more, &count)) too_many_elements();
  return count;
}

/// Sign and magnitude; zero has no sign.
class BigInteger {
 public:
  BigInteger() = default;
  BigInteger(std::uint64_t value);
  /// The number with these digits of radix 2^32, in two's complement: all lie in [0, 2^32) but the last, which carries the sign.
  static BigInteger from_digits(std::span<const std::int64_t> digits);

  bool is_zero() const noexcept { return words_.empty(); }
  bool is_negative() const noexcept { return negative_; }
  /// Bits of the magnitude; 0 for zero.
  int length() const noexcept;
  BigInteger magnitude() const;

  BigInteger shifted_left(int bits) const;
  BigInteger shifted_right(int bits) const;      ///< rounded towards zero
  bool has_bits_below(int bits) const noexcept;  ///< whether shifted_right(bits) would lose any
  /// O(words of both operands).
  friend BigInteger operator-(const BigInteger& a, const BigInteger& b);
  /// O(words of a · words of b).
  friend BigInteger operator*(const BigInteger& a, const BigInteger& b);

  /// Words of the magnitude, the lowest first; the last one is not zero.
  std::span<const std::uint32_t> words() const noexcept { return words_; }

 private:
  void trim() noexcept;
  static int compare_magnitudes(const BigInteger& a, const BigInteger& b) noexcept;

  std::vector<std::uint32_t> words_;
  bool negative_ = false;
};

/// numerator / denominator · 2^exponent rounded once to the nearest Real (double or float), ties to even; +0.0 for zero. Requires
/// denominator > 0.
template <class Real = double>
Real round_quotient(const BigInteger& numerator, const BigInteger& denominator, int exponent);
/// The square root of the same quotient, rounded once. Requires numerator >= 0.
template <class Real = double>
Real round_root_of_quotient(const BigInteger& numerator, const BigInteger& denominator, int exponent);

/// Writes numbers as consecutive words. Requires room for them.
class WordWriter {
 public:
  explicit WordWriter(std::span<std::int64_t> words) noexcept : left_(words) {}
  /// Two words.
  void put_count(std::uint64_t count) noexcept;
  /// One word.
  void put_flag(bool flag) noexcept;
  /// As many words as given: digits in their unique form, or the words of a part of the result.
  void put_words(std::span<const std::int64_t> words) noexcept;

 private:
  std::span<std::int64_t> left_;
};

/// Reads sums of such words.
class WordReader {
 public:
  explicit WordReader(std::span<const std::int64_t> words) noexcept : left_(words) {}
  /// @throws Error (usage) for words that are not a sum of words of counts; Error (no_answer) where the count has more than 64 bits.
  std::uint64_t take_count();
  /// The number of parts in which the flag was set. @throws Error (usage) for a negative number.
  std::uint64_t take_parts();
  /// Sums of digits, each of magnitude under 2^62, of which the last carries the sign. @throws Error (usage) for others.
  void take_digits(std::span<std::int64_t> digits);
  /// The words of a part of the result.
  template <std::size_t kSize>
  std::span<const std::int64_t, kSize> take_words() noexcept {
    const auto words = left_.first<kSize>();
    left_ = left_.subspan(kSize);
    return words;
  }

 private:
  std::int64_t take();

  std::span<const std::int64_t> left_;
};

/// Throws Error (usage): the words are not a sum of words of results.
[[noreturn]] void refuse_words();

inline void too_many_elements() {
  throw Error(ErrorKind::no_answer, "more than 2^64 - 1 elements, which cannot be counted: keep such parts apart");
}

__extension__ typedef unsigned __int128 Uint128;  // no standard name for it

inline int length_of(Uint128 value) noexcept {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(value));
}

// A quotient's leading bits: bits · 2^exponent, and whether any nonzero bits below were dropped.
struct Leading {
  Uint128 bits = 0;
  int exponent = 0;
  bool more = false;
};

// The magnitude shifted to `length` bits; dropped bits set `leading.more`.
inline BigInteger with_length(const BigInteger& number, int length, Leading& leading) {
  const int drop = number.length() - length;
  leading.exponent += drop;
  if (drop <= 0) return number.magnitude().shifted_left(-drop);
  leading.more |= number.has_bits_below(drop);
  return number.magnitude().shifted_right(drop);
}

// The magnitude; requires at most 128 bits.
inline Uint128 bits_of(const BigInteger& number) {
  Uint128 bits = 0;
  for (std::size_t i = number.words().size(); i-- > 0;) bits = bits << 32 | number.words()[i];
  return bits;
}

// The quotient's first `precision` bits, or one more; precision < 128. In registers, as a denominator has at most 128 bits; bit by bit where a
// numerator needs more.
inline Leading divide(const BigInteger& numerator, const BigInteger& denominator, int precision) {
  Leading leading;
  const int length = denominator.length() + precision;
  const BigInteger number = with_length(numerator, length, leading);
  const Uint128 divisor = bits_of(denominator);
  if (length <= 128) {
    const Uint128 dividend = bits_of(number);
    leading.bits = dividend / divisor;
    leading.more |= dividend % divisor != 0;
    return leading;
  }
  const auto words = number.words();
  Uint128 rest = 0;
  for (int bit = length; bit-- > 0;) {
    const bool over = rest >> 127 != 0;
    rest = rest << 1 | (words[bit / 32] >> bit % 32 & 1);
    const bool in = over || rest >= divisor;
    if (in) rest -= divisor;
    leading.bits = leading.bits << 1 | in;
  }
  leading.more |= rest != 0;
  return leading;
}

// The nearest Real, ties to even. Requires more bits than a Real has, or that none were dropped.
template <class Real>
Real round(Leading value) {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  constexpr int kFraction = std::numeric_limits<Real>::digits - 1;
  constexpr int kLowest = std::numeric_limits<Real>::min_exponent - 1 - kFraction;  // of the smallest positive Real
  if (value.bits == 0) return 0;
  const int top = length_of(value.bits) - 1 + value.exponent;  // of the leading bit
  if (top >= std::numeric_limits<Real>::max_exponent) return std::numeric_limits<Real>::infinity();
  const int lowest = std::max(top - kFraction, kLowest);  // of the lowest bit of a Real
  const int drop = lowest - value.exponent;
  // kept · 2^lowest, assembled from bits, independent of floating-point modes: the leading bit, if set, adds 1 to the exponent field.
  const auto number = [lowest](std::uint64_t kept) {
    return std::bit_cast<Real>(static_cast<Bits>((static_cast<std::uint64_t>(lowest - kLowest) << kFraction) + kept));
  };
  if (drop <= 0) return number(static_cast<std::uint64_t>(value.bits) << -drop);
  if (drop > 128) return 0;
  const Uint128 kept = drop == 128 ? 0 : value.bits >> drop;
  const Uint128 half = Uint128{1} << (drop - 1);
  const Uint128 rest = value.bits - (drop == 128 ? 0 : kept << drop);
  const bool up = rest > half || (rest == half && (value.more || (kept & 1) != 0));
  return number(static_cast<std::uint64_t>(kept) + (up ? 1 : 0));  // infinite beyond the range
}

inline BigInteger::BigInteger(std::uint64_t value) : words_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} { trim(); }

inline BigInteger BigInteger::from_digits(std::span<const std::int64_t> digits) {
  BigInteger result;
  result.negative_ = !digits.empty() && digits.back() < 0;
  result.words_.reserve(digits.size() + 1);
  std::int64_t carry = 0;
  for (const std::int64_t digit : digits) {
    const std::int64_t sum = (result.negative_ ? -digit : digit) + carry;
    result.words_.push_back(static_cast<std::uint32_t>(sum));
    carry = sum >> 32;
  }
  result.words_.push_back(static_cast<std::uint32_t>(carry));
  result.trim();
  return result;
}

inline void BigInteger::trim() noexcept {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
  if (words_.empty()) negative_ = false;
}

inline int BigInteger::length() const noexcept {
  return words_.empty() ? 0 : static_cast<int>(32 * words_.size()) - std::countl_zero(words_.back());
}

inline BigInteger BigInteger::magnitude() const {
  BigInteger result = *this;
  result.negative_ = false;
  return result;
}

inline BigInteger BigInteger::shifted_left(int bits) const {
  BigInteger result;
  result.negative_ = negative_;
  result.words_.reserve(bits / 32 + words_.size() + 1);
  result.words_.assign(bits / 32, 0);
  std::uint32_t below = 0;
  for (const std::uint32_t word : words_) {
    result.words_.push_back(word << bits % 32 | static_cast<std::uint32_t>(std::uint64_t{below} >> (32 - bits % 32)));
    below = word;
  }
  result.words_.push_back(static_cast<std::uint32_t>(std::uint64_t{below} >> (32 - bits % 32)));
  result.trim();
  return result;
}

inline BigInteger BigInteger::shifted_right(int bits) const {
  BigInteger result;
  result.negative_ = negative_;
  result.words_.reserve(words_.size());
  for (std::size_t i = bits / 32; i < words_.size(); ++i) {
    const std::uint64_t above = i + 1 < words_.size() ? words_[i + 1] : 0;
    result.words_.push_back(static_cast<std::uint32_t>((above << 32 | words_[i]) >> bits % 32));
  }
  result.trim();
  return result;
}

inline bool BigInteger::has_bits_below(int bits) const noexcept {
  const auto whole = std::min<std::size_t>(bits / 32, words_.size());
  if (std::any_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(whole), [](std::uint32_t word) { return word != 0; })) {
    return true;
  }
  return whole < words_.size() && (words_[whole] & ((std::uint64_t{1} << bits % 32) - 1)) != 0;
}

inline int BigInteger::compare_magnitudes(const BigInteger& a, const BigInteger& b) noexcept {
  if (a.words_.size() != b.words_.size()) return a.words_.size() < b.words_.size() ? -1 : 1;
  for (std::size_t i = a.words_.size(); i-- > 0;) {
    if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i] ? -1 : 1;
  }
  return 0;
}

inline BigInteger operator-(const BigInteger& a, const BigInteger& b) {
  const bool add = a.negative_ != b.negative_;
  const bool swap = BigInteger::compare_magnitudes(a, b) < 0;
  const auto& large = swap ? b.words_ : a.words_;
  const auto& small = swap ? a.words_ : b.words_;
  BigInteger result;
  result.negative_ = add ? a.negative_ : a.negative_ != swap;
  std::int64_t carry = 0;
  for (std::size_t i = 0; i < large.size(); ++i) {
    const std::int64_t other = i < small.size() ? small[i] : 0;
    const std::int64_t sum = static_cast<std::int64_t>(large[i]) + (add ? other : -other) + carry;
    result.words_.push_back(static_cast<std::uint32_t>(sum));
    carry = sum >> 32;
  }
  result.words_.push_back(static_cast<std::uint32_t>(carry));
  result.trim();
  return result;
}

inline BigInteger operator*(const BigInteger& a, const BigInteger& b) {
  BigInteger result;
  result.negative_ = a.negative_ != b.negative_;
  result.words_.assign(a.words_.size() + b.words_.size(), 0);
  for (std::size_t i = 0; i < a.words_.size(); ++i) {
    if (a.words_[i] == 0) continue;  // as most words of a sum are: it has bits for all exponents
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.words_.size(); ++j) {
      const std::uint64_t sum = std::uint64_t{a.words_[i]} * b.words_[j] + result.words_[i + j] + carry;
      result.words_[i + j] = static_cast<std::uint32_t>(sum);
      carry = sum >> 32;
    }
    result.words_[i + b.words_.size()] = static_cast<std::uint32_t>(carry);
  }
  result.trim();
  return result;
}

template <class Real>
Real round_quotient(const BigInteger& numerator, const BigInteger& denominator, int exponent) {
  if (numerator.is_zero()) return 0;
  Leading quotient = divide(numerator, denominator, 64);
  quotient.exponent += exponent;
  const Real magnitude = round<Real>(quotient);
  return numerator.is_negative() ? -magnitude : magnitude;
}

template <class Real>
Real round_root_of_quotient(const BigInteger& numerator, const BigInteger& denominator, int exponent) {
  if (numerator.is_zero()) return 0;
  Leading quotient = divide(numerator, denominator, 124);
  quotient.exponent += exponent;
  if (quotient.exponent % 2 != 0) {  // at most 125 bits become 126
    quotient.bits <<= 1;
    --quotient.exponent;
  }
  // The root's integer part, bit by bit: floor(sqrt(x)) = floor(sqrt(floor(x))).
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t next = root | std::uint64_t{1} << bit;
    if (Uint128{next} * next <= quotient.bits) root = next;
  }
  return round<Real>({root, quotient.exponent / 2, quotient.more || Uint128{root} * root != quotient.bits});
}

inline constexpr std::int64_t kLimit = std::int64_t{1} << 62;  // of a sum of words: 2^30 parts

inline void WordWriter::put_count(std::uint64_t count) noexcept {
  const std::int64_t halves[] = {static_cast<std::int64_t>(count & 0xffffffff), static_cast<std::int64_t>(count >> 32)};
  put_words(halves);
}

inline void WordWriter::put_flag(bool flag) noexcept {
  const std::int64_t word = flag ? 1 : 0;
  put_words({&word, 1});
}

inline void WordWriter::put_words(std::span<const std::int64_t> words) noexcept {
  std::ranges::copy(words, left_.begin());
  left_ = left_.subspan(words.size());
}

inline std::int64_t WordReader::take() {
  const std::int64_t word = take_words<1>().front();
  if (word < 0 || word >= kLimit) refuse_words();
  return word;
}

inline std::uint64_t WordReader::take_count() {
  const auto low = static_cast<Uint128>(take()), high = static_cast<Uint128>(take());
  const Uint128 count = low + (high << 32);
  if (count >> 64 != 0) too_many_elements();
  return static_cast<std::uint64_t>(count);
}

inline std::uint64_t WordReader::take_parts() { return static_cast<std::uint64_t>(take()); }

inline void WordReader::take_digits(std::span<std::int64_t> digits) {
  std::ranges::copy(left_.first(digits.size()), digits.begin());
  left_ = left_.subspan(digits.size());
  std::uint64_t out_of_range = 0;  // any bit from 2^62 on
  for (const std::int64_t digit : digits.first(digits.size() - 1)) out_of_range |= static_cast<std::uint64_t>(digit) >> 62;
  if (out_of_range != 0 || digits.back() <= -kLimit || digits.back() >= kLimit) refuse_words();
}

inline void refuse_words() {
  throw Error(ErrorKind::usage,
              "these words are no sum of words of results: words() of each part are added word by word, as integers of 64 bits, and of at "
              "most 2^20 parts");
}


}  // namespace exact

/// The exact sum of any numbers of the types of DType, as a value: it can be added to, merged, serialized, sent, and rounded.
///
/// It is a fixed-point number of 2240 bits whose lowest bit weighs 2^-1074, the smallest positive double (Kulisch's long accumulator), with
/// counts of the NaNs and infinities. As integer addition is associative, two accumulators of the same elements are equal, whatever the
/// order and however the elements were split. One thread at a time may add: for concurrent additions use one accumulator per thread and
/// merge them. Reference: U. Kulisch, Computer Arithmetic and Validity (2013), chapter 8.
class Accumulator {
 public:
  static constexpr int kDigits = 70;  ///< 32-bit digits, each held in 64 bits with room for carries

  /// The sum of nothing: +0.0.
  Accumulator() = default;

  /// Adds one element. O(1). @throws Error (no_answer) if the count would exceed 2^64 - 1; so do all functions that add elements.
  void add(double value);
  void add(float value);
  template <std::signed_integral Integer>
  void add(Integer value) {
    add_signed(value);
  }
  template <std::unsigned_integral Integer>
  void add(Integer value) {
    add_unsigned(value);
  }

  /// Adds all elements of `other`. O(kDigits). If the count would overflow nothing is added.
  void merge(const Accumulator& other);
  Accumulator& operator+=(const Accumulator& other) {
    merge(other);
    return *this;
  }

  /// The exact sum rounded once to the nearest double, ties to even. Special cases (docs/guarantees.md): NaN if a NaN was added (unless
  /// skipped) or both infinities were; -0.0 if every element was -0.0; ±inf if the rounded value leaves the range.
  double round(NanPolicy nan = NanPolicy::propagate) const noexcept;
  /// The same, rounded once to the nearest float.
  float round_to_float(NanPolicy nan = NanPolicy::propagate) const noexcept;

  std::uint64_t count() const noexcept { return count_; }                              ///< elements added, NaNs and infinities included
  std::uint64_t nan_count() const noexcept { return nans_; }                           ///< elements that are NaN
  std::uint64_t positive_infinities() const noexcept { return positive_infinities_; }  ///< elements that are +inf
  std::uint64_t negative_infinities() const noexcept { return negative_infinities_; }  ///< elements that are -inf

  static constexpr std::size_t kWords = kDigits + 12;  ///< of words()
  /// Words that merge by addition: the words of up to 2^20 accumulators, added word by word as plain integers, are the words of the merged
  /// accumulator. So the int64 sum of any message-passing library (MPI_SUM of MPI_INT64_T, ncclSum of ncclInt64) is an exact merge.
  /// docs/accumulator-format.md describes their contents. O(kDigits).
  std::array<std::int64_t, kWords> words() const noexcept;
  /// @throws Error (usage) for words that are no such sum; Error (no_answer) if there are more than 2^64 - 1 elements.
  static Accumulator from_words(std::span<const std::int64_t, kWords> words);

  /// Equal exact sums and equal counts.
  friend bool operator==(const Accumulator& a, const Accumulator& b) noexcept;

  // --- for the library's own loops and kernels ---------------------------------------------------------------------------------

  /// Adds value · 2^(position - 1074), position in [0, 2144].
  void add_scaled(std::int64_t value, int position) noexcept;
  /// Adds a finite number, which is not counted. O(1).
  void add_finite(double value) noexcept;
  /// Counts elements that were summed elsewhere: `count` in all, including the given numbers of NaNs and infinities; `only_negative_zeros`:
  /// every element but the NaNs is -0.0.
  void add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities, std::uint64_t negative_infinities,
                  bool only_negative_zeros);
  /// Counts integers that were summed elsewhere.
  void add_integer_count(std::uint64_t count, bool is_signed);
  /// Adds the digits of another accumulator's state, each of magnitude under 2^62.
  void add_digits(std::span<const std::int64_t, kDigits> digits) noexcept;
  /// The digits in their unique form: all in [0, 2^32) but the last one, which carries the sign; digit i weighs 2^(32 i - 1074).
  std::array<std::int64_t, kDigits> canonical_digits() const noexcept;

 private:
  // The kinds of elements added; the greatest enumerator decides the result's type.
  enum class Elements : std::uint8_t { none, unsigned_integers, integers, floats };

  void add_signed(std::int64_t value);
  void add_unsigned(std::uint64_t value);
  void note(Elements elements) noexcept { elements_ = elements_ < elements ? elements : elements_; }
  bool consistent() const;                    // whether some elements could have this state: validates deserialized data
  int special(NanPolicy nan) const noexcept;  // kExactFinite, or the NaN, infinity or zero that the result is

  std::array<std::int64_t, kDigits> digits_{};
  std::uint64_t count_ = 0;
  std::uint64_t nans_ = 0;
  std::uint64_t positive_infinities_ = 0;
  std::uint64_t negative_infinities_ = 0;
  bool only_negative_zeros_ = true;  // vacuously so for the empty sum
  Elements elements_ = Elements::none;
  std::uint32_t pending_ = 0;  // additions since the digits were last normalized
};

/// The exact sum of products a·b of any numbers of the types of DType, as a value: it can be added to, merged, serialized, sent,
/// and rounded.
///
/// As Accumulator, but wide enough for products: 134 digits of radix 2^32, the lowest bit of which weighs 2^-2148, the square of the
/// smallest positive double. Two accumulators of the same products are equal, whatever the order and the split.
class ProductAccumulator {
 public:
  static constexpr int kDigits = 134;
  static constexpr int kUnit = 2148;  ///< the position of 2^0

  /// Adds a · b, exactly. A product is NaN if a or b is, and if one is zero and the other infinite; signs of zeros multiply. O(1).
  /// @throws Error (no_answer) if the count would exceed 2^64 - 1; so do all functions that add products.
  void add(double a, double b);
  /// The same for integers. O(1).
  void add(std::int64_t a, std::int64_t b) { add_magnitudes(magnitude(a), magnitude(b), (a < 0) != (b < 0)); }
  void add(std::uint64_t a, std::uint64_t b) { add_magnitudes(a, b, false); }

  /// Adds all products of `other`. O(kDigits). If the count would overflow nothing is added.
  void merge(const ProductAccumulator& other);
  ProductAccumulator& operator+=(const ProductAccumulator& other) {
    merge(other);
    return *this;
  }

  /// The exact sum rounded once to the nearest double, ties to even; the special cases are those of a sum, applied to the products.
  double round(NanPolicy nan = NanPolicy::propagate) const;
  /// The square root of the exact sum, rounded once; NaN if the sum is negative.
  double round_root(NanPolicy nan = NanPolicy::propagate) const;
  /// The same, rounded once to the nearest float: not the float nearest to the double.
  float round_to_float(NanPolicy nan = NanPolicy::propagate) const;
  float round_root_to_float(NanPolicy nan = NanPolicy::propagate) const;  ///< the same, rounded once to the nearest float

  std::uint64_t count() const noexcept { return count_; }                              ///< products added, NaNs and infinities included
  std::uint64_t nan_count() const noexcept { return nans_; }                           ///< products that are NaN
  std::uint64_t positive_infinities() const noexcept { return positive_infinities_; }  ///< products that are +inf
  std::uint64_t negative_infinities() const noexcept { return negative_infinities_; }  ///< products that are -inf
  std::uint64_t infinities() const noexcept { return positive_infinities_ + negative_infinities_; }  ///< of both signs

  static constexpr std::size_t kWords = kDigits + 9;  ///< of words()
  /// Words that merge by addition, as Accumulator::words(). O(kDigits).
  std::array<std::int64_t, kWords> words() const noexcept;
  /// @throws Error as Accumulator::from_words().
  static ProductAccumulator from_words(std::span<const std::int64_t, kWords> words);

  friend bool operator==(const ProductAccumulator& a, const ProductAccumulator& b) noexcept;

  // --- for the library's own loops and kernels ---------------------------------------------------------------------------------

  /// Adds value · 2^(position - 2148), position in [0, 4190].
  void add_scaled(std::int64_t value, int position) noexcept;
  /// Counts products that were summed elsewhere, as Accumulator::add_counts.
  void add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities, std::uint64_t negative_infinities,
                  bool only_negative_zeros);
  /// The digits in their unique form: all in [0, 2^32) but the last one, which carries the sign.
  std::array<std::int64_t, kDigits> canonical_digits() const noexcept;

 private:
  static std::uint64_t magnitude(std::int64_t value) noexcept {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  }
  void add_magnitudes(std::uint64_t a, std::uint64_t b, bool negative);
  void add_product(std::uint64_t a, std::uint64_t b, bool negative, int position) noexcept;
  void count_addition() noexcept;
  int special(NanPolicy nan) const noexcept;
  template <class Real>
  Real rounded(NanPolicy nan, bool root) const;
  bool consistent() const;  // whether some products could have this state: validates deserialized data

  std::array<std::int64_t, kDigits> digits_{};
  std::uint64_t count_ = 0;
  std::uint64_t nans_ = 0;
  std::uint64_t positive_infinities_ = 0;
  std::uint64_t negative_infinities_ = 0;
  bool only_negative_zeros_ = true;
  std::uint32_t pending_ = 0;  // additions since the digits were last normalized
};

using exact::Uint128;

inline void normalize(std::array<std::int64_t, Accumulator::kDigits>& digits) noexcept {
  dialect::exact_normalize(digits.data(), 0, Accumulator::kDigits - 1);
}

inline void Accumulator::add_scaled(std::int64_t value, int position) noexcept {
  dialect::exact_add_scaled(digits_.data(), value, position);
  if (++pending_ == exact::kMaxPending) {
    normalize(digits_);
    pending_ = 0;
  }
}

inline void Accumulator::add_finite(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52) & 0x7ff;
  const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffff);
  const std::int64_t mantissa = exponent != 0 ? fraction | std::int64_t{1} << 52 : fraction;
  add_scaled(bits >> 63 != 0 ? -mantissa : mantissa, exponent != 0 ? exponent - 1 : 0);
}

inline void Accumulator::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63;
  count_ = exact::counted(count_, 1);
  note(Elements::floats);
  if ((bits >> 52 & 0x7ff) == 0x7ff) {
    const bool is_nan = (bits & 0xfffffffffffff) != 0;
    ++(is_nan ? nans_ : negative ? negative_infinities_ : positive_infinities_);
    if (!is_nan) only_negative_zeros_ = false;
    return;
  }
  if (bits == std::uint64_t{1} << 63) return;  // -0.0
  only_negative_zeros_ = false;
  add_finite(value);
}

// Not by conversion to double: where the caller treats denormals as zeros, that conversion does too.
inline void Accumulator::add(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23) & 0xff;
  const auto fraction = static_cast<std::int64_t>(bits & 0x7fffff);
  const bool negative = bits >> 31 != 0;
  count_ = exact::counted(count_, 1);
  note(Elements::floats);
  if (exponent == 0xff) {
    ++(fraction != 0 ? nans_ : negative ? negative_infinities_ : positive_infinities_);
    if (fraction == 0) only_negative_zeros_ = false;
    return;
  }
  if (bits == std::uint32_t{1} << 31) return;  // -0.0
  only_negative_zeros_ = false;
  constexpr int kLowest = exact::kUnit - 149;  // the position of the smallest positive float
  const std::int64_t mantissa = exponent != 0 ? fraction | std::int64_t{1} << 23 : fraction;
  add_scaled(negative ? -mantissa : mantissa, kLowest + (exponent != 0 ? exponent - 1 : 0));
}

inline void Accumulator::add_signed(std::int64_t value) {
  add_integer_count(1, true);
  add_scaled(value, exact::kUnit);
}

inline void Accumulator::add_unsigned(std::uint64_t value) {
  add_integer_count(1, false);
  add_scaled(static_cast<std::int64_t>(value & 0xffffffff), exact::kUnit);
  add_scaled(static_cast<std::int64_t>(value >> 32), exact::kUnit + 32);
}

inline void Accumulator::add_integer_count(std::uint64_t count, bool is_signed) {
  if (count == 0) return;
  count_ = exact::counted(count_, count);
  only_negative_zeros_ = false;
  note(is_signed ? Elements::integers : Elements::unsigned_integers);
}

inline void Accumulator::add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities, std::uint64_t negative_infinities,
                             bool only_negative_zeros) {
  count_ = exact::counted(count_, count);
  if (count != 0) note(Elements::floats);
  nans_ += nans;
  positive_infinities_ += positive_infinities;
  negative_infinities_ += negative_infinities;
  only_negative_zeros_ = only_negative_zeros_ && only_negative_zeros;
}

inline void Accumulator::add_digits(std::span<const std::int64_t, kDigits> digits) noexcept {
  if (pending_ != 0) normalize(digits_);
  for (int i = 0; i < kDigits; ++i) digits_[i] += digits[i];
  normalize(digits_);
  pending_ = 0;
}

inline void Accumulator::merge(const Accumulator& other) {
  count_ = exact::counted(count_, other.count_);
  exact::merge_digits(digits_, pending_, other.digits_, other.pending_);
  nans_ += other.nans_;
  positive_infinities_ += other.positive_infinities_;
  negative_infinities_ += other.negative_infinities_;
  only_negative_zeros_ = only_negative_zeros_ && other.only_negative_zeros_;
  note(other.elements_);
}

inline std::array<std::int64_t, Accumulator::kDigits> Accumulator::canonical_digits() const noexcept {
  auto digits = digits_;
  if (pending_ != 0) normalize(digits);
  return digits;
}

inline int Accumulator::special(NanPolicy nan) const noexcept {
  return dialect::exact_special(count_, nans_, positive_infinities_, negative_infinities_, only_negative_zeros_ ? 0 : 1,
                                nan == NanPolicy::skip);
}

inline double Accumulator::round(NanPolicy nan) const noexcept {
  if (const int kind = special(nan); kind != kExactFinite) return std::bit_cast<double>(dialect::exact_special_float64(kind));
  auto digits = canonical_digits();
  const std::uint64_t sign = dialect::exact_make_magnitude(digits.data(), 0, kDigits - 1);
  return std::bit_cast<double>(sign << 63 | dialect::exact_round_float64(digits.data(), 0, kDigits - 1));
}

inline float Accumulator::round_to_float(NanPolicy nan) const noexcept {
  if (const int kind = special(nan); kind != kExactFinite) return std::bit_cast<float>(dialect::exact_special_float32(kind));
  auto digits = canonical_digits();
  const std::uint32_t sign = dialect::exact_make_magnitude(digits.data(), 0, kDigits - 1);
  return std::bit_cast<float>(sign << 31 | dialect::exact_round_float32(digits.data(), 0, kDigits - 1));
}

// Friends are exported only by an attribute on their definition.
inline bool operator==(const Accumulator& a, const Accumulator& b) noexcept {
  return a.count_ == b.count_ && a.nans_ == b.nans_ && a.positive_infinities_ == b.positive_infinities_ &&
         a.negative_infinities_ == b.negative_infinities_ && a.only_negative_zeros_ == b.only_negative_zeros_ &&
         a.elements_ == b.elements_ && a.canonical_digits() == b.canonical_digits();
}

inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kInfinity = 0x7ff0000000000000;

// A finite double as mantissa · 2^(position - 1074).
struct Parts {
  std::uint64_t mantissa;
  int position;
};

inline Parts take_apart(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52) & 0x7ff;
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  return exponent != 0 ? Parts{fraction | std::uint64_t{1} << 52, exponent - 1} : Parts{fraction, 0};
}

inline void ProductAccumulator::add_scaled(std::int64_t value, int position) noexcept {
  dialect::exact_add_scaled(digits_.data(), value, position);
  count_addition();
}

inline void ProductAccumulator::count_addition() noexcept {
  if (++pending_ != exact::kMaxPending) return;
  dialect::exact_normalize(digits_.data(), 0, kDigits - 1);
  pending_ = 0;
}

inline void ProductAccumulator::add_product(std::uint64_t a, std::uint64_t b, bool negative, int position) noexcept {
  const Uint128 product = Uint128{a} * b;
  const auto sign = [negative](std::uint64_t piece) {
    return negative ? -static_cast<std::int64_t>(piece) : static_cast<std::int64_t>(piece);
  };
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 62) - 1;
  add_scaled(sign(static_cast<std::uint64_t>(product) & kMask), position);
  add_scaled(sign(static_cast<std::uint64_t>(product >> 62) & kMask), position + 62);
  if (product >> 124 != 0) add_scaled(sign(static_cast<std::uint64_t>(product >> 124)), position + 124);
}

// Numbers are classified by their bits: the caller's mode may treat denormals as zeros, or trap.
inline void ProductAccumulator::add(double a, double b) {
  const auto a_bits = std::bit_cast<std::uint64_t>(a), b_bits = std::bit_cast<std::uint64_t>(b);
  const std::uint64_t left_bits = a_bits & ~kSign, right_bits = b_bits & ~kSign;  // of the magnitudes
  const bool negative = ((a_bits ^ b_bits) & kSign) != 0;
  const bool zero = left_bits == 0 || right_bits == 0, infinite = left_bits == kInfinity || right_bits == kInfinity;
  count_ = exact::counted(count_, 1);
  if (left_bits > kInfinity || right_bits > kInfinity || (zero && infinite)) {
    ++nans_;
  } else if (infinite) {
    ++(negative ? negative_infinities_ : positive_infinities_);
    only_negative_zeros_ = false;
  } else if (zero) {
    if (!negative) only_negative_zeros_ = false;
  } else {
    only_negative_zeros_ = false;
    const Parts left = take_apart(a), right = take_apart(b);
    add_product(left.mantissa, right.mantissa, negative, left.position + right.position);
  }
}

inline void ProductAccumulator::add_magnitudes(std::uint64_t a, std::uint64_t b, bool negative) {
  count_ = exact::counted(count_, 1);
  only_negative_zeros_ = false;
  add_product(a, b, negative, kUnit);
}

inline void ProductAccumulator::add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities,
                                    std::uint64_t negative_infinities, bool only_negative_zeros) {
  count_ = exact::counted(count_, count);
  nans_ += nans;
  positive_infinities_ += positive_infinities;
  negative_infinities_ += negative_infinities;
  only_negative_zeros_ = only_negative_zeros_ && only_negative_zeros;
}

inline void ProductAccumulator::merge(const ProductAccumulator& other) {
  add_counts(other.count_, other.nans_, other.positive_infinities_, other.negative_infinities_, other.only_negative_zeros_);
  exact::merge_digits(digits_, pending_, other.digits_, other.pending_);
}

inline std::array<std::int64_t, ProductAccumulator::kDigits> ProductAccumulator::canonical_digits() const noexcept {
  auto digits = digits_;
  if (pending_ != 0) dialect::exact_normalize(digits.data(), 0, kDigits - 1);
  return digits;
}

inline int ProductAccumulator::special(NanPolicy nan) const noexcept {
  return dialect::exact_special(count_, nans_, positive_infinities_, negative_infinities_, only_negative_zeros_ ? 0 : 1,
                                nan == NanPolicy::skip);
}

template <class Real>
Real ProductAccumulator::rounded(NanPolicy nan, bool root) const {
  const int kind = special(nan);
  const bool decided = root ? kind == kExactPositiveInfinity || kind == kExactNegativeZero : kind != kExactFinite;
  if constexpr (sizeof(Real) == 8) {
    if (decided) return std::bit_cast<double>(dialect::exact_special_float64(kind));
  } else {
    if (decided) return std::bit_cast<float>(dialect::exact_special_float32(kind));
  }
  const auto sum = exact::BigInteger::from_digits(canonical_digits());
  if (!root) return exact::round_quotient<Real>(sum, 1, -kUnit);
  if (kind != kExactFinite || sum.is_negative()) return std::numeric_limits<Real>::quiet_NaN();
  return exact::round_root_of_quotient<Real>(sum, 1, -kUnit);
}

inline double ProductAccumulator::round(NanPolicy nan) const { return rounded<double>(nan, false); }
inline double ProductAccumulator::round_root(NanPolicy nan) const { return rounded<double>(nan, true); }
inline float ProductAccumulator::round_to_float(NanPolicy nan) const { return rounded<float>(nan, false); }
inline float ProductAccumulator::round_root_to_float(NanPolicy nan) const { return rounded<float>(nan, true); }

// Friends are exported only by an attribute on their definition.
inline bool operator==(const ProductAccumulator& a, const ProductAccumulator& b) noexcept {
  return a.count_ == b.count_ && a.nans_ == b.nans_ && a.positive_infinities_ == b.positive_infinities_ &&
         a.negative_infinities_ == b.negative_infinities_ && a.only_negative_zeros_ == b.only_negative_zeros_ &&
         a.canonical_digits() == b.canonical_digits();
}

using exact::BigInteger;

inline constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max(), kLeast = std::uint64_t{1} << 63;  // integers' magnitudes

// `count` less the `others`; no value where they exceed it.
inline std::optional<std::uint64_t> without(std::uint64_t count, std::initializer_list<std::uint64_t> others) {
  for (const std::uint64_t other : others) {
    if (other > count) return std::nullopt;
    count -= other;
  }
  return count;
}

// Whether `count` elements, each between -most_negative and most_positive, can have this sum.
inline bool reachable(const BigInteger& sum, std::uint64_t count, const BigInteger& most_negative, const BigInteger& most_positive) {
  return !((sum.is_negative() ? most_negative : most_positive) * count - sum.magnitude()).is_negative();
}

// Whether the flag for -0.0 is consistent with the finite elements, the infinities and a zero sum.
inline bool zeros_fit(std::uint64_t finite, bool infinities, bool only_negative_zeros, bool zero) {
  return only_negative_zeros ? zero && !infinities : finite != 0 || infinities;
}

// Whether digits in their unique form are all 0; whether the highest of them are nothing but the sign.
inline bool is_zero(std::span<const std::int64_t> digits) {
  std::int64_t any = 0;
  for (const std::int64_t digit : digits) any |= digit;
  return any == 0;
}
inline bool is_sign(std::span<const std::int64_t> digits) {
  const std::int64_t sign = digits.back() >> 63;
  std::int64_t other = digits.back() ^ sign;
  for (const std::int64_t digit : digits.first(digits.size() - 1)) other |= digit ^ (sign & 0xffffffff);
  return other == 0;
}

// In units of 2^-1074.
inline BigInteger greatest_double() { return BigInteger((std::uint64_t{1} << 53) - 1).shifted_left(971 + exact::kUnit); }
inline BigInteger scaled(std::uint64_t whole) { return BigInteger(whole).shifted_left(exact::kUnit); }

inline bool Accumulator::consistent() const {
  const auto finite = without(count_, {nans_, positive_infinities_, negative_infinities_});
  if (!finite || (elements_ == Elements::none) != (count_ == 0)) return false;
  const auto all = canonical_digits();
  const std::span<const std::int64_t> digits = all;
  const bool zero = is_zero(digits), is_float = elements_ == Elements::none || elements_ == Elements::floats;
  if (!zeros_fit(*finite, (positive_infinities_ | negative_infinities_) != 0, only_negative_zeros_, zero)) return false;
  // Nearly all sums are of a size that one element can have: a double below 2^2048 units, an integer below 2^(35 · 32 - exact::kUnit) = 2^46.
  if (is_float && is_sign(digits.subspan(64))) return *finite != 0 || zero;
  if (!is_float && is_sign(digits.subspan(35)) && is_zero(digits.first(33)) && digits[33] % (std::int64_t{1} << (exact::kUnit - 33 * 32)) == 0) {
    return *finite == count_ && !only_negative_zeros_ && (elements_ == Elements::integers || digits.back() >= 0);
  }
  const auto sum = BigInteger::from_digits(digits);
  if (is_float) return reachable(sum, *finite, greatest_double(), greatest_double());
  if (*finite != count_ || only_negative_zeros_ || sum.has_bits_below(exact::kUnit)) return false;
  return elements_ == Elements::integers ? reachable(sum, count_, scaled(kLeast), scaled(kGreatest))
                                         : reachable(sum, count_, 0, scaled(kGreatest));
}

inline bool ProductAccumulator::consistent() const {
  const auto finite = without(count_, {nans_, positive_infinities_, negative_infinities_});
  if (!finite) return false;
  const auto all = canonical_digits();
  const std::span<const std::int64_t> digits = all;
  const bool zero = is_zero(digits);
  if (!zeros_fit(*finite, (positive_infinities_ | negative_infinities_) != 0, only_negative_zeros_, zero)) return false;
  if (is_sign(digits.subspan(128))) return *finite != 0 || zero;  // below 2^4096 units: one product can be greater
  const BigInteger greatest = greatest_double() * greatest_double();
  return reachable(BigInteger::from_digits(digits), *finite, greatest, greatest);
}

inline auto Accumulator::words() const noexcept -> std::array<std::int64_t, kWords> {
  std::array<std::int64_t, kWords> words;
  exact::WordWriter writer(words);
  writer.put_words(canonical_digits());
  for (const std::uint64_t count : {count_, nans_, positive_infinities_, negative_infinities_}) writer.put_count(count);
  writer.put_flag(!only_negative_zeros_);
  for (const Elements elements : {Elements::unsigned_integers, Elements::integers, Elements::floats})
    writer.put_flag(elements_ == elements);
  return words;
}

inline Accumulator Accumulator::from_words(std::span<const std::int64_t, kWords> words) {
  exact::WordReader reader(words);
  Accumulator result;
  reader.take_digits(result.digits_);
  result.pending_ = 1;  // carries wait
  result.digits_ = result.canonical_digits();
  result.pending_ = 0;
  for (std::uint64_t* count : {&result.count_, &result.nans_, &result.positive_infinities_, &result.negative_infinities_}) {
    *count = reader.take_count();
  }
  result.only_negative_zeros_ = reader.take_parts() == 0;
  for (const Elements elements : {Elements::unsigned_integers, Elements::integers, Elements::floats}) {
    if (reader.take_parts() != 0) result.note(elements);
  }
  if (!result.consistent()) exact::refuse_words();
  return result;
}

inline auto ProductAccumulator::words() const noexcept -> std::array<std::int64_t, kWords> {
  std::array<std::int64_t, kWords> words;
  exact::WordWriter writer(words);
  writer.put_words(canonical_digits());
  for (const std::uint64_t count : {count_, nans_, positive_infinities_, negative_infinities_}) writer.put_count(count);
  writer.put_flag(!only_negative_zeros_);
  return words;
}

inline ProductAccumulator ProductAccumulator::from_words(std::span<const std::int64_t, kWords> words) {
  exact::WordReader reader(words);
  ProductAccumulator result;
  reader.take_digits(result.digits_);
  result.pending_ = 1;  // carries wait
  result.digits_ = result.canonical_digits();
  result.pending_ = 0;
  for (std::uint64_t* count : {&result.count_, &result.nans_, &result.positive_infinities_, &result.negative_infinities_}) {
    *count = reader.take_count();
  }
  result.only_negative_zeros_ = reader.take_parts() == 0;
  if (!result.consistent()) exact::refuse_words();
  return result;
}

/// The exact sum of a range of numbers, rounded once to the nearest double. O(n).
template <class Range>
double sum(const Range& numbers, NanPolicy nan = NanPolicy::propagate) {
  Accumulator total;
  for (const auto number : numbers) total.add(number);
  return total.round(nan);
}

/// The exact sum of a[i] * b[i], rounded once to the nearest double. O(n). @throws Error (usage) for ranges of different sizes.
inline double dot(std::span<const double> a, std::span<const double> b, NanPolicy nan = NanPolicy::propagate) {
  if (a.size() != b.size()) throw Error(ErrorKind::usage, "the arrays of a dot product have different sizes");
  ProductAccumulator total;
  for (std::size_t i = 0; i < a.size(); ++i) total.add(a[i], b[i]);
  return total.round(nan);
}

}  // namespace samesum_core
