#include "core/threads/chunks.hpp"

#include "core/float_environment.hpp"

#include <atomic>
#include <vector>

namespace samesum::core {

void for_chunks(std::uint64_t size, std::uint32_t threads, std::uint64_t chunk,
                FunctionRef<void(std::uint32_t, std::uint64_t, std::uint64_t)> body) {
  if (size == 0) return;
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
  parallel_tasks(threads, [&](std::uint32_t task) {
    // A thread has the same index in the arena in all calls; the task that it is given differs.
    const std::uint32_t own = thread_index();
    for (std::uint32_t n = 0; n < threads; ++n) {
      const std::uint32_t hand = (own + n) % threads;
      for (;;) {
        const std::uint64_t round = hands[hand].taken.fetch_add(1, std::memory_order_relaxed);
        const std::uint64_t first = ((round / run * threads + hand) * run + round % run) * chunk;
        if (first >= size) break;
        body(task, first, std::min(chunk, size - first));
      }
    }
  });
}

}  // namespace samesum::core
