// Results along axes straight from their elements, on the CPU, where these are few: without expansions.
#pragma once

#include "groups/cpu/axes_expansions.hpp"

#include <cstddef>
#include <cstdint>

namespace samesum::groups {

inline constexpr std::uint64_t kDirectColumn = 64, kDirectRow = 512;  ///< elements of a result

/// Neighbouring results, of floats or (`wide`) doubles: `count` elements each, `apart` bytes from one to the next, and `lane_stride` bytes
/// from one result's first to that of the next. Either rows, whose elements are contiguous, kDirectRow at most, or columns, of which each
/// element's neighbours are contiguous, kDirectColumn at most. Of up to kLanes results.
struct FewElements {
  const std::byte* from;
  bool wide, columns;
  std::uint64_t count;
  std::int64_t apart;
  std::size_t lanes;
  std::int64_t lane_stride;

  /// Correctly rounded sums, or means. False if the processor rounded on the way, or a mean is not certain: then they are none. `work` has
  /// room for 2 * kLanes numbers. `stream`: past the caches.
  bool sums(bool mean, bool stream, double* work, double* to) const;
};

}  // namespace samesum::groups
