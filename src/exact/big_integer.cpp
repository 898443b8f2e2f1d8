#include "exact/big_integer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace samesum::exact {
namespace {

__extension__ typedef unsigned __int128 Uint128;  // no standard name for it

int length_of(Uint128 value) noexcept {
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
BigInteger with_length(const BigInteger& number, int length, Leading& leading) {
  const int drop = number.length() - length;
  leading.exponent += drop;
  if (drop <= 0) return number.magnitude().shifted_left(-drop);
  leading.more |= number.has_bits_below(drop);
  return number.magnitude().shifted_right(drop);
}

// The magnitude; requires at most 128 bits.
Uint128 bits_of(const BigInteger& number) {
  Uint128 bits = 0;
  for (std::size_t i = number.words().size(); i-- > 0;) bits = bits << 32 | number.words()[i];
  return bits;
}

// The quotient's first `precision` bits, or one more; precision < 128. In registers, as a denominator has at most 128 bits; bit by bit where a
// numerator needs more.
Leading divide(const BigInteger& numerator, const BigInteger& denominator, int precision) {
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

}  // namespace

BigInteger::BigInteger(std::uint64_t value) : words_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} { trim(); }

BigInteger BigInteger::from_digits(std::span<const std::int64_t> digits) {
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

void BigInteger::trim() noexcept {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
  if (words_.empty()) negative_ = false;
}

int BigInteger::length() const noexcept {
  return words_.empty() ? 0 : static_cast<int>(32 * words_.size()) - std::countl_zero(words_.back());
}

BigInteger BigInteger::magnitude() const {
  BigInteger result = *this;
  result.negative_ = false;
  return result;
}

BigInteger BigInteger::shifted_left(int bits) const {
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

BigInteger BigInteger::shifted_right(int bits) const {
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

bool BigInteger::has_bits_below(int bits) const noexcept {
  const auto whole = std::min<std::size_t>(bits / 32, words_.size());
  if (std::any_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(whole), [](std::uint32_t word) { return word != 0; })) {
    return true;
  }
  return whole < words_.size() && (words_[whole] & ((std::uint64_t{1} << bits % 32) - 1)) != 0;
}

std::string BigInteger::decimal() const {
  constexpr std::uint64_t kBillion = 1'000'000'000;
  std::vector<std::uint32_t> left = words_;
  std::vector<std::uint32_t> nines;  // nine decimal digits each, the lowest first
  while (!left.empty()) {
    std::uint64_t remainder = 0;
    for (std::size_t i = left.size(); i-- > 0;) {
      remainder = remainder << 32 | left[i];
      left[i] = static_cast<std::uint32_t>(remainder / kBillion);
      remainder %= kBillion;
    }
    while (!left.empty() && left.back() == 0) left.pop_back();
    nines.push_back(static_cast<std::uint32_t>(remainder));
  }
  if (nines.empty()) return "0";
  std::string text = fmt::format("{}{}", negative_ ? "-" : "", nines.back());
  for (std::size_t i = nines.size() - 1; i-- > 0;) text += fmt::format("{:09}", nines[i]);
  return text;
}

int BigInteger::compare_magnitudes(const BigInteger& a, const BigInteger& b) noexcept {
  if (a.words_.size() != b.words_.size()) return a.words_.size() < b.words_.size() ? -1 : 1;
  for (std::size_t i = a.words_.size(); i-- > 0;) {
    if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i] ? -1 : 1;
  }
  return 0;
}

BigInteger operator-(const BigInteger& a, const BigInteger& b) {
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

BigInteger operator*(const BigInteger& a, const BigInteger& b) {
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

template double round_quotient(const BigInteger&, const BigInteger&, int);
template float round_quotient(const BigInteger&, const BigInteger&, int);
template double round_root_of_quotient(const BigInteger&, const BigInteger&, int);
template float round_root_of_quotient(const BigInteger&, const BigInteger&, int);

}  // namespace samesum::exact
