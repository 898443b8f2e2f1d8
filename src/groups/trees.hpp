// The balanced binary trees of an operator along axes: those of many results at once, a result in each lane of the formula's evaluator.
#pragma once

#include "formula/operator/operator_tree.hpp"
#include "groups/axes.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace samesum::groups {

/// Writes the root of the tree over the elements of each result: component k of the states to `to[k]`, contiguous, in C order of the
/// results. `components` lie in host memory and have one shape, with one element or more along `axes`. Returns false where an operation
/// fails.
bool roots_along(const formula::Bound& bound, std::span<const Array> components, const Axes& axes, std::uint32_t threads,
                 std::span<std::byte* const> to);

}  // namespace samesum::groups
