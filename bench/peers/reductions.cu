// Reductions beside CUB's: on the same data and the same stream, each captured in a CUDA graph of many, hot. A program of its own.
//
// CUB has Max, ArgMax and sums of what a functor makes of the elements; the other rows are its Reduce and TransformReduce with the
// operators that one would write: extremes as a pair, dot products over two arrays, variances by merging counts, means and sums of squares
// (Chan, Golub and LeVeque 1983), products in no fixed order. Its floating-point results are rounded wherever they are added, samesum's
// once.
#include "device/memory/run.hpp"
#include "product/product.hpp"
#include "reduce/collect.hpp"
#include "reduce/device/collect_device.hpp"

#include <samesum/bench.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

template <class T>
struct Ends {
  T min, max;
};
template <class T>
struct ToEnds {
  __host__ __device__ Ends<T> operator()(T x) const { return {x, x}; }
};
template <class T>
struct MergeEnds {
  __host__ __device__ Ends<T> operator()(Ends<T> a, Ends<T> b) const {
    return {b.min < a.min ? b.min : a.min, a.max < b.max ? b.max : a.max};
  }
};
struct Moments {
  double count, mean, squares;  // squares of differences from the mean
};
template <class T>
struct ToMoments {
  __host__ __device__ Moments operator()(T x) const { return {1, static_cast<double>(x), 0}; }
};
struct MergeMoments {
  __host__ __device__ Moments operator()(Moments a, Moments b) const {
    const double count = a.count + b.count, difference = b.mean - a.mean;
    if (count == 0) return a;
    return {count, a.mean + difference * (b.count / count), a.squares + b.squares + difference * difference * (a.count * b.count / count)};
  }
};
template <class T>
struct Product {
  __host__ __device__ T operator()(T a, T b) const { return a * b; }
  __host__ __device__ T operator()(const thrust::tuple<T, T>& pair) const { return thrust::get<0>(pair) * thrust::get<1>(pair); }
};
template <class T>
struct Square {
  __host__ __device__ T operator()(T x) const { return x * x; }
};

class Stream {
 public:
  Stream() { check(cudaStreamCreate(&stream_)); }
  cudaStream_t get() const { return stream_; }

  // Microseconds of one call, the middle of many replays.
  double time(const std::function<void()>& enqueue, int calls) const {
    enqueue();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; ++i) enqueue();
    check(cudaStreamEndCapture(stream_, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    std::vector<float> times;
    for (int run = 0; run < 35; ++run) {
      float milliseconds = 0;
      check(cudaEventRecord(start, stream_));
      check(cudaGraphLaunch(executable, stream_));
      check(cudaEventRecord(end, stream_));
      check(cudaEventSynchronize(end));
      check(cudaEventElapsedTime(&milliseconds, start, end));
      if (run >= 10) times.push_back(1000 * milliseconds / static_cast<float>(calls));
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

 private:
  cudaStream_t stream_ = nullptr;
};

// One type of elements: what both are given, and what both find.
template <class T>
class Round {
 public:
  Round(const Stream& stream, const samesum::Device& device, samesum::Array a, samesum::Array b)
      : stream_(stream), device_(device), a_view_(a), b_view_(b), n_(a.size()), type_(a.type()) {
    check(cudaMalloc(&a_, a.bytes()));
    check(cudaMalloc(&b_, b.bytes()));
    check(cudaMalloc(&out_, 256));
    check(cudaMalloc(&storage_, kStorage));
    check(cudaMemcpy(a_, a.data(), a.bytes(), cudaMemcpyHostToDevice));
    check(cudaMemcpy(b_, b.data(), b.bytes(), cudaMemcpyHostToDevice));
  }
  ~Round() {
    for (void* memory : {static_cast<void*>(a_), static_cast<void*>(b_), out_, storage_}) cudaFree(memory);
  }
  Round(const Round&) = delete;

  void run() {
    using samesum::Fields;
    const int n = static_cast<int>(n_);
    extremes("max", {false, true, false}, cub([&](void* s, std::size_t& bytes) {
               return cub::DeviceReduce::Max(s, bytes, a_, static_cast<T*>(out_), n, stream_.get());
             }));
    const auto arg_max = cub([&](void* s, std::size_t& bytes) {
      auto* const index = reinterpret_cast<std::int64_t*>(static_cast<T*>(out_) + 8);
      return cub::DeviceReduce::ArgMax(s, bytes, a_, static_cast<T*>(out_), index, n, stream_.get());
    });
    extremes("argmax", {false, true, true}, arg_max);
    extremes("argmax, argmin", {}, arg_max);
    extremes("minmax", {true, true, false}, cub([&](void* s, std::size_t& bytes) {
               const Ends<T> none{std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
               return cub::DeviceReduce::TransformReduce(s, bytes, a_, static_cast<Ends<T>*>(out_), n, MergeEnds<T>{}, ToEnds<T>{}, none,
                                                         stream_.get());
             }));
    pass("dot", {false, false, true, false}, true, cub([&](void* s, std::size_t& bytes) {
           const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(static_cast<const T*>(a_), static_cast<const T*>(b_)));
           return cub::DeviceReduce::TransformReduce(s, bytes, pairs, static_cast<T*>(out_), n, cuda::std::plus<>{}, Product<T>{}, T(0),
                                                     stream_.get());
         }));
    pass("squared norm", {false, false, true, false}, false, cub([&](void* s, std::size_t& bytes) {
           return cub::DeviceReduce::TransformReduce(s, bytes, a_, static_cast<T*>(out_), n, cuda::std::plus<>{}, Square<T>{}, T(0),
                                                     stream_.get());
         }));
    sum(cub([&](void* s, std::size_t& bytes) { return cub::DeviceReduce::Sum(s, bytes, a_, static_cast<T*>(out_), n, stream_.get()); }));
    pass("variance", {false, true, true, false}, false, cub([&](void* s, std::size_t& bytes) {
           return cub::DeviceReduce::TransformReduce(s, bytes, a_, static_cast<Moments*>(out_), n, MergeMoments{}, ToMoments<T>{},
                                                     Moments{0, 0, 0}, stream_.get());
         }));
    if constexpr (std::is_floating_point_v<T>) {
      product(cub([&](void* s, std::size_t& bytes) {
        return cub::DeviceReduce::Reduce(s, bytes, a_, static_cast<T*>(out_), n, Product<T>{}, T(1), stream_.get());
      }));
    }
  }

 private:
  static constexpr std::size_t kStorage = std::size_t{16} << 20;

  template <class Call>
  std::function<void()> cub(const Call& call) const {
    return [call, this] {
      std::size_t bytes = kStorage;
      check(call(storage_, bytes));
    };
  }

  void row(const char* name, bool right, const std::function<void()>& ours, const std::function<void()>& theirs) const {
    const int calls = n_ > (1u << 25) ? 2 : 20;
    // In turns, the better of two each, as clocks and caches change.
    double times[2] = {1e9, 1e9};
    for (int turn = 0; turn < 2; ++turn) {
      times[0] = std::min(times[0], stream_.time(ours, calls));
      times[1] = std::min(times[1], stream_.time(theirs, calls));
    }
    std::printf("%-8s 2^%-3.0f %-15s %9.2f %9.2f %7.2f  %s\n", std::string(samesum::name_of(type_)).c_str(),
                std::log2(static_cast<double>(n_)), name, times[0], times[1], times[1] / times[0], right ? "right" : "WRONG");
    std::fflush(stdout);
  }

  samesum::Buffer buffer(void* memory, std::uint64_t bytes) const { return samesum::Buffer::wrap(device_, memory, bytes); }
  samesum::device::Run array(T* memory) const {
    return *samesum::device::single_run({buffer(memory, n_ * sizeof(T)), n_, type_}, samesum::core::Order::memory);
  }

  void extremes(const char* name, samesum::ops::Extrema ends, const std::function<void()>& theirs) const {
    samesum::Plan plan(device_, ends, type_, n_);
    const samesum::Array data(buffer(a_, n_ * sizeof(T)), n_, type_);
    const auto ours = [&] { plan.enqueue(data); };
    ours();
    const samesum::Statistics found = plan.result<samesum::Statistics>(), expected = samesum::collect(a_view_, {}, {.device = samesum::Device::open("cpu")});
    const auto same = [&](const samesum::Extremum& a, const samesum::Extremum& b) {
      return a.value == b.value && (!ends.indices || a.index == b.index);
    };
    const bool right = (!ends.min || same(found.min(), expected.min())) && (!ends.max || same(found.max(), expected.max()));
    row(name, right, ours, theirs);
  }

  void pass(const char* name, samesum::Fields fields, bool dot, const std::function<void()>& theirs) const {
    samesum::statistics::CollectOptions options;
    options.fields = fields;
    samesum::statistics::DevicePass pass(device_.implementation(), type_, options, dot, n_);
    const samesum::device::Run a = array(a_), b = array(dot ? b_ : a_);
    const auto ours = [&] { pass.launch(a, b); };
    ours();
    const samesum::Statistics found(pass.result());
    const bool right = dot ? found.squares() == samesum::statistics::dot_cpu(a_view_, b_view_, 0)
                           : found == samesum::statistics::collect_cpu(a_view_, options);
    row(name, right, ours, theirs);
  }

  void sum(const std::function<void()>& theirs) const {
    samesum::Plan plan(device_, samesum::ops::sum, type_, n_);
    const samesum::Array data(buffer(a_, n_ * sizeof(T)), n_, type_);
    const auto ours = [&] { plan.enqueue(data); };
    ours();
    row("sum", plan.result<samesum::Accumulator>() == samesum::accumulate(a_view_, {.device = samesum::Device::open("cpu")}), ours, theirs);
  }

  // Of whole tiles.
  void product(const std::function<void()>& theirs) const {
    samesum::product_tree::DeviceProduct product(device_.implementation(), type_, false, {});
    const std::uint64_t tiles = n_ >> product.level();
    if (tiles == 0) return;
    const samesum::device::Run a = array(a_);
    const auto ours = [&] { product.launch(a.memory, tiles, 0); };
    ours();
    samesum::core::Tree<T> tree;
    product.collect(tree);
    const double expected = samesum::product(a_view_.part(0, tiles << product.level()), {.device = samesum::Device::open("cpu")}).as_double();
    row("product", static_cast<double>(tree.root()) == expected, ours, theirs);
  }

  const Stream& stream_;
  samesum::Device device_;
  samesum::Array a_view_, b_view_;
  std::uint64_t n_;
  samesum::DType type_;
  T* a_ = nullptr;
  T* b_ = nullptr;
  void* out_ = nullptr;
  void* storage_ = nullptr;
};

template <class T>
void measure(const Stream& stream, const samesum::Device& device, samesum::DType type, int power) {
  const std::uint64_t n = std::uint64_t{1} << power;
  const samesum::bench::Data a(samesum::bench::DataKind::uniform, type, n, 1), b(samesum::bench::DataKind::uniform, type, n, 2);
  Round<T>(stream, device, a.view(), b.view()).run();
}

}  // namespace

// reductions [log2 of a size ...]
int main(int argc, char** argv) try {
  std::vector<int> powers;
  for (int i = 1; i < argc; ++i) powers.push_back(std::atoi(argv[i]));
  if (powers.empty()) powers = {10, 12, 14, 16, 18, 20, 22, 24, 28};
  const Stream stream;
  const samesum::Device device = samesum::Device::on_cuda_stream(stream.get());
  std::printf("%s, CUB of CCCL %d; us a call, hot, in graphs\n", device.info().name.c_str(), CCCL_VERSION);
  std::printf("%-8s %-5s %-15s %9s %9s %7s\n", "type", "n", "", "samesum", "CUB", "ratio");
  for (const int power : powers) {
    measure<float>(stream, device, samesum::DType::float32, power);
    measure<std::int32_t>(stream, device, samesum::DType::int32, power);
    if (power < 28) measure<std::int64_t>(stream, device, samesum::DType::int64, power);
    if (power < 28) measure<double>(stream, device, samesum::DType::float64, power);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "reductions: %s\n", error.what());
  return 2;
}
