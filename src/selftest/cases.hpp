// The hard cases: arrays on which careless sums go wrong. One table for the self-test, the tests and the fuzzers. All of them are made
// with integer arithmetic alone: the same data on every machine.
#pragma once

#include <samesum/types.hpp>
#include "core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::hard {

/// An IEEE binary format, its values as bit patterns.
struct Format {
  int fraction_bits;  ///< 23 of float32
  int exponent_bits;  ///< 8 of float32

  std::uint64_t sign() const noexcept { return std::uint64_t{1} << (fraction_bits + exponent_bits); }
  std::uint64_t infinity() const noexcept { return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits; }
  std::uint64_t max() const noexcept { return infinity() - 1; }  ///< largest finite value
  std::uint64_t min_normal() const noexcept { return std::uint64_t{1} << fraction_bits; }
  int max_exponent() const noexcept { return (1 << (exponent_bits - 1)) - 1; }      ///< 2^this is finite, twice as much is not
  int min_exponent() const noexcept { return 1 - max_exponent() - fraction_bits; }  ///< 2^this is the smallest positive value
  /// mantissa · 2^exponent, bits that do not fit dropped; the largest finite value where it is too big.
  std::uint64_t encode(std::uint64_t mantissa, int exponent) const noexcept;
  std::uint64_t power(int exponent) const noexcept { return encode(1, exponent); }
};

Format format_of(DType type) noexcept;

/// Uniform integers: SplitMix64 (Steele, Lea and Flood, 2014), which is fast, and the same wherever integers are.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t bits(int count) { return bits() >> (64 - count); }  ///< count in 1..64
  /// In [0, bound); 0 for a bound of 0. Small bounds do without a division.
  std::uint64_t below(std::uint64_t bound) { return bound >> 32 == 0 ? (bits() >> 32) * bound >> 32 : bits() % bound; }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1)); }

 private:
  std::uint64_t state_;
};

/// A way to fill an array of any length with bit patterns of a format.
struct Case {
  std::string_view name;
  void (*fill)(Random& random, const Format& format, std::span<std::uint64_t> out);
};

inline std::ostream& operator<<(std::ostream& out, const Case& hard_case) { return out << hard_case.name; }

std::span<const Case> cases();

/// An array in memory that may begin at any byte.
class Data {
 public:
  Data(std::span<const std::uint64_t> patterns, DType type, std::size_t offset = 0);
  Data(Data&&) = default;  // moving keeps the memory where it is; a copy would lose the alignment
  View view() const noexcept { return {storage_.data() + offset_, size_, type_}; }

 private:
  std::vector<std::byte> storage_;  // aligned to 64 bytes from its 64th byte at the latest: offset_ counts from there
  std::size_t offset_;
  std::uint64_t size_;
  DType type_;
};

/// `size` elements of a case, the same for the same arguments; `offset` moves them off alignment by so many bytes.
Data make(const Case& hard_case, DType type, std::uint64_t size, std::size_t offset = 0);

/// The lengths around which loops, tiles and groups break.
std::span<const std::uint64_t> lengths();

}  // namespace samesum::hard
