// Selection: the elements that have given ranks, found by passes over the data that count digits of keys.
//
// The first pass counts the upper 16 bits of all keys, which tells in which bucket each rank lies; the next one counts the 16 bits after
// these, but of those buckets' elements alone; and so on, until a bucket is one key, or so small that its elements are gathered and sorted
// apart. What one counts is exact, so what is found is, too. Reference: D. Knuth, The Art of Computer Programming, volume 3, 5.2.5 (radix
// sorting from the most significant digit), of which only the buckets that matter are refined.
#pragma once

#include <samesum/types.hpp>
#include <samesum/value.hpp>
#include "core/view.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace samesum::selection {

/// Goes through all the data, calling its argument with contiguous pieces: the same elements in each pass.
using Pass = std::function<void(const std::function<void(View)>&)>;

/// The ranks wanted among so many elements that are no NaN, counted from 0, ascending and distinct.
using Ranks = std::function<std::vector<std::uint64_t>(std::uint64_t count, std::uint64_t nans)>;

struct Selected {
  std::uint64_t count = 0;  ///< NaNs included
  std::uint64_t nans = 0;
  std::vector<Value> values;  ///< of the ranks, in their order
};

/// Elements kept at a time, to be sorted.
inline constexpr std::uint64_t kMostGathered = std::uint64_t{1} << 20;

/// `type` is that of all elements; nothing where there may be several.
/// @throws Error (usage) where two passes are not over the same elements.
Selected select(const Pass& pass, std::optional<DType> type, std::uint32_t threads, const Ranks& ranks);

}  // namespace samesum::selection
