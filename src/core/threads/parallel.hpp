// oneTBB's loops. Their bodies are called by reference: oneTBB's templates, which have several copies of a body inlined, are compiled once,
// in parallel.cpp. In bodies the floating-point modes are the default ones.
#pragma once

#include "core/threads/function_ref.hpp"

#include <cstdint>

namespace samesum::core {

/// The processor's cores, or as many of them as this process may use.
std::uint32_t all_cores();
/// The threads that a call may take: those of all cores, or of the caller's own arena (tbb::task_arena::execute), if these are fewer.
std::uint32_t concurrency();

/// body(index) for each of [0, count).
void parallel_for(std::uint64_t count, FunctionRef<void(std::uint64_t)> body);

/// body(begin, end) for parts of [0, count) of about `grain` indices, by all cores; by this thread alone where waking others would take
/// longer than it saves. Isolated: while this thread waits, it does not take over a task of the caller's, which may need the same device.
void parallel_parts(std::uint64_t count, std::uint64_t grain, FunctionRef<void(std::uint64_t, std::uint64_t)> body);

/// body(task) for each of [0, tasks), a thread for each as far as there are cores, in the arena for all work or in the caller's own.
/// Isolated, too.
void parallel_tasks(std::uint32_t tasks, FunctionRef<void(std::uint32_t)> body);
/// This thread's number in the arena: the same in all calls.
std::uint32_t thread_index();

/// body(), in which parallel_for() takes `threads` threads, or as many as there are cores if these are fewer or `threads` is 0.
void with_threads(std::uint32_t threads, FunctionRef<void()> body);

}  // namespace samesum::core
