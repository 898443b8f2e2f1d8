// The kernels of dots.cl.
#pragma once

#include "device/kernels/program.hpp"
#include "groups/dots/problem.hpp"

#include <samesum/device.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <vector>

namespace samesum::groups {

/// Kernels "dots_tiles" and "dots_lanes".
device::Source dots_source(DType type, const DeviceInfo& info);

/// Whether dots_on_device() takes such a problem, of arrays on a device: results of which there are many, of elements that doubles hold.
bool has_dots_on_device(const DotProblem& problem) noexcept;

/// As dots_on_cpu(), into memory of the device, from byte `offset` on, a multiple of 8.
std::vector<std::uint64_t> dots_on_device(const DotProblem& problem, const device::Memory& to, std::uint64_t offset);

}  // namespace samesum::groups
