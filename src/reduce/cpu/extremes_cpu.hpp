// The extremes of an array on the CPU, by keys: integers in the order of the elements.
#pragma once

#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace samesum::statistics {

/// A key is a signed 64-bit integer that stands for an element; for floats -0.0 < +0.0, and NaNs lie beyond the infinities.
/// uint64 is offset by 2^63; other integers are their own keys.
inline constexpr std::int64_t kNoLeast = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kNoGreatest = std::numeric_limits<std::int64_t>::min();
template <class Integer>
constexpr std::int64_t common_key(Integer value) noexcept {
  return std::is_same_v<Integer, std::uint64_t> ? static_cast<std::int64_t>(value ^ std::uint64_t{1} << 63)
                                                : static_cast<std::int64_t>(value);
}

/// The extremes of a part of an array. Indices are those of the whole; parts may be scanned in any order, and merged in any.
struct Extremes {
  std::uint64_t count = 0;
  std::uint64_t nan_count = 0;
  std::uint64_t zeros = 0;  ///< of either sign, if they were wanted
  std::optional<std::uint64_t> first_nan = {};
  std::optional<std::uint64_t> min_index = {}, max_index = {};  ///< lowest indices of the extremes
  std::int64_t min = kNoLeast, max = kNoGreatest;               ///< keys

  void see(std::int64_t key, std::uint64_t index) noexcept;
  void see_nan(std::uint64_t index) noexcept;
  void merge(const Extremes& other) noexcept;
};

/// Adds `count` elements of `type` at any byte alignment, of which the first has the index `first`; `zeros`: counts these, too.
void add_extremes(const std::byte* elements, std::uint64_t count, DType type, std::uint64_t first, bool zeros, Extremes& extremes);

}  // namespace samesum::statistics
