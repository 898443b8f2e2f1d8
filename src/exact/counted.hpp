// Counters of elements that are checked for overflow.
#pragma once

#include <cstdint>

namespace samesum::exact {

/// Throws Error (no_answer): the number of elements does not fit 64 bits.
[[noreturn]] void too_many_elements();

/// count + more. @throws Error (no_answer) where that is 2^64 or more.
inline std::uint64_t counted(std::uint64_t count, std::uint64_t more) {
  if (__builtin_add_overflow(count, more, &count)) too_many_elements();
  return count;
}

}  // namespace samesum::exact
