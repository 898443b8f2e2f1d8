// What tests of reductions along axes have in common.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {

/// All subsets of the axes of an array of this rank, of which some are counted from the end.
inline std::vector<Axes> all_axes(std::size_t rank) {
  std::vector<Axes> all;
  for (unsigned mask = 0; mask < 1u << rank; ++mask) {
    std::vector<std::int64_t> axes;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (mask >> axis & 1) axes.push_back(static_cast<std::int64_t>(axis) - (axis % 2 == 0 ? 0 : static_cast<std::int64_t>(rank)));
    }
    std::ranges::reverse(axes);
    all.emplace_back(std::move(axes));
  }
  return all;
}

/// The elements of each result as an array, in C order of the results.
inline std::vector<Array> groups_of(const Array& data, const Axes& axes) {
  std::vector<Array> groups{data};
  std::vector<bool> reduced(data.rank());
  for (const std::int64_t axis : axes.numbers())
    reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(data.rank()) : axis)] = true;
  std::size_t gone = 0;
  for (std::size_t axis = 0; axis < data.rank(); ++axis) {
    if (reduced[axis]) continue;
    std::vector<Array> next;
    for (const Array& group : groups) {
      for (std::uint64_t i = 0; i < data.shape()[axis]; ++i) next.push_back(group.at(axis - gone, i));
    }
    groups = std::move(next);
    ++gone;
  }
  return groups;
}

inline std::string text_of(const Axes& axes) {
  std::string text = "axes";
  for (const std::int64_t axis : axes.numbers()) text += " " + std::to_string(axis);
  return text;
}

}  // namespace samesum::test
