// The state of a Kernel.
#pragma once

#include "device/device.hpp"

#include <samesum/barrier.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace samesum {

/// The largest number of groups that launches of a kernel have found, by group size.
using FoundGroups = std::map<std::uint32_t, std::uint32_t>;

struct Kernel::State {
  Device device;
  device::Kernel kernel;
  std::shared_ptr<FoundGroups> found = std::make_shared<FoundGroups>();
  // The latest launches with a barrier. Each has its own state, so that it need not wait for those before it.
  std::array<std::shared_ptr<GridLaunch::State>, 8> launches = {};
  std::size_t next = 0;  // index in `launches`
};

namespace barrier {

/// Arguments as the seam takes them. @throws Error (usage) for memory that is not the device's.
std::vector<device::Argument> lower(const Device& device, const std::vector<KernelArgument>& arguments);

}  // namespace barrier
}  // namespace samesum
