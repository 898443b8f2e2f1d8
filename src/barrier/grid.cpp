#include "barrier/grid.hpp"

#include <samesum/device/grid_barrier.h>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace samesum::barrier {
namespace {

// For devices that cannot tell how many groups a compute unit holds: the maximum of all GPUs in use.
constexpr std::uint32_t kMaxWorkItemsOfUnit = 2048;
constexpr std::uint32_t kMaxGroupsOfUnit = 32;

// Nearly all devices without a clock are CPUs: about the most polls that they make, so that the limit seldom comes early.
constexpr double kPollsPerSecond = 2e9;

std::uint32_t limit_in(double units) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(units), 1.0, static_cast<double>(GRID_BARRIER_NO_LIMIT - 1)));
}

Error::Context context_of(const device::Device& device, const device::Kernel& kernel, std::uint32_t groups, std::uint32_t group_size) {
  Error::Context context;
  context.device = device::label(device.info());
  context.kernel = kernel.name;
  context.configuration = fmt::format("groups={} group_size={}", groups, group_size);
  return context;
}

}  // namespace

std::vector<std::uint32_t> initial_state(const StateOptions& options) {
  std::vector<std::uint32_t> words(GRID_BARRIER_STATE_WORDS, 0);
  const double seconds = options.limit_seconds;
  words[GRID_BARRIER_TIME_LIMIT] = seconds > 0 ? limit_in(seconds * 1e9 / 1024) : GRID_BARRIER_NO_LIMIT;
  words[GRID_BARRIER_POLL_LIMIT] = seconds > 0 ? limit_in(seconds * kPollsPerSecond / 1024) : GRID_BARRIER_NO_LIMIT;
  words[GRID_BARRIER_DISCOVER] = options.discover ? 1 : 0;
  words[GRID_BARRIER_WANTED] = options.wanted;
  // The counters' values after `first_round` barriers.
  for (std::uint32_t i = GRID_BARRIER_COUNTERS; i < words.size(); i += 32) words[i] = options.first_round << 30;
  return words;
}

Outcome outcome(device::Device& device, const device::Memory& state) {
  std::array<std::uint32_t, GRID_BARRIER_ARRIVED + 1> words{};
  device.read(state, 0, words.data(), sizeof words);
  return {words[GRID_BARRIER_GROUPS], words[GRID_BARRIER_FAILED], words[GRID_BARRIER_NUMBER], words[GRID_BARRIER_ARRIVED]};
}

void check(const Outcome& outcome, const device::Device& device, const device::Kernel& kernel, std::uint32_t group_size,
           const StateOptions& options) {
  if (outcome.failed == 0) return;
  Error::Context context = context_of(device, kernel, outcome.groups, group_size);
  if (outcome.failed == GRID_BARRIER_TOO_FEW) {
    throw Error(ErrorKind::usage,
                fmt::format("{} groups of {} work-items cannot be resident at once: {} can; ask for that many, or for any number (0)",
                            options.wanted, group_size, outcome.groups),
                std::move(context));
  }
  throw Error(ErrorKind::device,
              fmt::format("the grid barrier gave up: {} of {} groups arrived at barrier {} of the launch within {:g} s. What the kernel "
                          "computed is worthless. A group may have returned early, or have fewer barriers on its way than the others",
                          outcome.arrived, outcome.groups, outcome.number, options.limit_seconds),
              std::move(context));
}

device::Source source_with_barrier(std::vector<std::string_view> files, std::vector<std::pair<std::string, std::string>> defines,
                                   std::string text) {
  files.insert(files.begin(), "samesum/device/grid_barrier.h");
  return {std::move(files), std::move(defines), std::move(text)};
}

Plan plan_launch(device::Device& device, const device::Kernel& kernel, std::uint32_t groups, std::uint32_t group_size, bool discover) {
  const DeviceInfo& info = device.info();
  const auto known = device.resident_groups(kernel, group_size);
  if (known && *known == 0) {
    throw Error(ErrorKind::usage, fmt::format("not one group of {} work-items of this kernel can be resident", group_size),
                context_of(device, kernel, groups, group_size));
  }
  if (known && groups > *known) {
    throw Error(ErrorKind::usage,
                fmt::format("{} groups of {} work-items cannot be resident at once: {} can; ask for that many, or for any number (0)",
                            groups, group_size, *known),
                context_of(device, kernel, groups, group_size));
  }
  // A CPU's groups are its threads: an excess group would wait for a thread that never comes, before it could be found not resident.
  if (known && (!discover || info.is_cpu)) return {groups != 0 ? groups : *known, discover, groups};
  const std::uint32_t most = info.compute_units * std::clamp(kMaxWorkItemsOfUnit / group_size, 1u, kMaxGroupsOfUnit);
  return {groups != 0 ? groups : most, true, groups};
}

void require_barrier(const device::Device& device) {
  const DeviceInfo& info = device.info();
  for (const Capability needed : {Capability::kernels, Capability::device_fence}) {
    if (info.has(needed)) continue;
    Error::Context context;
    context.device = device::label(info);
    throw Error(ErrorKind::device, fmt::format("work-groups cannot synchronise on this device: {}", info.why_not(needed)),
                std::move(context));
  }
}

}  // namespace samesum::barrier
