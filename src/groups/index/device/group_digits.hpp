// The digits of a table's sums, and the words beside them, as digits.h and shares.h have them: for the host's part.
#pragma once

#include <samesum/types.hpp>

#include <cstdint>

namespace samesum::groups {

inline constexpr std::uint32_t kDigitBits = 34;
inline constexpr std::uint32_t kSpecials = 4;  ///< planes behind the digits
inline constexpr std::uint32_t kWords = 15;
enum Word : std::uint8_t {
  kOutside,
  kFirstOutside,
  kTop,
  kBottom,
  kSquareTop,
  kSquareBottom,
  kSpecial,
  kGreatest,
  kUnfit,
  kChanges,
  kWrongOffsets,
  kFirstOffset,
  kLastOffset = 13
};

/// The exponent of the least number of a kind.
inline int unit_of(DType kind) { return is_integer(kind) ? 0 : kind == DType::float64 ? -1074 : -149; }

}  // namespace samesum::groups
