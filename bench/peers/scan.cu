// CUB's InclusiveSum beside samesum's scan, over the public headers alone, on one array in device memory; results stay there. Each result
// of samesum's is checked at places against its exact sum first. CUB's results have the elements' type; of int32, also 64 bits, as samesum's have.
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/transform_iterator.h>

#include <samesum/buffer.hpp>
#include <samesum/scan.hpp>
#include <samesum/sum.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

template <class Work>
double best_microseconds(const Work& work) {
  double best = 1e30;
  for (int run = 0; run < 12; ++run) {
    check(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    work();
    check(cudaDeviceSynchronize());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 1e6 * best;
}

struct Widen {
  __host__ __device__ std::int64_t operator()(std::int32_t x) const { return x; }
};

template <class In, class Out>
double cub_microseconds(In from, Out to, std::size_t count) {
  void* storage = nullptr;
  std::size_t bytes = 0;
  check(cub::DeviceScan::InclusiveSum(storage, bytes, from, to, count));
  check(cudaMalloc(&storage, bytes));
  const double best = best_microseconds([&] { check(cub::DeviceScan::InclusiveSum(storage, bytes, from, to, count)); });
  check(cudaFree(storage));
  return best;
}

// The sum of some elements, rounded once: a float32 by way of a float64 would be rounded twice.
template <class R, class T>
R exact(std::span<const T> elements) {
  const samesum::Accumulator sum = samesum::accumulate(elements);
  if constexpr (std::is_integral_v<R>) {
    return sum.to_int64();
  } else if constexpr (sizeof(R) == sizeof(float)) {
    return sum.round_to_float();
  } else {
    return sum.round();
  }
}

template <class T, class R>
void compare(const samesum::Device& device, std::size_t count, const char* name, const samesum::Scan& what, bool wide) {
  std::mt19937_64 random(1);
  std::vector<T> x(count);
  for (T& value : x) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random());
    } else {
      const double number = static_cast<double>(random() >> 11) * 0x1p-53 - (wide ? 0.5 : 0);
      value = static_cast<T>(wide ? std::ldexp(number, static_cast<int>(random() % 100) - 50) : number);
    }
  }
  T* data;
  T* cub_results;
  R* results;
  check(cudaMalloc(&data, count * sizeof(T)));
  check(cudaMalloc(&cub_results, count * sizeof(T)));
  check(cudaMalloc(&results, count * sizeof(R)));
  check(cudaMemcpy(data, x.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  const samesum::Array from(samesum::Buffer::wrap(device, data, count * sizeof(T)), count, samesum::dtype_of<T>());
  const samesum::Array to(samesum::Buffer::wrap(device, results, count * sizeof(R)), count, samesum::dtype_of<R>());
  const double cub = cub_microseconds(data, cub_results, count);
  const double ours = best_microseconds([&] { samesum::scan(from, what, to); });
  std::vector<R> found(count);
  check(cudaMemcpy(found.data(), results, count * sizeof(R), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < count; i += count / 10 + 1) {
    if (found[i] != exact<R>(std::span<const T>(x).first(i + 1))) std::printf("%s: wrong at %zu\n", name, i);
  }
  std::printf("%-24s 2^%.0f  CUB %9.1f us  samesum %9.1f us  CUB / samesum %.3f\n", name, std::log2(static_cast<double>(count)), cub, ours,
              cub / ours);
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const double widened = cub_microseconds(thrust::make_transform_iterator(data, Widen{}), results, count);
    std::printf("%-24s 2^%.0f  CUB %9.1f us, 64-bit results  CUB / samesum %.3f\n", name, std::log2(static_cast<double>(count)), widened, widened / ours);
  }
  for (void* memory : {static_cast<void*>(data), static_cast<void*>(cub_results), static_cast<void*>(results)}) check(cudaFree(memory));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const samesum::Device device = samesum::Device::open("cuda:0");
  for (const int bits : {16, 20, 24, 28}) {
    const std::size_t count = std::size_t{1} << bits;
    compare<float, double>(device, count, "float32 to float64", {}, false);
    compare<float, float>(device, count, "float32 to float32", {.float32 = true}, false);
    compare<double, double>(device, count, "float64", {}, false);
    compare<std::int32_t, std::int64_t>(device, count, "int32 to int64", {}, false);
    compare<float, double>(device, count, "float32, wide", {}, true);
    compare<double, double>(device, count, "float64, wide", {}, true);
  }
}
