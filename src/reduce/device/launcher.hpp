// What the launches of reductions share on the host: kernels for both layouts of arrays, the number of groups, memory between launches.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::reduction {

/// The groups of a launch over this many tiles: one for each, at most `most`.
inline std::uint32_t groups_for(std::uint64_t tiles, std::uint32_t most) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(tiles, 1, most));
}
/// The groups that the device holds at once; `of_unit` for each compute unit if it cannot tell. At least one.
inline std::uint32_t resident_groups(device::Device& device, const device::Kernel& kernel, std::uint32_t group_size,
                                     std::uint32_t of_unit) {
  return std::max(device.resident_groups(kernel, group_size).value_or(device.info().compute_units * of_unit), 1u);
}
/// Whether a group may poll words of other groups: the device holds at least two groups, and has 64-bit atomic operations.
bool can_poll(const DeviceInfo& info);
/// The defines that elements.h takes.
std::vector<std::pair<std::string, std::string>> element_defines(DType type);
void add_defines(device::Source& source, std::initializer_list<std::pair<std::string_view, std::int64_t>> defines);
/// Memory of zeros.
device::Memory allocate_zeros(device::Device& device, std::uint64_t bytes);

/// The kernels of one shape, for contiguous arrays and for strided ones: each is built when it is first needed.
class Launcher {
 public:
  using MakeSource = std::function<device::Source(bool strided)>;

  Launcher() = default;
  /// `finish`: the entry of a second launch, of one group, that follows each launch of several groups; empty: none.
  Launcher(device::Device& device, MakeSource source, std::string_view entry, std::uint32_t group_size, std::string_view finish = {})
      : device_(&device), source_(std::move(source)), entry_(entry), finish_(finish), group_size_(group_size) {}

  explicit operator bool() const noexcept { return device_ != nullptr; }
  /// Builds the kernels for one layout, unless that has been done. @throws Error (device) if that fails.
  void prepare(bool strided);
  std::uint32_t resident_groups(std::uint32_t of_unit);
  /// Enqueues the kernel; returns the number of groups.
  std::uint32_t launch(bool strided, std::uint64_t tiles, std::uint32_t most_groups, std::span<const device::Argument> arguments);
  /// Whether finish() has to follow a launch of this many groups.
  bool finishes(std::uint32_t groups) const noexcept { return !finish_.empty() && groups > 1; }
  void finish(bool strided, std::span<const device::Argument> arguments);

 private:
  device::Device* device_ = nullptr;
  MakeSource source_;
  std::string_view entry_, finish_;
  std::uint32_t group_size_ = 0;
  device::Kernel kernels_[2], finish_kernels_[2];  // for contiguous arrays, for strided ones
};

}  // namespace samesum::reduction
