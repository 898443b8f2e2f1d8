// Sums of products in vectors, on the CPU: as squares (moments.h), the terms s and e, and a bound `lost` of what they lack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace samesum::groups {

/// Sums of products, one after the other: the state of results.
struct DotSums {
  double *s, *e, *f, *lost;
};

/// Numbers of a vector; a panel has so many columns.
std::size_t panel_columns();

/// Adds to the sums of `rows` rows by one panel of columns, of which row r's begin at sums + r * apart. Row r has `steps` numbers from
/// a + r * a_apart on; the panel those of all its columns for a step, then for the next. `exact`: each product is a double.
void add_panel(const double* a, std::size_t a_apart, const double* panel, std::uint64_t steps, std::size_t rows, bool exact, DotSums sums,
               std::size_t apart);
/// The same of the products of two panels, column by column.
void add_columns(const double* a, const double* b, std::uint64_t steps, bool exact, DotSums sums);
/// Adds the products of two rows of `count` contiguous numbers, float64 or float32, to one sum.
void add_row(const void* a, const void* b, bool wide, std::uint64_t count, bool exact, DotSums sum);

/// The least magnitude of the numbers that are not 0, or infinity; of NaNs any.
double least_magnitude(const double* numbers, std::uint64_t count);

/// Of contiguous float32 numbers the same as doubles.
void widen(const float* from, std::uint64_t count, double* to);

}  // namespace samesum::groups
