// Histograms on the CPU: samesum with one and two threads beside a plain loop of one thread, OpenCV and numpy, on the same data in one run.
#include "histogram/cpu/count.hpp"
#include "histogram/plan.hpp"
#include "ladder/timing.hpp"

#include <samesum/bench_histogram.hpp>
#include <samesum/histogram.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using samesum::Array;
using samesum::DType;
using Counts = std::vector<std::uint64_t>;

template <class Count>
Counts show(const char* name, const char* data, std::uint64_t size, const Count& count) {
  Counts counts;
  const samesum::bench::Timer timer = samesum::bench::host_timer([&] { counts = count(); });
  samesum::bench::Effort effort;
  effort.runs = 21;
  const samesum::bench::Statistics seconds = samesum::bench::measure(timer, effort);
  fmt::print("{:<24}{:<10}{:8.2f} 10^9/s, 9 of 10 runs under {:.2f}\n", name, data, static_cast<double>(size) / seconds.median / 1e9,
             static_cast<double>(size) / seconds.low / 1e9);
  std::fflush(stdout);
  return counts;
}

// numpy and OpenCV read the same bytes from a file in memory.
void show_python(Array data, const char* name) {
  const int file = memfd_create("histograms", 0);
  const auto* bytes = static_cast<const char*>(data.data());
  for (std::uint64_t done = 0; done < data.bytes();) {
    const ssize_t written = write(file, bytes + done, data.bytes() - done);
    if (written <= 0) return fmt::print("no memory for numpy's copy\n");
    done += static_cast<std::uint64_t>(written);
  }
  const std::string script =
      fmt::format("python3 {}/others.py {} {} /proc/{}/fd/{}", HISTOGRAMS_SOURCE, samesum::name_of(data.type()), name, getpid(), file);
  if (std::system(script.c_str()) != 0) fmt::print("python3 with numpy did not run\n");
  close(file);
}

bool compare(Array data, const char* kind, const samesum::Bins& bins) {
  const samesum::binning::Plan plan(bins, data.type());
  const Counts plain = show("plain loop, 1 thread", kind, data.size(), [&] {
    Counts counts(bins.count());
    samesum::binning::count_plainly(data, bins.low(), bins.high(), static_cast<std::uint32_t>(bins.count()), counts.data());
    return counts;
  });
  show("samesum, 1 thread", kind, data.size(), [&] { return samesum::binning::count_on_cpu(data, plan, 1); });
  const Counts slots = show("samesum, 2 threads", kind, data.size(), [&] { return samesum::binning::count_on_cpu(data, plan, 2); });
  show_python(data, kind);
  return std::equal(plain.begin(), plain.end(), slots.begin() + 1);
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t size = std::uint64_t{1} << (count > 1 ? std::atoi(arguments[1]) : 28);
  bool same = true;
  for (const std::string& kind : samesum::bench::histogram_data_kinds()) {
    const std::vector<std::uint8_t> bytes = samesum::bench::histogram_data(kind, size);
    same = compare(Array(bytes.data(), size, DType::uint8), kind.c_str(), samesum::Bins::each_value(DType::uint8)) && same;
  }
  const std::vector<std::uint8_t> random = samesum::bench::histogram_data("uniform", size);
  std::vector<float> floats(size / 4);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(random[4 * i] + 256 * random[4 * i + 1] + 65536 * random[4 * i + 2]) * 0x1p-24f;
  }
  same = compare(Array(floats.data(), floats.size(), DType::float32), "float32", samesum::Bins::even(0, 1, 256)) && same;
  fmt::print("counts {}\n", same ? "agree" : "DIFFER");
  return same ? 0 : 1;
}
