#include "quantile/lists_device.hpp"

#include "device/memory/buffer.hpp"
#include "reduce/device/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>

namespace samesum::selection {
namespace {

constexpr std::uint32_t kGroupOfLists = 256, kCpuGroupOfLists = 16;
constexpr std::uint32_t kKept = 16, kKeptByCpu = 1;           // elements of a work-item in registers
constexpr std::uint32_t kLeastWidth = 32;                     // adjacent lists that a group reads together
constexpr std::uint64_t kMostEach = std::uint64_t{1} << 20;   // whose counts take 21 bits
constexpr std::uint64_t kMostTable = std::uint64_t{1} << 16;  // numbers of elements for which there are ranks
constexpr std::uint64_t kMostGroups = std::uint64_t{1} << 30;

// What a call uses, kept for the next one.
struct Scratch {
  device::Kernel kernel;
  device::Memory ranks, nans, keys;
};

std::uint64_t size(std::int64_t stride) { return static_cast<std::uint64_t>(stride < 0 ? -stride : stride); }

void grow(device::Device& device, device::Memory& memory, std::uint64_t bytes) {
  if (memory.bytes < bytes) memory = device.allocate(bytes);
}

}  // namespace

bool selects_on_device(const groups::AxisProblem& problem, const Options& options) {
  if (!problem.data.on_device() || !problem.data.buffer().device().info().has(Capability::kernels)) return false;
  if (options.device && &options.device->implementation() != &problem.data.buffer().device().implementation()) return false;
  if (problem.kept.size() > 2 || problem.reduced.size() > 1 || problem.each == 0 || problem.each > kMostEach) return false;
  return is_integer(problem.data.type()) || options.nan == NanPolicy::propagate || problem.each <= kMostTable;
}

device::Source lists_source(DType type, std::uint32_t group_size, bool alone) {
  device::Source source{{"reduce/device/elements.h", "reduce/device/meet.h", "quantile/select_lists.cl"}, reduction::element_defines(type)};
  reduction::add_defines(source, {{"GROUP_SIZE", group_size}, {"KEPT", alone ? kKeptByCpu : kKept}, {"ALONE", alone}});
  return source;
}

FoundKeys keys_on_device(const groups::AxisProblem& problem, std::span<const Fraction> quantiles, QuantileMethod method, NanPolicy nan) {
  const DType type = problem.data.type();
  const std::uint64_t each = problem.each, lists = problem.results;
  // A rank for each number of elements that may be left, or for all of them.
  const std::uint64_t table = nan == NanPolicy::skip && !is_integer(type) ? each + 1 : 1;
  std::vector<std::uint32_t> ranks;
  bool both = false;  // whether two neighbours are needed
  for (const Fraction fraction : quantiles) {
    for (std::uint64_t i = 0; i < table; ++i) {
      const std::uint64_t count = table > 1 ? i : each;
      const Position at = position(fraction, std::max<std::uint64_t>(count, 1), method);
      ranks.push_back(static_cast<std::uint32_t>(at.below));
      both = both || at.rest != 0;
    }
  }
  device::Device& device = problem.data.buffer().device().implementation();
  const DeviceInfo& info = device.info();
  const auto group = std::bit_floor(std::min(info.max_group_size, info.is_cpu ? kCpuGroupOfLists : kGroupOfLists));
  const core::Axis inner = problem.kept.empty() ? core::Axis{1, 0} : problem.kept.back();
  const core::Axis outer = problem.kept.size() < 2 ? core::Axis{1, 0} : problem.kept.front();
  const std::int64_t stride = problem.reduced.empty() ? 0 : problem.reduced.front().stride;
  const bool neighbours = size(inner.stride) < size(stride);
  const std::uint32_t most = info.is_cpu ? 1 : neighbours ? std::max(group / kLeastWidth, 1u) : group;
  const auto workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::bit_ceil((each + kKept - 1) / kKept), most));
  const std::uint64_t width = group / workers;

  const device::Lock lock(device.mutex());
  const std::string name = fmt::format("selection of lists {}", name_of(type));
  auto scratch = device.plans().take<Scratch>(name);
  if (!scratch)
    scratch = std::make_shared<Scratch>(Scratch{device::build(device, lists_source(type, group, info.is_cpu), "select_lists"), {}, {}, {}});
  FoundKeys found{Values(DType::uint32, {table > 1 ? lists : 0}), Values(type, {quantiles.size() * (both ? 2 : 1) * lists}), both};
  grow(device, scratch->ranks, ranks.size() * sizeof ranks[0]);
  grow(device, scratch->nans, std::max<std::uint64_t>(found.nans.array().bytes(), 4));
  grow(device, scratch->keys, found.keys.array().bytes());
  device.write(scratch->ranks, 0, ranks.data(), ranks.size() * sizeof ranks[0]);
  const std::uint64_t groups = (lists + width - 1) / width;
  for (std::uint64_t first = 0; first < groups; first += kMostGroups) {
    const device::Argument arguments[] = {problem.data.buffer().state().memory,
                                          problem.data.offset() + static_cast<std::uint64_t>(problem.first),
                                          lists,
                                          inner.extent,
                                          inner.stride,
                                          outer.stride,
                                          static_cast<std::uint32_t>(each),
                                          stride,
                                          workers,
                                          std::int32_t{neighbours},
                                          first * width,
                                          scratch->ranks,
                                          static_cast<std::uint32_t>(table),
                                          static_cast<std::uint32_t>(quantiles.size()),
                                          std::int32_t{both},
                                          scratch->nans,
                                          scratch->keys};
    device.launch(scratch->kernel, {static_cast<std::uint32_t>(std::min(kMostGroups, groups - first)), group}, arguments);
  }
  if (found.nans.size() != 0) device.read(scratch->nans, 0, found.nans.data(), found.nans.array().bytes());
  device.read(scratch->keys, 0, found.keys.data(), found.keys.array().bytes());
  constexpr std::uint64_t kMostKept = std::uint64_t{64} << 20;  // memory for the next call
  if (scratch->keys.bytes > kMostKept) scratch->keys = {};
  device.plans().give_back(name, std::move(scratch));
  return found;
}

}  // namespace samesum::selection
