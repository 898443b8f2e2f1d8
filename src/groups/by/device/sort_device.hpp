// Elements on a device in the order of keys (sort.cl).
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <samesum/device.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace samesum::groups {

constexpr std::uint64_t kMostSorted = std::uint64_t{1} << 31;  ///< elements: fewer

/// The memory of a sort.
struct SortRoom {
  device::Memory numbers[2];             ///< uint32: of elements, in C order of their array; the first ones are in order
  device::Memory offsets;                ///< uint64: list g is the elements from offset g to offset g + 1
  device::Memory groups, sorted_groups;  ///< uint32: of each element its group
  device::Memory keys, others, rows, totals, outside;
  void grow(device::Device& device, device::Memory& one, std::uint64_t bytes);
  std::uint64_t bytes() const noexcept;
};
/// What the last call left, or nothing. The caller has the device's mutex; the last owner must not have it: what is not large goes back
/// then, for the next call.
std::shared_ptr<SortRoom> kept_room(const samesum::Device& device);

/// Sorts keys of 32 or 64 bits, and numbers of elements with them. Enqueues; the caller has the device's mutex.
class Sorter {
 public:
  Sorter(device::Device& device, SortRoom& memory, std::uint64_t size);

  /// Sorts by the lower `bits` bits of `keys`, which are overwritten; returns them in order. The elements' numbers are in the same order
  /// then: SortRoom::numbers[0].
  device::Memory sort(device::Memory keys, DType type, unsigned bits);

  /// Runs of equal keys, of keys in order. Waits.
  struct Runs {
    std::uint32_t count = 0;
    device::Memory key_of, first_of;  ///< of each run its key, and its first element
  };
  /// `run_of`: gets the run of each element, uint32.
  Runs runs(const device::Memory& keys, DType type, const device::Memory& run_of);

 private:
  device::Device& device_;
  SortRoom& memory_;
  std::uint32_t size_, group_size_, tile_, groups_, share_ = 0;
  bool numbered_ = false;
};

/// Enqueues a kernel whose work-items take `size` elements in turns. The caller has the device's mutex.
void launch_for_each(device::Device& device, const device::Source& source, std::string_view entry, std::uint64_t size,
                     std::span<const device::Argument> arguments);

/// The kernels of sort.cl for keys of uint32 or uint64.
device::Source sort_source(const DeviceInfo& info, DType key);
/// Those of sort_keys.cl for elements of this type.
device::Source sort_keys_source(DType type);

}  // namespace samesum::groups
