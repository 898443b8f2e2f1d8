/* The C interface of sources, formulas, operators, DLPack, images, mergeable values and threads, from C11. Exits with the number of
 * failures. */
#include "check.h"

#include <threads.h>
#include <unistd.h>

/* A file in the current folder, gone when it is freed. */
static const char* file_of(const void* bytes, size_t size) {
  static char path[64];
  snprintf(path, sizeof path, "c_sources_test_%ld.tmp", (long)getpid());
  FILE* const file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(99);
  return path;
}

static void files(void) {
  const char text[] = "city,price\nRome,1e100\nOslo,1\nRome,-1e100\nOslo,NA\nRome,0.5\n";
  const char* const path = file_of(text, sizeof text - 1);
  const char *const price = "price", *const city = "city";
  const samesum_input_options options = {.size = sizeof options, .columns = &price, .column_count = 1};
  samesum_source* source = NULL;
  samesum_accumulator* sum = NULL;
  double number = 0;
  OK(samesum_source_open(path, &options, &source));
  OK(samesum_accumulator_new(&sum));
  OK(samesum_accumulator_add_source(sum, source, NULL));
  OK(samesum_accumulator_round(sum, &number));
  CHECK(number == 1.5 && samesum_source_missing(source) == 1);
  samesum_source_free(source);

  /* Sums by keys that are words. */
  samesum_input_options keyed = options;
  keyed.keys = &city;
  keyed.key_count = 1;
  OK(samesum_source_open(path, &keyed, &source));
  samesum_group_sums* sums = NULL;
  OK(samesum_group_sums_new(0, 0, NULL, &sums));
  samesum_array chunk;
  for (int there = 1;;) {
    OK(samesum_source_next(source, &chunk, &there));
    if (!there) break;
    uint64_t groups = 0;
    const uint64_t* const indices = samesum_source_groups(source, &groups);
    const samesum_array of_indices = {.data = indices, .type = SAMESUM_UINT64, .rank = 1, .shape = chunk.shape};
    OK(samesum_group_sums_grow(sums, groups));
    OK(samesum_group_sums_add(sums, &chunk, &of_indices));
  }
  double totals[2] = {0};
  const uint64_t two = 2;
  const samesum_array to = doubles(totals, &two);
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_SUM, 0, 0, &to));
  CHECK(totals[0] == 0.5 && totals[1] == 1);
  char word[8] = "";
  size_t size = sizeof word;
  OK(samesum_source_key(source, 1, 0, word, &size));
  CHECK(strcmp(word, "Oslo") == 0 && size == 5);
  CHECK(samesum_source_key(source, 2, 0, word, &size) == SAMESUM_USAGE);
  size = 2;
  CHECK(samesum_source_key(source, 1, 0, word, &size) == SAMESUM_USAGE && strcmp(word, "Oslo") == 0);
  samesum_group_sums_free(sums);
  samesum_source_free(source);

  CHECK(samesum_source_open("/no/such/file", NULL, &source) == SAMESUM_USAGE);
  CHECK(strstr(samesum_message(), "/no/such/file") != NULL);
  const float raw[] = {1, 2, 4, 8};
  file_of(raw, sizeof raw);
  const uint64_t count = 2;
  const samesum_input_options as_raw = {.size = sizeof as_raw, .raw = "float32", .offset = 4, .count = &count};
  OK(samesum_source_open(path, &as_raw, &source));
  samesum_statistics* all = NULL;
  OK(samesum_statistics_collect_source(source, NULL, &all));
  OK(samesum_statistics_mean(all, 0, &number));
  CHECK(number == 3);

  /* Words of statistics. */
  int64_t words[SAMESUM_STATISTICS_WORDS];
  OK(samesum_statistics_words(all, words));
  for (int i = 0; i < SAMESUM_STATISTICS_WORDS; ++i) words[i] *= 2;
  samesum_statistics* twice = NULL;
  OK(samesum_statistics_from_words(words, &twice));
  CHECK(samesum_statistics_count(twice) == 4);
  OK(samesum_statistics_norm(twice, 0, &number));
  CHECK(number * number > 39.99 && number * number < 40.01);
  samesum_statistics_free(twice);
  samesum_statistics_free(all);
  samesum_source_free(source);
  remove(path);
  samesum_accumulator_free(sum);

  const char* const kinds[] = {"aeiou", "ct"};
  uint64_t counts[2] = {0}, others = 0;
  OK(samesum_count_characters(text, 10, kinds, 2, counts, &others));
  CHECK(counts[0] == 3 && counts[1] == 3 && others == 4);
  CHECK(samesum_count_characters(text, 10, NULL, 2, counts, &others) == SAMESUM_USAGE);
}

/* A source of the caller's: the numbers 1 to 3, each a chunk; or a failure at once. */
static samesum_status next_of(void* context, samesum_array* chunk, int* there) {
  static double value;
  int* const at = context;
  if (*at < 0) {
    return samesum_fail(SAMESUM_DEVICE, "the tape is torn");
  }
  *there = *at < 3;
  if (!*there) return SAMESUM_OK;
  value = ++*at;
  chunk->data = &value;
  chunk->type = SAMESUM_FLOAT64;
  return SAMESUM_OK;
}

static void calls_and_formulas(void) {
  int at = 0;
  samesum_source *source = NULL, *other = NULL;
  OK(samesum_source_of_calls(next_of, &at, &source));
  samesum_value value = {0};
  OK(samesum_product_of_source(source, NULL, &value));
  CHECK(value.type == SAMESUM_FLOAT64 && value.real == 6);
  at = -1;
  samesum_statistics* all = NULL;
  samesum_accumulator* sum = NULL;
  OK(samesum_accumulator_new(&sum));
  CHECK(samesum_product_of_source(source, NULL, &value) == SAMESUM_DEVICE);
  CHECK(strcmp(samesum_message(), "the tape is torn") == 0);
  CHECK(samesum_accumulator_add_source(sum, source, NULL) == SAMESUM_DEVICE);
  CHECK(samesum_statistics_collect_source(source, NULL, &all) == SAMESUM_DEVICE && all == NULL);
  CHECK(strcmp(samesum_message(), "the tape is torn") == 0);
  samesum_accumulator_free(sum);
  samesum_source_free(source);
  CHECK(samesum_source_of_calls(NULL, &at, &source) == SAMESUM_USAGE);

  const double x[] = {1, 2, 3, 4, 5, 6}, m = 2;
  const uint64_t shape[] = {3, 2}, three = 3;
  const samesum_array matrix = {.data = x, .type = SAMESUM_FLOAT64, .rank = 2, .shape = shape};
  const samesum_input inputs[] = {{"v[]", matrix}, {"m", {.data = &m, .type = SAMESUM_FLOAT64}}};
  OK(samesum_source_of_map("m*v[0] - v[1]", inputs, 2, &source));
  OK(samesum_source_of_map("m*v[0] - v[1]", inputs, 2, &other));
  samesum_products* products = NULL;
  OK(samesum_products_new(&products));
  OK(samesum_products_add_sources(products, source, other, NULL));
  double number = 0;
  OK(samesum_products_round(products, &number));
  CHECK(number == 0 + 4 + 16);
  samesum_source_free(source);
  samesum_source_free(other);
  double results[3] = {9, 9, 9};
  const samesum_array to = doubles(results, &three);
  OK(samesum_map("m*v[0] - v[1]", inputs, 2, &to, 1));
  CHECK(results[0] == 0 && results[1] == 2 && results[2] == 4);
  CHECK(samesum_map("m*", inputs, 2, &to, 1) == SAMESUM_USAGE);
  samesum_bins* bins = NULL;
  samesum_histogram* histogram = NULL;
  OK(samesum_bins_each_value(0, 4, &bins));
  OK(samesum_source_of_map("m*v[0] - v[1]", inputs, 2, &source));
  OK(samesum_histogram_of_source(source, bins, NULL, &histogram));
  CHECK(samesum_histogram_counts(histogram, NULL)[2] == 1);
  samesum_histogram_free(histogram);
  samesum_bins_free(bins);
  samesum_source_free(source);

  /* Tuples: the least and the greatest, and what is between them. */
  samesum_operator range = {.size = sizeof range, .combine = "(min(a[0], b[0]), max(a[1], b[1]))"};
  samesum_value ends[2];
  size_t count = 2;
  OK(samesum_reduce_map("(v[0], v[1])", inputs, 1, &range, NULL, ends, &count));
  CHECK(count == 2 && ends[0].real == 1 && ends[1].real == 6);
  count = 1;
  CHECK(samesum_reduce_map("(v[0], v[1])", inputs, 1, &range, NULL, ends, &count) == SAMESUM_USAGE);
  range.finish = "a[1] - a[0]";
  OK(samesum_reduce_map("(v[0], v[1])", inputs, 1, &range, NULL, ends, &count));
  CHECK(count == 1 && ends[0].real == 5);
  const int64_t integers[] = {100, 101, 102}, modulus = 1000003;
  const samesum_array of_integers = {.data = integers, .type = SAMESUM_INT64, .rank = 1, .shape = &three};
  const samesum_input of_modulus = {"p", {.data = &modulus, .type = SAMESUM_INT64}};
  const samesum_operator times = {.size = sizeof times, .combine = "a*b % p", .parameters = &of_modulus, .parameter_count = 1};
  OK(samesum_reduce(&of_integers, &times, NULL, ends, &count));
  CHECK(ends[0].type == SAMESUM_INT64 && ends[0].integer == 100 * 101 * 102 % 1000003);
  OK(samesum_source_of_map("v[0]", inputs, 1, &source));
  const samesum_operator last = {.size = sizeof last, .combine = "b"};
  OK(samesum_reduce_source(source, &last, NULL, ends, &count));
  CHECK(ends[0].real == 5);
  samesum_source_free(source);

  /* Products as values. */
  samesum_products* again = NULL;
  int64_t words[SAMESUM_PRODUCTS_WORDS];
  OK(samesum_products_words(products, words));
  OK(samesum_products_from_words(words, &again));
  OK(samesum_products_merge(again, products));
  const samesum_array ends_of = doubles(results, &three);
  OK(samesum_products_add(again, &ends_of, &ends_of, NULL));
  OK(samesum_products_round(again, &number));
  CHECK(number == 60 && samesum_products_count(again) == 9);
  unsigned char bytes[2048];
  size_t size = sizeof bytes;
  OK(samesum_products_serialize(again, bytes, &size));
  samesum_products_free(again);
  OK(samesum_products_deserialize(bytes, size, &again));
  CHECK(samesum_products_count(again) == 9);
  samesum_products_free(again);
  samesum_products_free(products);

  const double p[] = {0, 0.5, 1};
  samesum_value quantiles[3];
  const uint64_t six = 6;
  const samesum_array row = doubles(x, &six);
  OK(samesum_quantiles(&row, p, 3, "lower", NULL, quantiles));
  CHECK(quantiles[0].real == 1 && quantiles[1].real == 3 && quantiles[2].real == 6);
  CHECK(samesum_quantiles(&row, p, 3, "upper", NULL, quantiles) == SAMESUM_USAGE);
}

/* DLPack's struct as its standard has it; a user takes dlpack.h. */
struct DLManagedTensor {
  struct {
    void* data;
    struct {
      int32_t type, id;
    } device;
    int32_t ndim;
    struct {
      uint8_t code, bits;
      uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
  } dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
};

static void count_deletion(struct DLManagedTensor* tensor) { ++*(int*)tensor->manager_ctx; }

static void dlpack(void) {
  float x[] = {100, 1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 2}, strides[] = {3, 2};
  int deleted = 0;
  struct DLManagedTensor tensor = {{x, {1, 0}, 2, {2, 32, 1}, shape, strides, 4}, &deleted, count_deletion};
  samesum_array array;
  samesum_tensor* owner = NULL;
  OK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner));
  double number = 0;
  OK(samesum_sum(&array, NULL, &number));
  CHECK(number == 1 + 3 + 4 + 6);
  CHECK(deleted == 0);
  samesum_tensor_free(owner);
  CHECK(deleted == 1);
  tensor.dl_tensor.strides = NULL;
  OK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner));
  OK(samesum_sum(&array, NULL, &number));
  CHECK(number == 10);
  samesum_tensor_free(owner);
  tensor.dl_tensor.dtype.code = 5;
  CHECK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner) == SAMESUM_USAGE);
  tensor.dl_tensor.dtype.code = 2;
  tensor.dl_tensor.dtype.lanes = 4;
  CHECK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner) == SAMESUM_USAGE);
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.dl_tensor.device.type = 8;
  CHECK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner) == SAMESUM_USAGE);
  tensor.dl_tensor.device.type = 1;
  shape[0] = -1;
  CHECK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner) == SAMESUM_USAGE);
  tensor.dl_tensor.ndim = 65;
  CHECK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner) == SAMESUM_USAGE);
  CHECK(deleted == 2);
}

/* Two by two pixels of three channels: 1 2 3, 10 20 30; 4 5 6, 40 50 60. */
static const unsigned char png[] = {
    137, 80, 78,  71,  13,  10,  26,  10, 0,   0,   0,  13,  73,  72, 68,  82,  0,  0,  0,   2,  0,   0,   0,   2,  8,   2,  0,
    0,   0,  253, 212, 154, 115, 0,   0,  0,   22,  73, 68,  65,  84, 120, 218, 99, 96, 100, 98, 230, 18,  145, 99, 96,  97, 101,
    211, 48, 178, 1,   0,   3,   189, 0,  232, 190, 26, 136, 110, 0,  0,   0,   0,  73, 69,  78, 68,  174, 66,  96, 130,
};

static void images(void) {
  const char* const path = file_of(png, sizeof png);
  samesum_image* image = NULL;
  OK(samesum_image_open(path, 1, &image));
  samesum_array array;
  double number = 0;
  OK(samesum_image_array(image, &array));
  CHECK(array.rank == 3 && array.shape[2] == 3 && array.type == SAMESUM_UINT8);
  OK(samesum_sum(&array, NULL, &number));
  CHECK(number == 231);
  OK(samesum_image_channel(image, 1, &array));
  OK(samesum_sum(&array, NULL, &number));
  CHECK(array.rank == 2 && number == 2 + 20 + 5 + 50);
  CHECK(samesum_image_channel(image, 3, &array) == SAMESUM_USAGE);
  CHECK(strstr(samesum_message(), "the image has 3") != NULL);
  samesum_image_free(image);
  CHECK(samesum_image_open(path, 2, &image) == SAMESUM_USAGE);
  remove(path);
  CHECK(samesum_image_open(path, 1, &image) == SAMESUM_USAGE);
}

static int in_thread(void* other) {
  double number = 0;
  if (strcmp(samesum_message(), "") != 0) return 1;
  if (samesum_sum(NULL, NULL, &number) != SAMESUM_USAGE) return 2;
  return strcmp(samesum_message(), other) == 0 ? 3 : 0;
}

static int stop(void* context, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  ++*(int*)context;
  return 1;
}

static void threads_and_devices(void) {
  samesum_fail(SAMESUM_USAGE, "of this thread");
  thrd_t thread;
  int result = -1;
  CHECK(thrd_create(&thread, in_thread, (void*)(uintptr_t)samesum_message()) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == 0);
  CHECK(strcmp(samesum_message(), "of this thread") == 0);

  char list[4096];
  size_t size = sizeof list;
  OK(samesum_device_list(list, &size));
  CHECK(strncmp(list, "cpu\n", 4) == 0 && strlen(list) + 1 == size);
  samesum_device* device = NULL;
  OK(samesum_device_open("cpu", &device));
  CHECK(samesum_device_has(device, "fp64") == 1 && samesum_device_has(device, "kernels") == 0 && samesum_device_has(device, "wings") == 0);
  void* event = NULL;
  CHECK(samesum_device_record(device, &event) == SAMESUM_USAGE);
  CHECK(samesum_device_wait_for(device, NULL) == SAMESUM_USAGE);
  CHECK(samesum_device_tune(device, 1, NULL, NULL) == SAMESUM_USAGE);
  samesum_device_free(device);

  /* Every long call can be cancelled: here those over sources. */
  int calls = 0;
  const samesum_options progress = {.size = sizeof progress, .progress = stop, .context = &calls};
  const uint64_t many = (uint64_t)1 << 24;
  double zero = 0;
  const int64_t same = 0;
  const samesum_array zeros = {.data = &zero, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &many, .strides = &same};
  const samesum_input input = {"x", zeros};
  samesum_source* source = NULL;
  samesum_accumulator* sum = NULL;
  OK(samesum_source_of_map("x + 1", &input, 1, &source));
  OK(samesum_accumulator_new(&sum));
  CHECK(samesum_accumulator_add_source(sum, source, &progress) == SAMESUM_CANCELLED && calls == 1);
  CHECK(samesum_accumulator_count(sum) == 0);
  samesum_accumulator_free(sum);
  samesum_source_free(source);
}

int main(void) {
  files();
  calls_and_formulas();
  dlpack();
  images();
  threads_and_devices();
  return failures;
}
