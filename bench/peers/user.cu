// What a program of anybody's sees: samesum by its public headers alone, beside CUB, on one stream, with data that change from call to call.
//
//   turns      two arrays in turns, the second 2^20 times the first
//   lognormal  two arrays of exp(3 z), z normal, in turns
//   bits       two arrays of random bit patterns, finite ones, in turns
//   again      one array of uniform numbers, again and again
//
// enqueued: calls one after the other in the stream, the result left in device memory; call: the result is on the host when it returns.
#include "functors.cuh"

#include <samesum/samesum.hpp>

#include <thrust/iterator/zip_iterator.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return 1e6 * std::chrono::duration<double>(Clock::now() - start).count(); }

struct Figure {
  double median, low, high;  // microseconds
};
Figure figure(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all[all.size() / 10], all[all.size() * 9 / 10]};
}

template <class T>
std::vector<T> make(const std::string& kind, std::uint64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(n);
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  // Of long arrays a part is made, and repeated.
  const std::uint64_t made = std::min<std::uint64_t>(n, (1 << 22) - 3);
  for (std::uint64_t i = 0; i < made; ++i) {
    if (kind == "lognormal") {
      x[i] = static_cast<T>(std::exp(3 * normal(random)));
    } else if (kind == "bits") {
      Word word;
      do {
        word = static_cast<Word>(random());
        std::memcpy(&x[i], &word, sizeof word);
      } while (!std::isfinite(x[i]));
    } else {
      x[i] = static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), -53) * (kind == "turns" && seed == 2 ? 1048576.0 : 1.0));
    }
  }
  for (std::uint64_t i = made; i < n; ++i) x[i] = x[i - made];
  return x;
}

template <class T>
class Bench {
 public:
  Bench(cudaStream_t stream, std::uint64_t n) : stream_(stream), n_(n), device_(samesum::Device::on_cuda_stream(stream)) {
    for (T*& array : arrays_) check(cudaMalloc(&array, n * sizeof(T)));
    check(cudaMalloc(&out_, 64));
    check(cudaMallocHost(&host_, 64));
    check(cudaMalloc(&storage_, kStorage));
  }
  ~Bench() {
    for (T* array : arrays_) cudaFree(array);
    cudaFree(out_);
    cudaFree(storage_);
    cudaFreeHost(host_);
  }

  void run(const std::string& kind) {
    for (unsigned i = 0; i < 2; ++i) {
      const std::vector<T> x = make<T>(kind, n_, kind == "again" ? 1 : i + 1);
      check(cudaMemcpy(arrays_[i], x.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    kind_ = kind;
    const auto type = samesum::dtype_of<T>();
    std::vector<samesum::Array> views;
    for (T* array : arrays_) views.push_back({samesum::Buffer::wrap(device_, array, n_ * sizeof(T)), n_, type});
    const samesum::Buffer to = samesum::Buffer::wrap(device_, out_, 64);
    std::size_t bytes = kStorage;

    samesum::Plan sum(device_, samesum::ops::sum, type, n_), extrema(device_, samesum::ops::extrema, type, n_);
    const auto cub_sum = [&](const T* x) { check(cub::DeviceReduce::Sum(storage_, bytes = kStorage, x, static_cast<T*>(out_), n_, stream_)); };
    const auto cub_max = [&](const T* x) { check(cub::DeviceReduce::Max(storage_, bytes = kStorage, x, static_cast<T*>(out_), n_, stream_)); };
    const auto cub_dot = [&](const T*) {
      const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(arrays_[0], arrays_[1]));
      check(cub::DeviceReduce::TransformReduce(storage_, bytes = kStorage, pairs, static_cast<T*>(out_), n_, cuda::std::plus<>{}, Product{}, T{0},
                                               stream_));
    };
    const auto cub_statistics = [&](const T* x) {
      check(cub::DeviceReduce::TransformReduce(storage_, bytes = kStorage, x, static_cast<Statistics<double>*>(out_), n_, MergeStatistics<double>{},
                                               ToStatistics<double>{}, Statistics<double>::of_none(), stream_));
    };
    const auto fetch = [&](std::size_t size = sizeof(T)) {
      check(cudaMemcpyAsync(host_, out_, size, cudaMemcpyDeviceToHost, stream_));
      check(cudaStreamSynchronize(stream_));
    };
    row("sum, enqueued", enqueued([&](int i) { sum.enqueue(views[i], to); }), enqueued([&](int i) { cub_sum(arrays_[i]); }));
    row("sum, call", calls([&](int i) { samesum::sum(views[i]); }), calls([&](int i) { cub_sum(arrays_[i]), fetch(); }));
    row("mean, call", calls([&](int i) { samesum::mean(views[i]); }), calls([&](int i) { cub_sum(arrays_[i]), fetch(); }));
    row("min and max with indices, enqueued", enqueued([&](int i) { extrema.enqueue(views[i], to); }), enqueued([&](int i) { cub_max(arrays_[i]); }));
    row("max with index, call", calls([&](int i) { samesum::max(views[i]); }), calls([&](int i) { cub_max(arrays_[i]), fetch(); }));
    row("dot, call", calls([&](int) { samesum::dot(views[0], views[1]); }), calls([&](int i) { cub_dot(arrays_[i]), fetch(); }));
    row("statistics, call", calls([&](int i) { samesum::collect(views[i]).variance(); }),
        calls([&](int i) { cub_statistics(arrays_[i]), fetch(sizeof(Statistics<double>)); }));
    if constexpr (sizeof(T) == 4) {
      for (const int bins : {10, 256, 16384, 1 << 20}) histogram(views, bins);
    }
  }

 private:
  static constexpr std::size_t kStorage = std::size_t{64} << 20;

  // In turns.
  Figure enqueued(const std::function<void(int)>& one) {
    const int times = n_ > (1u << 24) ? 10 : 200;
    cudaEvent_t from, until;
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&until));
    std::vector<double> all;
    for (int run = 0; run < 24; ++run) {
      check(cudaEventRecord(from, stream_));
      for (int i = 0; i < times; ++i) one(i % 2);
      check(cudaEventRecord(until, stream_));
      check(cudaEventSynchronize(until));
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, from, until));
      if (run >= 3) all.push_back(1e3 * milliseconds / times);
    }
    cudaEventDestroy(from);
    cudaEventDestroy(until);
    return figure(all);
  }
  Figure calls(const std::function<void(int)>& one) {
    std::vector<double> all;
    for (int run = 0; run < 60; ++run) {
      const auto start = Clock::now();
      one(run % 2);
      if (run >= 6) all.push_back(since(start));
    }
    return figure(all);
  }

  void histogram(const std::vector<samesum::Array>& views, int bins) {
    const samesum::Bins even = samesum::Bins::even(0, 1, static_cast<std::uint64_t>(bins));
    int* counts = nullptr;
    check(cudaMalloc(&counts, sizeof(int) * static_cast<std::size_t>(bins)));
    std::vector<int> on_host(static_cast<std::size_t>(bins));
    std::size_t bytes = 0;
    check(cub::DeviceHistogram::HistogramEven(nullptr, bytes, arrays_[0], counts, bins + 1, T{0}, T{1}, static_cast<int>(n_), stream_));
    void* storage = nullptr;
    check(cudaMalloc(&storage, std::max<std::size_t>(bytes, 1)));
    const auto cub_call = [&](int i) {
      check(cub::DeviceHistogram::HistogramEven(storage, bytes, arrays_[i], counts, bins + 1, T{0}, T{1}, static_cast<int>(n_), stream_));
      check(cudaMemcpyAsync(on_host.data(), counts, on_host.size() * sizeof(int), cudaMemcpyDeviceToHost, stream_));
      check(cudaStreamSynchronize(stream_));
    };
    row(("histogram of " + std::to_string(bins) + " bins, call").c_str(), calls([&](int i) { samesum::histogram(views[i], even); }), calls(cub_call));
    cudaFree(storage);
    cudaFree(counts);
  }

  void row(const char* what, Figure ours, Figure theirs) const {
    std::printf("%-7s %9llu %-9s %-36s %9.2f (%.2f-%.2f)", sizeof(T) == 4 ? "float32" : "float64", static_cast<unsigned long long>(n_),
                kind_.c_str(), what, ours.median, ours.low, ours.high);
    if (theirs.median != 0) std::printf("  CUB %9.2f (%.2f-%.2f)  CUB/samesum %.2f", theirs.median, theirs.low, theirs.high, theirs.median / ours.median);
    std::printf("\n");
    std::fflush(stdout);
  }

  cudaStream_t stream_;
  std::uint64_t n_;
  samesum::Device device_;
  T* arrays_[2] = {};
  void* out_ = nullptr;
  void* host_ = nullptr;
  void* storage_ = nullptr;
  std::string kind_;
};

// The first use in this process: plan or call, and the result on the host.
void first_launch(cudaStream_t stream) {
  constexpr std::uint64_t kSize = 1 << 20;
  float* x = nullptr;
  check(cudaMalloc(&x, kSize * sizeof(float)));
  check(cudaMemset(x, 0, kSize * sizeof(float)));
  auto start = Clock::now();
  float *out = nullptr, value = 0;
  std::size_t bytes = 0;
  void* storage = nullptr;
  check(cudaMalloc(&out, sizeof(float)));
  check(cub::DeviceReduce::Sum(nullptr, bytes, x, out, kSize, stream));
  check(cudaMalloc(&storage, bytes));
  check(cub::DeviceReduce::Sum(storage, bytes, x, out, kSize, stream));
  check(cudaMemcpyAsync(&value, out, sizeof value, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  const double theirs = since(start);
  start = Clock::now();
  const samesum::Device device = samesum::Device::on_cuda_stream(stream);
  const samesum::Array data(samesum::Buffer::wrap(device, x, kSize * sizeof(float)), kSize, samesum::DType::float32);
  samesum::sum(data);
  std::printf("first sum of 2^20 float32, context there: samesum %.0f us, CUB %.0f us (compiled beforehand)\n", since(start), theirs);
  start = Clock::now();
  samesum::Plan histogram(device, samesum::Bins::even(0, 1, 1 << 20), samesum::DType::float32, kSize);
  std::printf("a plan of a histogram of 2^20 bins is made in %.0f us", since(start));
  start = Clock::now();
  samesum::Plan again(device, samesum::Bins::even(0, 1, 1 << 20), samesum::DType::float32, kSize);
  std::printf(", another in %.0f us\n", since(start));
  cudaFree(x);
  cudaFree(out);
  cudaFree(storage);
}

template <class T>
void all(cudaStream_t stream, const std::vector<int>& powers) {
  for (const int power : powers) {
    Bench<T> bench(stream, std::uint64_t{1} << power);
    for (const char* kind : {"turns", "lognormal", "bits", "again"}) bench.run(kind);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<int> powers;
  for (int i = 1; i < argc; ++i) powers.push_back(std::atoi(argv[i]));
  if (powers.empty()) powers = {10, 12, 14, 16, 18, 20, 22, 24, 28};
  check(cudaFree(nullptr));
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  first_launch(stream);
  all<float>(stream, powers);
  all<double>(stream, powers);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
