// All prefix sums of an array in one launch: each group sums its part, a grid barrier, each finds what stands before it, and adds it up.
#include <samesum/barrier.hpp>

#include <cstdio>
#include <vector>

constexpr const char* kSource = R"(
KERNEL void scan(GLOBAL uint* state, GLOBAL const uint* x, GLOBAL uint* sums, GLOBAL uint* parts, uint n) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  LOCAL_VAR uint items[256];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;

  // Work-items side by side take runs side by side.
  const uint workers = grid.groups * group_size();
  const uint run = (n + workers - 1) / workers;
  const uint first = min_u32((grid.group * group_size() + local_id()) * run, n);
  const uint last = min_u32(first + run, n);
  uint sum = 0;
  for (uint i = first; i < last; ++i) sum += x[i];
  items[local_id()] = sum;
  barrier_local();
  uint before = 0;
  for (uint i = 0; i < local_id(); ++i) before += items[i];
  if (local_id() == group_size() - 1) parts[grid.group] = before + sum;

  if (!grid_barrier(&grid)) return;
  for (uint i = 0; i < grid.group; ++i) before += parts[i];
  for (uint i = first; i < last; ++i) {
    before += x[i];
    sums[i] = before;
  }
})";

int main() {
  int wrong = 0;
  std::vector<std::uint32_t> values(1000003), sums(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761u >> 8;
  for (const samesum::DeviceInfo& info : samesum::list_devices().devices) {
    const samesum::Device device = samesum::Device::open(info.selector);
    if (!device.info().has(samesum::Capability::kernels) || !device.info().has(samesum::Capability::device_fence)) continue;
    const samesum::Kernel kernel(device, kSource, "scan");
    const samesum::Buffer x(device, 4 * values.size()), result(device, 4 * values.size()), parts(device, 1 << 20);
    x.write(values.data(), x.bytes());
    const auto n = static_cast<std::uint32_t>(values.size());
    const std::uint32_t groups = launch_grid(device, kernel, {x, result, parts, n}).wait();
    result.read(sums.data(), result.bytes());
    std::uint32_t expected = 0, differ = 0;
    for (std::size_t i = 0; i < values.size(); ++i) differ += sums[i] != (expected += values[i]);
    std::printf("%-10s %u groups, %u of %u prefix sums differ\n", info.selector.c_str(), groups, differ, n);
    wrong += differ != 0;
  }
  return wrong;
}
