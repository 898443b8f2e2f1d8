// The exact sum of products of two numbers each: squares, dot products.
#pragma once

#include <samesum/export.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace samesum SAMESUM_EXPORT {

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
  /// The same for numbers of two types. O(1).
  void add(const Value& a, const Value& b);

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
  /// The exact sum as a 64-bit integer. @throws Error (no_answer) if it is not such an integer.
  std::int64_t to_int64() const;
  std::uint64_t to_uint64() const;  ///< the same, unsigned

  std::uint64_t count() const noexcept { return count_; }                              ///< products added, NaNs and infinities included
  std::uint64_t nan_count() const noexcept { return nans_; }                           ///< products that are NaN
  std::uint64_t positive_infinities() const noexcept { return positive_infinities_; }  ///< products that are +inf
  std::uint64_t negative_infinities() const noexcept { return negative_infinities_; }  ///< products that are -inf
  std::uint64_t infinities() const noexcept { return positive_infinities_ + negative_infinities_; }  ///< of both signs

  /// The canonical serialized form (docs/accumulator-format.md): equal accumulators have equal bytes.
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static ProductAccumulator deserialize(std::span<const std::byte> bytes);

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

}  // namespace samesum
