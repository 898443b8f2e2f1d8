// The formats of floating-point elements: the one table of them.
#pragma once

#include <samesum/types.hpp>

#include <bit>
#include <cstdint>

namespace samesum::core {

/// Whether a float64 holds an integer of this magnitude exactly.
constexpr bool fits_float64(std::uint64_t magnitude) noexcept {
  return 64 - std::countl_zero(magnitude) - std::countr_zero(magnitude) <= 53;
}

/// A sign, `exponent_bits` of a biased exponent, `fraction_bits` of a mantissa without its leading one. Integers have neither.
struct FloatFormat {
  int exponent_bits = 0;
  int fraction_bits = 0;

  /// The least positive number is 2^-lowest_bit().
  constexpr int lowest_bit() const noexcept { return exponent_bits == 0 ? 0 : (1 << (exponent_bits - 1)) - 2 + fraction_bits; }
};

constexpr FloatFormat float_format(DType type) noexcept {
  switch (type) {
    case DType::float16:
      return {5, 10};
    case DType::bfloat16:
      return {8, 7};
    case DType::float32:
      return {8, 23};
    case DType::float64:
      return {11, 52};
    default:
      return {};
  }
}

}  // namespace samesum::core
