// A limit on the registers of a work-item.
#pragma once

#include <algorithm>
#include <cstdint>

namespace samesum::bench {

/// How many groups a compute unit is to hold at once, so that a work-item has no more registers than that: RESIDENT of the ladders'
/// kernels. OpenCL has no such wish. 0: no limit.
inline std::uint32_t resident_for(std::uint32_t registers, std::uint32_t group_size) noexcept {
  constexpr std::uint32_t kRegistersOfUnit = 65536;
  return registers == 0 ? 1 : std::max(kRegistersOfUnit / std::max(registers * group_size, 1u), 1u);
}

}  // namespace samesum::bench
