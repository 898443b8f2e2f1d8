// Kernels of the caller's own with a barrier over all work-groups: launches of no more groups than can be resident at once.
// samesum/kernel.hpp compiles them. The barrier itself is for kernels: samesum/device/grid_barrier.h. docs/barrier.md explains how it
// works.
//
//   const samesum::Device device = samesum::Device::open("cuda:0");
//   const samesum::Kernel kernel(device, source, "heat");            // its first parameter: GRID_GLOBAL unsigned int* state
//   samesum::launch_grid(device, kernel, {buffer, 1000u}).wait();    // 1000 steps in one launch
#pragma once

#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/export.hpp>
#include <samesum/kernel.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace samesum SAMESUM_EXPORT {

struct GridOptions {
  std::uint32_t group_size = 256;  ///< work-items of a group
  std::uint32_t groups = 0;        ///< 0: as many as can be resident; the kernel shares its work out over grid.groups
  /// Of the watchdog; 0: none. A device without a clock counts polls instead, 2·10^9 for a second: its limit comes up to several times
  /// later.
  /// @throws Error (usage) from launch_grid() for a negative one or NaN.
  double limit_seconds = 10;
  bool discover = false;  ///< find the resident groups by the launch itself even if the device knows them: for measurements and tests
};

/// A launch in progress.
class GridLaunch {
 public:
  /// Waits for it and returns the number of groups that took part.
  /// @throws Error (device) if the watchdog fired, with the barrier's number and how many groups had arrived, or if fewer groups than
  /// requested could be resident, with that number. The results of the kernel are then invalid; the device remains usable.
  std::uint32_t wait() const;

  struct SAMESUM_HIDDEN State;
  explicit GridLaunch(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// Enqueues `kernel`, whose first parameter is the barrier's state and the others `arguments`, with no more groups than can be resident at
/// once. If the device cannot tell that number, each launch finds it: surplus groups return at once.
/// @throws Error (usage) if more groups are requested than can be resident, as far as that is known before the launch. Error (device)
/// if the device cannot order memory between work-groups.
GridLaunch launch_grid(const Device& device, const Kernel& kernel, const std::vector<KernelArgument>& arguments,
                       const GridOptions& options = {});

}  // namespace samesum
