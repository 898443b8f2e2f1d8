// CUB's histograms, on the kinds of data of `samesum bench histogram`: a whole call, its initialisation included. Little data in a CUDA
// graph. A program of its own: nothing of samesum is linked, so that both can be run in turns.
#include <cub/device/device_histogram.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

using Word = unsigned long long;

__device__ Word random_bits(Word i) {
  Word z = (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

enum Kind { kUniform, kEqual, kSky, kSorted };
constexpr const char* kNames[] = {"uniform", "equal", "sky", "sorted"};

__global__ void fill(std::uint8_t* to, Word n, Kind kind) {
  for (Word i = blockIdx.x * (Word)blockDim.x + threadIdx.x; i < n; i += (Word)gridDim.x * blockDim.x) {
    const Word bits = random_bits(i);
    to[i] = kind == kEqual ? 101 : kind == kSorted ? i * 256 / n : kind == kSky && bits % 100 < 85 ? 200 + (bits >> 20 & 3) : bits >> 56;
  }
}

__global__ void fill(float* to, Word n, Kind kind) {
  for (Word i = blockIdx.x * (Word)blockDim.x + threadIdx.x; i < n; i += (Word)gridDim.x * blockDim.x) {
    to[i] = kind == kEqual ? 0.3141592f : (float)(random_bits(i) >> 40) * 0x1p-24f;
  }
}

// Times call(storage, bytes, stream), which is one of CUB's.
template <class Call>
void measure(const std::string& name, Word samples, bool little, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes, cudaStream_t{}));
  void* storage = nullptr;
  check(cudaMalloc(&storage, bytes + 1));
  cudaStream_t stream;
  cudaEvent_t start, end;
  check(cudaStreamCreate(&stream));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  check(call(storage, bytes, stream));
  const int calls = little ? 20 : 2;
  cudaGraphExec_t graph = nullptr;
  if (little) {
    cudaGraph_t captured;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; ++i) check(call(storage, bytes, stream));
    check(cudaStreamEndCapture(stream, &captured));
    check(cudaGraphInstantiate(&graph, captured, 0));
  }
  std::vector<float> times;
  for (int run = 0; run < 15; ++run) {
    check(cudaEventRecord(start, stream));
    if (little) check(cudaGraphLaunch(graph, stream));
    for (int i = 0; !little && i < calls; ++i) check(call(storage, bytes, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end));
    times.push_back(milliseconds / (float)calls);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%-36s %12llu samples  %10.2f us  %8.1f 10^9/s\n", name.c_str(), samples, 1e3 * median, 1e-6 * (double)samples / median);
  check(cudaFree(storage));
}

}  // namespace

int main() {
  constexpr Word kBytes = Word{1} << 30;
  std::uint8_t* data;
  int* counts;
  check(cudaMalloc(&data, kBytes));
  check(cudaMalloc(&counts, sizeof(int) << 21));
  auto* floats = reinterpret_cast<float*>(data);

  for (const Kind kind : {kUniform, kEqual, kSky, kSorted}) {
    fill<<<2048, 256>>>(data, kBytes, kind);
    // CUB counts samples by an int: one bit less than 2^31.
    measure(std::string("uint8, 256 bins, ") + kNames[kind], kBytes, false, [&](void* storage, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceHistogram::HistogramEven(storage, bytes, data, counts, 257, 0, 256, (int)kBytes, stream);
    });
    measure(std::string("uint8 RGBA, 3 channels, ") + kNames[kind], kBytes / 4, false,
            [&](void* storage, std::size_t& bytes, cudaStream_t stream) {
              int* channels[3] = {counts, counts + 256, counts + 512};
              int levels[3] = {257, 257, 257}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
              return cub::DeviceHistogram::MultiHistogramEven<4, 3>(storage, bytes, data, channels, levels, low, high, (int)(kBytes / 4), stream);
            });
  }
  fill<<<2048, 256>>>(data, kBytes, kUniform);
  for (int power = 16; power <= 24; power += 2) {
    measure("uint8, 256 bins", Word{1} << power, true, [&](void* storage, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceHistogram::HistogramEven(storage, bytes, data, counts, 257, 0, 256, 1 << power, stream);
    });
  }
  for (const Kind kind : {kUniform, kEqual}) {
    fill<<<2048, 256>>>(floats, kBytes / 4, kind);
    for (const int bins : {256, 2048, 16384, 65536, 1 << 20}) {
      measure("float32, " + std::to_string(bins) + " bins, " + kNames[kind], kBytes / 4, false,
              [&](void* storage, std::size_t& bytes, cudaStream_t stream) {
                return cub::DeviceHistogram::HistogramEven(storage, bytes, floats, counts, bins + 1, 0.0f, 1.0f, (int)(kBytes / 4), stream);
              });
      for (int power = 16; power <= 24 && bins <= 2048 && kind == kUniform; power += 2) {
        measure("float32, " + std::to_string(bins) + " bins", Word{1} << power, true,
                [&](void* storage, std::size_t& bytes, cudaStream_t stream) {
                  return cub::DeviceHistogram::HistogramEven(storage, bytes, floats, counts, bins + 1, 0.0f, 1.0f, 1 << power, stream);
                });
      }
    }
  }
}
