// The distribution of elements over threads that add them to a table of groups.
#pragma once

#include "groups/group_table.hpp"

#include <samesum/array.hpp>
#include <samesum/group_sums.hpp>

#include <cstdint>

namespace samesum::groups {

/// GroupSums::add(); `outside` counts the elements that are left out.
void scatter(Table& to, const Array& values, const Array& indices, const GroupOptions& options, std::uint64_t& outside);

/// GroupSums::add_segments(). False where there is no element.
bool add_segments(Table& to, const Array& values, const Array& offsets, std::uint32_t threads);

}  // namespace samesum::groups
