// Heat spreading over a plate, 1000 steps: one launch with a grid barrier a step, against a launch a step, against a CUDA graph of them.
#include <samesum/barrier.hpp>

#include <chrono>
#include <cstdio>
#include <vector>

constexpr const char* kSource = R"(
FN float step(GLOBAL const float* t, uint i, uint side) {  // the rim keeps its temperature
  const uint row = i / side, column = i % side;
  if (row == 0 || column == 0 || row == side - 1 || column == side - 1) return t[i];
  return mul_rn_f32(0.25f, add_rn_f32(add_rn_f32(t[i - 1], t[i + 1]), add_rn_f32(t[i - side], t[i + side])));
}
KERNEL void heat_step(GLOBAL const float* from, GLOBAL float* to, uint side) {
  for (uint i = (uint)global_id(); i < side * side; i += (uint)global_size()) to[i] = step(from, i, side);
}
KERNEL void heat(GLOBAL uint* state, GLOBAL float* from, GLOBAL float* to, uint side, uint steps) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  for (uint s = 0; s < steps; ++s) {
    for (uint i = grid.group * group_size() + local_id(); i < side * side; i += grid.groups * group_size()) to[i] = step(from, i, side);
    GLOBAL float* swapped = from;
    from = to;
    to = swapped;
    if (!grid_barrier(&grid)) return;
  }
})";

int main() {
  int wrong = 0;
  for (const samesum::DeviceInfo& info : samesum::list_devices().devices) {
    const samesum::Device device = samesum::Device::open(info.selector);
    if (!device.info().has(samesum::Capability::kernels) || !device.info().has(samesum::Capability::device_fence)) continue;
    const bool cpu = info.is_cpu;
    const std::uint32_t side = cpu ? 64 : 1024, steps = cpu ? 20 : 1000;
    std::vector<float> plate(side * side, 0.0f), results[3];
    for (std::uint32_t i = 0; i < side; ++i) plate[i] = 100.0f;
    const samesum::Kernel whole(device, kSource, "heat"), one(device, kSource, "heat_step");
    const samesum::Buffer a(device, 4 * plate.size()), b(device, 4 * plate.size());
    const std::uint32_t group_size = 256, groups = side * side / group_size;
    const auto steps_of_launches = [&] {
      for (std::uint32_t s = 0; s < steps; ++s) launch(device, one, {s % 2 ? b : a, s % 2 ? a : b, side}, groups, group_size);
    };
    const auto run = [&](const char* name, std::vector<float>& result, const auto& work) {
      double seconds = 0;
      for (int i = 0; i < 2; ++i) {  // the first time warms up
        for (const samesum::Buffer& buffer : {a, b}) buffer.write(plate.data(), buffer.bytes());
        const auto start = std::chrono::steady_clock::now();
        work();
        finish(device);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
      result.resize(plate.size());
      (steps % 2 ? b : a).read(result.data(), a.bytes());
      std::printf("%-10s %-16s %8.3f ms for %u steps of %u x %u\n", info.selector.c_str(), name, 1e3 * seconds, steps, side, side);
    };
    run("one launch", results[0], [&] { launch_grid(device, whole, {a, b, side, steps}).wait(); });
    run("a launch a step", results[1], steps_of_launches);
    const auto graph = record(device, steps_of_launches);
    if (graph) run("a graph", results[2], [&] { graph->replay(); });
    if (results[0] != results[1] || (graph && results[0] != results[2]) || results[0][side + 1] == 0.0f) ++wrong;
  }
  return wrong;
}
