// Sums of products in vectors, on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace samesum::groups {

/// The states of neighbouring results: the terms of a sum, and a bound of what they lack, as those of squares (moments.h). Or, in `lost`, the
/// sum of the magnitudes that were added to `e`: what that lacks follows from it (lost_of()).
struct DotSums {
  double *s, *e, *f, *lost;
};

/// What the second term lacks at most, of `products` products that are multiples of `unit`, or of numbers that a double may not hold if that
/// is 0; `added`: the magnitudes that were added to it, together. Sums of multiples of a unit that stay below 2^53 of them are exact;
/// others lose a unit of rounding at each addition (Rump, Error estimation of floating-point summation and dot product, BIT 52, 2012).
inline double lost_of(double added, double unit, double products) noexcept {
  constexpr double kMore = 1 + 0x1p-20;  // than the errors of these sums of magnitudes
  if (unit > 0 && added * kMore <= 0x1p53 * unit) return 0;
  return added * (2 * products) * (kMore * 0x1p-53) + (unit > 0 ? 0 : products * 0x1p-1070);
}

/// Numbers of a vector; as many columns has a panel.
std::size_t panel_columns();

/// Adds to the sums of `rows` rows by one panel of columns, of which row r's begin at sums + r * apart. Row r has `steps` numbers from
/// a + r * a_apart on; the panel those of all its columns for a step, then for the next. `exact`: each product is a double. `lost` gets
/// magnitudes.
void add_panel(const double* a, std::size_t a_apart, const double* panel, std::uint64_t steps, std::size_t rows, bool exact, DotSums sums,
               std::size_t apart);
/// The same of the products of two panels, column by column.
void add_columns(const double* a, const double* b, std::uint64_t steps, bool exact, DotSums sums);
/// Adds the products of two rows of `count` contiguous numbers, float64 or float32, to one sum, which has a bound of what it lacks.
void add_row(const void* a, const void* b, bool wide, std::uint64_t count, bool exact, DotSums sum);

/// The greatest power of two of which all these numbers are multiples, or infinity if they are zeros; any number if some are NaNs.
double unit_of(const double* numbers, std::uint64_t count);

/// Of contiguous float32 numbers the same as doubles.
void widen(const float* from, std::uint64_t count, double* to);

}  // namespace samesum::groups
