// Launches with all groups resident, for kernels that contain a grid barrier; internal.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace samesum::barrier {

/// The contents of a barrier's state before a launch.
struct StateOptions {
  double limit_seconds = 10;  ///< 0: no limit
  bool discover = false;
  std::uint32_t wanted = 0;
  std::uint32_t first_round = 0;  ///< the number of the first barrier: for tests of wrapping
};

/// The state's words, to be written to a device.
std::vector<std::uint32_t> initial_state(const StateOptions& options);

/// The contents of the state after a launch.
struct Outcome {
  std::uint32_t groups = 0;
  std::uint32_t failed = 0;
  std::uint32_t number = 0;
  std::uint32_t arrived = 0;
};
Outcome outcome(device::Device& device, const device::Memory& state);

/// @throws Error (device) where the launch failed.
void check(const Outcome& outcome, const device::Device& device, const device::Kernel& kernel, std::uint32_t group_size,
           const StateOptions& options);

/// The source of a kernel that uses the barrier; `files` and `text` follow the header.
device::Source source_with_barrier(std::vector<std::string_view> files, std::vector<std::pair<std::string, std::string>> defines = {},
                                   std::string text = {});

/// The launch parameters. `groups`: 0 for as many as can be resident.
struct Plan {
  std::uint32_t groups = 0;  ///< to launch
  bool discover = false;     ///< the launch finds which of these are resident
  std::uint32_t wanted = 0;
};
/// @throws Error (usage) where more groups are requested than can be resident.
Plan plan_launch(device::Device& device, const device::Kernel& kernel, std::uint32_t groups, std::uint32_t group_size, bool discover);

/// Throws where kernels on `device` cannot synchronise at all.
void require_barrier(const device::Device& device);

}  // namespace samesum::barrier
