// The host's side of walk.h: how kernels read arrays.
#pragma once

#include "device/device.hpp"
#include "device/memory/run.hpp"

#include <samesum/types.hpp>

#include <cstdint>

namespace samesum::statistics {

/// Most work-items of a group of these kernels.
inline constexpr std::uint32_t kMaxGroupSize = 1024;

/// The most elements of a launch that finds indices, which have 31 bits in slots (meet.h). A whole number of loads.
inline constexpr std::uint64_t kMaxIndexed = INT32_MAX - 63;

/// How a kernel reads one array, or two (walk.h).
struct Walk {
  std::uint64_t row_length = 1, row_loads = 0;
  std::uint64_t loads = 0;  ///< in all
  std::uint32_t head = 0;
  bool strided = false;  ///< else one row without a gap, of both arrays
};

/// For one array, or for two with the same rows. `ordered`: each work-item reads its elements in the order of their indices.
Walk walk_of(const device::Device& device, const device::Run& a, const device::Run& b, DType type, bool ordered);

}  // namespace samesum::statistics
