/* The C interface over the ranks of an MPI communicator (C11): a header over the caller's own MPI, which libsamesum itself does not use.
 *
 *   double total;
 *   if (samesum_mpi_sum(&local, NULL, MPI_COMM_WORLD, &total) != SAMESUM_OK) fprintf(stderr, "%s\n", samesum_message());
 *
 * It is what samesum/mpi.hpp is for C++ (docs/mpi.md): every function is collective, all ranks get the same result, and its bits depend
 * neither on the number of ranks nor on which rank has which elements. The array of the whole is that of the ranks one after the other.
 * For Fortran there is samesum_mpi.f90 beside this file.
 *
 * If a rank cannot compute its part, it still takes part in the communication, and then returns its own status; the others return
 * SAMESUM_NO_ANSWER, with a message that names it. Errors of MPI itself are left to the communicator's error handler. */
#ifndef SAMESUM_MPI_H
#define SAMESUM_MPI_H

#include <samesum/samesum.h>

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- for the functions below ------------------------------------------------------------------------------------------------------- */

/* The status of all: `own`, or SAMESUM_NO_ANSWER if `failures` others have failed, which names the one of them by the sum of ranks. */
static inline samesum_status samesum_mpi_status(samesum_status own, int64_t failures, int64_t ranks, MPI_Comm comm) {
  char text[128];
  int size = 0;
  if (own != SAMESUM_OK || failures == 0) return own;
  MPI_Comm_size(comm, &size);
  if (failures == 1) {
    snprintf(text, sizeof text, "rank %lld of %d could not compute a part: see the error there", (long long)ranks, size);
  } else {
    snprintf(text, sizeof text, "%lld ranks of %d could not compute a part: see the errors there", (long long)failures, size);
  }
  return samesum_fail(SAMESUM_NO_ANSWER, text);
}

/* Adds up the words of all ranks; `words` has room for two more than `count`. A rank that failed adds none. */
static inline samesum_status samesum_mpi_add_words(int64_t* words, int count, samesum_status own, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (own != SAMESUM_OK) memset(words, 0, (size_t)count * sizeof *words);
  words[count] = own != SAMESUM_OK;
  words[count + 1] = own != SAMESUM_OK ? rank : 0;
  MPI_Allreduce(MPI_IN_PLACE, words, count + 2, MPI_INT64_T, MPI_SUM, comm);
  return samesum_mpi_status(own, words[count], words[count + 1], comm);
}

/* Bytes of any size, in messages whose lengths MPI counts by int. */
#define SAMESUM_MPI_MOST ((size_t)1 << 30)
static inline void samesum_mpi_bytes(void* bytes, size_t size, int send, int peer, MPI_Comm comm) {
  for (size_t first = 0; first < size; first += SAMESUM_MPI_MOST) {
    const int count = (int)(size - first < SAMESUM_MPI_MOST ? size - first : SAMESUM_MPI_MOST);
    if (send) {
      MPI_Send((char*)bytes + first, count, MPI_BYTE, peer, 0, comm);
    } else {
      MPI_Recv((char*)bytes + first, count, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
    }
  }
}

/* The serialized form of a value of any kind, in memory that the caller frees; NULL if that fails. */
typedef samesum_status samesum_mpi_serialize(const void* part, void* bytes, size_t* size);
typedef samesum_status samesum_mpi_merge(void* part, const void* bytes, size_t size);
static inline void* samesum_mpi_form(const void* part, samesum_mpi_serialize* serialize, size_t* size, samesum_status* status) {
  void* bytes = NULL;
  if (*status != SAMESUM_OK) return NULL;
  *size = 0;
  *status = serialize(part, NULL, size);
  if (*status != SAMESUM_OK) return NULL;
  bytes = malloc(*size);
  if (bytes == NULL) {
    *status = samesum_fail(SAMESUM_NO_MEMORY, "no memory for a message");
    return NULL;
  }
  *status = serialize(part, bytes, size);
  if (*status == SAMESUM_OK) return bytes;
  free(bytes);
  return NULL;
}

/* Merges values that are no integers to be added up: their serialized forms go up a binomial tree to rank 0, and the result to all. Each
 * rank gets it in *form, which is to be freed. `part` is changed. */
static inline samesum_status samesum_mpi_tree(void* part, samesum_mpi_serialize* serialize, samesum_mpi_merge* merge, samesum_status own,
                                              MPI_Comm comm, void** form, size_t* form_size) {
  int rank = 0, ranks = 1;
  samesum_status status = own;
  int64_t failures[2] = {0, 0};
  size_t size = 0;
  uint64_t length = 0;
  void* bytes = NULL;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int step = 1; step < ranks; step *= 2) {
    if ((rank & step) != 0) {
      bytes = samesum_mpi_form(part, serialize, &size, &status);
      length = bytes != NULL ? size : 0; /* nothing stands for a failure, of this rank or of one below it */
      MPI_Send(&length, 1, MPI_UINT64_T, rank - step, 0, comm);
      samesum_mpi_bytes(bytes, length, 1, rank - step, comm);
      free(bytes);
      bytes = NULL;
      break;
    }
    if (rank + step >= ranks) continue;
    MPI_Recv(&length, 1, MPI_UINT64_T, rank + step, 0, comm, MPI_STATUS_IGNORE);
    bytes = length != 0 ? malloc(length) : NULL;
    if (length != 0 && bytes == NULL) MPI_Abort(comm, 1); /* the message cannot be taken */
    samesum_mpi_bytes(bytes, length, 0, rank + step, comm);
    if (status == SAMESUM_OK && length != 0) status = merge(part, bytes, length);
    free(bytes);
    bytes = NULL;
  }
  if (rank == 0) bytes = samesum_mpi_form(part, serialize, &size, &status);
  failures[0] = status != SAMESUM_OK;
  failures[1] = status != SAMESUM_OK ? rank : 0;
  MPI_Allreduce(MPI_IN_PLACE, failures, 2, MPI_INT64_T, MPI_SUM, comm);
  status = samesum_mpi_status(status, failures[0], failures[1], comm);
  if (status != SAMESUM_OK) {
    free(bytes);
    return status;
  }
  length = size;
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm);
  if (rank != 0) bytes = malloc(length);
  if (bytes == NULL) MPI_Abort(comm, 1);
  for (size_t first = 0; first < length; first += SAMESUM_MPI_MOST) {
    MPI_Bcast((char*)bytes + first, (int)(length - first < SAMESUM_MPI_MOST ? length - first : SAMESUM_MPI_MOST), MPI_BYTE, 0, comm);
  }
  *form = bytes;
  *form_size = length;
  return SAMESUM_OK;
}

/* --- parts that you have ------------------------------------------------------------------------------------------------------------ */

/* samesum_mpi_all_reduce_accumulator(&part, comm), and likewise products, statistics, histogram, histogram_nd, weighted_histogram and
 * group_sums: *part is replaced by the value that is merged from those of all ranks, in the order of the ranks. NULL says that this rank
 * has failed: all ranks then return an error, and keep their parts. Accumulators and products: one MPI_Allreduce of 84 and 145 integers.
 * The others: their serialized forms, up a binomial tree and down again. */
#define SAMESUM_MPI_BY_WORDS(kind, count)                                                                       \
  static inline samesum_status samesum_mpi_all_reduce_##kind(samesum_##kind** part, MPI_Comm comm) {            \
    int64_t words[(count) + 2];                                                                                 \
    samesum_##kind* all = NULL;                                                                                 \
    samesum_status status = samesum_##kind##_words(*part, words);                                               \
    status = samesum_mpi_add_words(words, (count), status, comm);                                               \
    if (status == SAMESUM_OK) status = samesum_##kind##_from_words(words, &all);                                \
    if (status != SAMESUM_OK) return status;                                                                    \
    samesum_##kind##_free(*part);                                                                               \
    *part = all;                                                                                                \
    return SAMESUM_OK;                                                                                          \
  }
#define SAMESUM_MPI_BY_BYTES(kind)                                                                              \
  static inline samesum_status samesum_mpi_serialize_##kind(const void* part, void* bytes, size_t* size) {      \
    return samesum_##kind##_serialize((const samesum_##kind*)part, bytes, size);                                \
  }                                                                                                             \
  static inline samesum_status samesum_mpi_merge_##kind(void* part, const void* bytes, size_t size) {           \
    samesum_##kind* more = NULL;                                                                                \
    samesum_status status = samesum_##kind##_deserialize(bytes, size, &more);                                   \
    if (status == SAMESUM_OK) status = samesum_##kind##_merge((samesum_##kind*)part, more);                     \
    samesum_##kind##_free(more);                                                                                \
    return status;                                                                                              \
  }                                                                                                             \
  static inline samesum_status samesum_mpi_all_reduce_##kind(samesum_##kind** part, MPI_Comm comm) {            \
    void* bytes = NULL;                                                                                         \
    size_t size = 0;                                                                                            \
    samesum_##kind* all = NULL;                                                                                 \
    samesum_status status = *part == NULL ? SAMESUM_USAGE : SAMESUM_OK;                                         \
    status = samesum_mpi_tree(*part, samesum_mpi_serialize_##kind, samesum_mpi_merge_##kind, status, comm, &bytes, &size); \
    if (status == SAMESUM_OK) status = samesum_##kind##_deserialize(bytes, size, &all);                         \
    free(bytes);                                                                                                \
    if (status != SAMESUM_OK) return status;                                                                    \
    samesum_##kind##_free(*part);                                                                               \
    *part = all;                                                                                                \
    return SAMESUM_OK;                                                                                          \
  }
SAMESUM_MPI_BY_WORDS(accumulator, SAMESUM_ACCUMULATOR_WORDS)
SAMESUM_MPI_BY_WORDS(products, SAMESUM_PRODUCTS_WORDS)
SAMESUM_MPI_BY_BYTES(statistics)
SAMESUM_MPI_BY_BYTES(histogram)
SAMESUM_MPI_BY_BYTES(histogram_nd)
SAMESUM_MPI_BY_BYTES(weighted_histogram)
SAMESUM_MPI_BY_BYTES(group_sums)
#undef SAMESUM_MPI_BY_WORDS
#undef SAMESUM_MPI_BY_BYTES

/* --- arrays, each rank's part ------------------------------------------------------------------------------------------------------- */

/* What all ranks say of the call: its own error, if there is one, behind the communication. */
static inline samesum_status samesum_mpi_first(samesum_status own, samesum_status merged) { return own != SAMESUM_OK ? own : merged; }

/* The exact sum of all ranks' elements as a value: one MPI_Allreduce of 84 integers. The options are those of this rank. */
static inline samesum_status samesum_mpi_accumulate(const samesum_array* array, const samesum_options* options, MPI_Comm comm,
                                                    samesum_accumulator** sum) {
  int64_t words[SAMESUM_ACCUMULATOR_WORDS + 2];
  samesum_accumulator* mine = NULL;
  samesum_status status = samesum_accumulator_new(&mine);
  if (status == SAMESUM_OK) status = samesum_accumulator_add(mine, array, options);
  if (status == SAMESUM_OK) status = samesum_accumulator_words(mine, words);
  samesum_accumulator_free(mine);
  status = samesum_mpi_add_words(words, SAMESUM_ACCUMULATOR_WORDS, status, comm);
  return status == SAMESUM_OK ? samesum_accumulator_from_words(words, sum) : status;
}

/* The sum and the sum of squares, for means, variances and norms: one MPI_Allreduce of 243 integers. Without extrema. */
static inline samesum_status samesum_mpi_moments(const samesum_array* array, const samesum_options* options, MPI_Comm comm,
                                                 samesum_statistics** statistics) {
  int64_t words[SAMESUM_STATISTICS_WORDS + 2];
  samesum_statistics* mine = NULL;
  samesum_status status = samesum_statistics_collect(array, options, &mine);
  if (status == SAMESUM_OK) status = samesum_statistics_words(mine, words);
  samesum_statistics_free(mine);
  status = samesum_mpi_add_words(words, SAMESUM_STATISTICS_WORDS, status, comm);
  return status == SAMESUM_OK ? samesum_statistics_from_words(words, statistics) : status;
}

/* As samesum_sum(), rounded once. options.skip_nan must be the same on all ranks. */
static inline samesum_status samesum_mpi_sum(const samesum_array* array, const samesum_options* options, MPI_Comm comm, double* total) {
  samesum_accumulator* sum = NULL;
  samesum_statistics* all = NULL;
  samesum_status status;
  if (options != NULL && options->size != 0 && options->skip_nan) { /* an accumulator's rounding takes NaNs into account */
    status = samesum_mpi_moments(array, options, comm, &all);
    if (status == SAMESUM_OK) status = samesum_statistics_sum(all, 1, total);
    samesum_statistics_free(all);
    return status;
  }
  status = samesum_mpi_accumulate(array, options, comm, &sum);
  if (status == SAMESUM_OK) status = samesum_accumulator_round(sum, total);
  samesum_accumulator_free(sum);
  return status;
}

/* As samesum_dot(): each rank has the same elements of both arrays. */
static inline samesum_status samesum_mpi_dot(const samesum_array* a, const samesum_array* b, const samesum_options* options, MPI_Comm comm,
                                             double* result) {
  int64_t words[SAMESUM_PRODUCTS_WORDS + 2];
  samesum_products *mine = NULL, *all = NULL;
  samesum_status status = samesum_products_new(&mine);
  if (status == SAMESUM_OK) status = samesum_products_add(mine, a, b, options);
  if (status == SAMESUM_OK) status = samesum_products_words(mine, words);
  samesum_products_free(mine);
  status = samesum_mpi_add_words(words, SAMESUM_PRODUCTS_WORDS, status, comm);
  if (status == SAMESUM_OK) status = samesum_products_from_words(words, &all);
  if (status == SAMESUM_OK) status = samesum_products_round(all, result);
  samesum_products_free(all);
  return status;
}

/* As samesum_statistics_collect(), with extrema, whose indices are those in the array of the whole. */
static inline samesum_status samesum_mpi_collect(const samesum_array* array, const samesum_options* options, MPI_Comm comm,
                                                 samesum_statistics** statistics) {
  samesum_statistics* part = NULL;
  samesum_status own = samesum_statistics_collect(array, options, &part), merged;
  if (own != SAMESUM_OK) part = NULL;
  merged = samesum_mpi_all_reduce_statistics(&part, comm);
  if (samesum_mpi_first(own, merged) == SAMESUM_OK) {
    *statistics = part;
  } else {
    samesum_statistics_free(part);
  }
  return samesum_mpi_first(own, merged);
}

/* As samesum_histogram_of(), with the same bins on all ranks. */
static inline samesum_status samesum_mpi_histogram(const samesum_array* array, const samesum_bins* bins, const samesum_options* options,
                                                   MPI_Comm comm, samesum_histogram** histogram) {
  samesum_histogram* part = NULL;
  samesum_status own = samesum_histogram_of(array, bins, options, &part), merged;
  if (own != SAMESUM_OK) part = NULL;
  merged = samesum_mpi_all_reduce_histogram(&part, comm);
  if (samesum_mpi_first(own, merged) == SAMESUM_OK) {
    *histogram = part;
  } else {
    samesum_histogram_free(part);
  }
  return samesum_mpi_first(own, merged);
}

#ifdef __cplusplus
}
#endif

#endif
