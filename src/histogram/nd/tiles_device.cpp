// Histograms of tiles on devices that run kernels.
#include "histogram/nd/device_plan.hpp"
#include "histogram/nd/tiles.hpp"

#include "core/array/array_blocks.hpp"
#include "device/memory/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace samesum::binning {
namespace {

// Tiles along an axis: how many, the elements of one, bytes between elements, and what a tile adds to the number of a tile.
struct TileAxis {
  std::uint64_t tiles = 1, each = 1, number = 0;
  std::int64_t stride = 0;
};

// The axes that are not divided as one, where they are.
struct Slices {
  std::uint64_t count = 1, number = 0;
  std::int64_t stride = 0;
};

std::uint64_t size_of_stride(std::int64_t stride) { return static_cast<std::uint64_t>(stride < 0 ? -stride : stride); }

}  // namespace

device::Source tiles_source(const DevicePlan& plan, bool local_counts) {
  return plan.source("histogram/nd/tiles.cl", {{"LOCAL_COUNTS", local_counts ? "1" : "0"}});
}

bool tiles_run_on(const groups::TileBlock& block) {
  std::uint64_t each = 1;
  for (const std::int64_t axis : block.within) each *= block.data.shape()[static_cast<std::size_t>(axis)];
  return block.within.size() <= 2 && each < std::uint64_t{1} << 31;
}

void count_tiles_on_device(const groups::TileBlock& block, const std::vector<std::uint64_t>& shape, const DevicePlan& plan,
                           std::uint64_t slots, const device::Memory& memory, std::uint64_t offset, device::Device& device,
                           const device::Memory& counts) {
  const Array& data = block.data;
  const auto element = static_cast<std::int64_t>(size_of(data.type()));
  const std::size_t divided = block.within.size(), before = shape.size() - divided;
  // Numbers of tiles along each axis of the result.
  std::vector<std::uint64_t> step(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) step[i - 1] = step[i] * shape[i];
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) number += block.first[i] * step[i];
  std::array<TileAxis, 2> axes;  // rows, columns
  for (std::size_t i = 0; i < divided; ++i) {
    const std::size_t own = before + 2 * i;
    axes[2 - divided + i] = {data.shape()[own], data.shape()[own + 1], step[before + i], data.strides()[own + 1]};
  }
  // Neighbours in memory for neighbouring work-items.
  if (size_of_stride(axes[0].stride) < size_of_stride(axes[1].stride) && axes[0].each > 1) std::swap(axes[0], axes[1]);
  const bool local = 4 * slots <= std::min<std::uint64_t>(device.launch_local_bytes() / 2, 32 << 10);
  const device::Kernel kernel = device::build(device, tiles_source(plan, local), "histogram_tiles");
  const std::uint32_t group_size = DevicePlan::group_size(device.info());
  // The innermost axis that is not divided is a parameter, those outside of it are launches.
  std::uint64_t launches = 1;
  for (std::size_t i = 0; i + 1 < before; ++i) launches *= data.shape()[i];
  Slices slices;
  if (before != 0) slices = {data.shape()[before - 1], step[before - 1], data.strides()[before - 1]};
  const std::uint64_t tiles = slices.count * axes[0].tiles * axes[1].tiles;
  if (tiles == 0) return;
  const std::uint64_t wanted = std::uint64_t{device.info().compute_units} * (device.info().is_cpu ? 1 : 8);
  const std::uint64_t rows_each = std::max<std::uint64_t>(4 * group_size / axes[1].each, 1);  // a group has some samples for each work-item
  const auto parts =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(std::min(wanted / tiles, axes[0].each / rows_each), 1, std::uint64_t{1} << 16));
  for (std::uint64_t launch = 0; launch < launches; ++launch) {
    std::int64_t from = static_cast<std::int64_t>(offset) / element;
    std::uint64_t own = number, rest = launch;
    for (std::size_t i = before == 0 ? 0 : before - 1; i-- > 0;) {
      const std::uint64_t at = rest % data.shape()[i];
      rest /= data.shape()[i];
      from += static_cast<std::int64_t>(at) * (data.strides()[i] / element);
      own += at * step[i];
    }
    std::vector<device::Argument> arguments = {memory,
                                               from,
                                               slices.count,
                                               axes[0].tiles,
                                               axes[1].tiles,
                                               static_cast<std::uint32_t>(axes[0].each),
                                               static_cast<std::uint32_t>(axes[1].each),
                                               slices.stride / element,
                                               axes[0].stride / element,
                                               axes[1].stride / element,
                                               own,
                                               slices.number,
                                               axes[0].number,
                                               axes[1].number,
                                               parts,
                                               counts,
                                               static_cast<std::uint32_t>(slots)};
    plan.add_to(arguments);
    const std::uint64_t groups = std::min<std::uint64_t>(tiles * parts, std::uint64_t{1} << 20);
    device.launch(kernel,
                  {.groups = static_cast<std::uint32_t>(groups),
                   .group_size = group_size,
                   .local_bytes = static_cast<std::uint32_t>(local ? (4 * slots + 15) / 16 * 16 : 16)},
                  arguments);
  }
}

}  // namespace samesum::binning
