// The exact sum of numbers whose exponents lie anywhere: a bin for each value of sign and exponent.
#pragma once

#include <samesum/accumulator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace samesum::reduction {

/// Bins for one thread, named by the upper bits of their elements' encodings, which are sign and exponent. An element is a load, a shift
/// and one addition to memory, whatever its value.
template <class T>
struct BinTables;

/// Whole encodings are added up, as integers, and a constant with each, which counts them: when a bin is emptied, the count tells how
/// often sign and exponent are in the sum, and how many leading ones the encodings left out.
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

/// Fractions with their leading ones are added up modulo 2^64; a sum that wraps around, once in two thousand additions, is noted apart.
/// Denormals, which have no leading one, and infinities and NaNs come to that place each time: their bins are always full.
template <>
struct BinTables<double> {
  static constexpr std::size_t kBins = 4096;
  static constexpr std::size_t kCapacity = std::size_t{1} << 40;  ///< sums have 128 bits, of which the accumulator takes 95
  static constexpr std::size_t kFew = 1024;
  static constexpr std::uint64_t kLeadingOne = std::uint64_t{1} << 52;
  static constexpr std::uint64_t kFull = ~std::uint64_t{0};

  __extension__ using Wide = unsigned __int128;

  alignas(64) std::uint64_t sums[kBins] = {};
  std::uint64_t carries[kBins] = {};  ///< out of sums; elements, where the bin is always full
  Wide denormals[2] = {};             ///< sums of fractions, by sign

  BinTables() noexcept {
    for (std::size_t sign = 0; sign < 2; ++sign) sums[sign * kBins / 2] = sums[sign * kBins / 2 + kBins / 2 - 1] = kFull;
  }

  void add(std::uint64_t encoding) noexcept {
    const std::size_t bin = encoding >> 52;
    const std::uint64_t fraction = encoding % kLeadingOne + kLeadingOne;
    if ((sums[bin] += fraction) < fraction) [[unlikely]]
      carry(bin, fraction);
  }
  void carry(std::size_t bin, std::uint64_t fraction) noexcept;

  std::uint64_t specials() const noexcept { return carries[kBins / 2 - 1] + carries[kBins - 1]; }
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

}  // namespace samesum::reduction
