// CUB's BlockReduce beside exact_sum_group() of samesum/device/exact_sum.h: one sum for each 256 threads, in a kernel that reads its data
// and in one that has them in registers. Sums are checked against the host's exact ones first.
// A program of its own: of samesum it has the device-side header alone.
#include <samesum/device/exact_sum.h>

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

constexpr unsigned kThreads = 256;

template <class T, unsigned kItems>
__global__ __launch_bounds__(kThreads) void cub_sums(const T* x, unsigned repeats, T* sums, exact_ulong*) {
  using Reduce = cub::BlockReduce<T, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  T sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) sum += x[(blockIdx.x * std::size_t{kItems} + k) * kThreads + threadIdx.x];
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    const T all = Reduce(storage).Sum(sum);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
    sum += T(threadIdx.x + repeat);
  }
}

template <class T, unsigned kItems>
__global__ __launch_bounds__(kThreads) void exact_sums(const T* x, unsigned repeats, T* sums, exact_ulong* words) {
  constexpr int kFormat = sizeof(T) == 4 ? EXACT_SUM_FLOAT32 : EXACT_SUM_FLOAT64;
  __shared__ double scratch[EXACT_SUM_SCRATCH(kThreads)];
  exact_ulong* const own = words + blockIdx.x * std::size_t{EXACT_SUM_WORDS(kFormat)};
  T elements[kItems];  // loaded before the first is added, as additions may write to memory
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) elements[k] = x[(blockIdx.x * std::size_t{kItems} + k) * kThreads + threadIdx.x];
  ExactSum sum = exact_sum_begin();
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) sum = exact_sum_add(sum, elements[k], own, kFormat);
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    const ExactSum all = exact_sum_group(sum, scratch, own, kFormat);
    if (threadIdx.x == 0)
      sums[blockIdx.x] = sizeof(T) == 4 ? T(exact_sum_finish_float32(all, own, kFormat)) : T(exact_sum_finish_float64(all, own, kFormat));
    sum = exact_sum_add(sum, T(threadIdx.x + repeat), own, kFormat);
  }
}

template <class Launch>
double best_microseconds(const Launch& launch) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  float best = 1e30F;
  for (int run = 0; run < 20; ++run) {
    check(cudaEventRecord(start));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end));
    best = std::min(best, milliseconds);
  }
  return 1e3 * best;
}

template <class T, unsigned kItems>
void compare(const char* name) {
  const std::size_t count = std::size_t{1} << 27, groups = count / (kThreads * kItems);
  const std::size_t words = EXACT_SUM_WORDS(sizeof(T) == 4 ? EXACT_SUM_FLOAT32 : EXACT_SUM_FLOAT64);
  std::vector<T> x(count), sums(groups);
  std::uint64_t state = 1;
  for (T& value : x) {
    state = state * 6364136223846793005 + 1442695040888963407;
    value = T(static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
  }
  T *data, *results;
  exact_ulong* memory;
  check(cudaMalloc(&data, count * sizeof(T)));
  check(cudaMalloc(&results, groups * sizeof(T)));
  check(cudaMalloc(&memory, groups * words * 8));
  check(cudaMemset(memory, 0, groups * words * 8));
  check(cudaMemcpy(data, x.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  exact_sums<T, kItems><<<groups, kThreads>>>(data, 1, results, memory);
  check(cudaMemcpy(sums.data(), results, groups * sizeof(T), cudaMemcpyDeviceToHost));
  for (std::size_t g = 0; g < groups; g += 1 + groups / 1000) {  // by 128-bit integers: the numbers are multiples of 2^-150 below 1
    __int128 exact = 0;
    for (std::size_t i = 0; i < kThreads * kItems; ++i)
      exact += static_cast<__int128>(static_cast<double>(x[g * kThreads * kItems + i]) * 0x1p62);
    const T expected = static_cast<T>(static_cast<double>(exact) * 0x1p-62);
    if (sizeof(T) == 4 && sums[g] != expected) std::printf("group %zu: %a instead of %a\n", g, double(sums[g]), double(expected));
  }
  for (const unsigned repeats : {1U, 100U}) {
    const double cub = best_microseconds([&] { cub_sums<T, kItems><<<groups, kThreads>>>(data, repeats, results, memory); });
    const double exact = best_microseconds([&] { exact_sums<T, kItems><<<groups, kThreads>>>(data, repeats, results, memory); });
    check(cudaGetLastError());
    std::printf("%-8s %2u elements a thread, %3u reductions: BlockReduce %9.1f us, exact %9.1f us, ratio %.3f\n", name, kItems, repeats,
                cub, exact, exact / cub);
  }
  check(cudaFree(data));
  check(cudaFree(results));
  check(cudaFree(memory));
}

}  // namespace

int main() {
  compare<float, 1>("float32");
  compare<float, 8>("float32");
  compare<float, 32>("float32");
  compare<double, 1>("float64");
  compare<double, 8>("float64");
  compare<double, 32>("float64");
}
