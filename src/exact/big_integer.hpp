// Integers of any size on the host, for exact quotients and roots of exact sums.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samesum::exact {

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
  std::string decimal() const;
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

}  // namespace samesum::exact
