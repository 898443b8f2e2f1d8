// The values that `samesum pairs` gives, for each x one or several: of consecutive x, so that parts of A can be computed by themselves.
#pragma once

#include "output/number.hpp"
#include "output/output.hpp"
#include "output/result.hpp"

#include <samesum/pairs.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::cli {

struct PairValues {
  std::uint64_t x = 0;   ///< for how many x there are values
  PairsResult values;    ///< those of an x one after the other
  bool complex = false;  ///< the two values of an x are the parts of a complex number

  /// Numbers of an x, of which a complex one has two; 1 where there is no x.
  std::uint64_t each() const;
  /// Adds the values of the x that follow. @throws Error (usage) where they are of another type, or as many for an x.
  void merge(const PairValues& later);
  /// A magic, all members, XXH3-64 of all before.
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for other bytes.
  static PairValues deserialize(std::span<const std::byte> bytes);

  static constexpr std::string_view kMagic = "\x89SSPV\r\n\x1a";
};

/// Prints values as lines, as CSV, or into a JSON array; the first x has the index `first`. A header of CSV stands before index 0.
void print_pair_values(Output& out, const PairValues& values, std::uint64_t first, const ResultOptions& options, Json& array);

/// The header of a .npy file for all `x`, of which `some` are values.
std::vector<std::byte> npy_header_of(const PairValues& some, std::uint64_t x);

}  // namespace samesum::cli
