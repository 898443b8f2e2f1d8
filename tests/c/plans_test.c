/* The C interface of plans in the caller's OpenCL queue and CUDA stream, and of tensors in a GPU's memory, from C11. Exits with the number
 * of failures; what has no device here is not tested. */
#define CL_TARGET_OPENCL_VERSION 120
#include "check.h"

#include <CL/cl.h>
#include <dlfcn.h>

static void* library;

/* A function of OpenCL's loader, by its name: samesum needs none at build time, and so do its tests. */
#define LOAD(name) __typeof__(name)* const call_##name = (__typeof__(name)*)function_of(#name)

static void (*function_of(const char* name))(void) {
  void (*function)(void) = NULL;
  void* const found = dlsym(library, name);
  memcpy(&function, &found, sizeof found);
  return function;
}

/* The record that a plan of sums left in device memory, by whatever reads that. */
typedef samesum_sum_record read_record(void* results, void* context);

/* Products, pairs and formulas. */
static void other_plans_of(samesum_device* device, void* memory, void* results, const double* x, uint64_t size, read_record* read,
                           void* context) {
  const samesum_array there = {.data = memory, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &size, .device = device};
  const samesum_array here = doubles(x, &size);
  const uint64_t few = 3;
  const samesum_array few_there = {.data = memory, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &few, .device = device};
  const samesum_array few_here = doubles(x, &few);
  samesum_value expected = {0}, number = {0};
  samesum_plan *products = NULL, *pairs = NULL, *map = NULL;

  OK(samesum_plan_new(device, SAMESUM_PLAN_PRODUCT, SAMESUM_FLOAT64, size, 0, NULL, &products));
  OK(samesum_plan_enqueue(products, &few_there, NULL, NULL, 0));
  OK(samesum_plan_product(products, &number));
  OK(samesum_product(&few_here, NULL, &expected));
  CHECK(number.type == SAMESUM_FLOAT64 && number.real == expected.real && number.real != 0);
  OK(samesum_plan_enqueue(products, &few_there, NULL, results, sizeof(samesum_product_record)));
  CHECK(read(results, context).value == expected.real);
  CHECK(samesum_plan_product(NULL, &number) == SAMESUM_USAGE);

  samesum_pairs_problem problem = {0};
  problem.size = sizeof problem;
  problem.f = "absdiff";
  problem.reduction = "max";
  double found[3] = {0}, wanted[3] = {0};
  const samesum_array to = doubles(found, &few), to_wanted = doubles(wanted, &few);
  OK(samesum_plan_new_pairs(device, &problem, SAMESUM_FLOAT64, size, NULL, &pairs));
  CHECK(samesum_plan_pairs(pairs, &to) == SAMESUM_USAGE);
  OK(samesum_plan_enqueue(pairs, &few_there, &there, NULL, 0));
  OK(samesum_plan_pairs(pairs, &to));
  OK(samesum_pairs(&few_here, &here, &problem, NULL, &to_wanted));
  CHECK(memcmp(found, wanted, sizeof found) == 0 && found[0] > 0);
  OK(samesum_plan_enqueue(pairs, &few_there, &there, results, sizeof found));
  CHECK(read(results, context).value == wanted[0]);
  CHECK(samesum_plan_product(pairs, &number) == SAMESUM_USAGE);

  const samesum_input inputs[] = {{"x", there}};
  samesum_statistics* statistics = NULL;
  double sum = 0, exact = 0;
  OK(samesum_plan_new_map(device, "x/2", inputs, 1, size, NULL, &map));
  OK(samesum_plan_enqueue_arrays(map, &there, 1, NULL, 0));
  OK(samesum_plan_statistics(map, &statistics));
  OK(samesum_statistics_sum(statistics, 0, &sum));
  OK(samesum_sum_map("x/2", &(samesum_input){"x", here}, 1, NULL, &exact));
  INFORMATIVE(exact);
  CHECK(sum == exact);
  CHECK(samesum_plan_enqueue_arrays(map, &there, 0, NULL, 0) == SAMESUM_USAGE);
  samesum_statistics_free(statistics);

  /* Along the second axis of three rows, and the difference of the elements by the tree. */
  const uint64_t shape[] = {3, size / 3};
  const int64_t axis = 1;
  const samesum_array rows = {.data = memory, .type = SAMESUM_FLOAT64, .rank = 2, .shape = shape, .device = device};
  const samesum_array rows_here = {.data = x, .type = SAMESUM_FLOAT64, .rank = 2, .shape = shape};
  samesum_plan *axes = NULL, *by_operator = NULL;
  OK(samesum_plan_new_axes(device, &rows, SAMESUM_REDUCE_SUM, &axis, 1, 0, NULL, &axes));
  OK(samesum_plan_enqueue(axes, &rows, NULL, NULL, 0));
  OK(samesum_plan_axes(axes, &to));
  OK(samesum_reduce_axes(&rows_here, SAMESUM_REDUCE_SUM, &axis, 1, 0, NULL, &to_wanted));
  CHECK(memcmp(found, wanted, sizeof found) == 0 && found[0] != found[1]);
  OK(samesum_plan_enqueue(axes, &rows, NULL, results, sizeof found));
  CHECK(read(results, context).value == wanted[0]);
  CHECK(samesum_plan_enqueue(axes, &there, NULL, NULL, 0) == SAMESUM_USAGE);

  const samesum_operator op = {.size = sizeof op, .combine = "a - b/2"};
  samesum_value difference = {0};
  size_t one = 1;
  OK(samesum_plan_new_operator(device, "x", inputs, 1, &op, size, NULL, &by_operator));
  OK(samesum_plan_enqueue(by_operator, &there, NULL, NULL, 0));
  OK(samesum_plan_operator(by_operator, &difference, &one));
  OK(samesum_reduce(&here, &op, NULL, &expected, &one));
  CHECK(one == 1 && difference.real == expected.real && difference.real != 0);
  OK(samesum_plan_enqueue(by_operator, &there, NULL, results, sizeof(double)));
  samesum_plan_free(axes);
  samesum_plan_free(by_operator);
  samesum_plan_free(products);
  samesum_plan_free(pairs);
  samesum_plan_free(map);
}

static void plans_of(samesum_device* device, void* memory, void* results, const double* x, uint64_t size, read_record* read,
                     void* context) {
  if (!samesum_device_has(device, "fp64") || !samesum_device_has(device, "kernels")) return;
  const samesum_array there = {.data = memory, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &size, .device = device};
  const samesum_array here = doubles(x, &size);
  double expected = 0, number = 0;
  OK(samesum_sum(&here, NULL, &expected));
  INFORMATIVE(expected);
  OK(samesum_sum(&there, NULL, &number));
  CHECK(number == expected);

  samesum_plan *sums = NULL, *products = NULL;
  OK(samesum_plan_new(device, SAMESUM_PLAN_SUM, SAMESUM_FLOAT64, size, 0, NULL, &sums));
  OK(samesum_plan_enqueue(sums, &there, NULL, results, sizeof(samesum_sum_record)));
  const samesum_sum_record record = read(results, context);
  CHECK(record.value == expected && record.value32 == (float)expected);
  CHECK(samesum_plan_enqueue(sums, &there, NULL, results, 8) == SAMESUM_USAGE);
  CHECK(samesum_plan_enqueue(sums, &here, NULL, NULL, 0) == SAMESUM_USAGE);
  CHECK(samesum_plan_enqueue(sums, &there, &there, NULL, 0) == SAMESUM_USAGE);

  OK(samesum_plan_new(device, SAMESUM_PLAN_DOT, SAMESUM_FLOAT64, size, 0, NULL, &products));
  OK(samesum_plan_enqueue(products, &there, &there, NULL, 0));
  OK(samesum_plan_dot(products, &number));
  OK(samesum_dot(&here, &here, NULL, &expected));
  INFORMATIVE(expected);
  CHECK(number == expected);
  OK(samesum_plan_enqueue(products, &there, &there, results, sizeof(samesum_sum_record)));
  CHECK(read(results, context).value == expected);
  samesum_plan* none = NULL;
  CHECK(samesum_plan_new(device, (samesum_operation)99, SAMESUM_FLOAT64, size, 0, NULL, &none) == SAMESUM_USAGE && none == NULL);
  samesum_plan_free(sums);
  samesum_plan_free(products);
  other_plans_of(device, memory, results, x, size, read, context);
}

static samesum_sum_record read_opencl(void* results, void* context) {
  LOAD(clEnqueueReadBuffer);
  samesum_sum_record record = {0};
  CHECK(call_clEnqueueReadBuffer(context, results, CL_TRUE, 0, sizeof record, &record, 0, NULL, NULL) == CL_SUCCESS);
  return record;
}

static void in_opencl(const double* x, uint64_t size) {
  library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (library == NULL) return;
  LOAD(clGetPlatformIDs);
  LOAD(clGetDeviceIDs);
  LOAD(clCreateContext);
  LOAD(clCreateCommandQueue);
  LOAD(clCreateBuffer);
  LOAD(clReleaseEvent);
  LOAD(clReleaseMemObject);
  LOAD(clReleaseCommandQueue);
  LOAD(clReleaseContext);
  cl_platform_id platform = NULL;
  cl_device_id id = NULL;
  if (call_clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return;
  if (call_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) != CL_SUCCESS) return;
  const cl_context context = call_clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
  const cl_command_queue queue = call_clCreateCommandQueue(context, id, 0, NULL);
  double copy[1001];
  memcpy(copy, x, size * sizeof *x);
  const cl_mem memory = call_clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, size * sizeof *x, copy, NULL);
  const cl_mem results = call_clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
  samesum_device* device = NULL;
  OK(samesum_device_on_opencl_queue(queue, &device));
  CHECK(strncmp(samesum_device_selector(device), "opencl", 6) == 0);
  plans_of(device, memory, results, x, size, read_opencl, queue);

  void* event = NULL;
  OK(samesum_device_record(device, &event));
  CHECK(event != NULL);
  OK(samesum_device_wait_for(device, event));
  call_clReleaseEvent(event);

  /* Results along an axis, and of groups, go to device memory too. */
  double sum = 0, read = 0;
  const uint64_t one = 1;
  const samesum_array to = {.data = results, .type = SAMESUM_FLOAT64, .rank = 1, .shape = &one, .device = device};
  const samesum_array here = doubles(x, &size);
  const samesum_array lengths = {.data = &size, .type = SAMESUM_UINT64, .rank = 1, .shape = &one};
  samesum_groups* all = NULL;
  samesum_group_sums* sums = NULL;
  OK(samesum_groups_by_lengths(&lengths, &all));
  OK(samesum_groups_sums(all, &here, 0, NULL, &sums));
  OK(samesum_group_sums_results(sums, SAMESUM_GROUP_SUM, 0, 0, &to));
  OK(samesum_sum(&here, NULL, &sum));
  OK(samesum_sum(&to, NULL, &read));
  CHECK(read == sum);
  samesum_group_sums_free(sums);
  samesum_groups_free(all);

  samesum_device_free(device);
  call_clReleaseMemObject(memory);
  call_clReleaseMemObject(results);
  call_clReleaseCommandQueue(queue);
  call_clReleaseContext(context);
}

/* What is needed of CUDA's driver interface, whose header is not required. */
static void* cuda_function(const char* name) { return dlsym(library, name); }
#define CUDA(name, ...)            \
  int (*name)(__VA_ARGS__) = NULL; \
  *(void**)&name = cuda_function(#name)

static samesum_sum_record read_cuda(void* results, void* stream) {
  CUDA(cuStreamSynchronize, void*);
  CUDA(cuMemcpyDtoHAsync_v2, void*, uint64_t, size_t, void*);
  samesum_sum_record record = {0};
  CHECK(cuMemcpyDtoHAsync_v2(&record, (uint64_t)(uintptr_t)results, sizeof record, stream) == 0 && cuStreamSynchronize(stream) == 0);
  return record;
}

/* DLPack's struct as its standard has it; a user takes dlpack.h. */
struct DLManagedTensor {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
};

static void in_cuda(const double* x, uint64_t size) {
  samesum_device* device = NULL;
  if (samesum_device_open("cuda:0", &device) != SAMESUM_OK) return;
  const int usable = samesum_device_has(device, "kernels");
  samesum_device_free(device);
  if (!usable) return;
  const char* const other = getenv("SAMESUM_CUDA_LIBRARY");
  library = dlopen(other == NULL ? "libcuda.so.1" : other, RTLD_NOW);
  if (library == NULL) return;
  CUDA(cuInit, unsigned);
  CUDA(cuDeviceGetCount, int*);
  CUDA(cuDevicePrimaryCtxRetain, void**, int);
  CUDA(cuDevicePrimaryCtxRelease_v2, int);
  CUDA(cuCtxPushCurrent_v2, void*);
  CUDA(cuCtxPopCurrent_v2, void**);
  CUDA(cuStreamCreate, void**, unsigned);
  CUDA(cuStreamDestroy_v2, void*);
  CUDA(cuMemAlloc_v2, uint64_t*, size_t);
  CUDA(cuMemFree_v2, uint64_t);
  CUDA(cuMemcpyHtoDAsync_v2, uint64_t, const void*, size_t, void*);
  CUDA(cuStreamSynchronize, void*);
  int count = 0;
  if (cuInit(0) != 0 || cuDeviceGetCount(&count) != 0 || count == 0) return;
  void *context = NULL, *stream = NULL;
  uint64_t memory = 0, results = 0;
  CHECK(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxPushCurrent_v2(context) == 0 && cuStreamCreate(&stream, 0) == 0);
  CHECK(cuMemAlloc_v2(&memory, size * sizeof *x) == 0 && cuMemAlloc_v2(&results, 64) == 0);
  CHECK(cuMemcpyHtoDAsync_v2(memory, x, size * sizeof *x, stream) == 0 && cuStreamSynchronize(stream) == 0);
  device = NULL;
  OK(samesum_device_on_cuda_stream(stream, 0, &device));
  plans_of(device, (void*)(uintptr_t)memory, (void*)(uintptr_t)results, x, size, read_cuda, stream);

  /* A tensor: all but the first element, on the stream of the caller's, and on the default one. */
  int64_t shape = (int64_t)size - 1;
  struct DLManagedTensor tensor = {(void*)(uintptr_t)memory, 2, 0, 1, 2, 64, 1, &shape, NULL, 8, NULL, NULL};
  const uint64_t rest = size - 1;
  const samesum_array here = doubles(x + 1, &rest);
  samesum_value expected, number;
  const double middle = 0.5;
  OK(samesum_quantiles(&here, &middle, 1, NULL, NULL, &expected));
  for (int own = 0; own < 2; ++own) {
    samesum_array array = {0};
    samesum_tensor* owner = NULL;
    OK(samesum_array_from_dlpack(&tensor, own ? device : NULL, &array, &owner));
    OK(samesum_quantiles(&array, &middle, 1, NULL, NULL, &number));
    CHECK(number.real == expected.real);
    samesum_tensor_free(owner);
  }
  tensor.device_id = count;
  samesum_array array;
  samesum_tensor* owner = NULL;
  CHECK(samesum_array_from_dlpack(&tensor, NULL, &array, &owner) == SAMESUM_USAGE && owner == NULL);
  samesum_device_free(device);
  CHECK(cuMemFree_v2(memory) == 0 && cuMemFree_v2(results) == 0 && cuStreamDestroy_v2(stream) == 0);
  CHECK(cuCtxPopCurrent_v2(&context) == 0 && cuDevicePrimaryCtxRelease_v2(0) == 0);
}

int main(void) {
  double x[1001];
  for (int i = 0; i < 1001; ++i) x[i] = i % 3 == 0 ? 1e150 : i % 3 == 1 ? -1e150 : 0.1 * i;
  in_opencl(x, 1001);
  in_cuda(x, 1001);
  CHECK(samesum_device_on_opencl_queue(NULL, &(samesum_device*){NULL}) == SAMESUM_USAGE);
  return failures;
}
