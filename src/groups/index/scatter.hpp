// The distribution of elements over threads that add them to a table of groups.
#pragma once

#include "core/view.hpp"
#include "groups/index/group_table.hpp"

#include <samesum/array.hpp>
#include <samesum/group_sums.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace samesum::groups {

/// `groups`. @throws Error (usage) for 2^40 or more.
std::uint64_t require_few(std::uint64_t groups);
/// @throws Error (usage) unless each value has an index.
void require_pairs(const Array& values, const Array& indices);
/// Whether both lie in the memory of one device.
bool on_one_device(const Array& values, const Array& indices);
/// @throws Error (usage): element `place` has an index outside.
[[noreturn]] void refuse_index(std::uint64_t place, std::uint64_t index, DType type, std::uint64_t groups);

/// GroupSums::add(), of pairs, at least one; `outside` counts the elements that are left out.
void scatter(Table& to, const Array& values, const Array& indices, const GroupOptions& options, std::uint64_t& outside);

/// Groups that are found as elements are added.
struct FoundGroups {
  /// Stores the groups, all of which there are, of the elements first … first + count - 1. Called by several threads at once.
  std::function<void(std::uint64_t first, std::size_t count, std::uint64_t* groups)> find;
  std::span<const View> from;  ///< what it reads: of each as many elements
};
/// The same, of elements in host memory.
void scatter(Table& to, const Array& values, const FoundGroups& found, std::uint32_t threads);

/// Offsets as GroupSums::add_segments() takes them. @throws its errors.
std::vector<std::uint64_t> checked_offsets(const Array& values, const Array& offsets, std::uint64_t groups);
/// GroupSums::add_segments(), of such offsets.
void add_segments(Table& to, const Array& values, std::span<const std::uint64_t> offsets, std::uint32_t threads);

}  // namespace samesum::groups
