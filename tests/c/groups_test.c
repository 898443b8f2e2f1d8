/* The C interface of groups, prefixes, pairs and histograms, from C11. Exits with the number of failures. */
#include "check.h"

/* The serialized form and the words of a value make equal ones; damaged they are refused. */
#define SAME(kind, value, from_words, size_of_words)                                              \
  do {                                                                                            \
    kind* restored = NULL;                                                                        \
    size_t byte_count = 0, word_count = 0, restored_count = 0;                                    \
    OK(kind##_serialize(value, NULL, &byte_count));                                               \
    unsigned char *const bytes = malloc(byte_count), *const others = malloc(byte_count);          \
    OK(kind##_serialize(value, bytes, &byte_count));                                              \
    OK(kind##_deserialize(bytes, byte_count, &restored));                                         \
    restored_count = byte_count;                                                                  \
    OK(kind##_serialize(restored, others, &restored_count));                                      \
    CHECK(byte_count == restored_count && memcmp(bytes, others, byte_count) == 0);                \
    kind##_free(restored);                                                                        \
    restored = NULL;                                                                              \
    bytes[byte_count / 2] ^= 1;                                                                   \
    CHECK(kind##_deserialize(bytes, byte_count, &restored) == SAMESUM_USAGE && restored == NULL); \
    OK(kind##_words(value, NULL, &word_count));                                                   \
    int64_t* const all_words = malloc(word_count * sizeof *all_words);                            \
    OK(kind##_words(value, all_words, &word_count));                                              \
    CHECK(word_count == (size_of_words));                                                         \
    OK(from_words);                                                                               \
    OK(kind##_serialize(restored, bytes, &byte_count));                                           \
    CHECK(memcmp(bytes, others, byte_count) == 0);                                                \
    kind##_free(restored);                                                                        \
    free(all_words);                                                                              \
    free(bytes);                                                                                  \
    free(others);                                                                                 \
  } while (0)

static samesum_array int64s(const int64_t* data, const uint64_t* size) {
  const samesum_array array = {.data = data, .type = SAMESUM_INT64, .rank = 1, .shape = size};
  return array;
}

static void groups(void) {
  const uint64_t six = 6, three = 3, two = 2, four = 4;
  const double x[] = {1e100, 1, -3, -1e100, 0x1p-60, 7};
  const int64_t keys[] = {5, -2, 9, 5, -2, 9};
  const samesum_array values = doubles(x, &six), of_keys = int64s(keys, &six);
  samesum_groups* by = NULL;
  OK(samesum_groups_by_key(&of_keys, 0, &by));
  CHECK(samesum_groups_count(by) == 3);
  int64_t found[3] = {0};
  const samesum_array to_keys = int64s(found, &three);
  OK(samesum_groups_keys(by, &to_keys));
  CHECK(found[0] == -2 && found[1] == 5 && found[2] == 9);
  const double half = 0.5;
  double medians[3] = {0};
  const uint64_t one_by_three[] = {1, 3};
  const samesum_array to_medians = {.data = medians, .type = SAMESUM_FLOAT64, .rank = 2, .shape = one_by_three};
  OK(samesum_groups_quantiles(by, &values, &half, 1, NULL, NULL, &to_medians));
  CHECK(medians[0] == 0.5 + 0x1p-61 && medians[1] == 0 && medians[2] == 2);
  CHECK(samesum_groups_quantiles(by, &of_keys, &half, 1, "lower", NULL, &to_medians) == SAMESUM_USAGE);
  CHECK(samesum_groups_quantiles(NULL, &values, &half, 1, NULL, NULL, &to_medians) == SAMESUM_USAGE);
  /* x is by key: -2: x[1], x[4]; 5: x[0], x[3]; 9: x[2], x[5]. */
  uint64_t places[3] = {0};
  const samesum_array to_places = {.data = places, .type = SAMESUM_UINT64, .rank = 1, .shape = &three};
  const double w[] = {3, 4, -2, 3, 2, 0.5};
  const samesum_array factors = doubles(w, &six);
  double reduced[3] = {0}, other[3] = {0};
  const samesum_array to_both[] = {doubles(reduced, &three), doubles(other, &three)};
  OK(samesum_groups_reduce(by, &factors, SAMESUM_REDUCE_ARGMIN, 0, NULL, &to_places));
  CHECK(places[0] == 4 && places[1] == 0 && places[2] == 2);
  OK(samesum_groups_reduce(by, &factors, SAMESUM_REDUCE_PRODUCT, 0, NULL, to_both));
  CHECK(reduced[0] == 8 && reduced[1] == 9 && reduced[2] == -1);
  OK(samesum_groups_reduce(by, &factors, SAMESUM_REDUCE_STANDARD_DEVIATION, 1, NULL, to_both));
  CHECK(reduced[1] == 0 && reduced[0] > 1.4142135 && reduced[0] < 1.4142136);
  CHECK(samesum_groups_reduce(by, &factors, SAMESUM_REDUCE_SUM, 1, NULL, to_both) == SAMESUM_USAGE);
  CHECK(samesum_groups_reduce(by, &factors, SAMESUM_REDUCE_ARGMAX, 0, NULL, to_both) == SAMESUM_USAGE);
  const samesum_input inputs[] = {{.name = "w", .array = factors}};
  OK(samesum_groups_reduce_map(by, "w*w", inputs, 1, SAMESUM_REDUCE_SUM, 0, NULL, to_both));
  CHECK(reduced[0] == 20 && reduced[1] == 18 && reduced[2] == 4.25);
  samesum_operator halves = {.size = sizeof halves, .combine = "a/2 + b"};
  OK(samesum_groups_operate(by, &factors, &halves, NULL, to_both, 1));
  CHECK(reduced[0] == 4 && reduced[1] == 4.5 && reduced[2] == -0.5);
  CHECK(samesum_groups_operate(by, &factors, &halves, NULL, to_both, 2) == SAMESUM_USAGE);
  CHECK(strstr(samesum_message(), "gives 1 numbers") != NULL);
  samesum_operator both = {.size = sizeof both, .combine = "(a[0] + b[0], a[1]*b[1])"};
  OK(samesum_groups_operate_map(by, "(w, w)", inputs, 1, &both, NULL, to_both, 2));
  CHECK(reduced[0] == 6 && other[0] == 8 && reduced[2] == -1.5 && other[2] == -1);
  CHECK(samesum_groups_operate(NULL, &factors, &halves, NULL, to_both, 1) == SAMESUM_USAGE);
  samesum_group_sums* sums = NULL;
  const double y[] = {1e100, 1, -3, -2e100, 0x1p-60, 7}; /* no group's sum is that of nothing */
  const samesum_array of_groups = doubles(y, &six);
  OK(samesum_groups_sums(by, &of_groups, SAMESUM_KEEP_SQUARES | SAMESUM_KEEP_EXTREMA, NULL, &sums));
  double results[3] = {0};
  const samesum_array to = doubles(results, &three), too_short = doubles(results, &two);
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_SUM, 0, 0, &to));
  CHECK(results[0] == 1 + 0x1p-60 && results[1] == -1e100 && results[2] == 4);
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_VARIANCE, 1, 0, &to));
  CHECK(results[2] == 50);
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_SQUARED_NORM, 0, 0, &to));
  CHECK(results[2] == 58);
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_NORM, 0, 0, &to));
  CHECK(results[2] > 7.6157 && results[2] < 7.6158); /* sqrt(58) */
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_STANDARD_DEVIATION, 1, 0, &to));
  CHECK(results[2] > 7.0710 && results[2] < 7.0711); /* sqrt(50) */
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_MAX, 0, 0, &to));
  CHECK(results[0] == 1 && results[1] == 1e100 && results[2] == 7);
  CHECK(samesum_group_sums_results(sums, SAMESUM_GROUP_MIN, 0, 0, &too_short) == SAMESUM_USAGE);
  CHECK(strstr(samesum_message(), "shape (3)") != NULL);
  CHECK(samesum_group_sums_results(sums, SAMESUM_GROUP_COUNT, 0, 0, &to) == SAMESUM_USAGE);
  CHECK(strstr(samesum_message(), "uint64") != NULL);
  CHECK(samesum_group_sums_results(sums, (samesum_group_result)70, 0, 0, &to) == SAMESUM_USAGE);
  CHECK(samesum_groups_sums(by, &values, 64, NULL, &sums) == SAMESUM_USAGE);
  samesum_accumulator* one = NULL;
  OK(samesum_group_sums_sum(sums, 0, &one));
  double number = 0;
  OK(samesum_accumulator_round(one, &number));
  CHECK(number == 1 + 0x1p-60);
  CHECK(samesum_group_sums_sum(sums, 3, &one) == SAMESUM_USAGE);
  samesum_statistics* of_one = NULL;
  OK(samesum_group_sums_statistics(sums, 2, &of_one));
  CHECK(samesum_statistics_count(of_one) == 2);
  samesum_accumulator_free(one);
  samesum_statistics_free(of_one);
  samesum_group_sums_free(sums);
  samesum_groups_free(by);

  /* By index, as a value. */
  const int64_t indices[] = {1, 0, 1, 1, 0, 7};
  const samesum_array of_indices = int64s(indices, &six);
  samesum_group_sums *first = NULL, *second = NULL;
  OK(samesum_group_sums_new(2, SAMESUM_IGNORE_OUTSIDE, NULL, &first));
  OK(samesum_group_sums_new(2, SAMESUM_IGNORE_OUTSIDE, NULL, &second));
  OK(samesum_group_sums_add(first, &values, &of_indices));
  OK(samesum_group_sums_add_number(second, 2.5, 0));
  OK(samesum_group_sums_merge(first, second));
  CHECK(samesum_group_sums_outside(first) == 1);
  OK(samesum_group_sums_results(first, SAMESUM_GROUP_SUM, 0, 0, &too_short));
  CHECK(results[0] == 3.5 + 0x1p-60 && results[1] == -3);
  OK(samesum_group_sums_grow(first, 3));
  CHECK(samesum_group_sums_groups(first) == 3);
  CHECK(samesum_group_sums_merge(first, second) == SAMESUM_USAGE);
  const uint64_t moved[] = {2, 2};
  OK(samesum_group_sums_merge_to(first, second, moved, 2));
  OK(samesum_group_sums_results(first, SAMESUM_GROUP_MEAN, 0, 0, &to));
  CHECK(results[2] == 2.5);
  samesum_type type = SAMESUM_INT8;
  OK(samesum_group_sums_type(first, &type));
  CHECK(type == SAMESUM_FLOAT64);
  SAME(samesum_group_sums, first, samesum_group_sums_from_words(3, SAMESUM_IGNORE_OUTSIDE, all_words, word_count, &restored), 3 * 82 + 5);
  samesum_group_sums_free(first);
  samesum_group_sums_free(second);
  OK(samesum_group_sums_new(2, SAMESUM_NO_COUNTS, NULL, &first));
  CHECK(samesum_group_sums_results(first, SAMESUM_GROUP_MEAN, 0, 0, &too_short) == SAMESUM_USAGE);
  samesum_group_sums_free(first);
  OK(samesum_group_sums_new(2, 0, NULL, &first));
  CHECK(samesum_group_sums_add(first, &values, &of_indices) == SAMESUM_USAGE);

  /* Segments. */
  const int64_t offsets[] = {0, 2, 5}, lengths[] = {2, 3};
  const samesum_array of_offsets = int64s(offsets, &three), of_lengths = int64s(lengths, &two);
  OK(samesum_group_sums_add_segments(first, &values, &of_offsets));
  OK(samesum_group_sums_results(first, SAMESUM_GROUP_SUM, 0, 0, &too_short));
  CHECK(results[0] == 1e100 && results[1] == -1e100);
  samesum_group_sums_free(first);
  OK(samesum_groups_by_lengths(&of_lengths, &by));
  OK(samesum_groups_sums(by, &values, 0, NULL, &first));
  uint64_t counts[2] = {0};
  const samesum_array to_counts = {.data = counts, .type = SAMESUM_UINT64, .rank = 1, .shape = &two};
  OK(samesum_group_sums_results(first, SAMESUM_GROUP_COUNT, 0, 0, &to_counts));
  CHECK(counts[0] == 2 && counts[1] == 3);
  samesum_group_sums_free(first);
  samesum_groups_free(by);
  OK(samesum_groups_by_offsets(&of_offsets, &by));
  CHECK(samesum_groups_count(by) == 2);
  samesum_groups_free(by);
  OK(samesum_groups_by_index(&of_indices, 8, &by));
  CHECK(samesum_groups_count(by) == 8);
  samesum_groups_free(by);
  const samesum_array no_keys = doubles(x, &four);
  CHECK(samesum_groups_by_key(&no_keys, 0, &by) == SAMESUM_USAGE);
}

static void scans(void) {
  const uint64_t five = 5, shape[] = {5, 1};
  const double x[] = {1e100, 1, -1e100, 0x1p-60, 2};
  const samesum_array array = doubles(x, &five);
  double results[5] = {0};
  const samesum_array to = doubles(results, &five);
  OK(samesum_scan(&array, NULL, NULL, &to));
  CHECK(results[0] == 1e100 && results[1] == 1e100 && results[2] == 1 && results[3] == 1 + 0x1p-60 && results[4] == 3);
  const uint64_t offsets[] = {0, 3};
  samesum_scan_options what = {.size = sizeof what, .exclusive = 1, .offsets = offsets, .offset_count = 2};
  OK(samesum_scan(&array, &what, NULL, &to));
  CHECK(results[0] == 0 && results[2] == 1e100 && results[3] == 0 && results[4] == 0x1p-60);
  what = (samesum_scan_options){.size = sizeof what, .operation = SAMESUM_SCAN_MAX, .along_axis = 1, .axis = 0};
  const samesum_array column = {.data = x, .type = SAMESUM_FLOAT64, .rank = 2, .shape = shape};
  const samesum_array to_column = {.data = results, .type = SAMESUM_FLOAT64, .rank = 2, .shape = shape};
  OK(samesum_scan(&column, &what, NULL, &to_column));
  CHECK(results[4] == 1e100);
  what.axis = 2;
  CHECK(samesum_scan(&column, &what, NULL, &to_column) == SAMESUM_USAGE);
  what.operation = (samesum_scan_operation)5;
  CHECK(samesum_scan(&column, &what, NULL, &to_column) == SAMESUM_USAGE);

  const int64_t integers[] = {12, 18, 27, 4, 6};
  int64_t divisors[5] = {0};
  const samesum_array of_integers = int64s(integers, &five), to_divisors = int64s(divisors, &five);
  const samesum_operator gcd = {.size = sizeof gcd, .combine = "gcd(a, b)"};
  what = (samesum_scan_options){.size = sizeof what, .by = &gcd};
  OK(samesum_scan(&of_integers, &what, NULL, &to_divisors));
  CHECK(divisors[0] == 12 && divisors[1] == 6 && divisors[2] == 3 && divisors[3] == 1);
}

static void pairs(void) {
  const uint64_t six = 6, two = 2, four = 4;
  const double a[] = {0, 0, 3, 4}, b[] = {1, 0, 3, 5, 0, -1}, weights[] = {1, 2, 3}, h = 2;
  const uint64_t three = 3;
  const samesum_array points = doubles(a, &four), others = doubles(b, &six), weight = doubles(weights, &three);
  samesum_pairs_problem problem = {.size = sizeof problem, .f = "sqdist", .reduction = "argmin", .components = 2};
  int64_t nearest[2] = {-1, -1};
  const samesum_array to_nearest = int64s(nearest, &two);
  OK(samesum_pairs(&points, &others, &problem, NULL, &to_nearest));
  CHECK(nearest[0] == 0 && nearest[1] == 1);
  double results[2] = {0};
  const samesum_array to = doubles(results, &two);
  CHECK(samesum_pairs(&points, &others, &problem, NULL, &to) == SAMESUM_USAGE);
  problem.reduction = NULL;
  problem.accuracy = "exact";
  OK(samesum_pairs(&points, &others, &problem, NULL, &to));
  CHECK(results[0] == 1 + 34 + 1 && results[1] == 20 + 1 + 34);
  const samesum_input h_is = {"h", {.data = &h, .type = SAMESUM_FLOAT64}};
  problem.f = NULL;
  problem.weights = &weight;
  problem.formula = "w*sqdist(a, b)/h";
  problem.inputs = &h_is;
  problem.input_count = 1;
  OK(samesum_pairs(&points, &others, &problem, NULL, &to));
  CHECK(results[0] == (1 + 68 + 3) / 2.0 && results[1] == (20 + 2 + 102) / 2.0);
  problem.formula = "w*nothing";
  CHECK(samesum_pairs(&points, &others, &problem, NULL, &to) == SAMESUM_USAGE);
  problem.formula = NULL;
  CHECK(samesum_pairs(&points, &others, &problem, NULL, &to) == SAMESUM_USAGE);
  problem.input_count = 0;
  problem.weights = NULL;
  /* A vector for each x, by an operator; and the two nearest of integers. */
  const samesum_operator greatest = {.size = sizeof greatest, .combine = "max(a, b)"};
  problem.formula = "b - a";
  problem.accuracy = NULL;
  problem.by = &greatest;
  double vectors[4] = {0};
  const samesum_array to_vectors = doubles(vectors, &four);
  OK(samesum_pairs(&points, &others, &problem, NULL, &to_vectors));
  CHECK(vectors[0] == 3 && vectors[1] == 5 && vectors[2] == 0 && vectors[3] == 1);
  const int64_t numbers[] = {4, -7, 9, 5}, one = 5;
  const uint64_t single = 1;
  const samesum_array of_numbers = int64s((int64_t*)numbers, &four), of_one = int64s((int64_t*)&one, &single);
  problem = (samesum_pairs_problem){.size = sizeof problem, .f = "absdiff", .reduction = "argsmallest", .k = 2};
  OK(samesum_pairs(&of_one, &of_numbers, &problem, NULL, &to_nearest));
  CHECK(nearest[0] == 3 && nearest[1] == 0);
  problem.k = 5;
  CHECK(samesum_pairs(&of_one, &of_numbers, &problem, NULL, &to_nearest) == SAMESUM_USAGE);
  problem.k = 0;
  problem.f = "no such function";
  CHECK(samesum_pairs(&points, &others, &problem, NULL, &to) == SAMESUM_USAGE);
}

static void histograms(void) {
  const uint64_t four = 4, grid[] = {2, 2};
  const double x[] = {0.5, 1.5, 0.25, 9}, y[] = {0.5, 0.5, 1.5, 0.5}, w[] = {1e100, 1, -1e100, 4};
  const samesum_array coordinates[] = {doubles(x, &four), doubles(y, &four)}, weights = doubles(w, &four);
  samesum_bins* bins = NULL;
  OK(samesum_bins_even(0, 2, 2, &bins));
  const samesum_bins* const axes[] = {bins, bins};
  samesum_histogram_nd *h = NULL, *other = NULL;
  OK(samesum_histogram_nd_of(coordinates, axes, 2, NULL, &h));
  CHECK(samesum_histogram_nd_rank(h) == 2);
  uint64_t counts[4] = {9, 9, 9, 9}, count = 0;
  const samesum_array to_counts = {.data = counts, .type = SAMESUM_UINT64, .rank = 2, .shape = grid};
  OK(samesum_histogram_nd_counts(h, &to_counts));
  CHECK(counts[0] == 1 && counts[1] == 1 && counts[2] == 1 && counts[3] == 0);
  const int64_t above[] = {SAMESUM_BIN_OVER, 0}, nowhere[] = {2, 0};
  OK(samesum_histogram_nd_at(h, above, &count));
  CHECK(count == 1);
  CHECK(samesum_histogram_nd_at(h, nowhere, &count) == SAMESUM_USAGE);
  CHECK(samesum_histogram_nd_at(h, NULL, &count) == SAMESUM_USAGE);
  const uint64_t* const cells = samesum_histogram_nd_cells(h, &count);
  CHECK(count == 25);
  OK(samesum_histogram_nd_from_cells(axes, 2, cells, count, &other));
  OK(samesum_histogram_nd_merge(h, other));
  OK(samesum_histogram_nd_counts(h, &to_counts));
  CHECK(counts[2] == 2);
  samesum_histogram* flat = NULL;
  OK(samesum_histogram_nd_projection(h, 1, &flat));
  CHECK(samesum_histogram_counts(flat, NULL)[0] == 6 && samesum_histogram_counts(flat, NULL)[1] == 2);
  SAME(samesum_histogram_nd, h, samesum_histogram_nd_from_words(axes, 2, all_words, word_count, &restored), 50);
  samesum_histogram_nd *narrow = NULL, *part = NULL;
  const size_t last = 1;
  OK(samesum_histogram_nd_project(h, &last, 1, &narrow));
  OK(samesum_histogram_nd_rebin(h, 0, 2, &part));
  samesum_histogram_nd_free(part);
  OK(samesum_histogram_nd_slice(h, 0, 1, 1, &part));
  samesum_histogram_nd_free(part);
  OK(samesum_histogram_nd_cut(h, 0, SAMESUM_BIN_OVER, &part));
  CHECK(samesum_histogram_nd_cells(part, NULL)[1] == 2);
  samesum_bins* same = NULL;
  OK(samesum_histogram_nd_bins(h, 1, &same));
  CHECK(samesum_bins_count(same) == 2);
  samesum_bins_free(same);
  CHECK(samesum_histogram_nd_bins(h, 2, &same) == SAMESUM_USAGE);
  CHECK(samesum_histogram_nd_merge(narrow, h) == SAMESUM_USAGE);
  CHECK(samesum_histogram_nd_of(coordinates, NULL, 2, NULL, &part) == SAMESUM_USAGE);

  /* Words, distances, slices. */
  int64_t words[16];
  size_t size = 0;
  OK(samesum_histogram_words(flat, NULL, &size));
  CHECK(size == 10);
  OK(samesum_histogram_words(flat, words, &size));
  samesum_histogram* again = NULL;
  OK(samesum_histogram_from_words(bins, words, size, &again));
  double number = 0, low = -1, high = -1;
  OK(samesum_histogram_distance(flat, again, SAMESUM_DISTANCE_INTERSECTION, &number));
  CHECK(number == 1);
  OK(samesum_histogram_distance(flat, again, SAMESUM_DISTANCE_JENSEN_SHANNON, &number));
  CHECK(number == 0);
  CHECK(samesum_histogram_distance(flat, again, (samesum_distance)9, &number) == SAMESUM_USAGE);
  CHECK(samesum_histogram_distance(flat, NULL, SAMESUM_DISTANCE_CHI_SQUARED, &number) == SAMESUM_USAGE);
  OK(samesum_histogram_quantile(flat, 0.5, &number, &low, &high));
  CHECK(low == 0 && high == 1);
  samesum_histogram_free(again);
  OK(samesum_histogram_rebin(flat, 2, &again));
  CHECK(samesum_histogram_counts(again, NULL)[0] == 8);
  samesum_histogram_free(again);
  OK(samesum_histogram_slice(flat, 1, 1, &again));
  CHECK(samesum_histogram_slice(flat, 2, 1, &again) == SAMESUM_USAGE);
  samesum_histogram_free(again);
  OK(samesum_bins_spanning(&weights, 2, &same));
  CHECK(samesum_bins_edges(same)[0] == -1e100 && samesum_bins_edges(same)[2] == 1e100);
  samesum_bins_free(same);
  OK(samesum_bins_by_formula("x*2", 4, &same));
  samesum_bins_free(same);
  CHECK(samesum_bins_by_formula("x*", 4, &same) == SAMESUM_USAGE);

  /* Weights. */
  samesum_weighted_histogram *weighted = NULL, *rows = NULL;
  OK(samesum_weighted_histogram_new(axes, 2, 1, &weighted));
  OK(samesum_weighted_histogram_add(weighted, coordinates, &weights, NULL));
  double sums[4] = {9, 9, 9, 9};
  const samesum_array to_sums = {.data = sums, .type = SAMESUM_FLOAT64, .rank = 2, .shape = grid};
  OK(samesum_weighted_histogram_results(weighted, SAMESUM_GROUP_SUM, 0, 0, &to_sums));
  SAME(samesum_weighted_histogram, weighted, samesum_weighted_histogram_from_words(axes, 2, 1, all_words, word_count, &restored),
       25 * (82 + 143) + 5);
  CHECK(sums[0] == 1e100 && sums[1] == -1e100 && sums[2] == 1 && sums[3] == 0);
  OK(samesum_weighted_histogram_results(weighted, SAMESUM_GROUP_COUNT, 0, 0, &to_counts));
  CHECK(counts[0] == 1 && counts[3] == 0);
  CHECK(samesum_weighted_histogram_results(weighted, SAMESUM_GROUP_MIN, 0, 0, &to_sums) == SAMESUM_USAGE);
  const size_t first = 0;
  OK(samesum_weighted_histogram_project(weighted, &first, 1, &rows));
  OK(samesum_weighted_histogram_merge(rows, rows));
  samesum_accumulator* one = NULL;
  const int64_t zero = 0;
  OK(samesum_weighted_histogram_sum(rows, &zero, &one));
  OK(samesum_accumulator_round(one, &number));
  CHECK(number == 0 && samesum_accumulator_count(one) == 4); /* 1e100 and -1e100, twice */
  samesum_accumulator_free(one);
  const int64_t second = 1;
  OK(samesum_weighted_histogram_sum(rows, &second, &one));
  OK(samesum_accumulator_round(one, &number));
  CHECK(number == 2 && samesum_accumulator_count(one) == 2);
  samesum_accumulator_free(one);
  samesum_weighted_histogram_free(rows);
  OK(samesum_weighted_histogram_slice(weighted, 1, 0, 1, &rows));
  samesum_weighted_histogram_free(rows);
  OK(samesum_weighted_histogram_rebin(weighted, 1, 2, &rows));
  samesum_histogram_nd_free(part);
  OK(samesum_weighted_histogram_counts(rows, &part));
  samesum_histogram_nd_free(part);
  samesum_weighted_histogram_free(rows);
  samesum_weighted_histogram_free(weighted);
  samesum_histogram_free(flat);
  samesum_histogram_nd_free(narrow);
  samesum_histogram_nd_free(other);
  samesum_histogram_nd_free(h);
  samesum_bins_free(bins);
}

int main(void) {
  groups();
  scans();
  pairs();
  histograms();
  return failures;
}
