// layout.h as the host uses it.
#pragma once

#include "core/float_format.hpp"
#include "reduce/layout.h"

#include <cstdint>

namespace samesum::reduction {

/// A record of what a kernel has collected, in 64-bit words: extremes, digits of the sum, digits of the products, counters.
struct RecordLayout {
  /// `sum` and `products`: what is added up; `own_bins`: OWN_BINS of layout.h.
  constexpr RecordLayout(DType type, bool sum, bool products, bool dot, bool own_bins = false) noexcept {
    const core::FloatFormat format = core::float_format(type);
    const int bits = format.exponent_bits;
    if (sum) sum_rows = SUM_ROWS_OF(bits);
    if (products) product_rows = PRODUCT_ROWS_OF(bits, dot);
    if (sum) sum_digits = DIGITS_OF(SUM_ROWS_OF(bits), SUM_ROW_BITS_OF(bits));
    if (products) product_digits = DIGITS_OF(PRODUCT_ROWS_OF(bits, dot), PRODUCT_ROW_BITS_OF(bits, dot));
    if (sum) bins += own_bins ? OWN_SUM_BINS_OF(bits, format.fraction_bits) : sum_rows;
    if (products) bins += own_bins ? OWN_SQUARE_BINS_OF(bits, format.fraction_bits) : product_rows;
    sum_base = 1074 - ROW_BIT_OF(bits, format.lowest_bit());
  }

  constexpr std::uint32_t added_words() const noexcept { return sum_digits + product_digits + RECORD_COUNTERS; }
  constexpr std::uint32_t words() const noexcept { return RECORD_EXTREMES + added_words(); }

  std::uint32_t sum_rows = 0, product_rows = 0;
  std::uint32_t bins = 0;
  std::uint32_t sum_digits = 0, product_digits = 0;
  int sum_base;  ///< digit i of the sum weighs 2^(sum_base + 32 i - 1074), of the products 2^(2 (sum_base - 1074) + 32 i)
};

}  // namespace samesum::reduction
