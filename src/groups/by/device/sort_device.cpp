#include "groups/by/device/sort_device.hpp"

#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/by/segments.hpp"
#include "groups/index/scatter.hpp"
#include "reduce/device/launcher.hpp"

#include <samesum/types.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>

namespace samesum::groups {
namespace {

constexpr std::uint64_t kMostSorted = std::uint64_t{1} << 31;
constexpr std::uint32_t kDigitBits = 8, kDigits = 1u << kDigitBits;
constexpr std::uint32_t kGroupSize = 256, kEach = 16;           // a work-item's elements of a tile
constexpr std::uint32_t kSmallGroupSize = 16, kSmallEach = 8;  // without sub-groups each work-item has counters of its own
constexpr std::uint32_t kGroupsToUnit = 4;
constexpr std::uint32_t kCopyGroup = 256, kCopyGroupsToUnit = 16;

constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;  // bytes, for the next call
const std::string kRoom = "sorted elements";

std::uint32_t group_size_of(const DeviceInfo& info) { return info.has(Capability::subgroups) ? kGroupSize : kSmallGroupSize; }
std::uint32_t each_of(const DeviceInfo& info) { return info.has(Capability::subgroups) ? kEach : kSmallEach; }

// Memory that the last call left, or none. It goes back when it is not used any more, without the device's mutex.
std::shared_ptr<SortRoom> kept_room(const samesum::Device& handle) {
  std::shared_ptr<SortRoom> kept = handle.implementation().plans().take_or<SortRoom>(kRoom, [] { return std::make_shared<SortRoom>(); });
  SortRoom* const memory = kept.get();
  return {memory, [handle, kept = std::move(kept)](SortRoom*) mutable {
            if (kept->bytes() > kMostKept) return;
            device::Device& device = handle.implementation();
            const device::Lock lock(device.mutex());
            device.plans().give_back(kRoom, std::move(kept));
          }};
}

// Keys of 32 or 64 bits, and numbers of elements, which are sorted together.
class Sorter {
 public:
  Sorter(device::Device& device, SortRoom& memory, std::uint64_t size)
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

  /// Sorts by the lower `bits` bits of `keys`, which are overwritten; returns them in order. The elements' numbers are in the same order then:
  /// SortRoom::numbers[0].
  device::Memory sort(device::Memory keys, DType type, unsigned bits) {
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

 private:
  device::Device& device_;
  SortRoom& memory_;
  std::uint32_t size_, group_size_, tile_, groups_, share_ = 0;
  bool numbered_ = false;
};

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

bool has_lists(const Array& data) {
  if (!data.on_device() || !data.buffer().device().info().has(Capability::kernels)) return false;
  return data.size() != 0 && data.size() < kMostSorted && device::single_run(data, core::Order::index);
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

void SortRoom::grow(device::Device& device, device::Memory& one, std::uint64_t bytes) {
  if (one.bytes < std::max<std::uint64_t>(bytes, 16)) one = device.allocate(std::max<std::uint64_t>(bytes, 16));
}

std::uint64_t SortRoom::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const device::Memory* one : {&numbers[0], &numbers[1], &offsets, &groups, &sorted_groups, &others, &rows, &totals, &outside})
    sum += one->bytes;
  return sum;
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
