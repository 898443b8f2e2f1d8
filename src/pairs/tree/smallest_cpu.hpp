// The k smallest f of each x, on the CPU.
#pragma once

#include "pairs/problem.hpp"

#include <cstdint>

namespace samesum::all_pairs {

/// As pairs_on_cpu(), of PairReduction::smallest and argsmallest.
void smallest_on_cpu(const Problem& problem, Target c, std::uint32_t threads);

}  // namespace samesum::all_pairs
