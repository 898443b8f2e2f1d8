// Elements on a device in the order of keys, and lists of them: the elements of each group.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <samesum/array.hpp>
#include <samesum/by.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::groups {

/// The memory of a sort.
struct SortRoom {
  device::Memory numbers[2];             ///< uint32: of elements, in C order of their array; the first ones are in order
  device::Memory offsets;                ///< uint64: list g is the elements from offset g to offset g + 1
  device::Memory groups, sorted_groups;  ///< keys: of each element its group
  device::Memory others, rows, totals, outside;
  void grow(device::Device& device, device::Memory& one, std::uint64_t bytes);
  std::uint64_t bytes() const noexcept;
};

/// The elements of an array on a device in lists that lie one after the other.
struct DeviceLists {
  bool sorted = false;                 ///< else the lists' elements are neighbours: there are no numbers
  std::shared_ptr<SortRoom> memory;    ///< given back without the device's mutex, which the last owner must not have
  std::vector<std::uint64_t> on_host;  ///< the offsets
  const device::Memory& numbers() const noexcept { return memory->numbers[0]; }
  const device::Memory& offsets() const noexcept { return memory->offsets; }
  std::uint64_t count() const noexcept { return on_host.size() - 1; }
  std::uint64_t size(std::uint64_t list) const noexcept { return on_host[list + 1] - on_host[list]; }
  std::uint64_t longest() const noexcept;
};

/// Whether a device can have the lists of `data`, which is then on it, an array of one run with fewer than 2^31 elements.
bool has_lists(const Array& data);

/// The groups' lists, each in C order or, if `keys` are given, of element_keys(), in their order; `keys` are overwritten then. None if the
/// index of an element is outside: segments_of() says which. @throws Error (usage) as segments_of().
std::optional<DeviceLists> lists_on_device(const Array& data, const By& by, const Array* keys = nullptr);

/// Unsigned integers in the order of the elements, or in the opposite one: in uint32, or uint64 for elements of 64 bits. NaNs have the
/// greatest key or, if they are left out, kNoKey, which no number of a floating-point type has.
enum class ElementOrder { ascending, descending };
Array element_keys(const Array& data, ElementOrder order, bool skip_nans);
constexpr std::uint64_t kNoKey = 0;

/// Enqueues a kernel whose work-items take `size` elements in turns. The caller has the device's mutex.
void launch_for_each(device::Device& device, const device::Source& source, std::string_view entry, std::uint64_t size,
                     std::span<const device::Argument> arguments);

/// The kernels "digit_counts", "digit_rows", "digit_moves".
device::Source sort_source(const DeviceInfo& info, DType key);
/// The kernels of sort_keys.cl for elements of this type: "element_keys", "nans_of_lists", "keys_of_lists"; of integers also "group_keys",
/// "segment_keys", "list_offsets", "keys_of_numbers".
device::Source sort_keys_source(DType type);

}  // namespace samesum::groups
