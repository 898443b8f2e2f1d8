// The user's own kernels with a barrier over all work-groups: compiling them, and launching no more groups than can be resident at once.
// The barrier itself is for kernels: samesum/device/grid_barrier.h. docs/barrier.md explains how it works.
//
//   const samesum::Device device = samesum::Device::open("cuda:0");
//   const samesum::Kernel kernel(device, source, "heat");            // its first parameter: GRID_GLOBAL unsigned int* state
//   samesum::launch_grid(device, kernel, {buffer, 1000u}).wait();    // 1000 steps in one launch
#pragma once

#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/export.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// A kernel of the user's own.
class Kernel {
 public:
  /// Compiles `source` for `device`, or loads it from the disk cache. The source is OpenCL C or CUDA C++, whichever the device compiles;
  /// with the names of the kernel dialect (CONTRIBUTING.md: KERNEL, FN, GLOBAL, …) it is both. The dialect's prelude and
  /// samesum/device/grid_barrier.h are prepended.
  /// @throws Error (device) with the build log where it does not compile, or where the device runs no kernels or cannot order memory
  /// between work-groups.
  Kernel(const Device& device, std::string_view source, std::string_view entry);

  /// The number of groups of `group_size` work-items that can be resident at once. Where the device cannot tell (OpenCL on GPUs): the
  /// number that launches of this kernel have found so far; no value before the first.
  std::optional<std::uint32_t> resident_groups(std::uint32_t group_size) const;

  struct SAMESUM_HIDDEN State;
  State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Sizes are the kernel dialect's: int and uint 32 bits, long and ulong 64.
using KernelArgument = std::variant<Buffer, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

struct GridOptions {
  std::uint32_t group_size = 256;  ///< work-items of a group
  std::uint32_t groups = 0;        ///< 0: as many as can be resident; the kernel shares its work out over grid.groups
  double limit_seconds = 10;       ///< of the watchdog; 0: none. A device without a clock counts polls instead, which is inexact
  bool discover = false;  ///< find the resident groups by the launch itself even where the device knows them: for measurements and tests
};

/// A launch in progress.
class GridLaunch {
 public:
  /// Waits for it and returns the number of groups that took part.
  /// @throws Error (device) where the watchdog fired, with the barrier's number and how many groups had arrived, or where fewer groups than
  /// requested could be resident, with that number. The results of the kernel are then invalid; the device remains usable.
  std::uint32_t wait() const;

  struct SAMESUM_HIDDEN State;
  explicit GridLaunch(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// Enqueues `kernel`, whose first parameter is the barrier's state and the others `arguments`, with no more groups than can be resident at
/// once. Where the device cannot tell that number, each launch finds it: surplus groups return at once.
/// @throws Error (usage) where more groups are requested than can be resident, as far as that is known before the launch.
GridLaunch launch_grid(const Device& device, const Kernel& kernel, const std::vector<KernelArgument>& arguments,
                       const GridOptions& options = {});

/// Enqueues an ordinary kernel: any number of groups, no barrier. Its parameters are `arguments`.
void launch(const Device& device, const Kernel& kernel, const std::vector<KernelArgument>& arguments, std::uint32_t groups,
            std::uint32_t group_size);

/// Waits for all work launched on `device`.
void finish(const Device& device);

/// A sequence of launches that can be repeated as one: a CUDA graph.
class Recording {
 public:
  void replay() const;

  struct SAMESUM_HIDDEN State;
  explicit Recording(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// Records the launches that `launches` makes, without running them; no value where the device cannot record (then `launches` is not
/// called).
std::optional<Recording> record(const Device& device, const std::function<void()>& launches);

}  // namespace samesum
