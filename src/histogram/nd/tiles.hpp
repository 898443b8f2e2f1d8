// Counting tiles.
#pragma once

#include "groups/tiles.hpp"
#include "histogram/plan.hpp"

#include <cstdint>
#include <vector>

namespace samesum::binning {

/// Adds the slot counts of a block's tiles to `slots`: plan.slots() for each tile of `shape`. The block lies in host memory.
void count_tiles_on_cpu(const groups::TileBlock& block, const std::vector<std::uint64_t>& shape, const Plan& plan, std::uint32_t threads,
                        std::uint64_t* slots);

}  // namespace samesum::binning
