// The implementation of samesum/barrier.hpp.
#include "barrier/grid.hpp"
#include "barrier/kernel.hpp"
#include "core/float_environment.hpp"

#include <samesum/barrier.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

namespace samesum {

using device::Lock;

/// A launch in progress or completed; its state's memory is reused afterwards.
struct GridLaunch::State {
  Device device;
  device::Kernel kernel;
  std::uint32_t launched = 0;
  std::uint32_t group_size = 0;
  barrier::StateOptions options;
  device::Memory memory;
  std::shared_ptr<FoundGroups> found;
  std::optional<barrier::Outcome> outcome;

  const barrier::Outcome& ended() {
    if (!outcome) {
      outcome = barrier::outcome(device.implementation(), memory);
      if (options.discover) (*found)[group_size] = std::max((*found)[group_size], outcome->groups);
    }
    return *outcome;
  }
};

namespace {

std::shared_ptr<GridLaunch::State> enqueue(Kernel::State& kernel, std::vector<device::Argument> arguments, barrier::Plan plan,
                                           std::uint32_t group_size, double limit_seconds) {
  if (!(limit_seconds >= 0)) {
    throw Error(ErrorKind::usage, fmt::format("a watchdog's limit of {} s: 0 or more, where 0 is none", limit_seconds));
  }
  device::Device& device = kernel.device.implementation();
  auto& slot = kernel.launches[kernel.next++ % kernel.launches.size()];
  device::Memory memory;
  if (slot != nullptr && slot->launched >= plan.groups) {
    slot->ended();  // stores the outcome for holders of that launch
    memory = slot->memory;
  }
  const barrier::StateOptions options{limit_seconds, plan.discover, plan.wanted};
  const std::vector<std::uint32_t> words = barrier::initial_state(options);
  const std::uint64_t bytes = words.size() * sizeof words[0];
  if (memory.handle == nullptr) memory = device.allocate(bytes);
  device.write(memory, 0, words.data(), bytes);
  arguments.insert(arguments.begin(), memory);
  device.launch(kernel.kernel, {plan.groups, group_size, !plan.discover}, arguments);
  slot = std::make_shared<GridLaunch::State>(
      GridLaunch::State{kernel.device, kernel.kernel, plan.groups, group_size, options, memory, kernel.found, {}});
  return slot;
}

}  // namespace

std::uint32_t GridLaunch::wait() const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  const barrier::Outcome& outcome = state_->ended();
  barrier::check(outcome, device, state_->kernel, state_->group_size, state_->options);
  return outcome.groups;
}

GridLaunch launch_grid(const Device& device, const Kernel& kernel, const std::vector<KernelArgument>& arguments,
                       const GridOptions& options) {
  const core::DefaultFloatEnvironment environment;
  device::Device& implementation = device.implementation();
  const Lock lock(implementation.mutex());
  barrier::require_barrier(implementation);
  Kernel::State& state = kernel.state();
  barrier::Plan plan = barrier::plan_launch(implementation, state.kernel, options.groups, options.group_size, options.discover);
  // Launches the number of groups found before: then no group waits in vain.
  if (const auto found = state.found->find(options.group_size); plan.discover && options.groups == 0 && found != state.found->end()) {
    plan.groups = std::max(std::min(plan.groups, found->second), 1u);
  }
  return GridLaunch(enqueue(state, barrier::lower(device, arguments), plan, options.group_size, options.limit_seconds));
}

}  // namespace samesum
