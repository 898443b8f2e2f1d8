// The exact sum on a device that runs kernels (sum_exact.cl).
#pragma once

#include "device/device.hpp"
#include "device/program.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/sum.hpp>

#include <cstdint>
#include <string>

namespace samesum::reduce {

/// A configuration of the exact kernel: changes speed, never a bit.
struct SumConfiguration {
  std::uint32_t groups = 0;  // at most: small data take fewer
  std::uint32_t group_size = 0;
  std::uint32_t columns = 0;
  std::uint32_t loads = 0;  // of 16 bytes, that a work-item has in flight

  std::string text() const;
};

/// What a launch leaves in device memory.
struct DeviceSumResult {
  Accumulator accumulator;
  double rounded;          // on the device
  float rounded_to_float;  // on the device
  std::uint64_t integer;   // of integers: the lowest 64 bits of their sum
};

/// The exact sum of data that lie in device memory, prepared once and launched as often as one likes. One launch at a time.
class DeviceSum {
 public:
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  /// `elements`: for so many, or about so many, it is to be fast.
  DeviceSum(device::Device& device, DType type, const SumOptions& options, std::uint64_t elements);

  /// Enqueues the sum of the first `count` elements of `data`.
  /// @throws Error (usage) where `count` is too large for so small groups: beyond 2^32 tiles of theirs.
  void launch(const device::Memory& data, std::uint64_t count, NanPolicy nan = NanPolicy::propagate);
  /// Waits for the last launch.
  DeviceSumResult result();

  const SumConfiguration& configuration() const noexcept { return configuration_; }

 private:
  device::Device& device_;
  SumConfiguration configuration_;
  device::Kernel kernel_;
  device::Kernel finish_;     // the second launch, where one is needed
  device::Memory merged_;  // what the groups hand on, to the one that finishes
  device::Memory schedule_;
  device::Memory result_;
  DType type_;
  std::uint64_t tile_elements_;
  std::uint64_t count_ = 0;
};

/// The source of the exact kernel for `type` (entries sum_exact and sum_exact_finish).
device::Source sum_exact_source(DType type, const SumConfiguration& configuration);

/// The exact sum of data in host memory on `device`, in chunks that fit into it.
Accumulator sum_on_device(View data, device::Device& device, const SumOptions& options, SumReport* report);

}  // namespace samesum::reduce
