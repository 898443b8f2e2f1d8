// The distribution of an array over threads, for all loops of the CPU.
#pragma once

#include "core/threads/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace samesum::core {

// A thread first takes the chunks assigned to it, so that an array that is processed again is found in the caches of the same cores; then
// chunks left by others, so that a thread that started late or was interrupted delays none. If an array has few chunks, so that caches may
// hold it, those of a thread are adjacent, to fill its cache. If it has many, chunks processed at the same time are close together: two
// threads at distant addresses can keep hitting the same memory banks, which halves the bandwidth.
inline constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMinChunkBytes = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kFewChunks = 32;  // for each thread
// The minimum of data per thread that makes a thread worthwhile.
inline constexpr std::uint64_t kThreadBytes = std::uint64_t{1} << 19;

/// The number of threads for `bytes` of data: at most `wanted`, or as many as are worthwhile if that is 0.
inline std::uint32_t thread_count(std::uint64_t bytes, std::uint32_t wanted) {
  const std::uint64_t most = bytes / (wanted == 0 ? kThreadBytes : kMinChunkBytes);
  if (wanted == 1 || most <= 1) return 1;
  const std::uint64_t threads = wanted != 0 ? wanted : concurrency();
  return static_cast<std::uint32_t>(std::min(threads, most));
}

/// Elements of a chunk. Small arrays have many chunks per thread too, as all threads wait for the last chunk.
inline std::uint64_t chunk_size(std::uint64_t bytes, std::uint64_t element_bytes, std::uint32_t threads) {
  constexpr std::uint64_t kPage = 4096;
  return std::clamp(bytes / threads / (2 * kFewChunks) / kPage * kPage, kMinChunkBytes, kMaxChunkBytes) / element_bytes;
}

/// Calls body(task, first, count) for all chunks of `size` elements, in `threads` tasks; a single task runs on the calling thread.
void for_chunks(std::uint64_t size, std::uint32_t threads, std::uint64_t chunk,
                FunctionRef<void(std::uint32_t, std::uint64_t, std::uint64_t)> body);

}  // namespace samesum::core
