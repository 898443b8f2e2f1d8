// Heat spreading over a plate, 1000 steps: one launch with a grid barrier a step, against a launch a step, against a CUDA graph of them.
#include <samesum/barrier.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

constexpr const char* kSource = R"(
FN float step(GLOBAL const float* t, uint i, uint side) {  // the rim keeps its temperature
  if (i / side == 0 || i % side == 0 || i / side == side - 1 || i % side == side - 1) return t[i];
  return mul_rn_f32(0.25f, add_rn_f32(add_rn_f32(t[i - 1], t[i + 1]), add_rn_f32(t[i - side], t[i + side])));
}
KERNEL void heat_step(GLOBAL const float* from, GLOBAL float* to, uint side) { to[global_id()] = step(from, (uint)global_id(), side); }
KERNEL MAX_GROUP(1024) void heat(GLOBAL uint* state, GLOBAL float* from, GLOBAL float* to, uint side, uint steps) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  for (uint s = 0; s < steps; ++s) {
    GLOBAL float* a = s % 2 == 0 ? from : to;
    GLOBAL float* b = s % 2 == 0 ? to : from;
#pragma unroll 4
    for (uint i = grid.group * group_size() + local_id(); i < side * side; i += grid.groups * group_size()) b[i] = step(a, i, side);
    if (!grid_barrier(&grid)) return;
  }
})";

int main() {
  bool right = true;
  for (const samesum::DeviceInfo& info : samesum::list_devices().devices) {
    const samesum::Device device = samesum::Device::open(info.selector);
    if (!device.info().has(samesum::Capability::kernels) || !device.info().has(samesum::Capability::device_fence)) continue;
    const std::uint32_t side = info.is_cpu ? 64 : 1024, steps = info.is_cpu ? 20 : 1000;
    std::vector<float> plate(side * side, 0.0f);
    std::fill_n(plate.begin(), side, 100.0f);  // a hot rim
    std::vector<float> results[3] = {plate, plate, plate};
    const samesum::Kernel whole(device, kSource, "heat"), one(device, kSource, "heat_step");
    const samesum::Buffer a(device, 4 * plate.size()), b(device, 4 * plate.size());
    const auto steps_of_launches = [&] {
      for (std::uint32_t s = 0; s < steps; ++s) launch(device, one, {s % 2 ? b : a, s % 2 ? a : b, side}, side * side / 256, 256);
    };
    const auto run = [&](const char* name, std::vector<float>& result, const auto& work) {
      std::chrono::duration<double, std::milli> time{};
      for (int i = 0; i < 2; ++i) {  // the first time warms up
        a.write(plate.data(), a.bytes());
        const auto start = std::chrono::steady_clock::now();
        work();
        finish(device);
        time = std::chrono::steady_clock::now() - start;
      }
      (steps % 2 ? b : a).read(result.data(), a.bytes());
      std::printf("%-10s %-16s %8.3f ms for %u steps of %u x %u\n", info.selector.c_str(), name, time.count(), steps, side, side);
    };
    samesum::GridOptions options;
    options.group_size = std::min(1024u, device.info().max_group_size);  // few large groups wait for each other sooner than many small ones
    run("one launch", results[0], [&] { launch_grid(device, whole, {a, b, side, steps}, options).wait(); });
    run("a launch a step", results[1], steps_of_launches);
    const auto graph = record(device, steps_of_launches);
    if (graph) run("a graph", results[2], [&] { graph->replay(); });
    right = right && results[0] == results[1] && (!graph || results[0] == results[2]) && results[0][side + 1] != 0;
  }
  return right ? 0 : 1;
}
