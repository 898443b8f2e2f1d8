// The elements of groups one after the other, for what needs all elements of a group at once.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/by.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace samesum::groups {

struct Segments {
  Array elements;                      ///< contiguous, in host memory
  std::vector<std::uint64_t> offsets;  ///< group i is the elements from offset i to offset i + 1
  std::optional<Values> copy;          ///< what holds the elements, unless it is the caller's memory
  std::optional<Values> places;        ///< of each element its index in the caller's array, as uint64; if it is another, and was asked for

  std::uint64_t count() const noexcept { return offsets.size() - 1; }
  std::uint64_t size(std::uint64_t group) const noexcept { return offsets[group + 1] - offsets[group]; }
  /// The elements of one group.
  Array of(std::uint64_t group) const;
  std::uint64_t longest() const noexcept;
};

/// The elements of `data` in the order of their groups, those of a group in C order. O(n + groups). @throws Error (usage) as By::sums().
Segments segments_of(const Array& data, const By& by, std::uint32_t threads, bool with_places = false);

/// @throws Error (usage) unless each element has a key.
void require_keys(const Array& data, const By& by);

}  // namespace samesum::groups
