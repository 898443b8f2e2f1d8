// The two 16-bit floating-point types, which C++20 lacks: both are subsets of float32.
#pragma once

#include <bit>
#include <cstdint>

namespace samesum::core {

/// IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
struct Float16 {
  std::uint16_t bits;

  operator float() const noexcept {
    const std::uint32_t sign = std::uint32_t{bits} << 16 & 0x80000000u;
    const std::uint32_t magnitude = bits & 0x7fffu;
    // Read as a float32, the exponent is 112 too low, denormals included; multiplying by a power of two is exact.
    const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    const std::uint32_t special = magnitude >= 0x7c00u ? 0x7f800000u : 0;  // infinities and NaNs
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | special | sign);
  }
  /// Rounded towards zero; values beyond the range become the greatest finite number.
  static Float16 truncate(float value) noexcept {
    const auto from = std::bit_cast<std::uint32_t>(value);
    const float magnitude = std::bit_cast<float>(from & 0x7fffffffu);
    const std::uint32_t most = 0x7bff;
    const std::uint32_t scaled = std::bit_cast<std::uint32_t>(magnitude * 0x1p-112f) >> 13;
    const std::uint32_t kept = magnitude < 65536.0f ? (scaled < most ? scaled : most) : most;
    return {static_cast<std::uint16_t>((from >> 16 & 0x8000u) | kept)};
  }
};

/// The upper half of a float32.
struct BFloat16 {
  std::uint16_t bits;

  operator float() const noexcept { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  static BFloat16 truncate(float value) noexcept { return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)}; }
};

}  // namespace samesum::core
