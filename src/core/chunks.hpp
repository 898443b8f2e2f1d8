// An array split over threads: who takes what, written once for all loops of the CPU.
#pragma once

#include "core/float_environment.hpp"
#include "core/parallel.hpp"

#include <tbb/info.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace samesum::core {

// A thread takes the chunks that it was dealt, so that an array that is gone through again is found in the caches of the cores that had
// it; then what others have left, so that none waits long for one that woke up late or was interrupted. Where an array has few chunks, so
// that caches may hold it, a thread's lie side by side, and fill all of its cache. Of many, those that are worked on at the same time lie
// close together: two threads at far ends of an array can keep hitting the same banks of memory at the same time, at half the speed.
inline constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMinChunkBytes = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kFewChunks = 32;  // for each thread
// What has to be there for each thread, for waking it to pay.
inline constexpr std::uint64_t kThreadBytes = std::uint64_t{1} << 19;

/// The arena in which all work is done: threads that wait there do not take up the caller's own tasks.
inline tbb::task_arena& arena() {
  static auto* const instance = new tbb::task_arena();  // outlives whoever sums in a static destructor
  return *instance;
}

/// Threads for so many bytes; `wanted`: at most, 0 for what pays.
inline std::uint32_t thread_count(std::uint64_t bytes, std::uint32_t wanted) {
  const std::uint64_t most = bytes / (wanted == 0 ? kThreadBytes : kMinChunkBytes);
  if (wanted == 1 || most <= 1) return 1;
  const std::uint64_t threads = wanted != 0 ? wanted : static_cast<std::uint32_t>(tbb::info::default_concurrency());
  return static_cast<std::uint32_t>(std::min(threads, most));
}

/// Elements of a chunk: small arrays have many chunks a thread too, as the last chunk is what others wait for.
inline std::uint64_t chunk_size(std::uint64_t bytes, std::uint64_t element_bytes, std::uint32_t threads) {
  constexpr std::uint64_t kPage = 4096;
  return std::clamp(bytes / threads / (2 * kFewChunks) / kPage * kPage, kMinChunkBytes, kMaxChunkBytes) / element_bytes;
}

/// Calls body(task, first, count) for all chunks of `size` elements, in `threads` tasks; a single one is the caller.
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
  const std::uint64_t run = each <= kFewChunks ? each : 1;  // of chunks side by side
  const auto work = [&](std::uint32_t task) {
    // A thread keeps its index in the arena from call to call; which task it is given changes.
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
  execute(arena(), [&] { parallel_for(std::uint32_t{0}, threads, work, tbb::simple_partitioner()); });
}

}  // namespace samesum::core
