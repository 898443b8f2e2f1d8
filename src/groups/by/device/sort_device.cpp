#include "groups/by/device/sort_device.hpp"

#include "reduce/device/launcher.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace samesum::groups {
namespace {

constexpr std::uint32_t kDigitBits = 8, kDigits = 1u << kDigitBits;
constexpr std::uint32_t kGroupSize = 256, kEach = 16;          // a work-item's elements of a tile
constexpr std::uint32_t kSmallGroupSize = 16, kSmallEach = 8;  // without sub-groups each work-item has counters of its own
constexpr std::uint32_t kGroupsToUnit = 4;
constexpr std::uint32_t kCopyGroup = 256, kCopyGroupsToUnit = 16;
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;  // bytes, for the next call
constexpr std::string_view kRoom = "sorted elements";

std::uint32_t group_size_of(const DeviceInfo& info) { return info.has(Capability::subgroups) ? kGroupSize : kSmallGroupSize; }
std::uint32_t each_of(const DeviceInfo& info) { return info.has(Capability::subgroups) ? kEach : kSmallEach; }

}  // namespace

std::shared_ptr<SortRoom> kept_room(const samesum::Device& handle) {
  std::shared_ptr<SortRoom> kept = handle.implementation().plans().take_or<SortRoom>(kRoom, [] { return std::make_shared<SortRoom>(); });
  SortRoom* const memory = kept.get();
  return {memory, [handle, kept = std::move(kept)](SortRoom*) mutable {
            if (kept->bytes() > kMostKept) return;
            device::Device& device = handle.implementation();
            const device::Lock lock(device.mutex());
            device.plans().give_back(std::string(kRoom), std::move(kept));
          }};
}

void SortRoom::grow(device::Device& device, device::Memory& one, std::uint64_t bytes) {
  if (one.bytes < std::max<std::uint64_t>(bytes, 16)) one = device.allocate(std::max<std::uint64_t>(bytes, 16));
}

std::uint64_t SortRoom::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const device::Memory* one : {&numbers[0], &numbers[1], &offsets, &groups, &sorted_groups, &keys, &others, &rows, &totals, &outside})
    sum += one->bytes;
  return sum;
}

Sorter::Sorter(device::Device& device, SortRoom& memory, std::uint64_t size)
    : device_(device),
      memory_(memory),
      size_(static_cast<std::uint32_t>(size)),
      group_size_(group_size_of(device.info())),
      tile_(group_size_ * each_of(device.info())),
      groups_(reduction::groups_for((size + tile_ - 1) / tile_, device.info().compute_units * kGroupsToUnit)) {
  memory_.grow(device, memory_.rows, std::uint64_t{kDigits} * groups_ * 4);
  memory_.grow(device, memory_.totals, kDigits * 4);
  for (device::Memory& numbers : memory_.numbers) memory_.grow(device, numbers, size * 4);
  const std::uint32_t tiles = (size_ + tile_ - 1) / tile_;
  share_ = (tiles + groups_ - 1) / groups_ * tile_;
}

device::Memory Sorter::sort(device::Memory keys, DType type, unsigned bits) {
  const device::Source source = sort_source(device_.info(), type);
  const device::Kernel counts = device::build(device_, source, "digit_counts"), rows = device::build(device_, source, "digit_rows"),
                       moves = device::build(device_, source, "digit_moves");
  memory_.grow(device_, memory_.others, std::uint64_t{size_} * size_of(type));
  device::Memory others = memory_.others;
  for (std::uint32_t shift = 0; shift < bits; shift += kDigitBits) {
    const device::Argument of_counts[] = {keys, size_, share_, shift, memory_.rows};
    device_.launch(counts, {groups_, group_size_}, of_counts);
    const device::Argument of_rows[] = {memory_.rows, groups_, memory_.totals};
    device_.launch(rows, {kDigits, group_size_}, of_rows);
    const device::Argument of_moves[] = {keys,  memory_.numbers[0], std::int32_t{!numbered_}, size_,  share_,
                                         shift, memory_.rows,       memory_.totals,           others, memory_.numbers[1]};
    device_.launch(moves, {groups_, group_size_}, of_moves);
    std::swap(keys, others);
    std::swap(memory_.numbers[0], memory_.numbers[1]);
    numbered_ = true;
  }
  return keys;
}

Sorter::Runs Sorter::runs(const device::Memory& keys, DType type, const device::Memory& run_of) {
  const device::Source source = sort_source(device_.info(), type);
  const device::Argument of_counts[] = {keys, size_, share_, memory_.rows};
  device_.launch(device::build(device_, source, "run_counts"), {groups_, group_size_}, of_counts);
  const device::Argument of_rows[] = {memory_.rows, groups_, memory_.totals};
  device_.launch(device::build(device_, source, "digit_rows"), {1, group_size_}, of_rows);
  Runs runs;
  device_.read(memory_.totals, 0, &runs.count, sizeof runs.count);
  runs.key_of = device_.allocate(std::max<std::uint64_t>(runs.count * size_of(type), 16));
  runs.first_of = device_.allocate(std::max<std::uint64_t>(std::uint64_t{runs.count} * 4, 16));
  const device::Argument of_numbers[] = {keys, memory_.numbers[0], size_, share_, memory_.rows, run_of, runs.key_of, runs.first_of};
  device_.launch(device::build(device_, source, "run_numbers"), {groups_, group_size_}, of_numbers);
  return runs;
}

void launch_for_each(device::Device& device, const device::Source& source, std::string_view entry, std::uint64_t size,
                     std::span<const device::Argument> arguments) {
  const DeviceInfo& info = device.info();
  const std::uint32_t group = std::min(info.max_group_size, info.is_cpu ? kSmallGroupSize : kCopyGroup);
  const std::uint64_t groups =
      std::clamp<std::uint64_t>((size + group - 1) / group, 1, std::uint64_t{info.compute_units} * kCopyGroupsToUnit);
  device.launch(device::build(device, source, entry), {static_cast<std::uint32_t>(groups), group}, arguments);
}

device::Source sort_source(const DeviceInfo& info, DType key) {
  device::Source source{{"groups/by/device/sort.cl"}, {{"KEY", size_of(key) == 8 ? "ulong" : "uint"}}};
  reduction::add_defines(source, {{"GROUP_SIZE", group_size_of(info)}, {"EACH", each_of(info)}});
  return source;
}

device::Source sort_keys_source(DType type) {
  return {{"reduce/device/elements.h", "groups/by/device/sort_keys.cl"}, reduction::element_defines(type)};
}

}  // namespace samesum::groups
