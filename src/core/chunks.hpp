// The distribution of an array over threads, for all loops of the CPU.
#pragma once

#include "core/float_environment.hpp"
#include "core/parallel.hpp"

#include <tbb/info.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

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

/// The arena for all work: threads that wait in it do not run tasks of the caller.
inline tbb::task_arena& arena() {
  static auto* const instance = new tbb::task_arena();  // never destroyed, for use in static destructors
  return *instance;
}

/// The threads that a call may take: those of all cores, or of the caller's own arena (tbb::task_arena::execute), if these are fewer.
inline std::uint32_t concurrency() { return static_cast<std::uint32_t>(tbb::this_task_arena::max_concurrency()); }

/// body() in the arena for all work, or in the caller's own.
template <class Body>
void execute_in_arena(const Body& body) {
  if (tbb::this_task_arena::max_concurrency() == tbb::info::default_concurrency()) return execute(arena(), body);
  tbb::this_task_arena::isolate(body);
}

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
template <class Body>
void for_chunks(std::uint64_t size, std::uint32_t threads, std::uint64_t chunk, const Body& body) {
  if (threads == 1) {
    const DefaultFloatEnvironment environment;
    for (std::uint64_t first = 0; first < size; first += chunk) body(std::uint32_t{0}, first, std::min(chunk, size - first));
    return;
  }
  struct alignas(64) Hand {
    std::atomic<std::uint64_t> taken{0};
  };
  std::vector<Hand> hands(threads);
  const std::uint64_t each = ((size + chunk - 1) / chunk + threads - 1) / threads;
  const std::uint64_t run = each <= kFewChunks ? each : 1;  // of adjacent chunks
  const auto work = [&](std::uint32_t task) {
    // A thread has the same index in the arena in all calls; the task that it is given differs.
    const auto own = static_cast<std::uint32_t>(tbb::this_task_arena::current_thread_index());
    for (std::uint32_t n = 0; n < threads; ++n) {
      const std::uint32_t hand = (own + n) % threads;
      for (;;) {
        const std::uint64_t round = hands[hand].taken.fetch_add(1, std::memory_order_relaxed);
        const std::uint64_t first = ((round / run * threads + hand) * run + round % run) * chunk;
        if (first >= size) break;
        body(task, first, std::min(chunk, size - first));
      }
    }
  };
  execute_in_arena([&] { parallel_for(std::uint32_t{0}, threads, work, tbb::simple_partitioner()); });
}

}  // namespace samesum::core
