// Heat spreading over a plate, 1000 steps: one launch with a grid barrier a step, against a launch a step, against a CUDA graph of them.
#include "heat_kernels.hpp"

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
    const std::uint32_t side = info.is_cpu ? 64 : std::min(info.max_group_size, 1024u), steps = info.is_cpu ? 20 : 1000;
    std::uint32_t rows = 2;  // so many that all groups can be resident, of which a compute unit has at least one
    while (side / rows > std::max(info.compute_units, 1u)) rows *= 2;
    const std::string source = "#define SIDE " + std::to_string(side) + "\n#define ROWS " + std::to_string(rows) + kSource;
    const samesum::Kernel whole(device, source, "heat"), one(device, source, "heat_step");
    const samesum::Buffer a(device, 4 * side * side), b(device, 4 * side * side);
    std::vector<float> plate(side * side, 0.0f);
    std::fill_n(plate.begin(), side, 100.0f);  // a hot rim
    const auto steps_of_launches = [&] {
      for (std::uint32_t s = 0; s < steps; ++s) launch(device, one, {s % 2 ? b : a, s % 2 ? a : b}, side * side / 256, 256);
    };
    const auto run = [&](const char* name, const auto& work) {
      std::chrono::duration<double, std::milli> time{};
      for (int i = 0; i < 2; ++i) {  // the first time warms up
        a.write(plate.data(), a.bytes());
        finish(device);
        const auto start = std::chrono::steady_clock::now();
        work();
        finish(device);
        time = std::chrono::steady_clock::now() - start;
      }
      std::printf("%-10s %-16s %8.3f ms for %u steps of %u x %u\n", info.selector.c_str(), name, time.count(), steps, side, side);
      std::vector<float> result(plate.size());
      (steps % 2 ? b : a).read(result.data(), a.bytes());
      return result;
    };
    samesum::GridOptions grid;
    grid.group_size = side;
    grid.groups = side / rows;
    const auto expected = run("a launch a step", steps_of_launches);
    right = run("one launch", [&] { launch_grid(device, whole, {a, b, steps}, grid).wait(); }) == expected && right;
    if (const auto graph = record(device, steps_of_launches)) right = run("a graph", [&] { graph->replay(); }) == expected && right;
  }
  return right ? 0 : 1;
}
