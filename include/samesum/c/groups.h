/* The C interface: groups, prefixes and pairs. samesum.h includes it. */
#ifndef SAMESUM_C_GROUPS_H
#define SAMESUM_C_GROUPS_H

#include <samesum/c/reductions.h>
#include <samesum/c/sums.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- groups: a result for each; and for each prefix ------------------------------------------------------------------------------- */

/* Results go to `to`, an array in memory of the caller's of their type and number, in C order without gaps. */
typedef enum samesum_group_result SAMESUM_C_ENUM {
  SAMESUM_GROUP_SUM,          /* of floats float64, of integers int64 or uint64: samesum_group_sums_type() */
  SAMESUM_GROUP_SQUARED_NORM, /* float64; needs SAMESUM_KEEP_SQUARES */
  SAMESUM_GROUP_MEAN,         /* float64; NaN for no elements */
  SAMESUM_GROUP_VARIANCE,     /* float64; NaN for no more than ddof elements; needs SAMESUM_KEEP_SQUARES */
  SAMESUM_GROUP_MIN,          /* in the type of sums; needs SAMESUM_KEEP_EXTREMA */
  SAMESUM_GROUP_MAX,
  SAMESUM_GROUP_COUNT, /* uint64, NaNs included */
  SAMESUM_GROUP_STANDARD_DEVIATION, /* as the variance, of which it is the root, rounded once */
  SAMESUM_GROUP_NORM                /* likewise of the squared norm */
} samesum_group_result;
#define SAMESUM_KEEP_SQUARES 1u
#define SAMESUM_KEEP_EXTREMA 2u
#define SAMESUM_IGNORE_OUTSIDE 4u /* elements whose index is not below the number of groups are counted, and no error */
#define SAMESUM_NO_COUNTS 8u      /* no SAMESUM_GROUP_COUNT, nor what needs it; on a device that is faster */

/* A division of elements into groups. */
typedef struct samesum_groups samesum_groups;
/* Elements with equal keys (integers of any type): groups in ascending order of the keys, or in that in which they are first seen. */
SAMESUM_C_API samesum_status samesum_groups_by_key(const samesum_array* keys, int first_seen, samesum_groups** groups);
/* Keys that are the numbers of groups, from 0 to count - 1. They stay where they are, and must outlive the handle. */
SAMESUM_C_API samesum_status samesum_groups_by_index(const samesum_array* indices, uint64_t count, samesum_groups** groups);
/* Ragged rows: group i from offsets[i] to offsets[i + 1], excluded; or the next lengths[i] elements. */
SAMESUM_C_API samesum_status samesum_groups_by_offsets(const samesum_array* offsets, samesum_groups** groups);
SAMESUM_C_API samesum_status samesum_groups_by_lengths(const samesum_array* lengths, samesum_groups** groups);
SAMESUM_C_API uint64_t samesum_groups_count(const samesum_groups* groups);
/* The key of each group, in the type of the keys; of indices and segments their numbers, as uint64. */
SAMESUM_C_API samesum_status samesum_groups_keys(const samesum_groups* groups, const samesum_array* to);

/* Exact sums of groups as values: each has the bits of its elements' alone, whatever the order and the split. `keep`: flags from above, or
 * 0. Of the options only `threads` is used. */
typedef struct samesum_group_sums samesum_group_sums;
SAMESUM_C_API samesum_status samesum_groups_sums(const samesum_groups* groups, const samesum_array* array, uint32_t keep,
                                                 const samesum_options* options, samesum_group_sums** sums);
/* The quantiles of each group, to an array of `p_count` by the number of groups: float64 where the method is linear (or NULL) or midpoint,
 * otherwise of the elements' type. NaN of a group without elements. */
SAMESUM_C_API samesum_status samesum_groups_quantiles(const samesum_groups* groups, const samesum_array* array, const double* p,
                                                      size_t p_count, const char* method, const samesum_options* options,
                                                      const samesum_array* to);
/* Any reduction of each group's elements, in the type that samesum_reduce_axes() has for it, but for extrema: of floats float64, of integers
 * int64 or uint64. argmin and argmax are indices of `array`. `ddof`: of variances and standard deviations, otherwise 0. Of groups without
 * elements sums, norms and counts are 0, products 1, means, variances and extrema of floats NaN; others have no answer. */
SAMESUM_C_API samesum_status samesum_groups_reduce(const samesum_groups* groups, const samesum_array* array, samesum_reduction reduction,
                                                   uint64_t ddof, const samesum_options* options, const samesum_array* to);
/* The same of what a formula gives at each position. */
SAMESUM_C_API samesum_status samesum_groups_reduce_map(const samesum_groups* groups, const char* formula, const samesum_input* inputs,
                                                       size_t input_count, samesum_reduction reduction, uint64_t ddof,
                                                       const samesum_options* options, const samesum_array* to);
/* Each group's elements reduced by an operator, as samesum_reduce() has it: `to` are `to_count` arrays, one for each component of the
 * result. */
SAMESUM_C_API samesum_status samesum_groups_operate(const samesum_groups* groups, const samesum_array* array, const samesum_operator* op,
                                                    const samesum_options* options, const samesum_array* to, size_t to_count);
SAMESUM_C_API samesum_status samesum_groups_operate_map(const samesum_groups* groups, const char* formula, const samesum_input* inputs,
                                                        size_t input_count, const samesum_operator* op, const samesum_options* options,
                                                        const samesum_array* to, size_t to_count);
SAMESUM_C_API void samesum_groups_free(samesum_groups* groups);
SAMESUM_C_API samesum_status samesum_group_sums_new(uint64_t groups, uint32_t keep, const samesum_options* options,
                                                    samesum_group_sums** sums);
/* sums[indices[i]] += values[i]; if an index is out of range nothing is added. */
SAMESUM_C_API samesum_status samesum_group_sums_add(samesum_group_sums* sums, const samesum_array* values, const samesum_array* indices);
SAMESUM_C_API samesum_status samesum_group_sums_add_segments(samesum_group_sums* sums, const samesum_array* values,
                                                             const samesum_array* offsets);
SAMESUM_C_API samesum_status samesum_group_sums_add_number(samesum_group_sums* sums, double number, uint64_t group);
/* To more groups. */
SAMESUM_C_API samesum_status samesum_group_sums_grow(samesum_group_sums* sums, uint64_t groups);
SAMESUM_C_API samesum_status samesum_group_sums_merge(samesum_group_sums* sums, const samesum_group_sums* other);
/* Group i of the other to group to[i] of these. */
SAMESUM_C_API samesum_status samesum_group_sums_merge_to(samesum_group_sums* sums, const samesum_group_sums* other, const uint64_t* to,
                                                         size_t count);
SAMESUM_C_API uint64_t samesum_group_sums_groups(const samesum_group_sums* sums);
SAMESUM_C_API uint64_t samesum_group_sums_outside(const samesum_group_sums* sums);
SAMESUM_C_API samesum_status samesum_group_sums_type(const samesum_group_sums* sums, samesum_type* result);
SAMESUM_C_API samesum_status samesum_group_sums_results(const samesum_group_sums* sums, samesum_group_result which, uint64_t ddof,
                                                        int skip_nan, const samesum_array* to);
SAMESUM_C_API samesum_status samesum_group_sums_sum(const samesum_group_sums* sums, uint64_t group, samesum_accumulator** sum);
SAMESUM_C_API samesum_status samesum_group_sums_statistics(const samesum_group_sums* sums, uint64_t group, samesum_statistics** statistics);
/* Words that merge by addition, but for extrema, 656 bytes a group; and the serialized form, which has fewer. As
 * samesum_accumulator_serialize() has bytes and size. */
SAMESUM_C_API samesum_status samesum_group_sums_words(const samesum_group_sums* sums, int64_t* words, size_t* count);
SAMESUM_C_API samesum_status samesum_group_sums_from_words(uint64_t groups, uint32_t keep, const int64_t* words, size_t count,
                                                           samesum_group_sums** sums);
SAMESUM_C_API samesum_status samesum_group_sums_serialize(const samesum_group_sums* sums, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_group_sums_deserialize(const void* bytes, size_t size, samesum_group_sums** sums);
SAMESUM_C_API void samesum_group_sums_free(samesum_group_sums* sums);

typedef enum samesum_scan_operation SAMESUM_C_ENUM {
  SAMESUM_SCAN_SUM,     /* float64, or float32 if asked for; of integers int64 or uint64 */
  SAMESUM_SCAN_PRODUCT, /* likewise */
  SAMESUM_SCAN_MIN,     /* in the type of the elements */
  SAMESUM_SCAN_MAX,
  SAMESUM_SCAN_COUNT_NONZERO /* uint64 */
} samesum_scan_operation;
/* All zero: sums of all prefixes. */
typedef struct samesum_scan_options {
  size_t size; /* sizeof(samesum_scan_options), or 0 if all is zero */
  samesum_scan_operation operation;
  int exclusive;  /* 1: result i is that of the elements before element i */
  int float32;    /* 1: sums of floats are rounded to float32 */
  int along_axis; /* 1: along `axis` (-1: the last one); 0: over all elements in C order */
  int64_t axis;
  const samesum_operator* by; /* in place of `operation`, or NULL */
  const uint64_t* offsets;    /* where the scan begins again: ascending, from 0; or NULL */
  size_t offset_count;
} samesum_scan_options;
/* One result for each element: that of the prefix which it ends. `to` has the shape of `array`. */
SAMESUM_C_API samesum_status samesum_scan(const samesum_array* array, const samesum_scan_options* what, const samesum_options* options,
                                          const samesum_array* to);

/* --- all pairs: C[x] = the reduction, over all y, of f(A[x], B[y]) (docs/pairs.md) -------------------------------------------------- */

/* All zero: sums of products of numbers. */
typedef struct samesum_pairs_problem {
  size_t size;                  /* sizeof(samesum_pairs_problem), or 0 if all is zero */
  const char* f;                /* "product" (or NULL), "difference", "absdiff", "sqdist", "gaussian", "invdist" */
  const char* reduction;        /* "sum" (or NULL), "min", "max", "argmin", "argmax", "product", "logsumexp", "smallest", "argsmallest" */
  const char* accuracy;         /* "fast" (or NULL), "compensated", "exact" */
  uint64_t components;          /* of a vector of A and B; 0: one */
  double h;                     /* of "gaussian"; 0: one */
  double softening;             /* of "invdist" */
  const samesum_array* weights; /* one for each y, or NULL */
  const char* formula;          /* in place of `f`: of the vectors a and b, the weight w, and `inputs`; or NULL */
  const samesum_input* inputs;  /* parameters, and arrays with an element (x) or a vector (x[]) for each y */
  size_t input_count;
  const samesum_operator* by; /* in place of `reduction`, or NULL */
  uint32_t k;                 /* of "smallest" and "argsmallest": 1 to 128; 0: one */
  uint64_t complex_numbers;   /* 1: the vectors of A and B, of two components, are complex numbers, and so are a and b in formulas */
} samesum_pairs_problem;
/* `to`: one result for each x, or `k`, or as many as a formula or an operator gives: of complex numbers both parts. They are of the type of
 * A and B, of 16-bit floats float32, of integers int64 (uint64 of uint64) or what a formula gives, or int64 if they are indices; of an
 * operator what that gives.
 */
SAMESUM_C_API samesum_status samesum_pairs(const samesum_array* a, const samesum_array* b, const samesum_pairs_problem* problem,
                                           const samesum_options* options, const samesum_array* to);

#ifdef __cplusplus
}
#endif

#endif
