// The time of sums, statistics, dot products and histograms of float32 over the size, 2^10 to 2^32 elements: samesum by its public headers,
// CUB, and kernels that only read. Arrays are in device memory, results stay there. Calls follow one another in a CUDA graph.
// tools/plot-figures.py draws the table that this program prints. With a second argument, `histograms`: those of one size, of 10 to
// 65,536 bins of [0, 1), and of the same memory as uint16, a bin for each value, beside CUB's.
//
//   uniform    two arrays of [0, 1), in turns
//   turns      two arrays in turns, the second 2^20 times the first
//   lognormal  two arrays of exp(3 z), z normal, in turns
//   bits       two arrays of random bit patterns, finite ones, in turns
//   few        for histograms: 80% of the numbers are one of four values, the others uniform
//   equal      for histograms: all numbers are 0.3
//
// A first launch is that of a new plan, or CUB's, behind a kernel that keeps the GPU busy until it is in the stream. Arrays of 2^32
// elements are enqueued in two parts where a plan takes 2^31. CUB's statistics and dot products are TransformReduce with a functor: rounded
// at each addition. Its sums are such too.
#include "functors.cuh"

#include <samesum/samesum.hpp>

#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using std::uint64_t;

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

enum class Kind { uniform, turns, lognormal, bits, few, equal };

__device__ uint64_t random_word(uint64_t at) {  // splitmix64
  at += 0x9E3779B97F4A7C15u;
  at = (at ^ at >> 30) * 0xBF58476D1CE4E5B9u;
  at = (at ^ at >> 27) * 0x94D049BB133111EBu;
  return at ^ at >> 31;
}

__global__ void fill(float* x, uint64_t n, Kind kind, uint64_t array) {
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<uint64_t>(gridDim.x) * blockDim.x) {
    const uint64_t word = random_word(2 * i + (array << 40));
    const float uniform = static_cast<float>(word >> 40) * 0x1p-24f;
    if (kind == Kind::bits) {
      const auto pattern = static_cast<unsigned>(word);
      x[i] = __uint_as_float((pattern & 0x7F800000u) == 0x7F800000u ? pattern ^ 0x40000000u : pattern);
    } else if (kind == Kind::lognormal) {
      const float angle = static_cast<float>(random_word(2 * i + 1 + (array << 40)) >> 40) * 0x1p-24f;
      x[i] = expf(3 * sqrtf(-2 * logf(1 - uniform)) * cospif(2 * angle));
    } else if (kind == Kind::few) {
      x[i] = word % 5 == 0 ? uniform : static_cast<float>(word >> 30 & 3) * 0.2f + 0.11f;
    } else if (kind == Kind::equal) {
      x[i] = 0.3f;
    } else {
      x[i] = kind == Kind::turns && array == 1 ? uniform * 0x1p20f : uniform;
    }
  }
}

// A group's tile is kLoads vectors of 16 bytes for each thread.
template <int kLoads>
__global__ void read(const uint4* x, uint64_t vectors, unsigned* out) {
  unsigned all = 0;
  for (uint64_t tile = blockIdx.x * static_cast<uint64_t>(blockDim.x) * kLoads; tile < vectors;
       tile += static_cast<uint64_t>(gridDim.x) * blockDim.x * kLoads) {
    uint4 loads[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const uint64_t at = tile + i * blockDim.x + threadIdx.x;
      loads[i] = at < vectors ? x[at] : uint4{};
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) all ^= loads[i].x ^ loads[i].y ^ loads[i].z ^ loads[i].w;
  }
  if (all == 0x12345678u) *out = all;
}

__global__ void occupy(long long cycles) {
  for (const long long until = clock64() + cycles; clock64() < until;) {
  }
}

class Bench {
 public:
  Bench(cudaStream_t stream, int greatest)
      : elements_(uint64_t{1} << greatest), stream_(stream), device_(samesum::Device::on_cuda_stream(stream)) {
    for (float*& array : arrays_) check(cudaMalloc(&array, elements_ * sizeof(float)));
    check(cudaMalloc(&out_, kOutBytes));
    check(cudaMalloc(&storage_, kStorage));
    check(cudaEventCreate(&from_));
    check(cudaEventCreate(&until_));
    int device = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device));
  }

  void run(Kind kind, const char* name) {
    for (uint64_t i = 0; i < 2; ++i) fill<<<16384, 256, 0, stream_>>>(arrays_[i], elements_, kind, i);
    check(cudaStreamSynchronize(stream_));
    kind_ = name;
    for (n_ = 1024; n_ <= elements_; n_ *= 4) {
      if (kind == Kind::uniform) reading();
      if (kind == Kind::uniform) {
        histogram(256);
        continue;
      }
      reduction("sum", n_, samesum::ops::sum, [&](int i) {
        check(
            cub::DeviceReduce::Sum(storage_, bytes_ = kStorage, arrays_[i], static_cast<float*>(out_), static_cast<int64_t>(n_), stream_));
      });
      reduction("stats", n_, samesum::Fields{}, [&](int i) {
        check(cub::DeviceReduce::TransformReduce(storage_, bytes_ = kStorage, arrays_[i], static_cast<Statistics<float>*>(out_),
                                                 static_cast<int64_t>(n_), MergeStatistics<float>{}, ToStatistics<float>{},
                                                 Statistics<float>::of_none(), stream_));
      });
      if (2 * n_ <= elements_) {
        reduction("dot", 2 * n_, samesum::ops::dot, [&](int i) {
          const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(arrays_[i], arrays_[i] + n_));
          check(cub::DeviceReduce::TransformReduce(storage_, bytes_ = kStorage, pairs, static_cast<float*>(out_), static_cast<int64_t>(n_),
                                                   cuda::std::plus<>{}, Product{}, 0.0f, stream_));
        });
      }
      histogram(256);
    }
  }

  // Of all elements.
  void run_histograms(Kind kind, const std::string& name) {
    for (uint64_t i = 0; i < 2; ++i) fill<<<16384, 256, 0, stream_>>>(arrays_[i], elements_, kind, i);
    check(cudaStreamSynchronize(stream_));
    n_ = elements_;
    kind_ = name;
    reading();
    for (const int bins : {10, 256, 2048, 16384, 65536}) {
      kind_ = name + "_" + std::to_string(bins);
      histogram(bins);
    }
    kind_ = name + "_words";
    histogram_of_words();
  }

 private:
  static constexpr std::size_t kStorage = std::size_t{2} << 30;  // what histograms of 65,536 bins take, and more
  static constexpr std::size_t kOutBytes = std::size_t{16} << 20;

  using Enqueue = std::function<void(int)>;

  float between(const std::function<void()>& work) {
    check(cudaEventRecord(from_, stream_));
    work();
    check(cudaEventRecord(until_, stream_));
    check(cudaEventSynchronize(until_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from_, until_));
    return 1e3f * milliseconds;
  }
  // In a CUDA graph, so that the host's time for a launch does not count.
  std::vector<float> in_turns(const Enqueue& one) {
    const int times = n_ > (1u << 28) ? 4 : n_ > (1u << 24) ? 10 : 200;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    for (int i = 0; i < 2; ++i) one(i);
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < times; ++i) one(i % 2);
    check(cudaStreamEndCapture(stream_, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    std::vector<float> all;
    for (int run = 0; run < 15; ++run) {
      const float micros = between([&] { check(cudaGraphLaunch(executable, stream_)); });
      if (run >= 4) all.push_back(micros / static_cast<float>(times));
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    return all;
  }
  // `prepare` gives what a new plan enqueues.
  std::vector<float> first(const std::function<Enqueue()>& prepare) {
    std::vector<float> all;
    for (int run = 0; run < 11; ++run) {
      const Enqueue one = prepare();
      check(cudaStreamSynchronize(stream_));
      occupy<<<1, 1, 0, stream_>>>(400000);
      all.push_back(between([&] { one(run % 2); }));
    }
    return all;
  }

  void row(const char* work, const char* line, uint64_t bytes, std::vector<float> all) const {
    std::sort(all.begin(), all.end());
    const float median = all[all.size() / 2];
    std::printf("%-12s %-10s %-14s %11llu %10.2f %10.2f %10.2f %10.3f\n", work, kind_.c_str(), line, static_cast<unsigned long long>(n_),
                median, all[all.size() / 10], all[all.size() * 9 / 10], static_cast<double>(bytes) / (1e3 * median));
    std::fflush(stdout);
  }

  // One or two arrays of n_ elements, from the beginning of arrays_[i], in parts that a plan takes.
  using Parts = std::vector<std::vector<samesum::Array>>;
  Parts inputs(int i, uint64_t elements) const {
    Parts parts;
    for (uint64_t first = 0; first < n_; first += samesum::Plan::kMaxElements) {
      const uint64_t count = std::min(n_ - first, samesum::Plan::kMaxElements);
      std::vector<samesum::Array>& part = parts.emplace_back();
      for (uint64_t array = 0; array < elements; array += n_) {
        part.push_back({samesum::Buffer::wrap(device_, arrays_[i] + array + first, count * sizeof(float)), count, samesum::DType::float32});
      }
    }
    return parts;
  }
  Enqueue enqueue_all(samesum::Plan plan, const Parts (&arrays)[2]) {
    return [plan, &arrays, to = samesum::Buffer::wrap(device_, out_, kOutBytes)](int i) mutable {
      for (const std::vector<samesum::Array>& part : arrays[i]) plan.enqueue(part, to);
    };
  }

  void reduction(const char* work, uint64_t elements, const samesum::Operation& operation, const Enqueue& cub) {
    const Parts arrays[] = {inputs(0, elements), inputs(1, elements)};
    const auto plan_of = [&] { return enqueue_all({device_, operation, samesum::DType::float32, n_}, arrays); };
    const uint64_t bytes = elements * sizeof(float);
    row(work, "samesum", bytes, in_turns(plan_of()));
    row(work, "samesum-first", bytes, first(plan_of));
    if (kind_ != "turns") return;  // whose time does not depend on the data
    row(work, "CUB", bytes, in_turns(cub));
    row(work, "CUB-first", bytes, first([&] { return cub; }));
  }

  void histogram(int bins) {
    const Parts arrays[] = {inputs(0, n_), inputs(1, n_)};
    row("histogram", "samesum", n_ * sizeof(float),
        in_turns(enqueue_all({device_, samesum::Bins::even(0, 1, static_cast<uint64_t>(bins)), samesum::DType::float32, n_}, arrays)));
    row("histogram", "CUB", n_ * sizeof(float), in_turns([&](int i) {
          check(cub::DeviceHistogram::HistogramEven(storage_, bytes_ = kStorage, arrays_[i], static_cast<int*>(out_), bins + 1, 0.0f, 1.0f,
                                                    static_cast<int64_t>(n_), stream_));
        }));
  }

  void histogram_of_words() {
    const auto size = 2 * n_;
    Parts words[2];
    for (int i = 0; i < 2; ++i) {
      words[i] = {{{samesum::Buffer::wrap(device_, arrays_[i], n_ * sizeof(float)), size, samesum::DType::uint16}}};
    }
    row("histogram", "samesum", n_ * sizeof(float),
        in_turns(enqueue_all({device_, samesum::Bins::each_value(samesum::DType::uint16), samesum::DType::uint16, size}, words)));
    row("histogram", "CUB", n_ * sizeof(float), in_turns([&](int i) {
          check(cub::DeviceHistogram::HistogramEven(storage_, bytes_ = kStorage, reinterpret_cast<unsigned short*>(arrays_[i]),
                                                    static_cast<int*>(out_), 65537, 0, 65536, static_cast<int64_t>(size), stream_));
        }));
  }

  // The fastest of some shapes.
  void reading() {
    std::vector<float> best;
    const uint64_t vectors = n_ / 4;
    for (const int group : {256, 512, 1024}) {
      for (const int groups : {1, 2, 4, 8, 16}) {
        for (const int loads : {2, 4, 8}) {
          const uint64_t tiles = (vectors + static_cast<uint64_t>(group) * loads - 1) / (static_cast<uint64_t>(group) * loads);
          const auto grid = static_cast<unsigned>(std::min<uint64_t>(tiles, static_cast<uint64_t>(processors_) * groups));
          std::vector<float> all = in_turns([&](int i) {
            const auto* x = reinterpret_cast<const uint4*>(arrays_[i]);
            auto* out = static_cast<unsigned*>(out_);
            if (loads == 2) read<2><<<grid, group, 0, stream_>>>(x, vectors, out);
            if (loads == 4) read<4><<<grid, group, 0, stream_>>>(x, vectors, out);
            if (loads == 8) read<8><<<grid, group, 0, stream_>>>(x, vectors, out);
          });
          std::sort(all.begin(), all.end());
          if (best.empty() || all[all.size() / 2] < best[best.size() / 2]) best = all;
        }
      }
    }
    row("read", "read", n_ * sizeof(float), best);
  }

  uint64_t elements_, n_ = 0;
  cudaStream_t stream_;
  cudaEvent_t from_ = nullptr, until_ = nullptr;
  samesum::Device device_;
  int processors_ = 0;
  float* arrays_[2] = {};
  void* out_ = nullptr;
  void* storage_ = nullptr;
  std::size_t bytes_ = 0;
  std::string kind_;
};

}  // namespace

int main(int argc, char** argv) try {
  check(cudaFree(nullptr));
  std::printf("# work, data, line, elements, microseconds (median, 10th and 90th percentile), GB/s\n");
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Bench bench(stream, argc > 1 ? std::atoi(argv[1]) : 32);
  if (argc > 2 && std::string(argv[2]) == "histograms") {
    bench.run_histograms(Kind::uniform, "uniform");
    bench.run_histograms(Kind::lognormal, "lognormal");
    bench.run_histograms(Kind::bits, "bits");
    bench.run_histograms(Kind::few, "few");
    bench.run_histograms(Kind::equal, "equal");
    return 0;
  }
  bench.run(Kind::uniform, "uniform");
  bench.run(Kind::turns, "turns");
  bench.run(Kind::lognormal, "lognormal");
  bench.run(Kind::bits, "bits");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
