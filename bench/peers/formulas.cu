// Formulas and operators beside CUB's TransformReduce with the same functors, and all pairs by formula beside the functions with names.
// Over the public headers alone, on one stream, in CUDA graphs that are replayed; results stay in device memory. CUB adds floats, and is
// compiled ahead; samesum's sums are exact.
//
//   formulas 10 16 20 24 28        # log2 of the elements; then the pairs, of 2^17 vectors each
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#include <samesum/buffer.hpp>
#include <samesum/operator.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>
#include <samesum/samesum.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace samesum;

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

// Microseconds of one call: the median of 25 replays of a graph of `calls`.
double time_of(cudaStream_t stream, const std::function<void()>& enqueue, int calls) {
  enqueue();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < calls; ++i) enqueue();
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  std::vector<float> times;
  for (int run = 0; run < 30; ++run) {
    float milliseconds = 0;
    check(cudaEventRecord(start, stream));
    check(cudaGraphLaunch(executable, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&milliseconds, start, end));
    if (run >= 5) times.push_back(1000 * milliseconds / static_cast<float>(calls));
  }
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

template <class T>
struct Memory {
  explicit Memory(std::size_t count) : bytes(count * sizeof(T)) { check(cudaMalloc(&data, bytes)); }
  explicit Memory(const std::vector<T>& values) : Memory(values.size()) {
    check(cudaMemcpy(data, values.data(), bytes, cudaMemcpyHostToDevice));
  }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
  Array array(const Device& device) const { return {Buffer::wrap(device, data, bytes), bytes / sizeof(T), dtype_of<T>()}; }
  T* data = nullptr;
  std::size_t bytes;
};

struct Square {
  __device__ float operator()(float x) const { return x * x; }
};
struct FromMean {
  __device__ float operator()(float x) const { return (x - 0.25f) * (x - 0.25f); }
};
struct Bell {
  __device__ float operator()(float x) const { return expf(-x * x); }
};
struct Product {
  __device__ float operator()(const thrust::tuple<float, float>& pair) const { return thrust::get<0>(pair) * thrust::get<1>(pair); }
};
struct Complex {
  float re, im;
};
struct ToComplex {
  __device__ Complex operator()(const thrust::tuple<float, float>& pair) const { return {thrust::get<0>(pair), thrust::get<1>(pair)}; }
};
struct TimesComplex {
  __device__ Complex operator()(Complex a, Complex b) const { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};
struct Scaled {
  float greatest, sum;  // of exp(x - greatest)
};
struct ToScaled {
  __device__ Scaled operator()(float x) const { return {x, 1}; }
};
struct AddScaled {
  __device__ Scaled operator()(Scaled a, Scaled b) const {
    const float t = expf(-fabsf(a.greatest - b.greatest));
    return a.greatest > b.greatest ? Scaled{a.greatest, a.sum + b.sum * t} : Scaled{b.greatest, b.sum + a.sum * t};
  }
};
struct MulMod {
  __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a * b % 1000003; }
};
struct ToWide {
  __device__ std::uint64_t operator()(std::uint32_t x) const { return x; }
};

class Reductions {
 public:
  Reductions(cudaStream_t stream, const Device& device, int power)
      : stream_(stream), device_(device), power_(power), n_(std::size_t{1} << power), out_(64), storage_(std::size_t{16} << 20) {
    std::vector<float>&x = host_x_, &y = host_y_;
    x.resize(n_);
    y.resize(n_);
    std::vector<std::uint32_t> m(n_);
    std::uint64_t state = 1;
    for (std::size_t k = 0; k < n_; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x[k] = static_cast<float>(state >> 40) * 0x1p-24f - 0.5f;
      y[k] = static_cast<float>(state >> 20 & 0xffffff) * 0x1p-24f;
      m[k] = static_cast<std::uint32_t>(state >> 45) % 1000002 + 1;
    }
    x_ = std::make_unique<Memory<float>>(x);
    y_ = std::make_unique<Memory<float>>(y);
    m_ = std::make_unique<Memory<std::uint32_t>>(m);
  }

  void run() {
    const int n = static_cast<int>(n_);
    const auto pair =
        thrust::make_zip_iterator(thrust::make_tuple(static_cast<const float*>(x_->data), static_cast<const float*>(y_->data)));
    auto* const real = reinterpret_cast<float*>(out_.data + 32);
    const auto add = cuda::std::plus<>{};
    row("x", 4, map_plan("x", false), [&](std::size_t& b) { return cub::DeviceReduce::Sum(storage_.data, b, x_->data, real, n, stream_); });
    row("x*x", 4, map_plan("x*x", false), [&](std::size_t& b) {
      return cub::DeviceReduce::TransformReduce(storage_.data, b, x_->data, real, n, add, Square{}, 0.0f, stream_);
    });
    row("(x-m)*(x-m)", 4, map_plan("(x-m)*(x-m)", false), [&](std::size_t& b) {
      return cub::DeviceReduce::TransformReduce(storage_.data, b, x_->data, real, n, add, FromMean{}, 0.0f, stream_);
    });
    row("exp(-x*x)", 4, map_plan("exp(-x*x)", false), [&](std::size_t& b) {
      return cub::DeviceReduce::TransformReduce(storage_.data, b, x_->data, real, n, add, Bell{}, 0.0f, stream_);
    });
    row("x*y", 8, map_plan("x*y", true),
        [&](std::size_t& b) { return cub::DeviceReduce::TransformReduce(storage_.data, b, pair, real, n, add, Product{}, 0.0f, stream_); });
    row("complex product", 8,
        operator_plan("(x, y)", "(a[0]*b[0] - a[1]*b[1], a[0]*b[1] + a[1]*b[0])", {x_->array(device_), y_->array(device_)}),
        [&](std::size_t& b) {
          return cub::DeviceReduce::TransformReduce(storage_.data, b, pair, reinterpret_cast<Complex*>(real), n, TimesComplex{},
                                                    ToComplex{}, Complex{1, 0}, stream_);
        });
    row("log-sum-exp", 4,
        operator_plan("(x, float32(1))",
                      "let d = a[0] - b[0]; let t = exp(-abs(d)); (max(a[0], b[0]), d > 0 ? a[1] + b[1]*t : b[1] + a[1]*t)",
                      {x_->array(device_)}),
        [&](std::size_t& b) {
          return cub::DeviceReduce::TransformReduce(storage_.data, b, x_->data, reinterpret_cast<Scaled*>(real), n, AddScaled{}, ToScaled{},
                                                    Scaled{-INFINITY, 0}, stream_);
        });
    row("mulmod(a, b, p)", 4, operator_plan("x", "mulmod(a, b, 1000003)", {m_->array(device_)}), [&](std::size_t& b) {
      return cub::DeviceReduce::TransformReduce(storage_.data, b, m_->data, reinterpret_cast<std::uint64_t*>(real), n, MulMod{}, ToWide{},
                                                std::uint64_t{1}, stream_);
    });
  }

 private:
  std::function<void()> map_plan(const char* text, bool two) {
    std::vector<FormulaInput> inputs = {{"x", x_->array(device_)}};
    std::vector<Array> arrays = {x_->array(device_)};
    if (two) {
      inputs.emplace_back("y", y_->array(device_));
      arrays.push_back(y_->array(device_));
    }
    std::vector<FormulaParameter> parameters;
    if (std::strchr(text, 'm') != nullptr) parameters.emplace_back("m", 0.25);
    const auto plan = std::make_shared<Plan>(
        device_, FormulaFields{Formula(text, FormulaMath::native), inputs, parameters, Fields{.extrema = false, .squares = false, .nonzeros = false}}, n_);
    const Buffer to = Buffer::wrap(device_, records_.data, records_.bytes);
    if (n_ <= (1u << 24)) {
      plan->enqueue(arrays);
      const Device cpu = Device::open("cpu");
      std::vector<FormulaInput> on_host;
      for (const FormulaInput& input : inputs) on_host.emplace_back(input.name, Array(input.name == "x" ? host_x_ : host_y_));
      const bool right =
          plan->result<Statistics>().sum() == accumulate(*map(Formula(text), on_host, parameters), {.device = cpu});
      if (!right && std::strchr(text, 'e') == nullptr) std::printf("WRONG: %s\n", text);  // an exponential has other bits
    }
    return [plan, arrays, to] { plan->enqueue(arrays, to); };
  }
  std::function<void()> operator_plan(const char* map, const char* combine, const std::vector<Array>& arrays) {
    std::vector<FormulaInput> inputs;
    for (std::size_t k = 0; k < arrays.size(); ++k) inputs.emplace_back(k == 0 ? "x" : "y", arrays[k]);
    const auto plan = std::make_shared<Plan>(device_, ByOperator{Operator(Formula(combine, FormulaMath::native)), Formula(map), inputs}, n_);
    const Buffer to = Buffer::wrap(device_, records_.data, records_.bytes);
    return [plan, arrays, to] { plan->enqueue(arrays, to); };
  }

  void row(const char* name, double bytes, const std::function<void()>& ours, const std::function<cudaError_t(std::size_t&)>& cub) {
    const auto theirs = [&] {
      std::size_t size = storage_.bytes;
      check(cub(size));
    };
    const int calls = n_ > (1u << 25) ? 2 : 20;
    double times[2] = {1e9, 1e9};
    for (int turn = 0; turn < 2; ++turn) {
      times[0] = std::min(times[0], time_of(stream_, ours, calls));
      times[1] = std::min(times[1], time_of(stream_, theirs, calls));
    }
    std::printf("2^%-3d %-17s %9.2f %9.2f %7.2f %8.0f GB/s\n", power_, name, times[0], times[1], times[1] / times[0],
                bytes * static_cast<double>(n_) / times[0] * 1e-3);
  }

  cudaStream_t stream_;
  Device device_;
  int power_;
  std::size_t n_;
  Memory<std::byte> out_, storage_, records_{4096};
  std::vector<float> host_x_, host_y_;
  std::unique_ptr<Memory<float>> x_, y_;
  std::unique_ptr<Memory<std::uint32_t>> m_;
};

// Billions of pairs in a second, by name and by formula.
void compare_pairs(cudaStream_t stream, const Device& device, std::size_t count) {
  std::vector<float> values(3 * count);
  std::uint64_t state = 7;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(state >> 40) * 0x1p-24f - 0.5f;
  }
  const Memory<float> a(values), b(values), mass(values), out(count * 16);
  const Buffer to = Buffer::wrap(device, out.data, out.bytes);
  const auto rate = [&](std::uint64_t components, const PairsProblem& problem, std::size_t x_count) {
    Plan plan(device, problem, DType::float32, count * components);
    const Array x = a.array(device).part(0, x_count * components), y = b.array(device).part(0, count * components);
    double best = 1e30;
    for (int turn = 0; turn < 3; ++turn)
      best = std::min(best, time_of(
                                stream, [&] { plan.enqueue(x, y, to); }, 1));
    return static_cast<double>(x_count) * static_cast<double>(count) / best * 1e-3;
  };
  const auto row = [&](const char* name, std::uint64_t components, const PairsProblem& named, const char* formula, double h = 0) {
    PairsProblem by_formula = named;
    by_formula.formula = Formula(formula);
    if (h != 0) by_formula.parameters = {{"h", h}};
    const double by_name = rate(components, named, count), by_text = rate(components, by_formula, count);
    std::printf("pairs %-34s %9.1f %9.1f Gpairs/s %7.2f\n", name, by_name, by_text, by_text / by_name);
  };
  row("product", 1, {}, "a*b");
  row("product, 3 components", 3, {.components = 3}, "dot(a, b)");
  row("sqdist, 3 components", 3, {.f = PairFunction::sqdist, .components = 3}, "sqdist(a, b)");
  row("gaussian", 1, {.f = PairFunction::gaussian, .h = 0.5}, "exp(-sqdist(a, b)/h)", 0.5);
  row("gaussian, 3 components", 3, {.f = PairFunction::gaussian, .components = 3, .h = 0.5}, "exp(-sqdist(a, b)/h)", 0.5);
  row("nearest, 3 components", 3, {.f = PairFunction::sqdist, .reduction = PairReduction::argmin, .components = 3}, "sqdist(a, b)");
  row("8 nearest, 3 components", 3, {.f = PairFunction::sqdist, .reduction = PairReduction::argsmallest, .components = 3, .k = 8},
      "sqdist(a, b)");
  row("invdist, 3 components", 3, {.f = PairFunction::invdist, .components = 3, .softening = 0.125}, "1/sqrt(sqdist(a, b) + h)",
      0.125 * 0.125);
  PairsProblem gravity{.components = 3,
                       .formula = Formula("let d = b - a; let r = rsqrt(sqdist(a, b) + h); m*(r*r*r)*d"),
                       .parameters = {{"h", 0.015625}},
                       .of_y = {{"m", mass.array(device).part(0, count)}}};
  std::printf("pairs %-34s %9s %9.1f Gpairs/s\n", "softened gravity, forces", "", rate(3, gravity, count));
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<int> powers;
  for (int i = 1; i < argc; ++i) powers.push_back(std::atoi(argv[i]));
  if (powers.empty()) powers = {10, 12, 14, 16, 18, 20, 22, 24, 26, 28};
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  const Device device = Device::on_cuda_stream(stream);
  std::printf("%s, CUB %d; us a call, hot, in graphs\n", device.info().name.c_str(), CUB_VERSION);
  std::printf("%-5s %-17s %9s %9s %7s\n", "n", "", "samesum", "CUB", "ratio");
  for (const int power : powers) Reductions(stream, device, power).run();
  compare_pairs(stream, device, std::size_t{1} << 17);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "formulas: %s\n", error.what());
  return 2;
}
