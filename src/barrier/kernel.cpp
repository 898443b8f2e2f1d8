// The implementation of samesum/kernel.hpp.
#include "barrier/kernel.hpp"

#include "barrier/grid.hpp"
#include "core/float_environment.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/buffer.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace samesum {

using device::Lock;

struct Recording::State {
  Device device;
  device::Recording recording;
};

std::vector<device::Argument> barrier::lower(const Device& device, const std::vector<KernelArgument>& arguments) {
  device::Device& implementation = device.implementation();
  std::vector<device::Argument> lowered;
  const auto memory_of = [&](const Buffer& buffer) {
    if (buffer.device().info().selector != device.info().selector) {
      throw Error(
          ErrorKind::usage,
          fmt::format("argument {} of the kernel is memory of {}, and the kernel is one of {}: open one device and make both for it",
                      lowered.size(), buffer.device().info().selector, device.info().selector));
    }
    return buffer.state().memory;
  };
  for (const KernelArgument& argument : arguments) {
    std::visit(
        [&](const auto& value) {
          using Type = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Type, Buffer>) {
            lowered.emplace_back(memory_of(value));
          } else if constexpr (std::is_same_v<Type, Array>) {
            if (!value.on_device()) {
              throw Error(ErrorKind::usage, fmt::format("argument {} of the kernel is an array in host memory: copy it to a Buffer of {}",
                                                        lowered.size(), device.info().selector));
            }
            const device::Memory memory = memory_of(value.buffer());
            lowered.emplace_back(value.offset() == 0 ? memory : implementation.from(memory, value.offset()));
          } else {
            lowered.emplace_back(value);
          }
        },
        argument);
  }
  return lowered;
}

Kernel::Kernel(const Device& device, std::string_view source, std::string_view entry) {
  const core::DefaultFloatEnvironment environment;
  device::Device& implementation = device.implementation();
  const DeviceInfo& info = implementation.info();
  const Lock lock(implementation.mutex());
  if (!info.has(Capability::kernels)) {
    Error::Context context;
    context.device = device::label(info);
    throw Error(ErrorKind::device, fmt::format("this device runs no kernels: {}", info.why_not(Capability::kernels)), std::move(context));
  }
  const device::Source alone{{}, {}, std::string(source)};
  const device::Source whole = info.has(Capability::device_fence) ? barrier::source_with_barrier({}, {}, std::string(source)) : alone;
  state_ = std::make_shared<State>(State{device, device::build(implementation, whole, entry)});
}

const Device& Kernel::device() const noexcept { return state_->device; }

std::optional<std::uint32_t> Kernel::resident_groups(std::uint32_t group_size) const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  if (const auto known = device.resident_groups(state_->kernel, group_size)) return known;
  const auto found = state_->found->find(group_size);
  return found == state_->found->end() ? std::nullopt : std::optional(found->second);
}

void launch(const Kernel& kernel, const std::vector<KernelArgument>& arguments, const LaunchShape& shape) {
  const core::DefaultFloatEnvironment environment;
  const Kernel::State& state = kernel.state();
  device::Device& device = state.device.implementation();
  const Lock lock(device.mutex());
  device::Grid grid;
  grid.groups = shape.groups.x;
  grid.group_size = shape.group_size.x;
  grid.local_bytes = shape.local_bytes;
  grid.more_groups = {shape.groups.y, shape.groups.z};
  grid.more_items = {shape.group_size.y, shape.group_size.z};
  if (const std::uint64_t most = device.launch_local_bytes(); shape.local_bytes > most) {
    Error::Context context;
    context.device = device::label(device.info());
    context.kernel = state.kernel.name;
    throw Error(ErrorKind::device, fmt::format("a group can have {} bytes of local memory here, not {}", most, shape.local_bytes),
                std::move(context));
  }
  device.launch(state.kernel, grid, barrier::lower(state.device, arguments));
}

void launch(const Device&, const Kernel& kernel, const std::vector<KernelArgument>& arguments, std::uint32_t groups,
            std::uint32_t group_size) {
  launch(kernel, arguments, {.groups = {groups}, .group_size = {group_size}});
}

void finish(const Device& device) {
  const core::DefaultFloatEnvironment environment;
  const Lock lock(device.implementation().mutex());
  device.implementation().finish();
}

void Recording::replay() const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  device.replay(state_->recording);
}

std::optional<Recording> record(const Device& device, const std::function<void()>& launches) {
  device::Device& implementation = device.implementation();
  {
    const Lock lock(implementation.mutex());
    if (!implementation.begin_recording()) return std::nullopt;
  }
  try {
    launches();
  } catch (...) {  // else the device would record whatever comes next
    const Lock lock(implementation.mutex());
    implementation.end_recording();
    throw;
  }
  const Lock lock(implementation.mutex());
  return Recording(std::make_shared<Recording::State>(Recording::State{device, implementation.end_recording()}));
}

}  // namespace samesum
