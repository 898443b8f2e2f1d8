// Sums into groups as integers, for as long as the exponents of elements span a narrow range: a fast way to a table of exact sums.
#pragma once

#include "groups/index/group_table.hpp"
#include "groups/index/split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace samesum::groups {

/// Memory that is read for the elements after these. A processor that has read a page of it and then adds up for a while does not fetch the
/// next page by itself.
class Ahead {
 public:
  /// Memory that has `bytes` for each element; of more than a few arrays, those from there on are not fetched.
  void add(const std::byte* from, std::size_t bytes) {
    if (count_ < kMost) memory_[count_++] = {from, bytes};
  }
  /// Fetches what is read for `count` elements from number `first` on, to the second-level cache.
  void fetch(std::size_t first, std::size_t count) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::byte* const from = memory_[i].from + first * memory_[i].bytes;
      for (std::size_t line = 0; line < count * memory_[i].bytes; line += 64) __builtin_prefetch(from + line, 0, 2);
    }
  }

 private:
  static constexpr std::size_t kMost = 4;
  struct Memory {
    const std::byte* from;
    std::size_t bytes;
  };
  std::array<Memory, kMost> memory_;
  std::size_t count_ = 0;
};

/// Sums of the groups [first, first + count) that are added to `rest` by flush(). An element is one or two words of 36 bits, in units that
/// the first elements decide on; what is no multiple of these, too large, or special goes to `rest` at once. As words have 63 bits, 2^25
/// elements can be added up before carries matter. Float32 numbers are as a rule one word, and their squares two; float64 numbers two
/// (kWide), and their squares four.
template <bool kWide, bool kSquares>
class FixedSums {
 public:
  FixedSums(Table& rest, std::uint64_t first, std::uint64_t count) : rest_(rest), first_(first), cells_(count) {}

  void add(const double* values, const std::uint64_t* groups, std::size_t count, const Ahead& ahead) {
    if (added_ + count > kMax) flush();
    if (scale_ == 0 && !choose_scale(values, count)) return rest_.add(values, groups, count);
    added_ += count;
    alignas(64) std::int64_t uppers[kSplitBlock], lowers[kSplitBlock];
    std::size_t missed = 0, i = 0;
    for (; i + kSplitBlock <= count; i += kSplitBlock) {
      ahead.fetch(i, kSplitBlock);
      if (split(values + i, scale_, uppers, kWide ? lowers : nullptr)) {
        add_block(uppers, lowers, groups + i, std::min(count - i, kSplitBlock + kAhead));
      } else {
        for (std::size_t k = i; k < i + kSplitBlock; ++k) missed += add_one(values[k], groups[k]) ? 0 : 1;
      }
    }
    for (; i < count; ++i) missed += add_one(values[i], groups[i]) ? 0 : 1;
    // Where many are missed, other units are better, if the move is worthwhile.
    if (missed > count / 4 && added_ > cells_.size()) flush();
  }

  /// Moves all sums to the table.
  void flush() {
    if (added_ == 0) return;
    for (std::uint64_t i = 0; i < cells_.size(); ++i) {
      Cell& cell = cells_[i];
      if (cell.count == 0) continue;
      const std::uint64_t group = first_ + i;
      rest_.merge_counts(group, cell.count, 0, 0, 0, true);
      rest_.merge_sum(group, cell.upper, exponent_);
      if constexpr (kWide) rest_.merge_sum(group, cell.lower, exponent_ - kBits);
      if constexpr (kSquares) {
        int exponent = 2 * exponent_ + kBits;
        for (const std::uint64_t square : cell.squares) {
          rest_.merge_squares(group, static_cast<std::int64_t>(square), exponent);
          exponent -= kBits;
        }
      }
      cell = {};
    }
    added_ = 0;
    scale_ = 0;
  }

 private:
  static constexpr int kBits = 36;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  static constexpr double kLimit = 0x1p36;
  static constexpr std::size_t kAhead = 24;     // elements whose cells are fetched before they are needed
  static constexpr std::size_t kLooked = 1024;  // elements that decide on the units
  static constexpr std::uint64_t kMax = std::uint64_t{1} << 25;

  __extension__ using Product = unsigned __int128;
  static Product product(std::uint64_t a, std::uint64_t b) noexcept { return static_cast<Product>(a) * b; }
  static std::uint64_t magnitude(std::int64_t x) noexcept { return static_cast<std::uint64_t>(x < 0 ? -x : x); }

  struct Narrow {
    std::int64_t upper = 0;
    std::uint64_t count = 0;

    // Both fields with one load and one store.
    void add(std::int64_t word) {
      using Both = std::int64_t __attribute__((vector_size(16)));
      Both both;
      std::memcpy(&both, this, sizeof both);
      both += Both{word, 1};
      std::memcpy(this, &both, sizeof both);
    }
  };
  struct Lower {
    std::int64_t lower = 0;
  };
  struct Squares {
    std::array<std::uint64_t, kWide ? 4 : 2> squares{};
  };
  struct None {};
  struct None2 {};
  struct Cell : Narrow, std::conditional_t<kWide, Lower, None>, std::conditional_t<kSquares, Squares, None2> {};

  // Of `known` groups, which are kSplitBlock or more, those of the block come first.
  void add_block(const std::int64_t* uppers, const std::int64_t* lowers, const std::uint64_t* groups, std::size_t known) {
    if constexpr (!kSquares) {
      if (add_run(uppers, lowers, groups)) return;
    }
    const bool fetch = cells_.size() > std::size_t{1} << 15;
    Cell* const cells = cells_.data() - first_;
    for (std::size_t i = 0; i < kSplitBlock; ++i) {
      if (fetch && i + kAhead < known) __builtin_prefetch(&cells[groups[i + kAhead]], 1);
      add_words(cells[groups[i]], uppers[i], kWide ? lowers[i] : 0);
    }
  }
  // A block of one group, as of sorted indices: one after the other, each element would wait for the sum of the one before. False where it
  // is none.
  bool add_run(const std::int64_t* uppers, const std::int64_t* lowers, const std::uint64_t* groups) {
    const std::uint64_t group = groups[0];
    if (groups[kSplitBlock - 1] != group) return false;
    std::uint64_t other = 0;
    for (std::size_t i = 0; i < kSplitBlock; ++i) other |= groups[i] ^ group;
    if (other != 0) return false;
    std::int64_t upper = 0, lower = 0;
    for (std::size_t i = 0; i < kSplitBlock; ++i) {
      upper += uppers[i];
      if constexpr (kWide) lower += lowers[i];
    }
    Cell& cell = cells_[group - first_];
    cell.upper += upper;
    cell.count += kSplitBlock;
    if constexpr (kWide) cell.lower += lower;
    return true;
  }
  // An element at a time; false where it went to the table.
  bool add_one(double value, std::uint64_t group) {
    const double x = value * scale_;
    const auto whole = std::abs(x) < kLimit ? static_cast<std::int64_t>(x) : 0;
    const double part = (x - static_cast<double>(whole)) * (kWide ? kLimit : 1);
    const auto lower = std::abs(part) < kLimit ? static_cast<std::int64_t>(part) : 0;
    if (static_cast<double>(lower) != part || (!kWide && lower != 0) || (x == 0 && std::bit_cast<std::uint64_t>(value) != 0)) {
      rest_.add(value, group);
      return false;
    }
    add_words(cells_[group - first_], whole, lower);
    return true;
  }
  void add_words(Cell& cell, std::int64_t upper, std::int64_t lower) {
    cell.add(upper);
    if constexpr (kWide) cell.lower += lower;
    if constexpr (kSquares) {
      // Of the magnitude, which is upper * 2^36 + lower: products of numbers of 36 bits, each as two words.
      const std::uint64_t most = magnitude(upper);
      cell.squares[0] += static_cast<std::uint64_t>(product(most, most) >> kBits);
      std::uint64_t second = static_cast<std::uint64_t>(product(most, most)) & kMask;
      if constexpr (kWide) {
        const std::uint64_t least = magnitude(lower);
        const Product twice = 2 * product(most, least);
        second += static_cast<std::uint64_t>(twice >> kBits);
        cell.squares[2] += (static_cast<std::uint64_t>(twice) & kMask) + static_cast<std::uint64_t>(product(least, least) >> kBits);
        cell.squares[3] += static_cast<std::uint64_t>(product(least, least)) & kMask;
      }
      cell.squares[1] += second;
    }
  }

  // Room for numbers eight times the greatest of these; false where there is no unit.
  bool choose_scale(const double* values, std::size_t count) {
    double greatest = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, kLooked); ++i) {
      const double size = std::abs(values[i]);
      if (size > greatest && size <= 0x1p400) greatest = size;
    }
    if (greatest < 0x1p-400) return false;
    constexpr int kSpare = 3;
    exponent_ = std::ilogb(greatest) + 1 + kSpare - kBits;
    scale_ = std::ldexp(1.0, -exponent_);
    return true;
  }

  Table& rest_;
  std::uint64_t first_;
  std::vector<Cell> cells_;
  std::uint64_t added_ = 0;
  double scale_ = 0;  // 2^-exponent_; 0: not chosen yet
  int exponent_ = 0;
};

}  // namespace samesum::groups
