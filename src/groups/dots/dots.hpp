// Dot products along axes: the ways to compute them.
#pragma once

#include "groups/dots/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::groups {

/// Whether dots_on_cpu() takes such a problem: results of which there are many, of elements that doubles hold.
bool has_dots_on_cpu(const DotProblem& problem) noexcept;

/// Writes the results, of DotProblem::type(), to `results`. Returns the numbers of those that are not determined in this way, ascending.
std::vector<std::uint64_t> dots_on_cpu(const DotProblem& problem, std::uint32_t threads, std::byte* results);

}  // namespace samesum::groups
