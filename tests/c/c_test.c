/* The C interface from C11: results, errors, handles, and callbacks. Exits with the number of failures. */
#include "check.h"

static void reductions(void) {
  const double x[] = {1, 1e100, 3, -1e100, 0};
  const uint64_t five = 5;
  const samesum_array array = doubles(x, &five);
  double number = 0;
  OK(samesum_sum(&array, NULL, &number));
  CHECK(number == 4);
  OK(samesum_mean(&array, NULL, &number));
  CHECK(number == 0.8);
  OK(samesum_dot(&array, &array, NULL, &number));
  CHECK(number == 2e200);
  OK(samesum_norm(&array, NULL, &number));
  CHECK(fabs(number - 1.4142135623730951e100) < 2e84); /* a unit in the last place */
  OK(samesum_quantile(&array, 0.5, NULL, &number));
  CHECK(number == 1);
  samesum_extremum extremum;
  OK(samesum_max(&array, NULL, &extremum));
  CHECK(extremum.index == 1 && extremum.value.type == SAMESUM_FLOAT64 && extremum.value.real == 1e100);
  OK(samesum_min(&array, NULL, &extremum));
  CHECK(extremum.index == 3);
  uint64_t count = 0;
  OK(samesum_count_nonzero(&array, NULL, &count));
  CHECK(count == 4);

  /* Every second one, backwards: a stride. */
  const int64_t back = -2 * (int64_t)sizeof(double);
  const uint64_t three = 3;
  const samesum_array strided = {.data = x + 4, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &three, .strides = &back};
  OK(samesum_sum(&strided, NULL, &number));
  CHECK(number == 4);

  const int32_t integers[] = {2000000000, 2000000000, 7};
  const samesum_array of_integers = {.data = integers, .type = SAMESUM_INT32, .rank = 1, .shape = &three};
  samesum_value value;
  OK(samesum_sum_value(&of_integers, NULL, &value));
  CHECK(value.type == SAMESUM_INT64 && value.integer == 4000000007);
  samesum_value dot;
  OK(samesum_dot_value(&of_integers, &of_integers, NULL, &dot));
  CHECK(dot.type == SAMESUM_INT64 && dot.integer == 8000000000000000049);
  OK(samesum_dot_value(&array, &array, NULL, &dot));
  CHECK(dot.type == SAMESUM_FLOAT64 && dot.real == 2e200);
  CHECK(samesum_product(&of_integers, NULL, &value) == SAMESUM_NO_ANSWER);
  CHECK(strstr(samesum_message(), "28000000000000000000") != NULL);
  CHECK(value.integer == 4000000007);

  const double missing[] = {1, NAN, 2};
  const samesum_array with_nan = doubles(missing, &three);
  OK(samesum_sum(&with_nan, NULL, &number));
  CHECK(isnan(number));
  const samesum_options skip = {.size = sizeof skip, .skip_nan = 1};
  OK(samesum_sum(&with_nan, &skip, &number));
  CHECK(number == 3);
}

static void complex_numbers(void) {
  double _Complex z[3]; /* the parts cancel, but for 1 + 3i */
  const double parts[] = {1e300, 3, 1, 1e300, -1e300, -1e300};
  memcpy(z, parts, sizeof z);
  const uint64_t shape[] = {3, 2};
  const samesum_array array = {.data = z, .type = SAMESUM_FLOAT64, .rank = 2, .shape = shape};
  samesum_complex number;
  OK(samesum_complex_sum(&array, NULL, &number));
  CHECK(number.real == 1 && number.imag == 3);
  OK(samesum_complex_mean(&array, NULL, &number));
  CHECK(number.real == 1.0 / 3 && number.imag == 1);
  const float few[] = {1, 2, 3, -1, 0, 2}; /* (1 + 2i)(3 - i) 2i = -10 + 10i */
  const samesum_array narrow = {.data = few, .type = SAMESUM_FLOAT32, .rank = 2, .shape = shape};
  OK(samesum_complex_product(&narrow, NULL, &number));
  CHECK(number.real == -10 && number.imag == 10);
  double real = 0;
  OK(samesum_complex_squared_norm(&narrow, NULL, &real));
  CHECK(real == 19);
  OK(samesum_complex_norm(&narrow, NULL, &real));
  CHECK(real == sqrt(19.0));
  const samesum_array no_parts = {.data = few, .type = SAMESUM_FLOAT32, .rank = 1, .shape = shape};
  CHECK(samesum_complex_norm(&no_parts, NULL, &real) == SAMESUM_USAGE && real == sqrt(19.0));
  CHECK(samesum_complex_sum(&array, NULL, NULL) == SAMESUM_USAGE);
}

static void axes_and_formulas(void) {
  const float x[] = {1, 2, 3, 4, 5, 6};
  const uint64_t shape[] = {2, 3};
  const samesum_array matrix = {.data = x, .type = SAMESUM_FLOAT32, .rank = 2, .shape = shape};
  double sums[3] = {0};
  const uint64_t three = 3;
  const samesum_array to = doubles(sums, &three);
  const int64_t axis = 0;
  OK(samesum_reduce_axes(&matrix, SAMESUM_REDUCE_SUM, &axis, 1, 0, NULL, &to));
  CHECK(sums[0] == 5 && sums[1] == 7 && sums[2] == 9);
  OK(samesum_variance_axes(&matrix, 1, &axis, 1, 0, NULL, &to));
  CHECK(sums[0] == 4.5 && sums[2] == 4.5);
  OK(samesum_standard_deviation_axes(&matrix, 0, &axis, 1, 0, NULL, &to));
  CHECK(sums[0] == 1.5 && sums[2] == 1.5);
  CHECK(samesum_variance_axes(&matrix, 2, &axis, 1, 0, NULL, &to) == SAMESUM_NO_ANSWER);
  const double q[] = {0.5, 1};
  double quantiles[6] = {0};
  const uint64_t two_by_three[] = {2, 3};
  const samesum_array to_quantiles = {.data = quantiles, .type = SAMESUM_FLOAT64, .rank = 2, .shape = two_by_three};
  OK(samesum_quantiles_axes(&matrix, q, 2, NULL, &axis, 1, 0, NULL, &to_quantiles));
  CHECK(quantiles[0] == 2.5 && quantiles[2] == 4.5 && quantiles[3] == 4 && quantiles[5] == 6);
  CHECK(samesum_quantiles_axes(&matrix, q, 2, "lower", &axis, 1, 0, NULL, &to_quantiles) == SAMESUM_USAGE); /* float32 */
  CHECK(samesum_quantiles_axes(&matrix, q, 1, NULL, &axis, 1, 0, NULL, &to_quantiles) == SAMESUM_USAGE);
  CHECK(samesum_quantiles_axes(&matrix, q, 2, "middle", &axis, 1, 0, NULL, &to_quantiles) == SAMESUM_USAGE);
  const int64_t none = 2;
  CHECK(samesum_reduce_axes(&matrix, SAMESUM_REDUCE_SUM, &none, 1, 0, NULL, &to) == SAMESUM_USAGE);
  CHECK(samesum_reduce_axes(&matrix, SAMESUM_REDUCE_SUM, &axis, 1, 0, NULL, NULL) == SAMESUM_USAGE &&
        strstr(samesum_message(), "'to'") != NULL);
  CHECK(samesum_reduce_axes(NULL, SAMESUM_REDUCE_SUM, &axis, 1, 0, NULL, &to) == SAMESUM_USAGE &&
        strstr(samesum_message(), "'array'") != NULL);
  samesum_array behind = matrix;
  behind.offset = 4;  // which only arrays in device memory have
  CHECK(samesum_sum(&behind, NULL, NULL) == SAMESUM_USAGE);
  double unread = 0;
  CHECK(samesum_mean(&behind, NULL, &unread) == SAMESUM_USAGE && strstr(samesum_message(), "'offset'") != NULL && unread == 0);

  const double m = 2;
  const samesum_input inputs[] = {{"x", matrix}, {"m", {.data = &m, .type = SAMESUM_FLOAT64}}};
  double number = 0;
  OK(samesum_sum_map("(x - m)^2", inputs, 2, NULL, &number));
  CHECK(number == 1 + 0 + 1 + 4 + 9 + 16);
  CHECK(samesum_sum_map("x +* 2", inputs, 1, NULL, &number) == SAMESUM_USAGE);

  const int64_t integers[] = {12, 18, 30};
  const samesum_array of_integers = {.data = integers, .type = SAMESUM_INT64, .rank = 1, .shape = &three};
  samesum_value value;
  OK(samesum_reduce_by(&of_integers, "gcd(a, b)", NULL, NULL, &value));
  CHECK(value.type == SAMESUM_INT64 && value.integer == 6);
}

static void accumulators(void) {
  const double x[] = {1, 1e100}, y[] = {-1e100, 0x1p-60};
  const uint64_t two = 2;
  const samesum_array first = doubles(x, &two), second = doubles(y, &two);
  samesum_accumulator *a = NULL, *b = NULL, *c = NULL;
  OK(samesum_accumulator_new(&a));
  OK(samesum_accumulator_new(&b));
  OK(samesum_accumulator_add(a, &first, NULL));
  OK(samesum_accumulator_add(b, &second, NULL));
  int64_t words[SAMESUM_ACCUMULATOR_WORDS], more[SAMESUM_ACCUMULATOR_WORDS];
  OK(samesum_accumulator_words(a, words));
  OK(samesum_accumulator_words(b, more));
  for (int i = 0; i < SAMESUM_ACCUMULATOR_WORDS; ++i) words[i] += more[i];
  OK(samesum_accumulator_from_words(words, &c));
  OK(samesum_accumulator_merge(a, b));
  double merged = 0, added = 0;
  OK(samesum_accumulator_round(a, &merged));
  OK(samesum_accumulator_round(c, &added));
  CHECK(merged == 1 + 0x1p-60 && added == merged);
  CHECK(samesum_accumulator_count(c) == 4);
  size_t size = 0;
  OK(samesum_accumulator_serialize(a, NULL, &size));
  unsigned char* const bytes = malloc(size);
  OK(samesum_accumulator_serialize(a, bytes, &size));
  samesum_accumulator_free(c);
  OK(samesum_accumulator_deserialize(bytes, size, &c));
  OK(samesum_accumulator_add_number(c, 2));
  OK(samesum_accumulator_round(c, &added));
  CHECK(added == 3);
  bytes[size / 2] ^= 1;
  samesum_accumulator* damaged = NULL;
  CHECK(samesum_accumulator_deserialize(bytes, size, &damaged) == SAMESUM_USAGE && damaged == NULL);
  free(bytes);
  samesum_accumulator_free(a);
  samesum_accumulator_free(b);
  samesum_accumulator_free(c);
  samesum_accumulator_free(NULL);
}

static void statistics_and_histograms(void) {
  const double x[] = {1, 2, 3, 4, 10};
  const uint64_t five = 5;
  const samesum_array array = doubles(x, &five);
  samesum_statistics *all = NULL, *later = NULL;
  OK(samesum_statistics_collect(&array, NULL, &all));
  OK(samesum_statistics_collect(&array, NULL, &later));
  OK(samesum_statistics_merge(all, later));
  CHECK(samesum_statistics_count(all) == 10);
  double number = 0;
  OK(samesum_statistics_mean(all, 0, &number));
  CHECK(number == 4);
  OK(samesum_statistics_variance(all, 0, 0, &number));
  CHECK(number == 10);
  samesum_extremum extremum;
  OK(samesum_statistics_max(all, 0, &extremum));
  CHECK(extremum.index == 4);
  samesum_statistics_free(all);
  samesum_statistics_free(later);

  samesum_bins* bins = NULL;
  samesum_histogram* histogram = NULL;
  OK(samesum_bins_even(0, 4, 4, &bins));
  CHECK(samesum_bins_count(bins) == 4 && samesum_bins_edges(bins)[1] == 1);
  OK(samesum_histogram_of(&array, bins, NULL, &histogram));
  uint64_t count = 0, over = 0;
  const uint64_t* const counts = samesum_histogram_counts(histogram, &count);
  CHECK(count == 4 && counts[0] == 0 && counts[1] == 1 && counts[3] == 2);
  samesum_histogram_outside(histogram, NULL, &over, NULL);
  CHECK(over == 1);
  CHECK(samesum_bins_even(4, 0, 4, &bins) == SAMESUM_USAGE);
  samesum_histogram_free(histogram);

  samesum_device* device = NULL;
  OK(samesum_device_open("cpu", &device));
  CHECK(strcmp(samesum_device_selector(device), "cpu") == 0);
  samesum_plan* plan = NULL;
  OK(samesum_plan_new(device, SAMESUM_PLAN_SUM, SAMESUM_FLOAT64, 5, 0, NULL, &plan));
  samesum_array there = array;
  there.device = device;
  samesum_sum_record record;
  OK(samesum_plan_enqueue(plan, &there, NULL, &record, sizeof record));
  CHECK(record.value == 20);
  OK(samesum_plan_enqueue(plan, &there, NULL, NULL, 0));
  samesum_accumulator* sum = NULL;
  OK(samesum_plan_sum(plan, &sum));
  OK(samesum_accumulator_round(sum, &number));
  CHECK(number == 20);
  CHECK(samesum_plan_dot(plan, &number) == SAMESUM_USAGE);
  samesum_accumulator_free(sum);
  samesum_plan_free(plan);
  OK(samesum_plan_new_histogram(device, bins, SAMESUM_FLOAT64, 5, NULL, &plan));
  OK(samesum_plan_enqueue(plan, &there, NULL, NULL, 0));
  OK(samesum_plan_histogram(plan, &histogram));
  CHECK(samesum_histogram_counts(histogram, NULL)[3] == 2);
  samesum_histogram_free(histogram);
  samesum_plan_free(plan);
  samesum_bins_free(bins);
  samesum_device_free(device);
}

static int stop(void* context, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  ++*(int*)context;
  return 1;
}

static void errors(void) {
  double number = 5;
  CHECK(samesum_sum(NULL, NULL, &number) == SAMESUM_USAGE);
  CHECK(number == 5);
  CHECK(strstr(samesum_message(), "'array' is a null pointer") != NULL);
  const uint64_t none = 0;
  const samesum_array empty = doubles(NULL, &none);
  OK(samesum_sum(&empty, NULL, &number));
  CHECK(number == 0);
  CHECK(samesum_mean(&empty, NULL, &number) == SAMESUM_NO_ANSWER);
  samesum_array odd = empty;
  odd.type = (samesum_type)99;
  CHECK(samesum_sum(&odd, NULL, &number) == SAMESUM_USAGE);
  samesum_options unsized = {.skip_nan = 1};
  CHECK(samesum_sum(&empty, &unsized, &number) == SAMESUM_USAGE);
  samesum_device* device = NULL;
  CHECK(samesum_device_open("no such device", &device) == SAMESUM_USAGE && device == NULL);

  /* A long call that is cancelled. */
  const uint64_t many = (uint64_t)1 << 27;
  unsigned char* const bytes = calloc(many, 1);
  const samesum_array long_array = {.data = bytes, .type = SAMESUM_UINT8, .rank = 1, .shape = &many};
  int calls = 0;
  const samesum_options progress = {.size = sizeof progress, .progress = stop, .context = &calls};
  const samesum_status status = samesum_sum(&long_array, &progress, &number);
  CHECK(status == (calls == 0 ? SAMESUM_OK : SAMESUM_CANCELLED) && calls == 1);
  free(bytes);
}

int main(void) {
  CHECK(strcmp(samesum_message(), "") == 0);
  CHECK(strlen(samesum_version()) >= 5);
  reductions();
  complex_numbers();
  axes_and_formulas();
  accumulators();
  statistics_and_histograms();
  errors();
  return failures;
}
