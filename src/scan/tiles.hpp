// Prefixes of floats, tile by tile, as certain as they are fast.
#pragma once

#include <cstddef>

namespace samesum::prefix {

/// What lies before a tile: the sum is b0 + b1 + b2, or up to `error` off it. b0 is the nearest double, b1 that to the rest.
struct Base {
  double b0 = 0, b1 = 0, b2 = 0;
  double error = 0;
};

/// Sums of prefixes, rounded to a T's sum as a U, as far as that is certain: stops before a tile where one result is not, or where there is
/// an infinity or a NaN (unless `skip`, when NaNs are left out). Returns the number of elements done, and `base` is what lies before the
/// next. A sum of zero is +0.0. Requires a core::DefaultFloatEnvironment.
template <class T, class U>
std::size_t scan_tiles(const T* x, std::size_t count, bool skip, Base& base, U* to);

/// Elements of a tile: scan_tiles() stops at a multiple of that from x, or at the end.
inline constexpr std::size_t kTile = 256;

}  // namespace samesum::prefix
