// A copy in host memory by all cores: one core alone is slower than a bus to a GPU.
#pragma once

#include <cstdint>

namespace samesum::device {

/// std::memcpy, by all cores where it is worth it. The calling thread takes on no other task while it waits.
void parallel_copy(void* to, const void* from, std::uint64_t bytes);

}  // namespace samesum::device
