/* The C interface (C11): exact sums, statistics, histograms, products, formulas and plans, for C and for every language that calls C.
 *
 *   double total;
 *   const double x[] = {1, -1, 0x1p-60};
 *   const uint64_t shape[] = {3};
 *   const samesum_array array = {.data = x, .type = SAMESUM_FLOAT64, .rank = 1, .shape = shape};
 *   if (samesum_sum(&array, NULL, &total) != SAMESUM_OK) fprintf(stderr, "%s\n", samesum_message());
 *
 * Every function that can fail returns a status and writes its result through its last arguments, which are unchanged where it fails. No
 * exception passes through. Handles (pointers to incomplete types) are made by functions that end in _new, _open or by one that returns a
 * result as a handle; each has a function _free, which takes NULL too. A handle may be used by one thread at a time, a device by any number.
 *
 * Functions are added, but none changes or goes (the symbols are a list in the repository that a test compares): programs linked with
 * libsamesum.so.0 go on working. Structs that may grow begin with their size. */
#ifndef SAMESUM_H
#define SAMESUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAMESUM_C_API __attribute__((visibility("default")))

typedef enum samesum_status {
  SAMESUM_OK = 0,
  SAMESUM_NO_ANSWER = 1, /* the input is fine, but has no answer: the mean of no elements, an integer beyond 64 bits */
  SAMESUM_USAGE = 2,     /* an argument cannot be used */
  SAMESUM_DEVICE = 3,    /* a device, its driver or its compiler failed */
  SAMESUM_NO_MEMORY = 4,
  SAMESUM_CANCELLED = 5 /* samesum_options.progress asked for it */
} samesum_status;

/* What was wrong in this thread's latest call that failed, and what to do about it: one readable message. Valid until the thread's next
 * failure. "" where there was none. */
SAMESUM_C_API const char* samesum_message(void);
/* "0.1.0" */
SAMESUM_C_API const char* samesum_version(void);

typedef enum samesum_type {
  SAMESUM_INT8,
  SAMESUM_UINT8,
  SAMESUM_INT16,
  SAMESUM_UINT16,
  SAMESUM_INT32,
  SAMESUM_UINT32,
  SAMESUM_INT64,
  SAMESUM_UINT64,
  SAMESUM_FLOAT16,
  SAMESUM_BFLOAT16,
  SAMESUM_FLOAT32,
  SAMESUM_FLOAT64
} samesum_type;

/* --- devices ----------------------------------------------------------------------------------------------------------------------- */

typedef struct samesum_device samesum_device;

/* By a selector: "cpu", "opencl:0", "cuda:0", a part of a name, or "auto" for the fastest. */
SAMESUM_C_API samesum_status samesum_device_open(const char* selector, samesum_device** device);
/* The caller's own CUDA stream (a CUstream or cudaStream_t; NULL: the legacy one) on GPU `ordinal`, or OpenCL command queue. All work for
 * arrays on this device is enqueued there. The stream or queue must outlive the handle. */
SAMESUM_C_API samesum_status samesum_device_on_cuda_stream(void* stream, uint32_t ordinal, samesum_device** device);
SAMESUM_C_API samesum_status samesum_device_on_opencl_queue(void* queue, samesum_device** device);
/* Valid as long as the handle. */
SAMESUM_C_API const char* samesum_device_selector(const samesum_device* device);
SAMESUM_C_API const char* samesum_device_name(const samesum_device* device);
/* Runs the self-test, which takes seconds: SAMESUM_OK where all bits are right, SAMESUM_DEVICE with the failures as message where not. */
SAMESUM_C_API samesum_status samesum_device_selftest(const samesum_device* device);
SAMESUM_C_API void samesum_device_free(samesum_device* device);

/* --- arrays and options ------------------------------------------------------------------------------------------------------------ */

/* A view of the caller's elements, which must not change during a call. */
typedef struct samesum_array {
  const void* data; /* the first element; in device memory a CUDA device pointer, or a cl_mem */
  samesum_type type;
  uint32_t rank;          /* axes, up to 64; 0: one element */
  const uint64_t* shape;  /* elements along each axis */
  const int64_t* strides; /* bytes from an element to the next along each axis, also 0 or negative; NULL: C order */
  samesum_device* device; /* NULL: host memory */
  uint64_t offset;        /* in device memory: bytes from `data` to the first element; for negative strides */
} samesum_array;

/* All zero is the default, and so is a null pointer. */
typedef struct samesum_options {
  size_t size;            /* sizeof(samesum_options), or 0 where all is zero */
  samesum_device* device; /* for host arrays: where to compute; NULL: chosen by size */
  int skip_nan;           /* 1: NaNs are left out; 0: a NaN makes the result NaN */
  uint32_t threads;       /* of the CPU; 0: chosen */
  /* Called now and then during long calls on host arrays; a result other than 0 cancels the call. `total` is 0 where it is unknown. */
  int (*progress)(void* context, uint64_t done, uint64_t total);
  void* context;
} samesum_options;

/* A number of any type: `real` where type is SAMESUM_FLOAT64, `integer` where it is SAMESUM_INT64, `natural` where SAMESUM_UINT64. */
typedef struct samesum_value {
  samesum_type type;
  union {
    double real;
    int64_t integer;
    uint64_t natural;
  };
} samesum_value;

/* An extremum and the lowest index, in C order, at which it stands. */
typedef struct samesum_extremum {
  samesum_value value;
  uint64_t index;
} samesum_extremum;

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
SAMESUM_C_API samesum_status samesum_min(const samesum_array* array, const samesum_options* options, samesum_extremum* result);
SAMESUM_C_API samesum_status samesum_max(const samesum_array* array, const samesum_options* options, samesum_extremum* result);
SAMESUM_C_API samesum_status samesum_count_nonzero(const samesum_array* array, const samesum_options* options, uint64_t* result);
/* Of floats by the fixed tree over the index, of integers exact. */
SAMESUM_C_API samesum_status samesum_product(const samesum_array* array, const samesum_options* options, samesum_value* result);
/* The element at index (n - 1) p of the sorted ones, interpolated between neighbours as numpy does by default. */
SAMESUM_C_API samesum_status samesum_quantile(const samesum_array* array, double p, const samesum_options* options, double* result);

typedef enum samesum_reduction {
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
  SAMESUM_REDUCE_COUNT_NONZERO
} samesum_reduction;
/* Along axes (-1: the last one): one result for each position along the others, written to `to`, an array of the remaining axes, or of all
 * with extent 1 along these where `keep` is not 0. Its type is float64; int64 or uint64 for sums of integers; that of the elements for min
 * and max; uint64 for argmin, argmax, count_nonzero. It lies in host memory or on the device of `array`. */
SAMESUM_C_API samesum_status samesum_reduce_axes(const samesum_array* array, samesum_reduction reduction, const int64_t* axes, size_t count,
                                                 int keep, const samesum_options* options, const samesum_array* to);

/* --- formulas (docs/formulas.md) --------------------------------------------------------------------------------------------------- */

/* An input of a formula, or a parameter: x[0..n), h = 0.5. */
typedef struct samesum_input {
  const char* name;
  samesum_array array; /* a scalar (rank 0) is a parameter */
} samesum_input;
/* The exact sum of what a formula gives at each position: samesum_sum_map("w*(x-m)^2", inputs, 3, NULL, &total). */
SAMESUM_C_API samesum_status samesum_sum_map(const char* formula, const samesum_input* inputs, size_t count, const samesum_options* options,
                                             double* result);
/* Reduces by an operator of the caller's own, a formula of a and b: "a*b % 1000003"; `identity`: the result for no elements, or NULL. */
SAMESUM_C_API samesum_status samesum_reduce_by(const samesum_array* array, const char* combine, const samesum_value* identity,
                                               const samesum_options* options, samesum_value* result);

/* --- accumulators: exact sums as values, to be added to, merged, and rounded once -------------------------------------------------- */

typedef struct samesum_accumulator samesum_accumulator;

SAMESUM_C_API samesum_status samesum_accumulator_new(samesum_accumulator** accumulator);
SAMESUM_C_API samesum_status samesum_accumulator_add(samesum_accumulator* accumulator, const samesum_array* array,
                                                     const samesum_options* options);
SAMESUM_C_API samesum_status samesum_accumulator_add_number(samesum_accumulator* accumulator, double number);
SAMESUM_C_API samesum_status samesum_accumulator_merge(samesum_accumulator* accumulator, const samesum_accumulator* other);
SAMESUM_C_API samesum_status samesum_accumulator_round(const samesum_accumulator* accumulator, double* result);
SAMESUM_C_API samesum_status samesum_accumulator_value(const samesum_accumulator* accumulator, samesum_value* result);
SAMESUM_C_API uint64_t samesum_accumulator_count(const samesum_accumulator* accumulator);
/* Words that merge by addition: the sums, word by word as plain integers, of up to 2^20 accumulators' words are those of the merged one. */
#define SAMESUM_ACCUMULATOR_WORDS 82
SAMESUM_C_API samesum_status samesum_accumulator_words(const samesum_accumulator* accumulator, int64_t words[SAMESUM_ACCUMULATOR_WORDS]);
SAMESUM_C_API samesum_status samesum_accumulator_from_words(const int64_t words[SAMESUM_ACCUMULATOR_WORDS],
                                                            samesum_accumulator** accumulator);
/* The serialized form (docs/accumulator-format.md): its size where `bytes` is NULL; else written to `bytes`, of which there are `*size`. */
SAMESUM_C_API samesum_status samesum_accumulator_serialize(const samesum_accumulator* accumulator, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_accumulator_deserialize(const void* bytes, size_t size, samesum_accumulator** accumulator);
SAMESUM_C_API void samesum_accumulator_free(samesum_accumulator* accumulator);

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
SAMESUM_C_API samesum_status samesum_statistics_serialize(const samesum_statistics* statistics, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_statistics_deserialize(const void* bytes, size_t size, samesum_statistics** statistics);
SAMESUM_C_API void samesum_statistics_free(samesum_statistics* statistics);

/* --- histograms -------------------------------------------------------------------------------------------------------------------- */

typedef struct samesum_bins samesum_bins;
typedef struct samesum_histogram samesum_histogram;

SAMESUM_C_API samesum_status samesum_bins_even(double low, double high, uint64_t count, samesum_bins** bins);
SAMESUM_C_API samesum_status samesum_bins_logarithmic(double low, double high, uint64_t count, samesum_bins** bins);
/* Ascending; bin i is from edges[i] to edges[i + 1], the last edge belongs to the last bin. */
SAMESUM_C_API samesum_status samesum_bins_between(const double* edges, size_t count, samesum_bins** bins);
/* One for each integer from first to last. */
SAMESUM_C_API samesum_status samesum_bins_each_value(int64_t first, int64_t last, samesum_bins** bins);
SAMESUM_C_API uint64_t samesum_bins_count(const samesum_bins* bins);
SAMESUM_C_API const double* samesum_bins_edges(const samesum_bins* bins); /* count + 1, valid as long as the handle */
SAMESUM_C_API void samesum_bins_free(samesum_bins* bins);

SAMESUM_C_API samesum_status samesum_histogram_of(const samesum_array* array, const samesum_bins* bins, const samesum_options* options,
                                                  samesum_histogram** histogram);
SAMESUM_C_API samesum_status samesum_histogram_merge(samesum_histogram* histogram, const samesum_histogram* other);
/* One for each bin, valid until the histogram changes. */
SAMESUM_C_API const uint64_t* samesum_histogram_counts(const samesum_histogram* histogram, uint64_t* count);
/* Elements below all bins, above them, and NaNs. */
SAMESUM_C_API void samesum_histogram_outside(const samesum_histogram* histogram, uint64_t* under, uint64_t* over, uint64_t* nan);
SAMESUM_C_API samesum_status samesum_histogram_serialize(const samesum_histogram* histogram, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_histogram_deserialize(const void* bytes, size_t size, samesum_histogram** histogram);
SAMESUM_C_API void samesum_histogram_free(samesum_histogram* histogram);

/* --- plans: an operation on arrays of one type, prepared once and enqueued any number of times ------------------------------------- */

typedef struct samesum_plan samesum_plan;

typedef enum samesum_operation {
  SAMESUM_PLAN_SUM,       /* its record in device memory: samesum_sum_record */
  SAMESUM_PLAN_DOT,       /* of two arrays; no record */
  SAMESUM_PLAN_EXTREMA,   /* its record: samesum_extrema_record */
  SAMESUM_PLAN_STATISTICS /* as samesum_statistics_collect(); no record */
} samesum_operation;

typedef struct samesum_sum_record {
  double value;      /* rounded once */
  int64_t integer;   /* of integers: the sum, or its bits where they are unsigned */
  float value32;     /* rounded once to float32 */
  uint32_t overflow; /* of integers: 1 where the sum needs more than 64 bits */
} samesum_sum_record;

typedef struct samesum_extrema_record {
  uint64_t min;       /* the element, in the first bytes */
  uint64_t min_index; /* all ones: there is none */
  uint64_t max, max_index;
  uint64_t first_nan, nan_count;
} samesum_extrema_record;

/* For arrays of about `size` elements on `device`; `strided`: also for those that are not contiguous. Compiles and allocates here, so that
 * enqueueing does neither. */
SAMESUM_C_API samesum_status samesum_plan_new(samesum_device* device, samesum_operation operation, samesum_type type, uint64_t size,
                                              int strided, const samesum_options* options, samesum_plan** plan);
/* Its record: bins + 3 counts as uint64, of the elements below all bins, in each bin, above all, and of NaNs. */
SAMESUM_C_API samesum_status samesum_plan_new_histogram(samesum_device* device, const samesum_bins* bins, samesum_type type, uint64_t size,
                                                        const samesum_options* options, samesum_plan** plan);
/* `b`: the second array of a dot product, else NULL. Does not wait. `record`: where in device memory the record goes, of which there are
 * `record_bytes`; NULL: nowhere, ask for the result. */
SAMESUM_C_API samesum_status samesum_plan_enqueue(samesum_plan* plan, const samesum_array* a, const samesum_array* b, void* record,
                                                  uint64_t record_bytes);
/* The result of the latest enqueue(), for which it waits. A handle is the caller's. */
SAMESUM_C_API samesum_status samesum_plan_sum(const samesum_plan* plan, samesum_accumulator** result);
SAMESUM_C_API samesum_status samesum_plan_dot(const samesum_plan* plan, double* result);
SAMESUM_C_API samesum_status samesum_plan_statistics(const samesum_plan* plan, samesum_statistics** result); /* of extrema too */
SAMESUM_C_API samesum_status samesum_plan_histogram(const samesum_plan* plan, samesum_histogram** result);
SAMESUM_C_API void samesum_plan_free(samesum_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
