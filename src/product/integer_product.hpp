// The product of integers.
#pragma once

#include "exact/big_integer.hpp"
#include "product/tree.hpp"

#include <samesum/value.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace samesum::product_tree {

/// Zeros, the sign, and the magnitude: what exceeds 64 bits goes to a tree of big integers. Factors of magnitude one or more never make the
/// magnitude smaller, so the result does not depend on the order: [2^40, 2^40, 0] is 0.
class IntegerProduct {
 public:
  /// The limit for the bits of the magnitude (it may be exceeded slightly). Beyond it only the sign is tracked, and whether there is a
  /// zero.
  static constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 20;

  void multiply(std::uint64_t factor, bool negative) {
    std::uint64_t product = 0;
    zero_ |= factor == 0;
    negative_ ^= negative;
    if (__builtin_mul_overflow(magnitude_, factor, &product)) {
      keep(magnitude_);
      product = factor;
    }
    magnitude_ = factor == 0 ? magnitude_ : product;
  }
  void merge(const IntegerProduct& other);
  /// Whether further factors can change no digits: there is a zero, or there are too many bits. Signs and zeros are still tracked.
  bool has_no_digits() const noexcept { return zero_ || too_large_; }
  /// An empty product, to be merged into this one: it computes digits only if they can matter.
  IntegerProduct another() const {
    IntegerProduct one;
    one.too_large_ = has_no_digits();
    return one;
  }

  /// As int64 or uint64; if `is_signed` is not set, as the former if it fits.
  /// @throws Error (no_answer), with the exact value, where it does not fit.
  Value value(std::optional<bool> is_signed) const;
  /// All digits. @throws Error (no_answer) where it exceeds the limit of bits.
  std::string digits() const;

 private:
  void keep(std::uint64_t factor);
  exact::BigInteger exact() const;  // requires !too_large_
  [[noreturn]] void refuse(std::string_view type) const;

  bool zero_ = false;
  bool negative_ = false;
  bool too_large_ = false;
  std::uint64_t magnitude_ = 1;  // never zero; the factor that is not in the tree
  std::uint64_t bits_ = 0;       // lower bound of the bits of the tree's product
  Tree<exact::BigInteger> tree_;
};

}  // namespace samesum::product_tree
