// The superaccumulator: an exact sum that has not been rounded yet.
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace samesum SAMESUM_EXPORT {

class SumMessage;

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

  /// The type of the sum: uint64 if only unsigned integers were added, int64 if any integers were; float64 otherwise.
  DType result_type() const noexcept;
  /// The exact sum as a 64-bit integer.
  /// @throws Error (no_answer) if the sum is not such an integer; the message has the exact value if there is one.
  std::int64_t to_int64() const;
  std::uint64_t to_uint64() const;  ///< the same, unsigned

  std::uint64_t count() const noexcept { return count_; }                              ///< elements added, NaNs and infinities included
  std::uint64_t nan_count() const noexcept { return nans_; }                           ///< elements that are NaN
  std::uint64_t positive_infinities() const noexcept { return positive_infinities_; }  ///< elements that are +inf
  std::uint64_t negative_infinities() const noexcept { return negative_infinities_; }  ///< elements that are -inf

  /// The canonical serialized form (docs/accumulator-format.md): equal accumulators have equal bytes.
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static Accumulator deserialize(std::span<const std::byte> bytes);

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
  friend class SumMessage;

  // The kinds of elements added; the greatest enumerator decides the result's type.
  enum class Elements : std::uint8_t { none, unsigned_integers, integers, floats };

  void add_signed(std::int64_t value);
  void add_unsigned(std::uint64_t value);
  void note(Elements elements) noexcept { elements_ = elements_ < elements ? elements : elements_; }
  bool consistent() const;                    // whether some elements could have this state: validates deserialized data
  int special(NanPolicy nan) const noexcept;  // EXACT_FINITE, or the NaN, infinity or zero that the result is

  std::array<std::int64_t, kDigits> digits_{};
  std::uint64_t count_ = 0;
  std::uint64_t nans_ = 0;
  std::uint64_t positive_infinities_ = 0;
  std::uint64_t negative_infinities_ = 0;
  bool only_negative_zeros_ = true;  // vacuously so for the empty sum
  Elements elements_ = Elements::none;
  std::uint32_t pending_ = 0;  // additions since the digits were last normalized
};

}  // namespace samesum
