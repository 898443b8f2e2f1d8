// Results that kernels write.
#pragma once

#include "device/device.hpp"

#include <samesum/array.hpp>
#include <samesum/device.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::groups {

/// The memory of the results of a call: that of `to`, if that is on the device, and contiguous; else memory that is kept for the next
/// call, from which they come.
class DeviceResults {
 public:
  /// `to` has elements. Takes the device's mutex, as finish() does.
  DeviceResults(const samesum::Device& device, const Array& to);

  const device::Memory& memory() const noexcept { return memory_; }
  std::uint64_t offset() const noexcept { return in_place_ ? to_.offset() : 0; }  ///< in bytes, a multiple of 8

  /// Waits. Replaces the results `which` by those of `others`, which lie one after the other, and brings all of them to `to`.
  void finish(const std::vector<std::uint64_t>& which, const std::byte* others);

 private:
  samesum::Device device_;
  Array to_;
  bool in_place_;
  device::Memory memory_;
};

}  // namespace samesum::groups
