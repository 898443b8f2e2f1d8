// The balanced trees of an operator over lists of different lengths, on the CPU: many short lists at once.
#pragma once

#include "formula/operator/operator_tree.hpp"

#include <samesum/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace samesum::groups {

/// Writes the root of the tree over each list: component k of the states to `to[k]`, contiguous. List i is the elements from offset i to
/// offset i + 1 of `components`, which lie in host memory, contiguous. Nothing is written for those without elements. Returns false where
/// an operation fails.
bool roots_of_lists(const formula::Bound& bound, std::span<const Array> components, std::span<const std::uint64_t> offsets,
                    std::uint32_t threads, std::span<std::byte* const> to);

}  // namespace samesum::groups
