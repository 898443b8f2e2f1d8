// Counting tiles.
#pragma once

#include "device/device.hpp"
#include "groups/tiles.hpp"
#include "histogram/nd/device_plan.hpp"
#include "histogram/plan.hpp"

#include <cstdint>
#include <vector>

namespace samesum::binning {

/// Adds the slot counts of a block's tiles to `slots`: plan.slots() for each tile of `shape`. The block lies in host memory.
void count_tiles_on_cpu(const groups::TileBlock& block, const std::vector<std::uint64_t>& shape, const Plan& plan, std::uint32_t threads,
                        std::uint64_t* slots);

/// Whether the device can: a tile's elements have at most two axes, and are fewer than 2^31.
bool tiles_run_on(const groups::TileBlock& block);
/// Enqueues: adds the same counts to `counts`, 32 bits each. The block's first element is at byte `offset` of `memory`, which its element's
/// size divides. Requires tiles_run_on(), and that the device's mutex is held.
void count_tiles_on_device(const groups::TileBlock& block, const std::vector<std::uint64_t>& shape, const DevicePlan& plan,
                           std::uint64_t slots, const device::Memory& memory, std::uint64_t offset, device::Device& device,
                           const device::Memory& counts);
/// The kernel's source.
device::Source tiles_source(const DevicePlan& plan, bool local_counts);

}  // namespace samesum::binning
