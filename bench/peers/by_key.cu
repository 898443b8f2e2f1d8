// CUB's sort and ReduceByKey, and plain atomic additions of floats, beside samesum's sums by index, over the public headers alone, on one array
// in device memory; results stay there. Each group's result of samesum's is checked against its exact sum. CUB's sort reads as many bits of the keys
// as there are groups; of sorted keys ReduceByKey alone is timed. Sums of segments are beside CUB's DeviceSegmentedReduce.
//
//   by_key 26 float32 4,16,20      # log2 of the elements (28); the type of the elements (all); log2 of the numbers of groups, or 'segments' (all)
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <samesum/buffer.hpp>
#include <samesum/by.hpp>
#include <samesum/group_sums.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

template <class T>
class Memory {
 public:
  explicit Memory(std::size_t count) : bytes(count * sizeof(T)) { check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1))); }
  explicit Memory(const std::vector<T>& values) : Memory(values.size()) {
    check(cudaMemcpy(data, values.data(), bytes, cudaMemcpyHostToDevice));
  }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  samesum::Array array(const samesum::Device& device) const {
    return samesum::Array(samesum::Buffer::wrap(device, data, bytes), bytes / sizeof(T), samesum::dtype_of<T>());
  }

  T* data = nullptr;
  std::size_t bytes;
};

double best_microseconds(const std::function<void()>& work) {
  double best = 1e30;
  for (int run = 0; run < 9; ++run) {
    check(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    work();
    check(cudaDeviceSynchronize());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 1e6 * best;
}

struct Add {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
__global__ void add_atomically(const T* values, const std::int32_t* keys, std::size_t count, T* sums) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) atomicAdd(&sums[keys[i]], values[i]);
}

// Uniform, or by Zipf's law, of which the inverse of the approximate distribution is drawn; frequent keys are no neighbours.
std::vector<std::int32_t> keys_of(std::size_t count, int bits, bool zipf) {
  std::mt19937_64 random(2);
  std::vector<std::int32_t> keys(count);
  const double groups = std::exp2(bits);
  for (std::int32_t& key : keys) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    key = static_cast<std::int32_t>(std::min(zipf ? std::pow(groups, u) - 1 : u * groups, groups - 1));
    if (zipf) key = static_cast<std::int32_t>((static_cast<std::uint32_t>(key) * 0x9e3779b1u) & ((1u << bits) - 1));
  }
  return keys;
}

template <class T>
void compare(const samesum::Device& device, const std::vector<T>& values, int bits, bool zipf, bool sorted, const char* type) {
  const std::size_t count = values.size(), groups = std::size_t{1} << bits;
  std::vector<std::int32_t> host_keys = keys_of(count, bits, zipf);
  if (sorted) {
    const Memory<std::int32_t> before(host_keys), after(count);
    std::size_t bytes = 0;
    check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, before.data, after.data, count, 0, bits));
    const Memory<char> storage(bytes);
    check(cub::DeviceRadixSort::SortKeys(storage.data, bytes, before.data, after.data, count, 0, bits));
    check(cudaMemcpy(host_keys.data(), after.data, after.bytes, cudaMemcpyDeviceToHost));
  }
  const Memory<T> x(values), sorted_x(sorted ? 0 : count), cub_sums(groups), atomic_sums(groups);
  const Memory<std::int32_t> keys(host_keys), sorted_keys(sorted ? 0 : count), unique(groups), runs(1);
  const Memory<std::conditional_t<std::is_integral_v<T>, std::int64_t, double>> sums(groups);
  const auto items = static_cast<std::int64_t>(count);

  std::size_t sort_bytes = 0, reduce_bytes = 0;
  const std::int32_t* const in_order = sorted ? keys.data : sorted_keys.data;
  const T* const x_in_order = sorted ? x.data : sorted_x.data;
  const auto sort = [&](void* storage) {
    return cub::DeviceRadixSort::SortPairs(storage, sort_bytes, keys.data, sorted_keys.data, x.data, sorted_x.data, items, 0, bits);
  };
  const auto reduce = [&](void* storage) {
    return cub::DeviceReduce::ReduceByKey(storage, reduce_bytes, in_order, unique.data, x_in_order, cub_sums.data, runs.data, Add{}, items);
  };
  if (!sorted) check(sort(nullptr));
  check(reduce(nullptr));
  const Memory<char> sort_storage(sort_bytes), reduce_storage(reduce_bytes);
  const double cub = best_microseconds([&] {
    if (!sorted) check(sort(sort_storage.data));
    check(reduce(reduce_storage.data));
  });
  const double atomics = best_microseconds([&] {
    check(cudaMemsetAsync(atomic_sums.data, 0, atomic_sums.bytes));
    add_atomically<<<132 * 8, 256>>>(x.data, keys.data, count, atomic_sums.data);
    check(cudaGetLastError());
  });
  const samesum::Array from = x.array(device), indices = keys.array(device), to = sums.array(device);
  const auto ours = [&](bool counts) {
    return best_microseconds([&] {
      samesum::GroupSums exact(groups, {.counts = counts});
      exact.add(from, indices);
      exact.sums(to);
    });
  };
  const double without = ours(false);

  samesum::GroupSums right(groups);  // on the host
  right.add(values, host_keys);
  std::vector<std::uint64_t> found(groups);
  check(cudaMemcpy(found.data(), sums.data, sums.bytes, cudaMemcpyDeviceToHost));
  const samesum::Values expected = right.sums();
  if (std::memcmp(found.data(), expected.data(), sums.bytes) != 0) std::printf("WRONG: ");
  const double with_counts = ours(true), read = 1e6 * static_cast<double>(x.bytes + keys.bytes) / 4.0e12;
  std::printf("%-8s 2^%-2d %-7s %-8s CUB %9.1f us  atomicAdd %9.1f us  samesum %9.1f us  with counts %9.1f us  CUB / samesum %6.2f  of 4 TB/s %.2f\n",
              type, bits, zipf ? "Zipf" : "uniform", sorted ? "sorted" : "unsorted", cub, atomics, without, with_counts, cub / without, read / without);
  std::fflush(stdout);
}

// Segments of 10 to 1000 elements; offsets in device memory.
template <class T>
void compare_segments(const samesum::Device& device, const std::vector<T>& values, std::size_t segments, const char* type) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> offsets = {0};
  while (offsets.size() <= segments && offsets.back() + 1000 <= static_cast<std::int64_t>(values.size())) {
    offsets.push_back(offsets.back() + 10 + static_cast<std::int64_t>(random() % 991));
  }
  segments = offsets.size() - 1;
  const Memory<T> x(values), cub_sums(segments);
  const Memory<std::int64_t> there(offsets);
  const Memory<std::conditional_t<std::is_integral_v<T>, std::int64_t, double>> sums(segments);
  std::size_t bytes = 0;
  const auto reduce = [&](void* storage) {
    return cub::DeviceSegmentedReduce::Sum(storage, bytes, x.data, cub_sums.data, static_cast<std::int64_t>(segments), there.data, there.data + 1);
  };
  check(reduce(nullptr));
  const Memory<char> storage(bytes);
  const double cub = best_microseconds([&] { check(reduce(storage.data)); });
  const samesum::Array from = x.array(device), begins = there.array(device), to = sums.array(device);
  const samesum::By by = samesum::by_offsets(begins);
  const double ours = best_microseconds([&] { samesum::sum(from, by, to); });
  samesum::GroupSums right(segments);
  right.add_segments(values, offsets);
  std::vector<std::uint64_t> found(segments);
  check(cudaMemcpy(found.data(), sums.data, sums.bytes, cudaMemcpyDeviceToHost));
  if (std::memcmp(found.data(), right.sums().data(), sums.bytes) != 0) std::printf("WRONG: ");
  const double read = 1e6 * static_cast<double>(static_cast<std::size_t>(offsets.back()) * sizeof(T)) / 4.0e12;
  std::printf("%-8s %zu segments, %lld elements  CUB %9.1f us  samesum %9.1f us  CUB / samesum %6.2f  of 4 TB/s %.2f\n", type, segments,
              static_cast<long long>(offsets.back()), cub, ours, cub / ours, read / ours);
  std::fflush(stdout);
}

template <class T>
void compare_all(const samesum::Device& device, std::size_t count, const char* type, bool normal, const std::string& wanted,
                 const std::string& groups) {
  if (!wanted.empty() && wanted != type) return;
  std::mt19937_64 random(1);
  std::normal_distribution<double> bell;
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random() >> 40);
    } else {
      value = static_cast<T>(normal ? bell(random) : static_cast<double>(random() >> 11) * 0x1p-53);
    }
  }
  for (const int bits : {4, 10, 16, 20, 24}) {
    if (!groups.empty() && ("," + groups + ",").find("," + std::to_string(bits) + ",") == std::string::npos) continue;
    for (const bool zipf : {false, true}) {
      for (const bool sorted : {false, true}) compare(device, values, bits, zipf, sorted, type);
    }
  }
  if (!groups.empty() && groups.find("segments") == std::string::npos) return;
  for (const std::size_t segments : {10'000, 1'000'000}) compare_segments(device, values, segments, type);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = std::size_t{1} << (argc > 1 ? std::atoi(argv[1]) : 28);
  const std::string type = argc > 2 ? argv[2] : "", groups = argc > 3 ? argv[3] : "";
  const samesum::Device device = samesum::Device::open("cuda:0");
  compare_all<float>(device, count, "float32", false, type, groups);
  compare_all<float>(device, count, "normal", true, type, groups);
  compare_all<double>(device, count, "float64", false, type, groups);
  compare_all<std::int32_t>(device, count, "int32", false, type, groups);
}
