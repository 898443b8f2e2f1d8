/* What the tests of the C interface have in common. */
#ifndef SAMESUM_TESTS_C_CHECK_H
#define SAMESUM_TESTS_C_CHECK_H

#include <samesum/samesum.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, samesum_message()); \
      ++failures;                                                                             \
    }                                                                                         \
  } while (0)
#define OK(call) CHECK((call) == SAMESUM_OK)
/* Of an expected value that is computed: neither zero nor infinite nor NaN, which wrong results are too. */
#define INFORMATIVE(value) CHECK(isfinite(value) && (value) != 0)

static samesum_array doubles(const double* data, const uint64_t* size) {
  const samesum_array array = {.data = data, .type = SAMESUM_FLOAT64, .rank = 1, .shape = size};
  return array;
}

#endif
