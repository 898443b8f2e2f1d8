#include "groups/by/device/lists_device.hpp"

#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/by/segments.hpp"
#include "groups/index/scatter.hpp"

#include <samesum/types.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace samesum::groups {
namespace {

// The number of each element's group; false where one is not below the number of groups.
bool group_keys(device::Device& device, SortRoom& memory, const Array& indices, std::uint32_t groups) {
  const std::optional<device::Run> run = device::single_run(indices, core::Order::index);
  if (!run) return false;
  const auto size = static_cast<std::uint32_t>(indices.size());
  memory.grow(device, memory.groups, std::uint64_t{size} * 4);
  memory.grow(device, memory.outside, sizeof(std::uint32_t));
  std::uint32_t outside = 0;
  device.write(memory.outside, 0, &outside, sizeof outside);
  const device::Argument arguments[] = {run->memory, run->offset, run->stride, size, groups, memory.groups, memory.outside};
  launch_for_each(device, sort_keys_source(indices.type()), "group_keys", size, arguments);
  device.read(memory.outside, 0, &outside, sizeof outside);
  return outside == 0;
}

// Numbers of segments as those of groups; what is in no segment has one behind them.
void segment_keys(device::Device& device, SortRoom& memory, std::uint32_t segments, std::uint32_t size) {
  memory.grow(device, memory.groups, std::uint64_t{size} * 4);
  const device::Argument arguments[] = {memory.offsets, segments, size, memory.groups};
  launch_for_each(device, sort_keys_source(DType::uint32), "segment_keys", size, arguments);
}

}  // namespace

bool has_lists(const Array& data) {
  if (!data.on_device() || data.size() == 0 || data.size() >= kMostSorted) return false;
  const DeviceInfo& info = data.buffer().device().info();
  constexpr std::uint64_t kMost = 40;  // bytes for an element: two keys of 64 bits, two numbers, its group twice, nodes of a tree
  return info.has(Capability::kernels) && data.size() * 8 <= info.max_allocation_bytes && data.size() * kMost <= info.memory_bytes / 2 &&
         device::single_run(data, core::Order::index);
}

Array element_keys(const Array& data, ElementOrder order, bool skip_nans) {
  device::Device& device = data.buffer().device().implementation();
  const DType type = size_of(data.type()) == 8 ? DType::uint64 : DType::uint32;
  const Array keys(Buffer(data.buffer().device(), std::max<std::uint64_t>(data.size() * size_of(type), 16)), data.size(), type);
  const device::Run run = *device::single_run(data, core::Order::index);
  const device::Lock lock(device.mutex());
  const device::Argument arguments[] = {run.memory,
                                        run.offset,
                                        run.stride,
                                        static_cast<std::uint32_t>(data.size()),
                                        std::int32_t{order == ElementOrder::descending},
                                        std::int32_t{skip_nans},
                                        keys.buffer().state().memory};
  launch_for_each(device, sort_keys_source(data.type()), "element_keys", data.size(), arguments);
  return keys;
}

std::uint64_t DeviceLists::longest() const noexcept {
  std::uint64_t longest = 0;
  for (std::uint64_t list = 0; list < count(); ++list) longest = std::max(longest, size(list));
  return longest;
}

std::optional<DeviceLists> lists_on_device(const Array& data, const By& by, const Array* keys) {
  device::Device& device = data.buffer().device().implementation();
  const bool segments = !by.offsets().empty();
  if (by.groups() == 0 || by.groups() >= kMostSorted) return std::nullopt;
  const auto size = static_cast<std::uint32_t>(data.size()), groups = static_cast<std::uint32_t>(by.groups());
  DeviceLists lists;
  std::optional<Array> indices;
  if (segments) {
    lists.on_host = checked_offsets(Array(nullptr, data.size(), data.type()), Array(by.offsets()), by.groups());
  } else {
    require_keys(data, by);
    indices = by.indices();
    if (!indices->on_device() || !on_one_device(data, *indices)) indices = device::uploaded(*indices, data.buffer().device());
    lists.on_host.resize(by.groups() + 1);
  }
  const device::Lock lock(device.mutex());
  lists.memory = kept_room(data.buffer().device());
  SortRoom& memory = *lists.memory;
  memory.grow(device, memory.offsets, 8 * lists.on_host.size());
  if (segments) {
    device.write(memory.offsets, 0, lists.on_host.data(), 8 * lists.on_host.size());
    if (keys == nullptr) return lists;
    segment_keys(device, memory, groups, size);
  } else if (!group_keys(device, memory, *indices, groups)) {
    return std::nullopt;
  }
  Sorter sorter(device, memory, size);
  const device::Source source = sort_keys_source(DType::uint32);
  device::Memory group = memory.groups;
  if (keys != nullptr) {
    static_cast<void>(sorter.sort(keys->buffer().state().memory, keys->type(), static_cast<unsigned>(8 * size_of(data.type()))));
    memory.grow(device, memory.sorted_groups, std::uint64_t{size} * 4);
    group = memory.sorted_groups;
    const device::Argument arguments[] = {memory.groups, memory.numbers[0], size, group};
    launch_for_each(device, source, "keys_of_numbers", size, arguments);
  }
  group = sorter.sort(group, DType::uint32, std::max(static_cast<unsigned>(std::bit_width(segments ? groups : groups - 1)), 1u));
  lists.sorted = true;
  const device::Argument arguments[] = {group, size, groups, memory.offsets};
  launch_for_each(device, source, "list_offsets", by.groups() + 1, arguments);
  device.read(memory.offsets, 0, lists.on_host.data(), 8 * lists.on_host.size());
  return lists;
}

}  // namespace samesum::groups
