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
KERNEL FIXED_GROUP(1024, 2) void heat(GLOBAL uint* state, GLOBAL float* from, GLOBAL float* to, uint side, uint steps) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  for (uint s = 0; s < steps; ++s) {
    for (uint i = grid.group * group_size() + local_id(); i < side * side; i += grid.groups * group_size())
      (s % 2 ? from : to)[i] = step(s % 2 ? to : from, i, side);
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
    const samesum::Kernel whole(device, kSource, "heat"), one(device, kSource, "heat_step");
    const samesum::Buffer a(device, 4 * plate.size()), b(device, 4 * plate.size());
    const auto steps_of_launches = [&] {
      for (std::uint32_t s = 0; s < steps; ++s) launch(device, one, {s % 2 ? b : a, s % 2 ? a : b, side}, side * side / 256, 256);
    };
    const auto run = [&](const char* name, const auto& work) {
      std::chrono::duration<double, std::milli> time{};
      for (int i = 0; i < 2; ++i) {  // the first time warms up
        a.write(plate.data(), a.bytes());
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
    const samesum::GridOptions large{1024};  // few large groups wait for each other sooner than many small
    const auto expected = run("a launch a step", steps_of_launches);
    right = run("one launch", [&] { launch_grid(device, whole, {a, b, side, steps}, large).wait(); }) == expected && right;
    if (const auto graph = record(device, steps_of_launches)) right = run("a graph", [&] { graph->replay(); }) == expected && right;
  }
  return right ? 0 : 1;
}
