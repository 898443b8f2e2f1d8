// The product of integers.
#pragma once

#include "exact/big_integer.hpp"
#include "product/tree.hpp"

#include <samesum/value.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace samesum::product_tree {

/// A zero decides, then the sign; of the magnitude, what leaves 64 bits goes to a tree of big integers. Factors with a magnitude of one or
/// more never make it smaller, so the order does not matter: [2^40, 2^40, 0] is 0.
class IntegerProduct {
 public:
  /// Bits of the magnitude that are kept, or somewhat more. Beyond them only the sign is known, and whether there is a zero.
  static constexpr std::uint64_t kMostBits = std::uint64_t{1} << 20;

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
  /// Whether the factors to come can change no digit that is kept: there is a zero, or too many bits. Signs and zeros still count.
  bool has_no_digits() const noexcept { return zero_ || too_large_; }
  /// 1, to be merged into this: it keeps digits only where these may matter.
  IntegerProduct another() const {
    IntegerProduct one;
    one.too_large_ = has_no_digits();
    return one;
  }

  /// As int64, or uint64; where neither is asked for, as the former if it fits.
  /// @throws Error (no_answer), with the exact value, where it does not fit.
  Value value(std::optional<bool> is_signed) const;
  /// All digits. @throws Error (no_answer) where it has more bits than are kept.
  std::string digits() const;

 private:
  void keep(std::uint64_t factor);
  exact::BigInteger exact() const;  // requires that it is not too large
  [[noreturn]] void refuse(std::string_view type) const;

  bool zero_ = false;
  bool negative_ = false;
  bool too_large_ = false;
  std::uint64_t magnitude_ = 1;  // never zero; what the tree does not have
  std::uint64_t bits_ = 0;       // that the tree's product has at least
  Tree<exact::BigInteger> tree_;
};

}  // namespace samesum::product_tree
