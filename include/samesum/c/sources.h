/* The C interface: numbers in files and in the arrays of others. samesum.h includes it. */
#ifndef SAMESUM_C_SOURCES_H
#define SAMESUM_C_SOURCES_H

#include <samesum/c/histograms.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- sources: numbers in chunks, of files, pipes, text, formulas ---------------------------------------------------------------------- */

/* How to read what does not say itself what it is. .npy, .npz, text and compressed files do. Separate texts are NULL or empty: the default.
 */
typedef struct samesum_input_options {
  size_t size;                /* sizeof(samesum_input_options), or 0 if all is zero */
  const char* raw;            /* raw numbers of this type: "float32", ">int16" */
  uint64_t offset;            /* of raw numbers: bytes to skip */
  const uint64_t* count;      /* of raw numbers: how many; NULL: all */
  const char* const* columns; /* of a table: the one to read, by number from 1 or by name */
  size_t column_count;
  const char* const* keys; /* columns whose fields are the key of a row: samesum_source_groups() */
  size_t key_count;
  const char* const* missing; /* words that stand for a missing number, beside "NA" */
  size_t missing_count;
  uint64_t skip_lines;
  int header;                        /* whether the first line has names: 1 yes, -1 no, 0 found out */
  int separator, decimal, thousands; /* characters, or 0 */
  int floats;                        /* 1: integers, too, are read as float64 */
  int in_order;                      /* 1: chunks in the order of the text */
  int allow_empty;                   /* 1: an empty input has no elements, and is no error */
  uint32_t threads;
} samesum_input_options;

typedef struct samesum_source samesum_source;
/* "-" is the standard input. Memory is bounded, whatever the size. */
SAMESUM_C_API samesum_status samesum_source_open(const char* path, const samesum_input_options* options, samesum_source** source);
/* What a formula gives at each position. The arrays must outlive the source. */
SAMESUM_C_API samesum_status samesum_source_of_map(const char* formula, const samesum_input* inputs, size_t count, samesum_source** source);
/* Chunks that a function gives, as samesum_source_next(): it fills `chunk` (all zero before), valid until its next call, and sets `*there`
 * (0 before) to 1, but at the end. If it fails, `return samesum_fail(SAMESUM_USAGE, "the tape is torn")`. */
typedef samesum_status (*samesum_next)(void* context, samesum_array* chunk, int* there);
SAMESUM_C_API samesum_status samesum_source_of_calls(samesum_next next, void* context, samesum_source** source);
/* The next chunk, valid until the next call; `*there` is 0 at the end. */
SAMESUM_C_API samesum_status samesum_source_next(samesum_source* source, samesum_array* chunk, int* there);
/* With keys: the group of each element of the latest chunk, and the number of groups so far; and a group's word in a column of the keys. */
SAMESUM_C_API const uint64_t* samesum_source_groups(const samesum_source* source, uint64_t* groups);
SAMESUM_C_API samesum_status samesum_source_key(const samesum_source* source, uint64_t group, size_t column, char* text, size_t* size);
/* Missing numbers so far. */
SAMESUM_C_API uint64_t samesum_source_missing(const samesum_source* source);
SAMESUM_C_API void samesum_source_free(samesum_source* source);

/* These read a source to its end. */
SAMESUM_C_API samesum_status samesum_accumulator_add_source(samesum_accumulator* accumulator, samesum_source* source,
                                                            const samesum_options* options);
SAMESUM_C_API samesum_status samesum_products_add_sources(samesum_products* products, samesum_source* a, samesum_source* b,
                                                          const samesum_options* options);
SAMESUM_C_API samesum_status samesum_statistics_collect_source(samesum_source* source, const samesum_options* options,
                                                               samesum_statistics** statistics);
SAMESUM_C_API samesum_status samesum_histogram_of_source(samesum_source* source, const samesum_bins* bins, const samesum_options* options,
                                                         samesum_histogram** histogram);
SAMESUM_C_API samesum_status samesum_product_of_source(samesum_source* source, const samesum_options* options, samesum_value* result);
SAMESUM_C_API samesum_status samesum_reduce_source(samesum_source* source, const samesum_operator* op, const samesum_options* options,
                                                   samesum_value* results, size_t* count);

/* The bytes of a text, counted in groups of characters ("aeiou", "0123456789"), or each of 256 by itself if `groups` is NULL and `count`
 * is 256. `others`: those in no group. */
SAMESUM_C_API samesum_status samesum_count_characters(const char* text, size_t size, const char* const* groups, size_t count,
                                                      uint64_t* counts, uint64_t* others);

/* --- DLPack and images: arrays of others ------------------------------------------------------------------------------------------- */

/* A tensor of numpy, PyTorch, CuPy, JAX, ... (DLPack's header declares it), without a copy. On success `owner` has it: to free the owner
 * calls its deleter and ends `array`. `device`: where it lies, for one on OpenCL; on CUDA also NULL: its GPU, on the legacy stream. */
struct DLManagedTensor;
typedef struct samesum_tensor samesum_tensor;
SAMESUM_C_API samesum_status samesum_array_from_dlpack(struct DLManagedTensor* tensor, samesum_device* device, samesum_array* array,
                                                       samesum_tensor** owner);
SAMESUM_C_API void samesum_tensor_free(samesum_tensor* owner);

/* PNG, JPEG and TIFF files: in a library of their own, -lsamesum_image. Arrays are valid as long as the handle. */
typedef struct samesum_image samesum_image;
/* `page`: of a TIFF, from 1. */
SAMESUM_C_API samesum_status samesum_image_open(const char* path, uint32_t page, samesum_image** image);
/* All of it, {height, width, channels}; and one channel, {height, width}, from 0. uint8, uint16, or what a TIFF has. */
SAMESUM_C_API samesum_status samesum_image_array(const samesum_image* image, samesum_array* array);
SAMESUM_C_API samesum_status samesum_image_channel(const samesum_image* image, uint32_t channel, samesum_array* array);
SAMESUM_C_API void samesum_image_free(samesum_image* image);

#ifdef __cplusplus
}
#endif

#endif
