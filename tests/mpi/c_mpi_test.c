/* The C interface over the ranks of MPI: the bits of the whole array in one process. */
#include "../c/check.h"

#include <samesum/samesum_mpi.h>

enum { kSize = 1003 };

static double x[kSize], y[kSize];

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kSize; ++i) {
    x[i] = ldexp(i % 3 == 0 ? -1.0 / (i + 1) : 0.3 * i, i % 90 - 40);
    y[i] = 1.0 / (3 + i);
  }
  /* Uneven: rank r has from r^2 on. */
  const uint64_t first = (uint64_t)kSize * (uint64_t)(rank * rank) / (uint64_t)(ranks * ranks);
  const uint64_t last = (uint64_t)kSize * (uint64_t)((rank + 1) * (rank + 1)) / (uint64_t)(ranks * ranks);
  const uint64_t size = kSize, part = last - first, none = 0;
  const samesum_array whole = doubles(x, &size), mine = doubles(x + first, &part), whole_y = doubles(y, &size), mine_y = doubles(y + first, &part);

  double expected = 0, found = 1;
  OK(samesum_sum(&whole, NULL, &expected));
  OK(samesum_mpi_sum(&mine, NULL, MPI_COMM_WORLD, &found));
  INFORMATIVE(expected);
  CHECK(found == expected);
  OK(samesum_dot(&whole, &whole_y, NULL, &expected));
  OK(samesum_mpi_dot(&mine, &mine_y, NULL, MPI_COMM_WORLD, &found));
  INFORMATIVE(expected);
  CHECK(found == expected);

  /* All in one rank, and NaNs that are left out. */
  samesum_options skip = {.size = sizeof skip, .skip_nan = 1};
  const double with_nan[] = {1.5, NAN};
  const uint64_t two = 2;
  const samesum_array one = doubles(with_nan, rank == ranks - 1 ? &two : &none);
  OK(samesum_mpi_sum(&one, NULL, MPI_COMM_WORLD, &found));
  CHECK(isnan(found));
  OK(samesum_mpi_sum(&one, &skip, MPI_COMM_WORLD, &found));
  CHECK(found == 1.5);

  samesum_statistics *all = NULL, *of_whole = NULL;
  samesum_extremum least, least_of_whole;
  OK(samesum_mpi_collect(&mine, NULL, MPI_COMM_WORLD, &all));
  OK(samesum_statistics_collect(&whole, NULL, &of_whole));
  OK(samesum_statistics_min(all, 0, &least));
  OK(samesum_statistics_min(of_whole, 0, &least_of_whole));
  CHECK(least.index == least_of_whole.index && least.value.real == least_of_whole.value.real && least.index != 0);
  OK(samesum_statistics_variance(all, 1, 0, &found));
  OK(samesum_statistics_variance(of_whole, 1, 0, &expected));
  CHECK(found == expected);
  samesum_statistics_free(all);
  OK(samesum_mpi_moments(&mine, NULL, MPI_COMM_WORLD, &all));
  OK(samesum_statistics_norm(all, 0, &found));
  OK(samesum_statistics_norm(of_whole, 0, &expected));
  CHECK(found == expected);
  samesum_statistics_free(all);
  samesum_statistics_free(of_whole);

  samesum_bins* bins = NULL;
  samesum_histogram *counts = NULL, *of_all = NULL;
  uint64_t cells = 0, more = 0;
  OK(samesum_bins_even(-10, 10, 7, &bins));
  OK(samesum_mpi_histogram(&mine, bins, NULL, MPI_COMM_WORLD, &counts));
  OK(samesum_histogram_of(&whole, bins, NULL, &of_all));
  const uint64_t* const found_counts = samesum_histogram_counts(counts, &cells);
  const uint64_t* const expected_counts = samesum_histogram_counts(of_all, &more);
  CHECK(cells == 7 && more == 7 && memcmp(found_counts, expected_counts, 7 * sizeof *found_counts) == 0);
  samesum_histogram_free(counts);
  samesum_histogram_free(of_all);
  samesum_bins_free(bins);

  /* Parts that are there: sums, and sums of products. */
  samesum_accumulator* sum = NULL;
  OK(samesum_accumulator_new(&sum));
  OK(samesum_accumulator_add_number(sum, rank + 0.25));
  OK(samesum_mpi_all_reduce_accumulator(&sum, MPI_COMM_WORLD));
  OK(samesum_accumulator_round(sum, &found));
  CHECK(found == ranks * (ranks - 1) / 2.0 + 0.25 * ranks);
  CHECK(samesum_accumulator_count(sum) == (uint64_t)ranks);
  samesum_accumulator_free(sum);

  /* A rank that fails: its own error there, its number on the others; the next call is not affected. */
  const int bad = ranks - 1;
  samesum_array broken = mine;
  if (rank == bad) broken.type = (samesum_type)99;
  found = 7;
  const samesum_status status = samesum_mpi_sum(&broken, NULL, MPI_COMM_WORLD, &found);
  CHECK(status == (rank == bad ? SAMESUM_USAGE : SAMESUM_NO_ANSWER) && found == 7);
  char who[64];
  snprintf(who, sizeof who, "rank %d of %d could not", bad, ranks);
  CHECK(rank == bad || strstr(samesum_message(), who) != NULL);
  all = NULL;
  CHECK(samesum_mpi_collect(&broken, NULL, MPI_COMM_WORLD, &all) == (rank == bad ? SAMESUM_USAGE : SAMESUM_NO_ANSWER));
  CHECK(all == NULL);
  OK(samesum_mpi_sum(&one, &skip, MPI_COMM_WORLD, &found));
  CHECK(found == 1.5);

  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
