// oneTBB's loops, with two additions. ThreadSanitizer does not see how oneTBB orders memory, as oneTBB is not built with it: here it is
// annotated. And oneTBB gives bodies the floating-point modes that the arena or loop began with, and loses the caller's exception flags: so
// the caller's modes are the default ones while oneTBB runs, and bodies have them too.
#pragma once

#include "core/float_environment.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <concepts>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#define SAMESUM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SAMESUM_TSAN 1
#endif
#endif

#if defined(SAMESUM_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace samesum::core {

#if defined(SAMESUM_TSAN)

/// The ordering that oneTBB guarantees for a fork and its join, and no more: what precedes the fork happens before every call of the body,
/// and every call before what follows the join. Two calls of the body are not ordered, so that races between them are found.
class ForkJoin {
 public:
  ForkJoin() noexcept { __tsan_release(&fork_); }
  ~ForkJoin() { __tsan_acquire(&join_); }
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  // The closure that a thread calls may be a copy made by another thread without a visible ordering: the call itself is not instrumented.
  template <class Body>
  auto body(const Body& body) noexcept {
    return [ this, &body ](auto&&... arguments) __attribute__((no_sanitize("thread"), noinline)) {
      __tsan_acquire(&fork_);
      body(arguments...);
      __tsan_release(&join_);
    };
  }

 private:
  char fork_ = 0, join_ = 0;  // only their addresses are used
};

template <class Body>
auto ordered(ForkJoin& order, const Body& body) noexcept {
  return order.body(body);
}

#else

struct ForkJoin {};

template <class Body>
const Body& ordered(ForkJoin&, const Body& body) noexcept {
  return body;
}

#endif

/// tbb::parallel_for over a range.
template <class Range, class Body, class... Partitioner>
requires(!std::integral<Range>) void parallel_for(const Range& range, const Body& body, const Partitioner&... partitioner) {
  const DefaultFloatEnvironment environment;
  [[maybe_unused]] ForkJoin order;
  const auto& watched = ordered(order, body);
  const auto work = [&watched](const Range& part) {
    const DefaultFloatEnvironment own;
    watched(part);
  };
  tbb::parallel_for(range, work, partitioner...);
}

/// tbb::parallel_for over indices.
template <std::integral Index, class Body, class... Partitioner>
void parallel_for(Index first, Index last, const Body& body, const Partitioner&... partitioner) {
  const DefaultFloatEnvironment environment;
  [[maybe_unused]] ForkJoin order;
  const auto& watched = ordered(order, body);
  const auto work = [&watched](Index index) {
    const DefaultFloatEnvironment own;
    watched(index);
  };
  tbb::parallel_for(first, last, work, partitioner...);
}

/// body(begin, end) for parts of [0, count) of about `grain` indices, by all cores; by this thread alone where waking others would take longer
/// than it saves. Isolated: while this thread waits, it does not take over a task of the caller's, which may need the same device.
template <class Body>
void parallel_parts(std::uint64_t count, std::uint64_t grain, const Body& body) {
  if (count <= 2 * grain) return body(std::uint64_t{0}, count);
  tbb::this_task_arena::isolate([&] {
    parallel_for(tbb::blocked_range<std::uint64_t>(0, count, grain),
                 [&](const tbb::blocked_range<std::uint64_t>& part) { body(part.begin(), part.end()); });
  });
}

/// arena.execute(body); oneTBB may run the body on another thread.
template <class Body>
void execute(tbb::task_arena& arena, const Body& body) {
  const DefaultFloatEnvironment environment;
  [[maybe_unused]] ForkJoin order;
  const auto& watched = ordered(order, body);
  arena.execute(watched);
}

}  // namespace samesum::core
