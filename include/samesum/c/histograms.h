/* The C interface: histograms. samesum.h includes it. */
#ifndef SAMESUM_C_HISTOGRAMS_H
#define SAMESUM_C_HISTOGRAMS_H

#include <samesum/c/groups.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- histograms -------------------------------------------------------------------------------------------------------------------- */

typedef struct samesum_bins samesum_bins;
typedef struct samesum_histogram samesum_histogram;

/* `count` bins of one width, or of one ratio, from low to high. All bins are freed by samesum_bins_free(). */
SAMESUM_C_API samesum_status samesum_bins_even(double low, double high, uint64_t count, samesum_bins** bins);
SAMESUM_C_API samesum_status samesum_bins_logarithmic(double low, double high, uint64_t count, samesum_bins** bins);
/* Ascending; bin i is from edges[i] to edges[i + 1], the last edge belongs to the last bin. */
SAMESUM_C_API samesum_status samesum_bins_between(const double* edges, size_t count, samesum_bins** bins);
/* One for each integer from first to last. */
SAMESUM_C_API samesum_status samesum_bins_each_value(int64_t first, int64_t last, samesum_bins** bins);
/* Over the range of an array's finite elements. */
SAMESUM_C_API samesum_status samesum_bins_spanning(const samesum_array* array, uint64_t count, samesum_bins** bins);
/* The number of a sample's bin is what the formula of `x` gives: "clz(x)". */
SAMESUM_C_API samesum_status samesum_bins_by_formula(const char* formula, uint64_t count, samesum_bins** bins);
SAMESUM_C_API uint64_t samesum_bins_count(const samesum_bins* bins);
SAMESUM_C_API const double* samesum_bins_edges(const samesum_bins* bins); /* count + 1, valid as long as the handle */
SAMESUM_C_API void samesum_bins_free(samesum_bins* bins);

/* The number of elements in each bin, in host or device memory. O(n). It is freed by samesum_histogram_free(). */
SAMESUM_C_API samesum_status samesum_histogram_of(const samesum_array* array, const samesum_bins* bins, const samesum_options* options,
                                                  samesum_histogram** histogram);
/* Adds the counts of a histogram over the same bins. */
SAMESUM_C_API samesum_status samesum_histogram_merge(samesum_histogram* histogram, const samesum_histogram* other);
/* One for each bin, valid until the histogram changes. */
SAMESUM_C_API const uint64_t* samesum_histogram_counts(const samesum_histogram* histogram, uint64_t* count);
/* Elements below all bins, above them, and NaNs. */
SAMESUM_C_API void samesum_histogram_outside(const samesum_histogram* histogram, uint64_t* under, uint64_t* over, uint64_t* nan);
SAMESUM_C_API samesum_status samesum_histogram_bins(const samesum_histogram* histogram, samesum_bins** bins);
/* The least x such that a share of at least p of all samples but NaNs is at most x; it lies from `low` to `high` (which may be NULL). */
SAMESUM_C_API samesum_status samesum_histogram_quantile(const samesum_histogram* histogram, double p, double* value, double* low,
                                                        double* high);
/* The same samples over some of the bins, and over fewer: `factor` adjacent ones to one. */
SAMESUM_C_API samesum_status samesum_histogram_slice(const samesum_histogram* histogram, uint64_t first, uint64_t count,
                                                     samesum_histogram** result);
SAMESUM_C_API samesum_status samesum_histogram_rebin(const samesum_histogram* histogram, uint64_t factor, samesum_histogram** result);
typedef enum samesum_distance SAMESUM_C_ENUM {
  SAMESUM_DISTANCE_INTERSECTION,
  SAMESUM_DISTANCE_CHI_SQUARED,
  SAMESUM_DISTANCE_EARTH_MOVERS,
  SAMESUM_DISTANCE_JENSEN_SHANNON
} samesum_distance;
SAMESUM_C_API samesum_status samesum_histogram_distance(const samesum_histogram* a, const samesum_histogram* b, samesum_distance distance,
                                                        double* result);
/* Words that merge by addition, of histograms over the same bins. As samesum_accumulator_serialize() has bytes and size. */
SAMESUM_C_API samesum_status samesum_histogram_words(const samesum_histogram* histogram, int64_t* words, size_t* count);
SAMESUM_C_API samesum_status samesum_histogram_from_words(const samesum_bins* bins, const int64_t* words, size_t count,
                                                          samesum_histogram** histogram);
SAMESUM_C_API samesum_status samesum_histogram_serialize(const samesum_histogram* histogram, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_histogram_deserialize(const void* bytes, size_t size, samesum_histogram** histogram);
SAMESUM_C_API void samesum_histogram_free(samesum_histogram* histogram);

/* Over several axes. The indices of a cell: for each axis the number of a bin, or one of these. */
#define SAMESUM_BIN_UNDER (-1)
#define SAMESUM_BIN_OVER (-2)
#define SAMESUM_BIN_NAN (-3)
typedef struct samesum_histogram_nd samesum_histogram_nd;
/* Of the samples (coordinates[0][i], coordinates[1][i], ...): `rank` arrays of one shape, and as many bins. */
SAMESUM_C_API samesum_status samesum_histogram_nd_of(const samesum_array* coordinates, const samesum_bins* const* axes, size_t rank,
                                                     const samesum_options* options, samesum_histogram_nd** histogram);
/* From cells as samesum_histogram_nd_cells() has them, which merge by addition. */
SAMESUM_C_API samesum_status samesum_histogram_nd_from_cells(const samesum_bins* const* axes, size_t rank, const uint64_t* cells,
                                                             uint64_t count, samesum_histogram_nd** histogram);
SAMESUM_C_API size_t samesum_histogram_nd_rank(const samesum_histogram_nd* histogram);
SAMESUM_C_API samesum_status samesum_histogram_nd_bins(const samesum_histogram_nd* histogram, size_t axis, samesum_bins** bins);
/* All counts in C order; an axis has three cells more than bins: under, the bins, over, NaN. Valid until the histogram changes. */
SAMESUM_C_API const uint64_t* samesum_histogram_nd_cells(const samesum_histogram_nd* histogram, uint64_t* count);
/* The counts of the samples in a bin of every axis, as uint64 to an array with an axis for each. */
SAMESUM_C_API samesum_status samesum_histogram_nd_counts(const samesum_histogram_nd* histogram, const samesum_array* to);
SAMESUM_C_API samesum_status samesum_histogram_nd_at(const samesum_histogram_nd* histogram, const int64_t* indices, uint64_t* result);
/* Over some of the axes; over one of them; of the samples in one bin of an axis; over some, and over fewer bins of an axis. */
SAMESUM_C_API samesum_status samesum_histogram_nd_project(const samesum_histogram_nd* histogram, const size_t* axes, size_t count,
                                                          samesum_histogram_nd** result);
SAMESUM_C_API samesum_status samesum_histogram_nd_projection(const samesum_histogram_nd* histogram, size_t axis,
                                                             samesum_histogram** result);
SAMESUM_C_API samesum_status samesum_histogram_nd_cut(const samesum_histogram_nd* histogram, size_t axis, int64_t index,
                                                      samesum_histogram_nd** result);
SAMESUM_C_API samesum_status samesum_histogram_nd_slice(const samesum_histogram_nd* histogram, size_t axis, uint64_t first, uint64_t count,
                                                        samesum_histogram_nd** result);
SAMESUM_C_API samesum_status samesum_histogram_nd_rebin(const samesum_histogram_nd* histogram, size_t axis, uint64_t factor,
                                                        samesum_histogram_nd** result);
SAMESUM_C_API samesum_status samesum_histogram_nd_merge(samesum_histogram_nd* histogram, const samesum_histogram_nd* other);
/* As those of one axis. */
SAMESUM_C_API samesum_status samesum_histogram_nd_words(const samesum_histogram_nd* histogram, int64_t* words, size_t* count);
SAMESUM_C_API samesum_status samesum_histogram_nd_from_words(const samesum_bins* const* axes, size_t rank, const int64_t* words,
                                                             size_t count, samesum_histogram_nd** histogram);
SAMESUM_C_API samesum_status samesum_histogram_nd_serialize(const samesum_histogram_nd* histogram, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_histogram_nd_deserialize(const void* bytes, size_t size, samesum_histogram_nd** histogram);
SAMESUM_C_API void samesum_histogram_nd_free(samesum_histogram_nd* histogram);

/* The exact sum of weights in each cell, over one axis or several; with `squares` also of their squares, for variances. */
typedef struct samesum_weighted_histogram samesum_weighted_histogram;
SAMESUM_C_API samesum_status samesum_weighted_histogram_new(const samesum_bins* const* axes, size_t rank, int squares,
                                                            samesum_weighted_histogram** histogram);
/* As many coordinates as axes. */
SAMESUM_C_API samesum_status samesum_weighted_histogram_add(samesum_weighted_histogram* histogram, const samesum_array* coordinates,
                                                            const samesum_array* weights, const samesum_options* options);
/* Any samesum_group_result but MIN and MAX, for each cell in a bin of every axis. */
SAMESUM_C_API samesum_status samesum_weighted_histogram_results(const samesum_weighted_histogram* histogram, samesum_group_result which,
                                                                uint64_t ddof, int skip_nan, const samesum_array* to);
SAMESUM_C_API samesum_status samesum_weighted_histogram_sum(const samesum_weighted_histogram* histogram, const int64_t* indices,
                                                            samesum_accumulator** sum);
SAMESUM_C_API samesum_status samesum_weighted_histogram_counts(const samesum_weighted_histogram* histogram, samesum_histogram_nd** counts);
SAMESUM_C_API samesum_status samesum_weighted_histogram_project(const samesum_weighted_histogram* histogram, const size_t* axes,
                                                                size_t count, samesum_weighted_histogram** result);
SAMESUM_C_API samesum_status samesum_weighted_histogram_slice(const samesum_weighted_histogram* histogram, size_t axis, uint64_t first,
                                                              uint64_t count, samesum_weighted_histogram** result);
SAMESUM_C_API samesum_status samesum_weighted_histogram_rebin(const samesum_weighted_histogram* histogram, size_t axis, uint64_t factor,
                                                              samesum_weighted_histogram** result);
SAMESUM_C_API samesum_status samesum_weighted_histogram_merge(samesum_weighted_histogram* histogram,
                                                              const samesum_weighted_histogram* other);
SAMESUM_C_API samesum_status samesum_weighted_histogram_words(const samesum_weighted_histogram* histogram, int64_t* words, size_t* count);
SAMESUM_C_API samesum_status samesum_weighted_histogram_from_words(const samesum_bins* const* axes, size_t rank, int squares,
                                                                   const int64_t* words, size_t count,
                                                                   samesum_weighted_histogram** histogram);
SAMESUM_C_API samesum_status samesum_weighted_histogram_serialize(const samesum_weighted_histogram* histogram, void* bytes, size_t* size);
SAMESUM_C_API samesum_status samesum_weighted_histogram_deserialize(const void* bytes, size_t size, samesum_weighted_histogram** histogram);
SAMESUM_C_API void samesum_weighted_histogram_free(samesum_weighted_histogram* histogram);

#ifdef __cplusplus
}
#endif

#endif
