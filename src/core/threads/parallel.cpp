// oneTBB's loops, with two additions. ThreadSanitizer does not see how oneTBB orders memory, as oneTBB is not built with it: here it is
// annotated. This file is not built with it either (cmake/Library.cmake): a thread's last access to a loop, oneTBB's own counter on the
// caller's stack, would be taken for a race with what lies there later. And oneTBB gives bodies the floating-point modes that the arena or
// loop began with, and loses the caller's exception flags: so the caller's modes are the default ones while oneTBB runs, and bodies have
// them too.
#include "core/threads/parallel.hpp"

#include "core/float_environment.hpp"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#if defined(SAMESUM_WATCHED_THREADS)
#include <sanitizer/tsan_interface.h>
#endif

namespace samesum::core {
namespace {

#if defined(SAMESUM_WATCHED_THREADS)

/// The ordering that oneTBB guarantees for a fork and its join, and no more: what precedes the fork happens before every call of the body,
/// and every call before what follows the join. Two calls of the body are not ordered, so that races between them are found.
class ForkJoin {
 public:
  ForkJoin() noexcept { __tsan_release(&fork_); }
  ~ForkJoin() { __tsan_acquire(&join_); }
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  template <class Body>
  auto body(const Body& body) noexcept {
    return [this, &body](auto&&... arguments) {
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

using Range = tbb::blocked_range<std::uint64_t>;

// tbb::parallel_for of body(begin, end).
template <class Partitioner>
void over(const Range& range, FunctionRef<void(std::uint64_t, std::uint64_t)> body, const Partitioner& partitioner) {
  const DefaultFloatEnvironment environment;
  const auto work = [&body](const Range& part) {
    const DefaultFloatEnvironment own;
    body(part.begin(), part.end());
  };
  [[maybe_unused]] ForkJoin order;  // behind what other threads read
  tbb::parallel_for(range, ordered(order, work), partitioner);
}

// arena.execute(body); oneTBB may run the body on another thread.
void execute(tbb::task_arena& arena, FunctionRef<void()> body) {
  const DefaultFloatEnvironment environment;
  [[maybe_unused]] ForkJoin order;
  const auto& watched = ordered(order, body);
  arena.execute(watched);
}

// The arena for all work: threads that wait in it do not run tasks of the caller.
tbb::task_arena& arena() {
  static auto* const instance = new tbb::task_arena();  // never destroyed, for use in static destructors
  return *instance;
}

}  // namespace

std::uint32_t all_cores() { return static_cast<std::uint32_t>(tbb::info::default_concurrency()); }
std::uint32_t concurrency() { return static_cast<std::uint32_t>(tbb::this_task_arena::max_concurrency()); }
std::uint32_t thread_index() { return static_cast<std::uint32_t>(tbb::this_task_arena::current_thread_index()); }

void parallel_for(std::uint64_t count, FunctionRef<void(std::uint64_t)> body) {
  const auto part = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i != end; ++i) body(i);
  };
  over(Range(0, count), part, tbb::auto_partitioner());
}

void parallel_parts(std::uint64_t count, std::uint64_t grain, FunctionRef<void(std::uint64_t, std::uint64_t)> body) {
  if (count <= 2 * grain) {
    const DefaultFloatEnvironment environment;
    return body(0, count);
  }
  tbb::this_task_arena::isolate([&] { over(Range(0, count, grain), body, tbb::auto_partitioner()); });
}

void parallel_tasks(std::uint32_t tasks, FunctionRef<void(std::uint32_t)> body) {
  const auto one = [&](std::uint64_t begin, std::uint64_t) { body(static_cast<std::uint32_t>(begin)); };
  const auto work = [&] { over(Range(0, tasks), one, tbb::simple_partitioner()); };
  if (concurrency() == all_cores()) {
    execute(arena(), work);
  } else {
    tbb::this_task_arena::isolate(work);
  }
}

void with_threads(std::uint32_t threads, FunctionRef<void()> body) {
  if (threads == 0) return body();
  tbb::task_arena arena(static_cast<int>(std::min(threads, all_cores())));
  execute(arena, body);
}

}  // namespace samesum::core
