// A table of exact sums, one for each group: an expansion of three doubles, and what these do not hold.
#pragma once

#include "groups/expansion.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>
#include <samesum/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

namespace samesum::groups {

/// What was added; the greatest decides the type of the sums.
enum class Kind : std::uint8_t { none, unsigned_integers, integers, floats };

/// A sum of three doubles, which no addition rounds.
struct Terms3 {
  double s = -0.0, e = 0, f = 0;  // -0.0 is the identity of addition

  /// Adds `value` exactly; where three doubles do not hold the sum, or it is not finite, it is as before and the result is false.
  bool add(double value) noexcept {
    const double sum = s + value;
    double lost = error_of_sum(s, value, sum);
    if (lost != 0) {  // or NaN
      const double second = e + lost;
      lost = error_of_sum(e, lost, second);
      if (lost != 0) {
        const double third = f + lost;
        if (error_of_sum(f, lost, third) != 0) return false;
        f = third;
      }
      e = second;
    }
    s = sum;
    return true;
  }
  EXPANSION expansion() const noexcept { return {s, e, f, 0}; }
};

/// What the doubles of a group do not hold.
struct Spilled {
  std::uint64_t nans = 0, positive_infinities = 0, negative_infinities = 0;
  std::unique_ptr<Accumulator> sum;             ///< to be added to the doubles' sum
  std::unique_ptr<ProductAccumulator> squares;  ///< likewise

  Spilled() = default;
  Spilled(const Spilled& other);
  Spilled& operator=(Spilled&&) = default;
  Spilled(Spilled&&) = default;
};

class Table {
 public:
  /// Elements that groups of one range of 2^range_bits add to may be added by another thread than those of other ranges.
  Table(std::uint64_t groups, bool squares, bool extrema);

  std::uint64_t groups() const noexcept { return sums_.size(); }
  std::uint32_t range_bits() const noexcept { return range_bits_; }
  std::uint64_t ranges() const noexcept { return spilled_.size(); }
  bool has_squares() const noexcept { return has_squares_; }
  bool has_extrema() const noexcept { return has_extrema_; }
  void grow(std::uint64_t groups);
  /// Drops what is kept beside the sums, unless it is named here.
  void keep(bool squares, bool extrema);

  /// Adds one element, a finite or special double or a 64-bit integer. Requires that the group is there.
  template <class Number>
  void add(Number value, std::uint64_t group) {
    ++sums_[group].count;
    add_to_sum(value, group);
    if (has_squares_) add_square(value, group);
    if (has_extrema_) add_extrema(value, group);
  }
  /// `count` of them: without a branch for each on what is kept.
  template <class Number>
  void add(const Number* values, const std::uint64_t* groups, std::size_t count);

  /// The same for elements of one group.
  template <class Number>
  void add_run(const Number* values, std::size_t count, std::uint64_t group) {
    sums_[group].count += count;
    for (std::size_t i = 0; i < count; ++i) add_to_sum(values[i], group);
    if (has_squares_) {
      for (std::size_t i = 0; i < count; ++i) add_square(values[i], group);
    }
    if (has_extrema_) {
      for (std::size_t i = 0; i < count; ++i) add_extrema(values[i], group);
    }
  }

  /// All of a group of another table.
  void merge(std::uint64_t group, const Table& other, std::uint64_t from);

  /// Elements that were added up elsewhere, with the fields that this table has.
  void merge(std::uint64_t group, const Statistics& all);

  /// All of a group that has no elements yet, as sum() and squares() gave it: in doubles where these hold it.
  void assign(std::uint64_t group, const Accumulator& sum, const ProductAccumulator* squares);
  // The same in pieces: how many elements there are, how many of them are special, and whether any is a finite number other than -0.0; then
  // numbers that they add up to, and their squares, as value * 2^exponent. These are multiples of the least double, and of its square.
  void merge_counts(std::uint64_t group, std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities,
                    std::uint64_t negative_infinities, bool others);
  void merge_sum(std::uint64_t group, std::int64_t value, int exponent);
  void merge_squares(std::uint64_t group, std::int64_t value, int exponent);
  /// The least and the greatest of elements that were looked at elsewhere, of which there are some.
  template <class Number>
  void merge_extrema(std::uint64_t group, Number least, Number greatest) {
    widen(bound(least), bound(greatest), group);
  }

  std::uint64_t count(std::uint64_t group) const noexcept { return sums_[group].count; }
  std::uint64_t nans(std::uint64_t group) const noexcept;
  /// The rounded sum, or the mean, where the doubles tell it.
  bool rounded(std::uint64_t group, double& result) const noexcept;
  bool mean(std::uint64_t group, double& result) const noexcept;
  /// The same of OF_VARIANCE and the others that need squares (near_moment.h), of a group with more elements than `ddof`.
  bool moment(std::uint64_t group, std::uint32_t what, std::uint64_t ddof, double& result) const noexcept;
  Accumulator sum(std::uint64_t group, Kind kind) const;
  ProductAccumulator squares(std::uint64_t group) const;

  /// An extremum as the sum of a double and an integer: integers of 64 bits need both. They are compared in this order.
  struct Bound {
    double high;
    std::int64_t low;
  };
  struct Extrema {
    Bound min{std::numeric_limits<double>::infinity(), 0}, max{-std::numeric_limits<double>::infinity(), 0};
  };
  const Extrema& extrema(std::uint64_t group) const noexcept { return extrema_[group]; }
  void assign_extrema(std::uint64_t group, const Extrema& extrema) noexcept { extrema_[group] = extrema; }
  /// Whether some numbers of this kind, which `type()` of sums follows, can have these extrema.
  static bool are_extrema(const Extrema& extrema, Kind kind) noexcept;

 private:
  struct Sum : Terms3 {
    std::uint64_t count = 0;
  };
  using Spill = std::unordered_map<std::uint64_t, Spilled>;

  const Spilled* spilled(std::uint64_t group) const noexcept {
    const Spill& range = spilled_[group >> range_bits_];
    if (range.empty()) return nullptr;
    const auto found = range.find(group);
    return found == range.end() ? nullptr : &found->second;
  }
  Spilled& spill(std::uint64_t group) { return spilled_[group >> range_bits_][group]; }
  void spill_sum(double value, std::uint64_t group);
  void spill_square(double value, std::uint64_t group);
  Accumulator& spilled_sum(std::uint64_t group);
  ProductAccumulator& spilled_squares(std::uint64_t group);

  void add_to_sum(double value, std::uint64_t group) {
    if (!sums_[group].add(value)) [[unlikely]]
      spill_sum(value, group);
  }
  void add_to_sum(std::int64_t value, std::uint64_t group) {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (value <= kExact && value >= -kExact) return add_to_sum(static_cast<double>(value), group);
    add_to_sum(static_cast<double>(value >> 32) * 0x1p32, group);
    add_to_sum(static_cast<double>(value & 0xffffffff), group);
  }
  void add_to_sum(std::uint64_t value, std::uint64_t group) {
    if (value >> 53 == 0) return add_to_sum(static_cast<double>(value), group);
    add_to_sum(static_cast<double>(value >> 32) * 0x1p32, group);
    add_to_sum(static_cast<double>(value & 0xffffffff), group);
  }
  void add_square(double value, std::uint64_t group);
  void add_square(std::int64_t value, std::uint64_t group);
  void add_square(std::uint64_t value, std::uint64_t group);
  void add_to_squares(double value, std::uint64_t group) {
    if (!squares_[group].add(value)) [[unlikely]]
      spill_square(value, group);
  }

  static bool less(const Bound& a, const Bound& b) noexcept {
    if (a.high != b.high) return a.high < b.high;
    if (a.low != b.low) return a.low < b.low;
    return std::signbit(a.high) && !std::signbit(b.high);
  }
  static Bound bound(const Value& value) {
    return std::visit([](auto number) { return bound(number); }, value.number);
  }
  static Bound bound(double value) noexcept { return {value, 0}; }
  static Bound bound(std::int64_t value) noexcept;
  static Bound bound(std::uint64_t value) noexcept;
  template <class Number>
  void add_extrema(Number value, std::uint64_t group) {
    if (value != value) return;
    const Bound x = bound(value);
    widen(x, x, group);
  }
  void widen(const Bound& min, const Bound& max, std::uint64_t group) {
    Extrema& extrema = extrema_[group];
    if (less(min, extrema.min)) extrema.min = min;
    if (less(extrema.max, max)) extrema.max = max;
  }

  bool has_squares_, has_extrema_;
  std::uint32_t range_bits_;
  std::vector<Sum> sums_;
  std::vector<Terms3> squares_;
  std::vector<Extrema> extrema_;
  std::vector<Spill> spilled_;  // by ranges of groups
};

}  // namespace samesum::groups
