// The implementation of samesum/barrier.hpp.
#include "barrier/grid.hpp"
#include "core/float_environment.hpp"
#include "device/memory/buffer.hpp"

#include <samesum/barrier.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

namespace samesum {
namespace {

using device::Lock;

}  // namespace

namespace {
/// The largest number of groups that launches of a kernel have found, by group size.
using Found = std::map<std::uint32_t, std::uint32_t>;
}  // namespace

/// A launch in progress or completed; its state's memory is reused afterwards.
struct GridLaunch::State {
  Device device;
  device::Kernel kernel;
  std::uint32_t launched = 0;
  std::uint32_t group_size = 0;
  barrier::StateOptions options;
  device::Memory memory;
  std::shared_ptr<Found> found;
  std::optional<barrier::Outcome> outcome;

  const barrier::Outcome& ended() {
    if (!outcome) {
      outcome = barrier::outcome(device.implementation(), memory);
      if (options.discover) (*found)[group_size] = std::max((*found)[group_size], outcome->groups);
    }
    return *outcome;
  }
};

struct Kernel::State {
  Device device;
  device::Kernel kernel;
  std::shared_ptr<Found> found = std::make_shared<Found>();
  // The latest launches. Each has its own state, so that it need not wait for those before it.
  std::array<std::shared_ptr<GridLaunch::State>, 8> launches = {};
  std::size_t next = 0;  // index in `launches`
};

struct Recording::State {
  Device device;
  device::Recording recording;
};

namespace {

std::vector<device::Argument> lower(const std::vector<KernelArgument>& arguments) {
  std::vector<device::Argument> lowered;
  for (const KernelArgument& argument : arguments) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Buffer>) {
            lowered.emplace_back(value.state().memory);
          } else {
            lowered.emplace_back(value);
          }
        },
        argument);
  }
  return lowered;
}

std::shared_ptr<GridLaunch::State> enqueue(Kernel::State& kernel, std::vector<device::Argument> arguments, barrier::Plan plan,
                                           std::uint32_t group_size, double limit_seconds) {
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

Kernel::Kernel(const Device& device, std::string_view source, std::string_view entry) {
  const core::DefaultFloatEnvironment environment;
  device::Device& implementation = device.implementation();
  const Lock lock(implementation.mutex());
  barrier::require_barrier(implementation);
  const device::Source whole = barrier::source_with_barrier({}, {}, std::string(source));
  state_ = std::make_shared<State>(State{device, device::build(implementation, whole, entry)});
}

std::optional<std::uint32_t> Kernel::resident_groups(std::uint32_t group_size) const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  if (const auto known = device.resident_groups(state_->kernel, group_size)) return known;
  const auto found = state_->found->find(group_size);
  return found == state_->found->end() ? std::nullopt : std::optional(found->second);
}

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
  Kernel::State& state = kernel.state();
  barrier::Plan plan = barrier::plan_launch(implementation, state.kernel, options.groups, options.group_size, options.discover);
  // Launches the number of groups found before: then no group waits in vain.
  if (const auto found = state.found->find(options.group_size); plan.discover && options.groups == 0 && found != state.found->end()) {
    plan.groups = std::max(std::min(plan.groups, found->second), 1u);
  }
  return GridLaunch(enqueue(state, lower(arguments), plan, options.group_size, options.limit_seconds));
}

void launch(const Device& device, const Kernel& kernel, const std::vector<KernelArgument>& arguments, std::uint32_t groups,
            std::uint32_t group_size) {
  const core::DefaultFloatEnvironment environment;
  device::Device& implementation = device.implementation();
  const Lock lock(implementation.mutex());
  implementation.launch(kernel.state().kernel, {groups, group_size}, lower(arguments));
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
  launches();
  const Lock lock(implementation.mutex());
  return Recording(std::make_shared<Recording::State>(Recording::State{device, implementation.end_recording()}));
}

}  // namespace samesum
