/* The C interface: reductions, formulas, operators. samesum.h includes it. */
#ifndef SAMESUM_C_REDUCTIONS_H
#define SAMESUM_C_REDUCTIONS_H

#include <samesum/c/arrays.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- reductions: O(n); each is correctly rounded or exact -------------------------------------------------------------------------- */

/* The sum of floats or integers, rounded once to double. */
SAMESUM_C_API samesum_status samesum_sum(const samesum_array* array, const samesum_options* options, double* result);
/* The sum with the type of its elements: of integers exact, as int64 or uint64, or SAMESUM_NO_ANSWER beyond. */
SAMESUM_C_API samesum_status samesum_sum_value(const samesum_array* array, const samesum_options* options, samesum_value* result);
SAMESUM_C_API samesum_status samesum_mean(const samesum_array* array, const samesum_options* options, double* result);
/* Divided by n - ddof. */
SAMESUM_C_API samesum_status samesum_variance(const samesum_array* array, uint64_t ddof, const samesum_options* options, double* result);
SAMESUM_C_API samesum_status samesum_standard_deviation(const samesum_array* array, uint64_t ddof, const samesum_options* options,
                                                        double* result);
SAMESUM_C_API samesum_status samesum_norm(const samesum_array* array, const samesum_options* options, double* result);
SAMESUM_C_API samesum_status samesum_squared_norm(const samesum_array* array, const samesum_options* options, double* result);
SAMESUM_C_API samesum_status samesum_dot(const samesum_array* a, const samesum_array* b, const samesum_options* options, double* result);
/* The same of integers exact, as int64 or uint64, or SAMESUM_NO_ANSWER beyond. */
SAMESUM_C_API samesum_status samesum_dot_value(const samesum_array* a, const samesum_array* b, const samesum_options* options,
                                               samesum_value* result);
SAMESUM_C_API samesum_status samesum_min(const samesum_array* array, const samesum_options* options, samesum_extremum* result);
SAMESUM_C_API samesum_status samesum_max(const samesum_array* array, const samesum_options* options, samesum_extremum* result);
SAMESUM_C_API samesum_status samesum_count_nonzero(const samesum_array* array, const samesum_options* options, uint64_t* result);
/* Of floats by the fixed tree over the index, of integers exact. */
SAMESUM_C_API samesum_status samesum_product(const samesum_array* array, const samesum_options* options, samesum_value* result);
/* The element at index (n - 1) p of the sorted ones, interpolated between neighbours as numpy does by default. */
SAMESUM_C_API samesum_status samesum_quantile(const samesum_array* array, double p, const samesum_options* options, double* result);
/* Several in the same passes: results[i] for p[i]. `method`: "linear" (or NULL), "lower", "higher", "nearest", "midpoint". */
SAMESUM_C_API samesum_status samesum_quantiles(const samesum_array* array, const double* p, size_t count, const char* method,
                                               const samesum_options* options, samesum_value* results);

/* --- complex numbers --------------------------------------------------------------------------------------------------------------- */

/* A result. `double _Complex` of C has the same memory. */
typedef struct samesum_complex {
  double real, imag;
} samesum_complex;
/* Of complex numbers an array has the parts: float32 or float64 (or narrower), and a last axis of two elements, the real and the imaginary
 * part. So do float _Complex and double _Complex lie in memory. Each part of a sum or mean is rounded once; a NaN in one part does not
 * touch the other. A product goes by the fixed tree over the index. Along axes, samesum_reduce_axes() gives sums and means of the parts. */
SAMESUM_C_API samesum_status samesum_complex_sum(const samesum_array* parts, const samesum_options* options, samesum_complex* result);
SAMESUM_C_API samesum_status samesum_complex_mean(const samesum_array* parts, const samesum_options* options, samesum_complex* result);
SAMESUM_C_API samesum_status samesum_complex_product(const samesum_array* parts, const samesum_options* options, samesum_complex* result);
/* The root of the sum of the squared magnitudes, and that sum, rounded once. */
SAMESUM_C_API samesum_status samesum_complex_norm(const samesum_array* parts, const samesum_options* options, double* result);
SAMESUM_C_API samesum_status samesum_complex_squared_norm(const samesum_array* parts, const samesum_options* options, double* result);

/* --- along axes -------------------------------------------------------------------------------------------------------------------- */

typedef enum samesum_reduction SAMESUM_C_ENUM {
  SAMESUM_REDUCE_SUM,
  SAMESUM_REDUCE_MEAN,
  SAMESUM_REDUCE_VARIANCE, /* of the population */
  SAMESUM_REDUCE_STANDARD_DEVIATION,
  SAMESUM_REDUCE_NORM,
  SAMESUM_REDUCE_SQUARED_NORM,
  SAMESUM_REDUCE_MIN,
  SAMESUM_REDUCE_MAX,
  SAMESUM_REDUCE_ARGMIN,
  SAMESUM_REDUCE_ARGMAX,
  SAMESUM_REDUCE_COUNT_NONZERO,
  SAMESUM_REDUCE_PRODUCT /* by the fixed tree; of integers exact */
} samesum_reduction;
/* Along axes (-1: the last one): one result for each position along the others, written to `to`, an array of the remaining axes, or of all
 * with extent 1 along these if `keep` is not 0. Its type is float64; int64 or uint64 for sums and products of integers; that of the
 * elements for min and max; float64 for products of float64, float32 for those of narrower floats; uint64 for argmin, argmax,
 * count_nonzero. It is in host memory or on the device of `array`. */
SAMESUM_C_API samesum_status samesum_reduce_axes(const samesum_array* array, samesum_reduction reduction, const int64_t* axes, size_t count,
                                                 int keep, const samesum_options* options, const samesum_array* to);
/* Variances and standard deviations that divide by the number of elements less `ddof`, float64; otherwise likewise. */
SAMESUM_C_API samesum_status samesum_variance_axes(const samesum_array* array, uint64_t ddof, const int64_t* axes, size_t count, int keep,
                                                   const samesum_options* options, const samesum_array* to);
SAMESUM_C_API samesum_status samesum_standard_deviation_axes(const samesum_array* array, uint64_t ddof, const int64_t* axes, size_t count,
                                                             int keep, const samesum_options* options, const samesum_array* to);
/* Quantiles along axes: `to` has an axis of `p_count` in front of the remaining ones. Its type is float64 where the method is linear or
 * midpoint, otherwise that of the elements. */
SAMESUM_C_API samesum_status samesum_quantiles_axes(const samesum_array* array, const double* p, size_t p_count, const char* method,
                                                    const int64_t* axes, size_t count, int keep, const samesum_options* options,
                                                    const samesum_array* to);

/* --- formulas (docs/formulas.md) --------------------------------------------------------------------------------------------------- */

/* An input of a formula, or a parameter: x[0..n), h = 0.5. */
typedef struct samesum_input {
  const char* name;    /* "x[]": at each position the formula takes all along the last axis, as the vector x */
  samesum_array array; /* a scalar (rank 0) in host memory is a parameter */
} samesum_input;
/* Writes what a formula gives at each position to arrays in memory of the caller's, one for each component of it. */
SAMESUM_C_API samesum_status samesum_map(const char* formula, const samesum_input* inputs, size_t count, const samesum_array* results,
                                         size_t result_count);
/* The exact sum of what a formula gives at each position: samesum_sum_map("w*(x-m)^2", inputs, 3, NULL, &total). */
SAMESUM_C_API samesum_status samesum_sum_map(const char* formula, const samesum_input* inputs, size_t count, const samesum_options* options,
                                             double* result);
/* Reduces by an operator of the caller's own, a formula of a and b: "a*b % 1000003"; `identity`: the result for no elements, or NULL. */
SAMESUM_C_API samesum_status samesum_reduce_by(const samesum_array* array, const char* combine, const samesum_value* identity,
                                               const samesum_options* options, samesum_value* result);

/* An operator of the caller's own in full. Elements may be tuples, if a formula gives them: a[0], b[1]. */
typedef struct samesum_operator {
  size_t size;                   /* sizeof(samesum_operator) */
  const char* combine;           /* of a and b: "(min(a[0], b[0]), max(a[1], b[1]))" */
  const samesum_value* identity; /* a value for each component, or none */
  size_t identity_count;
  const samesum_input* parameters; /* single numbers that `combine` and `finish` take by name */
  size_t parameter_count;
  const char* finish; /* what is made of the result, a; or NULL */
} samesum_operator;
/* The elements in C order by the balanced tree over the index. `results`: one for each component, of which there may be `*count`, which
 * becomes their number; if it is NULL, the number alone is written. */
SAMESUM_C_API samesum_status samesum_reduce(const samesum_array* array, const samesum_operator* op, const samesum_options* options,
                                            samesum_value* results, size_t* count);
/* The same of what a formula gives at each position: a number, or a tuple "(x, y)". */
SAMESUM_C_API samesum_status samesum_reduce_map(const char* formula, const samesum_input* inputs, size_t input_count,
                                                const samesum_operator* op, const samesum_options* options, samesum_value* results,
                                                size_t* count);

#ifdef __cplusplus
}
#endif

#endif
