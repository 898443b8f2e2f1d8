// The median of an array in 32 passes over it, one for each bit: one launch with a grid barrier a pass, against a launch a pass.
#include "median_kernels.hpp"

#include <samesum/barrier.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  bool right = true;
  for (const samesum::DeviceInfo& info : samesum::list_devices().devices) {
    const samesum::Device device = samesum::Device::open(info.selector);
    if (!device.info().has(samesum::Capability::kernels) || !device.info().has(samesum::Capability::device_fence)) continue;
    const std::uint32_t n = info.is_cpu ? 10001 : 1000001, size = info.is_cpu ? 64 : 256;
    const std::uint32_t groups = info.compute_units * (info.is_cpu ? 1 : 2);
    std::vector<std::uint32_t> values(n), sorted;
    for (std::uint32_t i = 0; i < n; ++i) values[i] = i * 2654435761u;
    sorted = values;
    std::nth_element(sorted.begin(), sorted.begin() + n / 2, sorted.end());
    const std::string source = "#define ITEMS " + std::to_string((n - 1) / (groups * size) + 1) + kSource;
    const samesum::Kernel whole(device, source, "median"), pass(device, source, "median_pass");
    const samesum::Buffer x(device, 4 * n), counts(device, 4 * 33), found(device, 4 * 33);
    x.write(values.data(), x.bytes());
    const auto run = [&](const char* name, const auto& work) {
      std::chrono::duration<double, std::micro> time{};
      for (int i = 0; i < 3; ++i) {  // the first time warms up
        counts.write(std::vector<std::uint32_t>(33).data(), counts.bytes());
        finish(device);
        const auto start = std::chrono::steady_clock::now();
        work();
        finish(device);
        time = std::chrono::steady_clock::now() - start;
      }
      std::vector<std::uint32_t> result(33);
      found.read(result.data(), found.bytes());
      right = right && result[32] == sorted[n / 2];
      std::printf("%-10s %-15s %8.1f us for the median of %u numbers: %u\n", info.selector.c_str(), name, time.count(), n, result[32]);
    };
    samesum::GridOptions grid;
    grid.group_size = size;
    grid.groups = groups;
    const auto passes = [&] {
      for (std::uint32_t p = 0; p <= 32; ++p) launch(device, pass, {x, n, p, counts, found}, groups, size);
    };
    run("a launch a pass", passes);
    run("one launch", [&] { launch_grid(device, whole, {x, n, counts, found}, grid).wait(); });
    if (const auto graph = record(device, passes)) run("a graph", [&] { graph->replay(); });
  }
  return right ? 0 : 1;
}
