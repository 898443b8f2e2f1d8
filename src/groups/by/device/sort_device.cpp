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
#include <string>
#include <utility>

namespace samesum::groups {
namespace {

constexpr std::uint64_t kMostSorted = std::uint64_t{1} << 31;
constexpr std::uint32_t kDigitBits = 8, kDigits = 1u << kDigitBits;
constexpr std::uint32_t kGroupSize = 256, kEach = 8;       // a work-item's elements of a tile
constexpr std::uint32_t kSmallGroupSize = 16;              // without sub-groups each work-item has counters of its own
constexpr std::uint32_t kGroupsToUnit = 4;
constexpr std::uint32_t kCopyGroup = 256, kCopyGroupsToUnit = 16;

std::uint32_t group_size_of(const DeviceInfo& info) { return info.has(Capability::subgroups) ? kGroupSize : kSmallGroupSize; }

device::Memory room(device::Device& device, std::uint64_t bytes) { return device.allocate(std::max<std::uint64_t>(bytes, 16)); }

// Keys of 32 or 64 bits, and numbers of elements, which are sorted together.
class Sorter {
 public:
  Sorter(device::Device& device, std::uint64_t size)
      : device_(device),
        size_(static_cast<std::uint32_t>(size)),
        group_size_(group_size_of(device.info())),
        tile_(group_size_ * kEach),
        groups_(reduction::groups_for((size + tile_ - 1) / tile_, device.info().compute_units * kGroupsToUnit)),
        rows_(room(device, std::uint64_t{kDigits} * groups_ * 4)),
        totals_(room(device, kDigits * 4)) {
    for (device::Memory& numbers : numbers_) numbers = room(device, std::uint64_t{size_} * 4);
    const std::uint32_t tiles = (size_ + tile_ - 1) / tile_;
    share_ = (tiles + groups_ - 1) / groups_ * tile_;
  }

  /// Sorts by the lower `bits` bits of `keys`, which are overwritten; returns them in order.
  device::Memory sort(device::Memory keys, DType type, unsigned bits) {
    const device::Source source = sort_source(device_.info(), type);
    const device::Kernel counts = device::build(device_, source, "digit_counts"), rows = device::build(device_, source, "digit_rows"),
                         moves = device::build(device_, source, "digit_moves");
    device::Memory others = room(device_, std::uint64_t{size_} * size_of(type));
    for (std::uint32_t shift = 0; shift < bits; shift += kDigitBits) {
      const device::Argument of_counts[] = {keys, size_, share_, shift, rows_};
      device_.launch(counts, {groups_, group_size_}, of_counts);
      const device::Argument of_rows[] = {rows_, groups_, totals_};
      device_.launch(rows, {kDigits, group_size_}, of_rows);
      const device::Argument of_moves[] = {keys,  numbers_[0], std::int32_t{!numbered_}, size_,  share_,
                                           shift, rows_,       totals_,                  others, numbers_[1]};
      device_.launch(moves, {groups_, group_size_}, of_moves);
      std::swap(keys, others);
      std::swap(numbers_[0], numbers_[1]);
      numbered_ = true;
    }
    return keys;
  }
  /// The elements' numbers in the order of the last sort().
  const device::Memory& numbers() const noexcept { return numbers_[0]; }

 private:
  device::Device& device_;
  std::uint32_t size_, group_size_, tile_, groups_, share_ = 0;
  device::Memory rows_, totals_, numbers_[2];
  bool numbered_ = false;
};

// The number of each element's group; none where one is not below the number of groups.
std::optional<device::Memory> group_keys(device::Device& device, const Array& indices, std::uint32_t groups, const device::Lock&) {
  const std::optional<device::Run> run = device::single_run(indices, core::Order::index);
  if (!run) return std::nullopt;
  const auto size = static_cast<std::uint32_t>(indices.size());
  device::Memory keys = room(device, std::uint64_t{size} * 4);
  const device::Memory outside = reduction::allocate_zeros(device, sizeof(std::uint32_t));
  const device::Argument arguments[] = {run->memory, run->offset, run->stride, size, groups, keys, outside};
  launch_for_each(device, sort_keys_source(indices.type()), "group_keys", size, arguments);
  std::uint32_t found = 0;
  device.read(outside, 0, &found, sizeof found);
  if (found != 0) return std::nullopt;
  return keys;
}

// Numbers of segments as those of groups; what is in no segment has one behind them.
device::Memory segment_keys(device::Device& device, const DeviceLists& lists, std::uint32_t size, const device::Lock&) {
  device::Memory keys = room(device, std::uint64_t{size} * 4);
  const device::Argument arguments[] = {lists.offsets, static_cast<std::uint32_t>(lists.count()), size, keys};
  launch_for_each(device, sort_keys_source(DType::uint32), "segment_keys", size, arguments);
  return keys;
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
  reduction::add_defines(source, {{"GROUP_SIZE", group_size_of(info)}, {"EACH", kEach}});
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
    lists.on_host = checked_offsets(data, Array(by.offsets()), by.groups());
  } else {
    require_keys(data, by);
    indices = by.indices();
    if (!indices->on_device() || !on_one_device(data, *indices)) indices = device::uploaded(*indices, data.buffer().device());
    lists.on_host.resize(by.groups() + 1);
  }
  const device::Lock lock(device.mutex());
  lists.offsets = room(device, 8 * lists.on_host.size());
  if (segments) {
    device.write(lists.offsets, 0, lists.on_host.data(), 8 * lists.on_host.size());
    if (keys == nullptr) return lists;
  }
  const std::optional<device::Memory> of_groups =
      segments ? segment_keys(device, lists, size, lock) : group_keys(device, *indices, groups, lock);
  if (!of_groups) return std::nullopt;
  Sorter sorter(device, size);
  device::Memory group = *of_groups;
  const device::Source source = sort_keys_source(DType::uint32);
  if (keys != nullptr) {
    static_cast<void>(sorter.sort(keys->buffer().state().memory, keys->type(), static_cast<unsigned>(8 * size_of(data.type()))));
    group = room(device, std::uint64_t{size} * 4);
    const device::Argument arguments[] = {*of_groups, sorter.numbers(), size, group};
    launch_for_each(device, source, "keys_of_numbers", size, arguments);
  }
  group = sorter.sort(group, DType::uint32, std::max(static_cast<unsigned>(std::bit_width(segments ? groups : groups - 1)), 1u));
  lists.sorted = true;
  lists.numbers = sorter.numbers();
  const device::Argument arguments[] = {group, size, groups, lists.offsets};
  launch_for_each(device, source, "list_offsets", by.groups() + 1, arguments);
  device.read(lists.offsets, 0, lists.on_host.data(), 8 * lists.on_host.size());
  return lists;
}

}  // namespace samesum::groups
