/* The C interface (C11): exact sums, statistics, histograms, groups, pairs, formulas, plans, for C and for every language that calls C.
 *
 *   double total;
 *   const double x[] = {1, -1, 0x1p-60};
 *   const uint64_t shape[] = {3};
 *   const samesum_array array = {.data = x, .type = SAMESUM_FLOAT64, .rank = 1, .shape = shape};
 *   if (samesum_sum(&array, NULL, &total) != SAMESUM_OK) fprintf(stderr, "%s\n", samesum_message());
 *
 * Every function that can fail returns a status and writes its result through its last arguments, which are unchanged if it fails. No
 * exception passes through. Handles (pointers to incomplete types) are made by functions whose last argument is a pointer to one; each
 * type has a function _free, which takes NULL too. A handle may be used by one thread at a time, a device by any number.
 *
 * Functions are added, but none changes or goes (the symbols are a list in the repository that a test compares): programs linked with
 * libsamesum.so.0 go on working. Structs that may grow begin with their size. */
#ifndef SAMESUM_H
#define SAMESUM_H

#include <samesum/c/arrays.h>
#include <samesum/c/groups.h>
#include <samesum/c/histograms.h>
#include <samesum/c/plans.h>
#include <samesum/c/reductions.h>
#include <samesum/c/sources.h>
#include <samesum/c/sums.h>

#endif
