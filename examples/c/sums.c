/* Exact sums from C: of an array, of groups of its elements, and of parts that are merged.
 *
 *   cc -std=c11 sums.c $(pkg-config --cflags --libs samesum) */
#include <samesum/samesum.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void check(samesum_status status) {
  if (status == SAMESUM_OK) return;
  fprintf(stderr, "%s\n", samesum_message());
  exit(1);
}

int main(void) {
  const double prices[] = {1e16, 1, -1e16, 2.5, 0.25};
  const int64_t cities[] = {7, 7, 7, 3, 3};
  const uint64_t five = 5, two = 2;
  const samesum_array values = {.data = prices, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &five};
  const samesum_array keys = {.data = cities, .type = SAMESUM_INT64, .rank = 1, .shape = &five};

  double total = 0, plain = 0;
  for (int i = 0; i < 5; ++i) plain += prices[i];
  check(samesum_sum(&values, NULL, &total));
  printf("loop: %.17g, exact: %.17g\n", plain, total);

  /* For each city, in ascending order of their numbers. */
  double sums[2] = {0};
  const samesum_array to = {.data = sums, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &two};
  samesum_groups* by_city = NULL;
  samesum_group_sums* of_cities = NULL;
  check(samesum_groups_by_key(&keys, 0, &by_city));
  check(samesum_groups_sums(by_city, &values, 0, NULL, &of_cities));
  check(samesum_group_sums_results(of_cities, SAMESUM_GROUP_SUM, 0, 0, &to));
  printf("city 3: %g, city 7: %g\n", sums[0], sums[1]);

  /* A value that goes anywhere as bytes. */
  samesum_accumulator *part = NULL, *copy = NULL;
  size_t size = 0;
  check(samesum_accumulator_new(&part));
  check(samesum_accumulator_add(part, &values, NULL));
  check(samesum_accumulator_serialize(part, NULL, &size));
  void* const bytes = malloc(size);
  if (bytes == NULL) return 1;
  check(samesum_accumulator_serialize(part, bytes, &size));
  check(samesum_accumulator_deserialize(bytes, size, &copy));
  check(samesum_accumulator_merge(copy, part));
  double twice = 0;
  check(samesum_accumulator_round(copy, &twice));
  printf("twice: %g\n", twice);

  free(bytes);
  samesum_accumulator_free(copy);
  samesum_accumulator_free(part);
  samesum_group_sums_free(of_cities);
  samesum_groups_free(by_city);
  return total == 3.75 && sums[0] == 2.75 && sums[1] == 1 && twice == 7.5 ? 0 : 1;
}
