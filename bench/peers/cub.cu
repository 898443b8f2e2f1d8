// CUB's sum at its three levels of determinism, captured in CUDA graphs.
#include "peer.hpp"
#include "rotation.hpp"

#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace peers {
namespace {

#if CCCL_VERSION >= 3001000
#define PEERS_CUB_LEVELS 1
#endif

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

// What one sum of device memory is: temporary storage and result are there beforehand, as in a program that does many.
template <class T>
class Sum {
 public:
  virtual ~Sum() = default;
  virtual const char* name() const = 0;
  virtual void enqueue(const T* data, T* result, std::uint64_t count, cudaStream_t stream) = 0;
};

template <class T>
class RunToRun final : public Sum<T> {
 public:
  ~RunToRun() { cudaFree(storage_); }
  const char* name() const override { return "CUB run_to_run"; }
  void enqueue(const T* data, T* result, std::uint64_t count, cudaStream_t stream) override {
    if (storage_ == nullptr) {
      check(cub::DeviceReduce::Sum(nullptr, bytes_, data, result, count, stream));
      check(cudaMalloc(&storage_, bytes_));
    }
    check(cub::DeviceReduce::Sum(storage_, bytes_, data, result, count, stream));
  }

 private:
  void* storage_ = nullptr;
  std::size_t bytes_ = 0;
};

#if defined(PEERS_CUB_LEVELS)

// CUB asks its environment for temporary storage: always the same piece, as sums follow one another in the stream. What CUB does not call
// makes this a cuda::mr::resource.
class Storage {
 public:
  explicit Storage(void* memory) : memory_(memory) {}
  void* allocate(cuda::stream_ref, std::size_t bytes, std::size_t = 0) { return room(bytes); }
  void* allocate_sync(std::size_t bytes, std::size_t = 0) { return room(bytes); }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t = 0) noexcept {}
  void deallocate_sync(void*, std::size_t, std::size_t = 0) noexcept {}
  bool operator==(const Storage&) const = default;
  friend void get_property(const Storage&, cuda::mr::device_accessible) noexcept {}

  static constexpr std::size_t kBytes = std::size_t{64} << 20;

 private:
  void* room(std::size_t bytes) const {
    if (bytes > kBytes) throw std::runtime_error("CUB needs more temporary storage than it was given");
    return memory_;
  }
  void* memory_;
};

template <class T, class Determinism>
class Level final : public Sum<T> {
 public:
  explicit Level(const char* name) : name_(name) { check(cudaMalloc(&storage_, Storage::kBytes)); }
  ~Level() { cudaFree(storage_); }
  const char* name() const override { return name_; }
  void enqueue(const T* data, T* result, std::uint64_t count, cudaStream_t stream) override {
    const auto environment = cuda::std::execution::env{cuda::stream_ref{stream}, cuda::execution::require(Determinism{}),
                                                       cuda::std::execution::prop{cuda::mr::get_memory_resource_t{}, Storage(storage_)}};
    check(cub::DeviceReduce::Sum(data, result, count, environment));
  }

 private:
  const char* name_;
  void* storage_ = nullptr;
};

#endif

// So many sums in turns over the buffers, as one graph.
class Graph {
 public:
  template <class T>
  Graph(Sum<T>& sum, const char* buffers, std::size_t turns, std::size_t sums, T* result, std::uint64_t count, cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (std::size_t i = 0; i < sums; ++i) {
      sum.enqueue(reinterpret_cast<const T*>(buffers + i % turns * aligned(count * sizeof(T))), result, count, stream);
    }
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&graph_, graph, 0));
    check(cudaGraphDestroy(graph));
  }
  ~Graph() { cudaGraphExecDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void replay(cudaStream_t stream) const { check(cudaGraphLaunch(graph_, stream)); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

// Seconds of one of the graph's sums; the first replays warm up.
samesum::bench::Statistics time(const Graph& graph, std::size_t sums, cudaStream_t stream, const samesum::bench::Effort& effort) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) graph.replay(stream);
  std::vector<double> times;
  const auto began = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  while (times.size() < effort.runs && (times.size() < effort.least_runs || spent() < effort.seconds)) {
    check(cudaEventRecord(start, stream));
    graph.replay(stream);
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end));
    times.push_back(1e-3 * milliseconds / static_cast<double>(sums));
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  const std::size_t tenth = times.size() / 10;
  return {times[times.size() / 2], times[tenth], times[times.size() - 1 - tenth], static_cast<std::uint32_t>(times.size())};
}

template <class T>
std::vector<Row> measure(Sum<T>& sum, const Problem& problem, const char* buffers, char* permuted, T* result, cudaStream_t stream,
                         const samesum::bench::Effort& effort) {
  const std::uint64_t count = problem.data.size();
  const auto value_of = [&](const char* data) {
    sum.enqueue(reinterpret_cast<const T*>(data), result, count, stream);
    T value{};
    check(cudaMemcpyAsync(&value, result, sizeof value, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return value;
  };
  const auto same = [](T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  Row row{.name = sum.name(), .where = {}, .in_element_type = true, .seconds = {}, .not_measured = {}};
  const T value = value_of(buffers);
  row.value = value;
  for (int i = 0; i < 20; ++i) row.repeats = row.repeats && same(value_of(buffers), value);
  row.order_free = same(value_of(permuted), value);

  std::vector<Row> rows;
  for (const bool cold : {false, true}) {
    // Enough sums in a graph that its own start does not count, and all of the buffers: thousands, where they are small.
    const std::size_t turns = cold ? cold_buffers(problem.data.bytes()) : 1;
    const std::size_t sums = std::max<std::size_t>(problem.data.bytes() > (std::size_t{64} << 20) ? 2 : 100, turns);
    const Graph graph(sum, buffers, turns, sums, result, count, stream);
    row.where = cold ? kGpuCold : kGpuHot;
    row.seconds = time(graph, sums, stream, effort);
    rows.push_back(row);
  }
  return rows;
}

template <class T>
std::vector<Row> measure_all(const Problem& problem, const samesum::bench::Effort& effort) {
  const std::uint64_t bytes = problem.data.bytes();
  const std::size_t turns = cold_buffers(bytes);
  cudaStream_t stream;
  char *buffers = nullptr, *permuted = nullptr;
  T* result = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaMalloc(&buffers, turns * aligned(bytes)));
  check(cudaMalloc(&permuted, bytes));
  check(cudaMalloc(&result, sizeof(T)));
  check(cudaMemcpy(permuted, problem.permuted.data(), bytes, cudaMemcpyHostToDevice));
  for (std::size_t i = 0; i < turns; ++i) {
    check(cudaMemcpy(buffers + i * aligned(bytes), problem.data.data(), bytes, cudaMemcpyHostToDevice));
  }
  std::vector<Row> rows;
  const auto add = [&](auto&& sum) {
    for (Row& row : measure<T>(sum, problem, buffers, permuted, result, stream, effort)) rows.push_back(std::move(row));
  };
#if defined(PEERS_CUB_LEVELS)
  namespace determinism = cuda::execution::determinism;
  add(Level<T, determinism::not_guaranteed_t>("CUB not_guaranteed"));
  add(RunToRun<T>());
  add(Level<T, determinism::gpu_to_gpu_t>("CUB gpu_to_gpu"));
#else
  add(RunToRun<T>());
  for (const char* name : {"CUB not_guaranteed", "CUB gpu_to_gpu"}) {
    rows.push_back({.name = name, .where = kGpuHot, .seconds = {}, .not_measured = "built with a CCCL older than 3.1: set SAMESUM_CCCL"});
  }
#endif
  check(cudaFree(buffers));
  check(cudaFree(permuted));
  check(cudaFree(result));
  check(cudaStreamDestroy(stream));
  return rows;
}

}  // namespace

std::vector<Row> measure_cub(const Problem& problem, const samesum::bench::Effort& effort) try {
  return problem.data.type() == samesum::DType::float32 ? measure_all<float>(problem, effort) : measure_all<double>(problem, effort);
} catch (const std::exception& error) {
  return {{.name = "CUB", .where = kGpuHot, .seconds = {}, .not_measured = error.what()}};
}

}  // namespace peers
