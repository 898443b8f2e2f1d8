// How much memory there is for this process.
#pragma once

#include <cstdint>
#include <string>

namespace samesum::core {

/// The bytes that the system can give without swapping, page cache that it can drop included, or the smallest limit of this process's control
/// groups where that is less. All bits set where neither is known. The environment variable SAMESUM_MEMORY, a
/// number of bytes, stands for all of it. `root` stands before the paths of /proc and /sys, and then the variable does not count.
std::uint64_t available_memory(const std::string& root = {});

}  // namespace samesum::core
