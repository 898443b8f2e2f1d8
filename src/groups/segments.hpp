// The elements of groups one after the other, for what needs all elements of a group at once.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace samesum::groups {

struct Segments {
  Array elements;                      ///< contiguous, in host memory
  std::vector<std::uint64_t> offsets;  ///< group i is the elements from offset i to offset i + 1
  std::optional<Values> copy;          ///< what holds the elements, unless it is the caller's memory
};

}  // namespace samesum::groups
