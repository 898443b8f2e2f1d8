// The exact sum of numbers whose exponents lie anywhere: a bin for each value of sign and exponent.
#pragma once

#include <samesum/accumulator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace samesum::reduce {

/// Bins for one thread. A bin is named by the upper bits of its elements' encoding, which are their sign and exponent. Whole encodings are
/// added to it, as integers, and a constant with each, which counts them: when the bins are emptied, the count tells how often sign and
/// exponent are in the sum, and how many leading ones the encodings left out. So adding an element takes a load, a shift and one addition
/// to memory, whatever its value.
template <class T>
struct BinTables;

template <>
struct BinTables<float> {
  static constexpr std::size_t kBins = 512;
  static constexpr std::size_t kCopies = 4;                      ///< of the table, taken in turn: additions to one bin wait for each other
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 43;  ///< counts an element
  /// Elements for which there is room: their fractions add up to less than kOne, and all that is added to less than 2^64.
  static constexpr std::size_t kCapacity = std::size_t{1} << 20;
  /// Elements that are too few to make tables for.
  static constexpr std::size_t kFew = 256;

  static constexpr std::size_t kPadding = 8;  ///< keeps bins of different copies off one another's place in a page

  std::uint64_t sums[kCopies][kBins + kPadding] = {};

  /// Grows with each infinity or NaN.
  std::uint64_t specials() const noexcept {
    std::uint64_t total = 0;
    for (const auto& table : sums) total += table[kBins / 2 - 1] + table[kBins - 1];
    return total;
  }
};

template <>
struct BinTables<double> {
  static constexpr std::size_t kBins = 4096;
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 26;  ///< counts an element, above the carries
  static constexpr std::size_t kCapacity = std::size_t{1} << 26;
  static constexpr std::size_t kFew = 1024;

  struct Bin {
    std::uint64_t sum;    ///< modulo 2^64
    std::uint64_t upper;  ///< carries out of `sum`, and kOne for each element
  };
  alignas(64) Bin bins[kBins] = {};

  std::uint64_t specials() const noexcept { return bins[kBins / 2 - 1].upper + bins[kBins - 1].upper; }
};

/// The tables, made when they are first needed, and how full they are.
template <class T>
class Bins {
 public:
  /// Tables with room for `count` <= kCapacity more elements, emptied into `total` if need be. None for the first few
  /// elements, for which tables do not pay, and where there is no memory for them.
  BinTables<T>* make_room(std::size_t count, Accumulator& total) noexcept;

  /// Empties the bins into `total`; infinities and NaNs are not added to it, but counted.
  void flush(Accumulator& total) noexcept;

  /// Infinities and NaNs that were in the bins when these were emptied.
  std::uint64_t specials() const noexcept { return specials_; }

 private:
  std::unique_ptr<BinTables<T>> tables_;
  std::size_t filled_ = 0;
  std::uint64_t specials_ = 0;
  std::size_t spared_ = 0;  // elements that were not put into tables
};

}  // namespace samesum::reduce
