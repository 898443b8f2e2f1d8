// Which keys there are, and the number of each element's key: that of its group.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/by.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace samesum::groups {

struct NumberedKeys {
  Values keys;                 ///< one of each, in the order of the groups, in their type
  std::optional<Values> here;  ///< the numbers, uint64 in host memory
  std::optional<Array> there;  ///< or uint32 on the device of the keys
};

/// Keys are integers, anywhere. O(n), and O(keys log keys) if they are sorted. On a device the numbers lie where the keys do, unless there
/// are 2^32 - 1 groups or more.
NumberedKeys number_keys(const Array& keys, KeyOrder order);

/// The same by a device that runs kernels, by sorting there: O(n). None where the keys do not lie on one, or are none or too many.
std::optional<NumberedKeys> number_keys_on_device(const Array& keys, KeyOrder order);

/// Writes integers, given as 64 bits, in the type of `to`, which has as many.
void store_integers(std::span<const std::uint64_t> bits, Values& to);

}  // namespace samesum::groups
