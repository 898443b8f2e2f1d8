// The arithmetic that kernels share (exact.h), on the host: in namespace samesum::dialect.
#pragma once

#include "device/dialect/host.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace samesum::dialect {
#include "exact/exact.h"
}

namespace samesum::exact {

/// The position of 2^0 in the digits of a sum.
inline constexpr int kUnit = 1074;
/// Additions between two normalizations: each changes a digit by less than 2^32; a normalized digit is under 2^32, the last under 2^31.
inline constexpr std::uint32_t kMaxPending = 1u << 29;

/// Adds the digits of another sum. `pending`, `more`: additions to either since it was normalized; a normalized sum counts as one more. No
/// digit reaches 2^63, even if both are about to be normalized. The two may be the same.
template <std::size_t kDigits>
void merge_digits(std::array<std::int64_t, kDigits>& digits, std::uint32_t& pending, const std::array<std::int64_t, kDigits>& others,
                  std::uint32_t more) noexcept {
  for (std::size_t i = 0; i < kDigits; ++i) digits[i] += others[i];
  pending += more + 1;
  if (pending < kMaxPending) return;
  dialect::exact_normalize(digits.data(), 0, kDigits - 1);
  pending = 0;
}

}  // namespace samesum::exact
