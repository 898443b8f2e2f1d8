// Reductions on the CPU beside reading, in one run and in turns. Reading is the fastest of many ways: lines fetched 0 to 4 KiB ahead, in
// one to eight places at once. Prints for each row the median time of an element, and its fraction of the rate of reading: the median of
// the rounds' ratios, with the 10th and the 90th percentile.
//
//   c++ -std=c++20 -O3 -march=native -Iinclude bench/reductions_cpu.cpp -o reductions_cpu build/release/libsamesum.a -ltbb -lz -lzstd -ldl
//   ./reductions_cpu 28 2 15                      # log2 of the elements, threads, rounds
//   ./reductions_cpu 28 2 15 'float32 .*sum$'     # rows whose names this regular expression is found in
#include <samesum/bench.hpp>
#include <samesum/samesum.hpp>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace samesum;

double seconds_of(const std::function<void()>& call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

// --- reading

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif
using Vector = std::uint64_t __attribute__((vector_size(kVectorBytes), aligned(kVectorBytes)));  // one register
constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;  // a thread's turn

template <std::size_t kPlaces>
std::uint64_t read_in_places(const char* from, std::uint64_t bytes, std::size_t ahead) {
  constexpr std::size_t kSums = kPlaces < 4 ? 4 : kPlaces, kLines = kSums / kPlaces;
  const std::uint64_t distance = bytes / kPlaces;
  Vector sums[kSums] = {};
  for (std::uint64_t i = 0; i < distance; i += kLines * kLineBytes) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < kSums; ++n) {
      const char* const at = from + n / kLines * distance + i + n % kLines * kLineBytes;
      if (ahead != 0) __builtin_prefetch(at + ahead);
#pragma GCC unroll 4
      for (std::size_t part = 0; part < kLineBytes; part += sizeof(Vector)) {
        Vector x = *reinterpret_cast<const Vector*>(at + part);
        asm volatile("" : "+x"(x));  // else a loop over all sums would be made of it
        sums[n] ^= x;
      }
    }
  }
  std::uint64_t all = 0;
  for (const Vector& sum : sums) {
    for (std::size_t lane = 0; lane < kVectorBytes / sizeof(std::uint64_t); ++lane) all ^= sum[lane];
  }
  return all;
}

struct Way {
  std::size_t places = 1, ahead = 0;
  std::uint64_t operator()(const char* from, std::uint64_t bytes) const {
    switch (places) {
      case 1:
        return read_in_places<1>(from, bytes, ahead);
      case 2:
        return read_in_places<2>(from, bytes, ahead);
      case 4:
        return read_in_places<4>(from, bytes, ahead);
      default:
        return read_in_places<8>(from, bytes, ahead);
    }
  }
};

// Threads take chunks in turns, if there are many; else each takes one part.
void read(const Array& array, const Way& way, int threads) {
  const auto* const from = static_cast<const char*>(array.data());
  const std::uint64_t bytes = array.bytes();
  if (threads == 1) {
    [[maybe_unused]] volatile std::uint64_t sink = way(from, bytes);
    return;
  }
  const std::uint64_t chunk = std::min<std::uint64_t>(kChunk, bytes / threads);
  tbb::parallel_for(
      0, threads,
      [&](int thread) {
        for (std::uint64_t first = thread * chunk; first < bytes; first += threads * chunk) {
          [[maybe_unused]] volatile std::uint64_t sink = way(from + first, chunk);
        }
      },
      tbb::simple_partitioner());
}

// --- the rows

struct Work {
  std::string name;
  double arrays;  // that it reads
  std::function<void(const Array&, const Array&, const Options&)> run;
};

const Work kWork[] = {
    {"sum", 1, [](const Array& a, const Array&, const Options& o) { sum(a, o); }},
    {"mean", 1, [](const Array& a, const Array&, const Options& o) { mean(a, o); }},
    {"dot", 2, [](const Array& a, const Array& b, const Options& o) { dot(a, b, o); }},
    {"norm", 1, [](const Array& a, const Array&, const Options& o) { norm(a, o); }},
    {"variance", 1, [](const Array& a, const Array&, const Options& o) { variance(a, 0, o); }},
    {"nonzeros", 1, [](const Array& a, const Array&, const Options& o) { count_nonzero(a, o); }},
    {"extremes", 1, [](const Array& a, const Array&, const Options& o) { minmax(a, o); }},
    {"product", 1, [](const Array& a, const Array&, const Options& o) { product(a, o); }},
    {"statistics", 1, [](const Array& a, const Array&, const Options& o) { collect(a, {}, o); }},
};

}  // namespace

int main(int argc, char** argv) {
  const int exponent = argc > 1 ? std::atoi(argv[1]) : 28;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 9;
  const std::regex wanted(argc > 4 ? argv[4] : "");
  const std::uint64_t size = std::uint64_t{1} << exponent;
  const int calls = std::max(1, (1 << 21) >> exponent);
  Options options{.device = Device::open("cpu")};
  options.tuning.threads = static_cast<std::uint32_t>(threads);
  for (const DType type : {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8}) {
    for (const auto kind : {bench::DataKind::uniform, bench::DataKind::normal, bench::DataKind::lognormal, bench::DataKind::bits}) {
      struct Row {
        const Work* work;
        std::string name;
        std::vector<double> seconds = {}, fractions = {};
      };
      std::vector<Row> rows;
      for (const Work& work : kWork) {
        Row row{&work, std::string(name_of(type)) + " " + std::string(name_of(kind)) + " " + work.name};
        if (std::regex_search(row.name, wanted)) rows.push_back(std::move(row));
      }
      if (rows.empty()) continue;
      const bench::Data data(kind, type, size);
      std::optional<bench::Data> other;
      if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.work->arrays == 2; })) other.emplace(kind, type, size, 2);
      const Array a = data.view(), b = other ? other->view() : a;
      Way best;
      double least = 1e9;
      for (const std::size_t places : {1, 2, 4, 8}) {
        for (const std::size_t ahead : {0, 512, 1024, 2048, 4096}) {
          const Way way{places, ahead};
          for (int i = 0; i < 5; ++i) {
            const double seconds = seconds_of([&] { read(a, way, threads); }, calls);
            if (seconds < least) best = way, least = seconds;
          }
        }
      }
      for (const Row& row : rows) row.work->run(a, b, options);
      std::vector<double> reading;
      for (int round = 0; round < rounds; ++round) {
        for (Row& row : rows) {
          const double read_seconds = seconds_of([&] { read(a, best, threads); }, calls);
          const double seconds = seconds_of([&] { row.work->run(a, b, options); }, calls);
          reading.push_back(read_seconds);
          row.seconds.push_back(seconds);
          row.fractions.push_back(read_seconds * row.work->arrays / seconds);
        }
      }
      const double ns = 1e9 / static_cast<double>(size);
      std::printf("%s %s: reading %.4f ns, %.1f GB/s (%zu places, %zu bytes ahead)\n", name_of(type).data(), name_of(kind).data(),
                  quantile(reading, 0.5) * ns, static_cast<double>(a.bytes()) / quantile(reading, 0.5) * 1e-9, best.places, best.ahead);
      for (const Row& row : rows) {
        std::printf("%-32s %8.4f ns  %.3f (%.3f to %.3f)\n", row.name.c_str(), quantile(row.seconds, 0.5) * ns,
                    quantile(row.fractions, 0.5), quantile(row.fractions, 0.1), quantile(row.fractions, 0.9));
      }
      std::fflush(stdout);
    }
  }
}
