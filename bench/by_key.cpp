// Exact sums by index and weighted histograms, beside the sum of the same values, reading as many bytes and, on the CPU, a loop over doubles.
// Prints for each the median of all rounds, per element, the rate of the bytes read (values and indices of 4 bytes; samples and weights), and
// its part of the rate of reading. Sums by index stay on the device; those of bins are read.
//
//   c++ -std=c++20 -O2 -Iinclude bench/by_key.cpp -o by_key build/release/libsamesum.a -ltbb -lz -lzstd -ldl
//   ./by_key cuda:0 28 7              # device, log2 of the elements, rounds
//   ./by_key cuda:0 28 7 histograms   # or keys: these alone
#include <samesum/bench.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/samesum.hpp>
#include <samesum/weighted_histogram.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace samesum;

// Where elements lie on the device, or on the host for the CPU.
template <class T>
Array placed(const Device& device, const std::vector<T>& values) {
  if (!device.info().has(Capability::kernels)) return Array(values);
  const Buffer buffer(device, values.size() * sizeof(T));
  buffer.write(values.data(), values.size() * sizeof(T));
  return Array(buffer, values.size(), Array(values).type());
}

double median_seconds(int rounds, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    if (round != 0) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

double read_rate = 0;  // bytes per second

void print(const std::string& name, double seconds, double elements, double bytes) {
  std::printf("%-52s %9.4f ns an element  %8.1f GB/s  %.3f\n", name.c_str(), 1e9 * seconds / elements, 1e-9 * bytes / seconds,
              bytes / seconds / read_rate);
  std::fflush(stdout);
}

void measure_reading(const Device& device, std::uint64_t bytes) {
  bench::CeilingOptions options;
  options.sizes = {bytes};
  options.arithmetic = options.latency = false;
  const bench::Ceiling ceiling = bench::measure_ceiling(device, options);
  for (const bench::ReadRate& rate : ceiling.reads) read_rate = std::max(read_rate, rate.bytes_per_second);
  std::printf("reading %.1f GB: %.1f GB/s\n", 1e-9 * static_cast<double>(bytes), 1e-9 * read_rate);
}

// Indices of 2^bits groups: uniform, or by Zipf's law (of which the inverse of the approximate distribution is drawn); sorted, or not.
std::vector<std::int32_t> indices(std::size_t size, int bits, bool zipf, bool sorted) {
  std::mt19937_64 random(2);
  std::vector<std::int32_t> all(size);
  const double groups = std::exp2(bits);
  for (std::int32_t& index : all) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    index = static_cast<std::int32_t>(std::min(zipf ? std::pow(groups, u) - 1 : u * groups, groups - 1));
  }
  if (sorted) {
    std::sort(all.begin(), all.end());
  } else if (zipf) {  // frequent groups are no neighbours
    for (std::int32_t& index : all) {
      index = static_cast<std::int32_t>((static_cast<std::uint32_t>(index) * 0x9e3779b1u) & ((1u << bits) - 1));
    }
  }
  return all;
}

template <class T>
std::vector<T> uniform(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(random() >> 40) * static_cast<T>(0x1p-24);
  return values;
}

template <class T>
void measure_keys(const Device& device, std::size_t size, int rounds, const char* type) {
  const std::vector<T> values = uniform<T>(size, 1);
  const Array x = placed(device, values);
  const double count = static_cast<double>(size), bytes = count * (sizeof(T) + 4);
  print(std::string(type) + " sum", median_seconds(rounds, [&] { accumulate(x, {.device = device}); }), count, count * sizeof(T));
  const bool on_host = !device.info().has(Capability::kernels);
  for (const int bits : {4, 10, 16, 20, 24}) {
    const std::uint64_t groups = std::uint64_t{1} << bits;
    std::vector<double> host_sums(groups);
    const Array to = on_host ? Array(host_sums) : Array(Buffer(device, 8 * groups), groups, DType::float64);
    for (const bool zipf : {false, true}) {
      for (const bool sorted : {false, true}) {
        const std::vector<std::int32_t> of = indices(size, bits, zipf, sorted);
        const Array keys = placed(device, of);
        const std::string name =
            std::string(type) + " 2^" + std::to_string(bits) + (zipf ? " Zipf" : " uniform") + (sorted ? " sorted" : "");
        for (const bool counts : {false, true}) {
          const double seconds = median_seconds(rounds, [&] {
            GroupSums sums(groups, {.counts = counts});
            sums.add(x, keys);
            sums.sums(to);
          });
          print(name + (counts ? ", counts" : ""), seconds, count, bytes);
        }
        if (!on_host) continue;
        print(name + ", doubles",
              median_seconds(rounds,
                             [&] {
                               std::fill(host_sums.begin(), host_sums.end(), 0.0);
                               for (std::size_t i = 0; i < size; ++i)
                                 host_sums[static_cast<std::size_t>(of[i])] += static_cast<double>(values[i]);
                             }),
              count, bytes);
      }
    }
  }
}

template <class T>
void measure_histograms(const Device& device, std::size_t size, int rounds, const char* type) {
  std::vector<T> samples = uniform<T>(size, 1), weights = uniform<T>(size, 2);
  const Array w = placed(device, weights);
  const double count = static_cast<double>(size), bytes = 2 * count * sizeof(T);
  for (const char* const data : {"uniform", "skewed", "equal"}) {
    if (data[0] == 's') {
      for (T& x : samples) x = x * x * x * x * x * x * x * x;
    } else if (data[0] == 'e') {
      std::fill(samples.begin(), samples.end(), T{0.5});
    }
    const Array x = placed(device, samples);
    for (const std::uint64_t bins : {256, 4096, 65536}) {
      for (const bool squares : {false, true}) {
        const double seconds = median_seconds(rounds, [&] {
          WeightedHistogram histogram({Bins::even(0, 1, bins)}, squares);
          histogram.add({x}, w, {.device = device});
          static_cast<void>(histogram.sums());
        });
        print(std::string(type) + " " + data + " histogram of " + std::to_string(bins) + (squares ? ", squares" : ""), seconds, count, bytes);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = Device::open(argc > 1 ? argv[1] : "cpu");
  const std::size_t size = std::size_t{1} << (argc > 2 ? std::atoi(argv[2]) : 24);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  const std::string only = argc > 4 ? argv[4] : "";
  measure_reading(device, 8 * size);
  if (only != "histograms") {
    measure_keys<float>(device, size, rounds, "float32");
    measure_keys<double>(device, size, rounds, "float64");
  }
  if (only != "keys") {
    measure_histograms<float>(device, size, rounds, "float32");
    measure_histograms<double>(device, size, rounds, "float64");
  }
}
