// Exact sums by index and weighted histograms, beside the sum of the same values, reading as many bytes and, on the CPU, a loop over
// doubles. Prints for each the median of all rounds, per element, the rate of the bytes read (values and indices of 4 bytes; samples and
// weights), and its part of the rate of reading. Sums by index stay on the device; those of bins are read.
//
//   c++ -std=c++20 -O2 -Iinclude bench/by_key.cpp -o by_key build/release/libsamesum.a -ltbb -lz -lzstd -ldl
//   ./by_key cuda:0 28 7              # device, log2 of the elements, rounds
//   ./by_key cuda:0 28 7 'float32 2.4 '   # rows whose names this regular expression is found in
#include "placed.hpp"

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
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace samesum;

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

std::regex rows(".*");
bool wanted(const std::string& name) { return std::regex_search(name, rows); }

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

// A number in [0, 1) for each element, of which the same always has the same (G. Steele and others, Fast splittable pseudorandom number
// generators, 2014).
double uniform_at(std::uint64_t i, std::uint64_t seed) {
  std::uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15u + seed;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

// All elements on all cores.
template <class T, class Make>
std::vector<T> made(std::size_t size, const Make& make) {
  std::vector<T> all(size);
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency()), each = (size + threads - 1) / threads;
  std::vector<std::thread> running;
  for (std::size_t first = 0; first < size; first += each) {
    running.emplace_back([&, first] {
      for (std::size_t i = first; i < std::min(size, first + each); ++i) all[i] = static_cast<T>(make(i));
    });
  }
  for (std::thread& thread : running) thread.join();
  return all;
}

// Indices of 2^bits groups: uniform, or by Zipf's law, by the inverse of the approximate distribution; sorted, or not.
std::vector<std::int32_t> indices(std::size_t size, int bits, bool zipf, bool sorted) {
  const double groups = std::exp2(bits);
  return made<std::int32_t>(size, [=](std::size_t i) {
    const double u = sorted ? (static_cast<double>(i) + 0.5) / static_cast<double>(size) : uniform_at(i, 2);
    const auto index = static_cast<std::int32_t>(std::min(zipf ? std::pow(groups, u) - 1 : u * groups, groups - 1));
    if (sorted || !zipf) return index;
    return static_cast<std::int32_t>((static_cast<std::uint32_t>(index) * 0x9e3779b1u) &
                                     ((1u << bits) - 1));  // frequent ones are no neighbours
  });
}

template <class T>
std::vector<T> uniform(std::size_t size, unsigned seed) {
  return made<T>(size, [=](std::size_t i) { return std::floor(uniform_at(i, seed) * 0x1p24) * 0x1p-24; });
}

template <class T>
void measure_keys(const Device& device, std::size_t size, int rounds, const char* type) {
  const std::vector<T> values = uniform<T>(size, 1);
  const Array x = placed(device, values);
  const double count = static_cast<double>(size), bytes = count * (sizeof(T) + 4);
  if (wanted(type + std::string(" sum")))
    print(std::string(type) + " sum", median_seconds(rounds, [&] { accumulate(x, {.device = device}); }), count, count * sizeof(T));
  const bool on_host = !device.info().has(Capability::kernels);
  for (const int bits : {4, 10, 16, 20, 24}) {
    const std::uint64_t groups = std::uint64_t{1} << bits;
    std::vector<double> host_sums(groups);
    const Array to = on_host ? Array(host_sums) : Array(Buffer(device, 8 * groups), groups, DType::float64);
    for (const bool zipf : {false, true}) {
      for (const bool sorted : {false, true}) {
        const std::string name =
            std::string(type) + " 2^" + std::to_string(bits) + (zipf ? " Zipf" : " uniform") + (sorted ? " sorted" : " unsorted");
        if (!wanted(name) && !wanted(name + ", counts")) continue;
        const std::vector<std::int32_t> of = indices(size, bits, zipf, sorted);
        const Array keys = placed(device, of);
        for (const bool counts : {false, true}) {
          if (!wanted(name + (counts ? ", counts" : ""))) continue;
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
      samples = made<T>(size, [&](std::size_t i) { return std::pow(samples[i], T{8}); });
    } else if (data[0] == 'e') {
      std::fill(samples.begin(), samples.end(), T{0.5});
    }
    const Array x = placed(device, samples);
    for (const std::uint64_t bins : {256, 4096, 65536}) {
      for (const bool squares : {false, true}) {
        const std::string name = std::string(type) + " " + data + " histogram of " + std::to_string(bins) + (squares ? ", squares" : "");
        if (!wanted(name)) continue;
        const double seconds = median_seconds(rounds, [&] {
          WeightedHistogram histogram({Bins::even(0, 1, bins)}, squares);
          histogram.add({x}, w, {.device = device});
          static_cast<void>(histogram.sums());
        });
        print(name, seconds, count, bytes);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = Device::open(argc > 1 ? argv[1] : "cpu");
  const std::size_t size = std::size_t{1} << (argc > 2 ? std::atoi(argv[2]) : 24);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  if (argc > 4) rows = argv[4];
  measure_reading(device, 8 * size);
  measure_keys<float>(device, size, rounds, "float32");
  measure_keys<double>(device, size, rounds, "float64");
  measure_histograms<float>(device, size, rounds, "float32");
  measure_histograms<double>(device, size, rounds, "float64");
}
