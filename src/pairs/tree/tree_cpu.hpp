// Pairs by the tree over the y, on the CPU.
#pragma once

#include "pairs/problem.hpp"

#include <cstdint>

namespace samesum::all_pairs {

/// As pairs_on_cpu(), of a problem with Problem::nodes.
/// @throws Error (no_answer) where an integer operation fails: for the least x, and of that the least y.
void tree_on_cpu(const Problem& problem, Target c, std::uint32_t threads);

/// C for this many x and no y. @throws Error (no_answer) where an operator has no identity.
void tree_of_nothing(const Problem& problem, Target c);

}  // namespace samesum::all_pairs
