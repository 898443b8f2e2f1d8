/* The C interface: sums and statistics as values. samesum.h includes it. */
#ifndef SAMESUM_C_SUMS_H
#define SAMESUM_C_SUMS_H

#include <samesum/c/arrays.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- accumulators: exact sums as values, to be added to, merged, and rounded once -------------------------------------------------- */

typedef struct samesum_accumulator samesum_accumulator;

/* The sum of nothing, +0.0. It is freed by samesum_accumulator_free(). */
SAMESUM_C_API samesum_status samesum_accumulator_new(samesum_accumulator** accumulator);
/* Adds all elements of an array, or one number: O(n), without rounding. */
SAMESUM_C_API samesum_status samesum_accumulator_add(samesum_accumulator* accumulator, const samesum_array* array,
                                                     const samesum_options* options);
SAMESUM_C_API samesum_status samesum_accumulator_add_number(samesum_accumulator* accumulator, double number);
/* Adds all that was added to another one. */
SAMESUM_C_API samesum_status samesum_accumulator_merge(samesum_accumulator* accumulator, const samesum_accumulator* other);
/* The exact sum, rounded once to the nearest double; or of integers the integer, with its type. */
SAMESUM_C_API samesum_status samesum_accumulator_round(const samesum_accumulator* accumulator, double* result);
SAMESUM_C_API samesum_status samesum_accumulator_value(const samesum_accumulator* accumulator, samesum_value* result);
/* The number of elements that were added, NaNs included. */
SAMESUM_C_API uint64_t samesum_accumulator_count(const samesum_accumulator* accumulator);
/* Words that merge by addition: the sums, word by word as plain integers, of up to 2^20 accumulators' words are those of the merged one. */
#define SAMESUM_ACCUMULATOR_WORDS 82
SAMESUM_C_API samesum_status samesum_accumulator_words(const samesum_accumulator* accumulator, int64_t words[SAMESUM_ACCUMULATOR_WORDS]);
SAMESUM_C_API samesum_status samesum_accumulator_from_words(const int64_t words[SAMESUM_ACCUMULATOR_WORDS],
                                                            samesum_accumulator** accumulator);
/* The serialized form (docs/accumulator-format.md): its size if `bytes` is NULL; else written to `bytes`, of which there are `*size`. */
SAMESUM_C_API samesum_status samesum_accumulator_serialize(const samesum_accumulator* accumulator, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_accumulator_deserialize(const void* bytes, size_t size, samesum_accumulator** accumulator);
SAMESUM_C_API void samesum_accumulator_free(samesum_accumulator* accumulator);

/* Exact sums of products: dot products of parts. The functions are as those of the same names above. */
typedef struct samesum_products samesum_products;

/* The sum of no products, +0.0. */
SAMESUM_C_API samesum_status samesum_products_new(samesum_products** products);
/* Adds the products a[i] * b[i] of two arrays of one shape, exactly. */
SAMESUM_C_API samesum_status samesum_products_add(samesum_products* products, const samesum_array* a, const samesum_array* b,
                                                  const samesum_options* options);
/* Adds all that was added to another one. */
SAMESUM_C_API samesum_status samesum_products_merge(samesum_products* products, const samesum_products* other);
/* The exact sum, rounded once to the nearest double. */
SAMESUM_C_API samesum_status samesum_products_round(const samesum_products* products, double* result);
/* The number of products that were added. */
SAMESUM_C_API uint64_t samesum_products_count(const samesum_products* products);
/* Words that merge by addition, and the serialized form: as those of accumulators. */
#define SAMESUM_PRODUCTS_WORDS 143
SAMESUM_C_API samesum_status samesum_products_words(const samesum_products* products, int64_t words[SAMESUM_PRODUCTS_WORDS]);
SAMESUM_C_API samesum_status samesum_products_from_words(const int64_t words[SAMESUM_PRODUCTS_WORDS], samesum_products** products);
SAMESUM_C_API samesum_status samesum_products_serialize(const samesum_products* products, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_products_deserialize(const void* bytes, size_t size, samesum_products** products);
SAMESUM_C_API void samesum_products_free(samesum_products* products);

/* --- statistics: several in one pass ----------------------------------------------------------------------------------------------- */

typedef struct samesum_statistics samesum_statistics;

/* Extrema, sum, sum of squares, and the count of what is not zero. */
SAMESUM_C_API samesum_status samesum_statistics_collect(const samesum_array* array, const samesum_options* options,
                                                        samesum_statistics** statistics);
/* Adds those of the elements that follow. */
SAMESUM_C_API samesum_status samesum_statistics_merge(samesum_statistics* statistics, const samesum_statistics* later);
SAMESUM_C_API uint64_t samesum_statistics_count(const samesum_statistics* statistics);
SAMESUM_C_API samesum_status samesum_statistics_nan_count(const samesum_statistics* statistics, uint64_t* result);
SAMESUM_C_API samesum_status samesum_statistics_min(const samesum_statistics* statistics, int skip_nan, samesum_extremum* result);
SAMESUM_C_API samesum_status samesum_statistics_max(const samesum_statistics* statistics, int skip_nan, samesum_extremum* result);
SAMESUM_C_API samesum_status samesum_statistics_sum(const samesum_statistics* statistics, int skip_nan, double* result);
SAMESUM_C_API samesum_status samesum_statistics_mean(const samesum_statistics* statistics, int skip_nan, double* result);
SAMESUM_C_API samesum_status samesum_statistics_variance(const samesum_statistics* statistics, uint64_t ddof, int skip_nan, double* result);
SAMESUM_C_API samesum_status samesum_statistics_standard_deviation(const samesum_statistics* statistics, uint64_t ddof, int skip_nan,
                                                                   double* result);
SAMESUM_C_API samesum_status samesum_statistics_norm(const samesum_statistics* statistics, int skip_nan, double* result);
/* Words that merge by addition, without the extrema and their indices. */
#define SAMESUM_STATISTICS_WORDS 241
SAMESUM_C_API samesum_status samesum_statistics_words(const samesum_statistics* statistics, int64_t words[SAMESUM_STATISTICS_WORDS]);
SAMESUM_C_API samesum_status samesum_statistics_from_words(const int64_t words[SAMESUM_STATISTICS_WORDS], samesum_statistics** statistics);
SAMESUM_C_API samesum_status samesum_statistics_serialize(const samesum_statistics* statistics, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_statistics_deserialize(const void* bytes, size_t size, samesum_statistics** statistics);
SAMESUM_C_API void samesum_statistics_free(samesum_statistics* statistics);

#ifdef __cplusplus
}
#endif

#endif
