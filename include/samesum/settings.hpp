// Settings of the library by function, instead of by environment variables.
#pragma once

#include <samesum/export.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// "SAMESUM_CACHE", "SAMESUM_CACHE_DIR", "SAMESUM_CUDA_LIBRARY", "SAMESUM_DEVICE", "SAMESUM_KERNELS", "SAMESUM_MASK", "SAMESUM_MEMORY",
/// "SAMESUM_NCCL_LIBRARY", "SAMESUM_NVRTC_LIBRARY", "SAMESUM_OPENCL_LIBRARY", "SAMESUM_TUNING": the variables that ARCHITECTURE.md
/// describes.
const std::vector<std::string_view>& settings();

/// Sets for this process what the environment variable of that name sets, and goes before it: configure("SAMESUM_CACHE_DIR",
/// "/srv/kernels"). Without a value the variable holds again; an empty value is as a variable that is not set. What a driver or a device
/// has been opened with does not change: call it before the first use. Any thread may call it at any time.
/// @throws Error (usage) for a name that is not of settings().
void configure(std::string_view name, std::optional<std::string> value);

}  // namespace samesum
