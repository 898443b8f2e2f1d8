// How the CPU shares out pairs that are evaluated by PairValues: some x and all y or, where there are few x, a part of them.
#pragma once

#include "core/threads/parallel.hpp"
#include "pairs/problem.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace samesum::all_pairs {

/// Parts are aligned blocks of the tree over the y.
struct Shares {
  static constexpr std::uint64_t kXOfTask = 32;  // how often y that were gathered are used
  std::uint64_t share = 0, parts = 0;

  Shares(const Problem& problem, std::uint64_t least) {
    constexpr std::uint64_t kEnoughTasks = 64;
    const std::uint64_t tasks = std::max<std::uint64_t>(ceil_div(problem.x_count, kXOfTask), 1);
    const std::uint64_t wanted = std::max<std::uint64_t>(kEnoughTasks / tasks, 1);
    share = std::max(least, std::bit_ceil(ceil_div(problem.y_count, wanted)));
    parts = ceil_div(problem.y_count, share);
  }
};

/// Calls body(x, count, part) for all of them, on `threads` threads (0: all cores).
inline void for_shares(const Problem& problem, const Shares& shares, std::uint32_t threads,
                       core::FunctionRef<void(std::uint64_t, std::uint64_t, std::uint64_t)> body) {
  const std::uint64_t tasks = ceil_div(problem.x_count, Shares::kXOfTask) * shares.parts;
  core::with_threads(threads, [&] {
    core::parallel_for(tasks, [&](std::uint64_t task) {
      const std::uint64_t first = task / shares.parts * Shares::kXOfTask;
      body(first, std::min(Shares::kXOfTask, problem.x_count - first), task % shares.parts);
    });
  });
}

/// The failure of the least pair, of several threads.
class FirstFailure {
 public:
  void add(std::uint64_t x, std::uint64_t y, Error error) {
    const std::lock_guard lock(mutex_);
    if (found_ && found_->pair <= std::pair(x, y)) return;
    found_.emplace(Found{{x, y}, std::move(error)});
  }
  void rethrow() const {
    if (found_) throw found_->error;
  }

 private:
  struct Found {
    std::pair<std::uint64_t, std::uint64_t> pair;
    Error error;
  };
  std::mutex mutex_;
  std::optional<Found> found_;
};

/// The error of a pair for which f has no value.
inline Error no_value(std::uint64_t x, std::uint64_t y, std::string_view what) {
  return {ErrorKind::no_answer, fmt::format("{} in f of x = {} and y = {}", what, x, y)};
}

}  // namespace samesum::all_pairs
