// Checks for free memory: drivers crash, hang or abort the process where an allocation of theirs fails.
#pragma once

#include <cstdint>

namespace samesum::device {

/// Whether this process could allocate `bytes` more; they are not touched. Other threads and processes may take the memory meanwhile.
bool has_room(std::uint64_t bytes) noexcept;

}  // namespace samesum::device
