// How kernels walk arrays, as the host tells them.
#pragma once

#include "device/device.hpp"
#include "device/memory/run.hpp"

#include <samesum/types.hpp>

#include <cstdint>

namespace samesum::statistics {

/// Most work-items of a group of these kernels.
inline constexpr std::uint32_t kMaxGroupSize = 1024;

/// Most elements of a launch that finds indices: these have 31 bits where groups meet (meet.h). A whole number of loads.
inline constexpr std::uint64_t kMaxIndexed = INT32_MAX - 63;

/// How a kernel walks an array, or two (walk.h).
struct Walk {
  std::uint64_t row_length = 1, row_loads = 0;
  std::uint64_t loads = 0;  ///< in all
  std::uint32_t head = 0;
  bool strided = false;  ///< else one row without a gap, of both arrays
};

/// Of one array, or of two with the same rows. `ordered`: indices grow along each work-item's way.
Walk walk_of(const device::Device& device, const device::Run& a, const device::Run& b, DType type, bool ordered);

}  // namespace samesum::statistics
