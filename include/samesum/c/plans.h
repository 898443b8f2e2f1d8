/* The C interface: plans. samesum.h includes it. */
#ifndef SAMESUM_C_PLANS_H
#define SAMESUM_C_PLANS_H

#include <samesum/c/groups.h>
#include <samesum/c/histograms.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- plans: an operation on arrays of one type, prepared once and enqueued any number of times ------------------------------------- */

typedef struct samesum_plan samesum_plan;

typedef enum samesum_operation SAMESUM_C_ENUM {
  SAMESUM_PLAN_SUM,       /* its record in device memory: samesum_sum_record */
  SAMESUM_PLAN_DOT,       /* of two arrays; its record: samesum_sum_record */
  SAMESUM_PLAN_EXTREMA,    /* its record: samesum_extrema_record */
  SAMESUM_PLAN_STATISTICS, /* as samesum_statistics_collect(); its record: samesum_statistics_record */
  SAMESUM_PLAN_PRODUCT     /* as samesum_product(); its record: samesum_product_record */
} samesum_operation;

typedef struct samesum_sum_record {
  double value;      /* rounded once */
  int64_t integer;   /* of integers: the sum, or its bits if they are unsigned */
  float value32;     /* rounded once to float32 */
  uint32_t overflow; /* of integers: 1 if the sum needs more than 64 bits */
} samesum_sum_record;

typedef struct samesum_product_record {
  double value;      /* of floats; of integers 0 */
  int64_t integer;   /* of integers: the product, or its bits if they are unsigned */
  uint32_t overflow; /* of integers: 1 if the product needs more than 64 bits */
  uint32_t reserved; /* 0 */
} samesum_product_record;

typedef struct samesum_extrema_record {
  uint64_t min;       /* the element, in the first bytes */
  uint64_t min_index; /* all ones: there is none */
  uint64_t max, max_index;
  uint64_t first_nan, nan_count;
} samesum_extrema_record;

/* The exact values, each rounded once, by the plan's policy on NaNs; NaN if there is none. */
typedef struct samesum_statistics_record {
  uint64_t count; /* NaNs included */
  uint64_t nonzeros;
  samesum_sum_record sum;
  double mean, variance, standard_deviation; /* of the population: ddof 0 */
  double squared_norm, norm;
  samesum_extrema_record extrema; /* with the number of NaNs */
} samesum_statistics_record;

/* For arrays of about `size` elements on `device`; `strided`: also for those that are not contiguous. Compiles and allocates here, so that
 * enqueueing does neither. */
SAMESUM_C_API samesum_status samesum_plan_new(samesum_device* device, samesum_operation operation, samesum_type type, uint64_t size,
                                              int strided, const samesum_options* options, samesum_plan** plan);
/* Its record: bins + 3 counts as uint64, of the elements below all bins, in each bin, above all, and of NaNs. */
SAMESUM_C_API samesum_status samesum_plan_new_histogram(samesum_device* device, const samesum_bins* bins, samesum_type type, uint64_t size,
                                                        const samesum_options* options, samesum_plan** plan);
/* All pairs of about `size` elements of A and of B. Weights and further inputs are copied here. Its record: C, one result after the other. */
SAMESUM_C_API samesum_status samesum_plan_new_pairs(samesum_device* device, const samesum_pairs_problem* problem, samesum_type type,
                                                    uint64_t size, const samesum_options* options, samesum_plan** plan);
/* Statistics of what a formula gives for each element of its inputs, of which the names, the types and the numbers count; samesum_plan_enqueue_arrays()
 * takes the arrays, in this order. Its record: samesum_statistics_record. */
SAMESUM_C_API samesum_status samesum_plan_new_map(samesum_device* device, const char* formula, const samesum_input* inputs, size_t count,
                                                  uint64_t size, const samesum_options* options, samesum_plan** plan);
/* A reduction along axes of arrays like one, whose type, shape and strides count; on a device that runs kernels SAMESUM_REDUCE_SUM and
 * SAMESUM_REDUCE_MEAN. Its record: one result after the other, as samesum_reduce_axes() has them. */
SAMESUM_C_API samesum_status samesum_plan_new_axes(samesum_device* device, const samesum_array* like, samesum_reduction reduction,
                                                   const int64_t* axes, size_t count, int keep, const samesum_options* options,
                                                   samesum_plan** plan);
/* A reduction by an operator of what a formula gives for each element of its inputs ("x" of one input x: of the elements themselves); inputs as
 * for samesum_plan_new_map(). Its record: 8 bytes for each number of the result: a double, a float in the first half, or an integer. */
SAMESUM_C_API samesum_status samesum_plan_new_operator(samesum_device* device, const char* formula, const samesum_input* inputs, size_t count,
                                                       const samesum_operator* op, uint64_t size, const samesum_options* options,
                                                       samesum_plan** plan);
/* `b`: the second array of a dot product or of pairs, else NULL. Does not wait. `record`: where in device memory the record goes, of which
 * there are `record_bytes`; NULL: nowhere, ask for the result. */
SAMESUM_C_API samesum_status samesum_plan_enqueue(samesum_plan* plan, const samesum_array* a, const samesum_array* b, void* record,
                                                  uint64_t record_bytes);
/* The same for any number of arrays. */
SAMESUM_C_API samesum_status samesum_plan_enqueue_arrays(samesum_plan* plan, const samesum_array* arrays, size_t count, void* record,
                                                         uint64_t record_bytes);
/* The result of the latest enqueue(), for which it waits; of products, extrema, pairs, axes and operators of the latest one without a
 * record. A handle is the
 * caller's. */
SAMESUM_C_API samesum_status samesum_plan_sum(const samesum_plan* plan, samesum_accumulator** result);
SAMESUM_C_API samesum_status samesum_plan_dot(const samesum_plan* plan, double* result);
SAMESUM_C_API samesum_status samesum_plan_product(const samesum_plan* plan, samesum_value* result);
SAMESUM_C_API samesum_status samesum_plan_statistics(const samesum_plan* plan, samesum_statistics** result); /* of extrema and formulas too */
SAMESUM_C_API samesum_status samesum_plan_histogram(const samesum_plan* plan, samesum_histogram** result);
SAMESUM_C_API samesum_status samesum_plan_pairs(const samesum_plan* plan, const samesum_array* to);
SAMESUM_C_API samesum_status samesum_plan_axes(const samesum_plan* plan, const samesum_array* to);
/* `*count`: the number of results that there is room for, and then how many there are. */
SAMESUM_C_API samesum_status samesum_plan_operator(const samesum_plan* plan, samesum_value* results, size_t* count);
SAMESUM_C_API void samesum_plan_free(samesum_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
