// Elements as words of fixed_sums.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace samesum::groups {

inline constexpr std::size_t kSplitBlock = 64;

/// Stores values[i] * scale, for a power of two, as upper[i] + lower[i] * 2^-36, both of the value's sign and less than 2^36; without
/// `lower`, as upper[i] alone. False where that cannot be done for one of kSplitBlock values, or one is -0.0: then what is stored is of no
/// use.
bool split(const double* values, double scale, std::int64_t* upper, std::int64_t* lower);

/// `from` may have any alignment.
void to_doubles(const float* from, std::size_t count, double* to);

}  // namespace samesum::groups
