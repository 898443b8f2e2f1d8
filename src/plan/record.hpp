// The records of statistics: a small kernel behind the pass over the elements.
#pragma once

#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"

#include <samesum/plan.hpp>

#include <cstdint>

namespace samesum::planning {

/// Kernel "statistics_record", for what a pass leaves of which these fields are wanted; `group_size`: 32, or 128 for fewer steps.
device::Source record_source(DType type, const Fields& fields, std::uint32_t group_size);

/// Prepared once, launched as often as one likes.
class Recorder {
 public:
  /// @throws Error (device) where the kernel cannot be built.
  Recorder(device::Device& device, DType type, const Fields& fields);

  /// Enqueues: writes the record of the pass over `count` elements that has left `words`.
  void launch(const device::Memory& words, std::uint64_t count, NanPolicy nan, const device::Place& to);

 private:
  device::Device& device_;
  std::uint32_t group_size_;
  device::Kernel kernel_;
};

}  // namespace samesum::planning
