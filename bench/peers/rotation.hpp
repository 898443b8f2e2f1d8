// Hot: again and again over one buffer. Cold: in turns over as many as no cache of a GPU holds, so that each comes from memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peers {

inline constexpr char kGpuHot[] = "cuda, hot";
inline constexpr char kGpuCold[] = "cuda, cold";

/// How many buffers of `bytes` are more than twice the second-level cache of an H100 or H200 (50 MB).
inline std::size_t cold_buffers(std::uint64_t bytes) {
  constexpr std::uint64_t kBytes = std::uint64_t{128} << 20;
  return bytes >= kBytes ? 2 : static_cast<std::size_t>(kBytes / bytes) + 1;
}

/// The distance between two of them in one allocation.
inline std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace peers
