// Whether there is memory to be had: drivers crash, hang or end the process where an allocation of theirs fails.
#pragma once

#include <cstdint>

namespace samesum::device {

/// Whether this process could allocate so many bytes more; they are not touched. What other threads and processes take meanwhile nobody
/// knows.
bool has_room(std::uint64_t bytes) noexcept;

}  // namespace samesum::device
