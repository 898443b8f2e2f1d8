// Scans on the CPU: lines of elements, each a scan of its own, shared out over threads.
//
// A Scanner has a Result type and a State, which is what it knows of the elements so far:
//   State start() const;                                      // of none
//   void add(State&, const Element* x, std::size_t) const;    // of more, without results
//   void merge(State&, const State& later) const;             // `later` is of elements behind those of the other
//   void scan(State&, const Element* x, std::size_t, Result* to) const;  // throws NoResult where there is none
//   Result empty() const;                                     // the result of no elements
#pragma once

#include "core/chunks.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace samesum::prefix {

/// Contiguous elements in host memory, as `outer` times `extent` times `inner`; scans go along `extent`. Results have the same places.
struct Layout {
  std::uint64_t outer = 1, extent = 0, inner = 1;
  std::span<const std::uint64_t> offsets = {};  ///< of segments along `extent`, where `outer` and `inner` are 1; empty: one segment
  bool exclusive = false;
};

/// Thrown where the elements up to this one have no result, and why.
struct NoResult {
  std::size_t element;
  std::string why;
};

/// The error of the lowest index among those of several threads.
class FirstError {
 public:
  template <class Body>
  void guard(std::uint64_t index, const Body& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ && index >= index_) return;
      index_ = index;
      error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::uint64_t index_ = 0;
  std::exception_ptr error_;
};

template <class Element, class Scanner>
class Lines {
 public:
  using Result = typename Scanner::Result;
  using State = typename Scanner::State;

  Lines(const Scanner& scanner, const Layout& layout, std::uint32_t threads) : scanner_(scanner), layout_(layout), wanted_(threads) {}

  void run(const Element* x, Result* to) {
    if (layout_.inner > 1) return run_strips(x, to);
    const bool segments = !layout_.offsets.empty();
    const std::uint64_t lines = segments ? layout_.offsets.size() : layout_.outer, size = layout_.outer * layout_.extent;
    const auto first_of = [&](std::uint64_t line) {
      return !segments ? line * layout_.extent : line == lines ? size : layout_.offsets[line];
    };
    const std::uint32_t threads = core::thread_count(size * (sizeof(Element) + sizeof(Result)), wanted_);
    // Short lines one by one, many at once; long ones one after the other, each by all threads.
    const auto is_long = [&](std::uint64_t line) { return threads > 1 && first_of(line + 1) - first_of(line) >= 4 * kBlock; };
    const std::uint64_t chunk = std::clamp<std::uint64_t>(lines / (8 * threads), 1, 1 + (kBlock * lines) / (size + 1));
    FirstError error;
    core::for_chunks(lines, threads == 1 || lines == 1 ? 1 : threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
      for (std::uint64_t line = first; line < first + count; ++line) {
        const std::uint64_t begin = first_of(line);
        if (!is_long(line)) error.guard(begin, [&] { run_short(x + begin, first_of(line + 1) - begin, to + begin, begin); });
      }
    });
    for (std::uint64_t line = 0; line < lines; ++line) {
      const std::uint64_t begin = first_of(line);
      if (is_long(line)) error.guard(begin, [&] { run_long(x + begin, first_of(line + 1) - begin, to + begin, begin, threads); });
    }
    error.rethrow();
  }

 private:
  static constexpr std::uint64_t kBlock = std::uint64_t{1} << 15;  ///< elements: a block of doubles stays in the second-level cache
  static constexpr std::uint64_t kBlocksEach = 4;                  ///< of a thread, between two meetings

  // `index` is that of the first element in the whole array, `apart` how far the next one is. Exclusive results are inclusive ones, one
  // place further on.
  void scan(State& state, const Element* x, std::uint64_t count, Result* to, std::uint64_t index, std::uint64_t apart = 1) const {
    try {
      scanner_.scan(state, x, count, to);
    } catch (const NoResult& none) {
      throw Error(ErrorKind::no_answer, fmt::format("at index {}: {}", index + none.element * apart, none.why));
    }
  }
  void run_short(const Element* x, std::uint64_t count, Result* to, std::uint64_t index) const {
    if (count == 0) return;
    State state = scanner_.start();
    if (!layout_.exclusive) return scan(state, x, count, to, index);
    to[0] = scanner_.empty();
    scan(state, x, count - 1, to + 1, index);
  }

  // All threads take blocks of a part of the line that the caches hold: first their totals, then, from what lies before each, the results.
  void run_long(const Element* x, std::uint64_t count, Result* to, std::uint64_t index, std::uint32_t threads) const {
    if (layout_.exclusive) {
      to[0] = scanner_.empty();
      --count;
      ++to;
    }
    const std::uint64_t part = kBlock * kBlocksEach * threads;
    std::vector<State> states(kBlocksEach * threads + 1, scanner_.start());
    for (std::uint64_t first = 0; first < count; first += part) {
      const std::uint64_t size = std::min(part, count - first), blocks = (size + kBlock - 1) / kBlock;
      const auto length = [&](std::uint64_t block) { return std::min(kBlock, size - block * kBlock); };
      FirstError error;
      // The last block's total comes with its results.
      core::for_chunks(blocks - 1, blocks == 1 ? 1 : threads, 1, [&](std::uint32_t, std::uint64_t block, std::uint64_t) {
        error.guard(block, [&] {
          states[block + 1] = scanner_.start();
          scanner_.add(states[block + 1], x + first + block * kBlock, length(block));
        });
      });
      error.rethrow();
      for (std::uint64_t block = 1; block < blocks; ++block) {
        State sum = states[block - 1];
        scanner_.merge(sum, states[block]);
        states[block] = std::move(sum);
      }
      core::for_chunks(blocks, threads, 1, [&](std::uint32_t, std::uint64_t block, std::uint64_t) {
        const std::uint64_t at = first + block * kBlock;
        error.guard(block, [&] { scan(states[block], x + at, length(block), to + at, index + at); });
      });
      error.rethrow();
      states[0] = states[blocks - 1];
    }
  }

  // Lines whose elements lie apart: those of a cache line's width are brought together, some steps at a time.
  void run_strips(const Element* x, Result* to) const {
    constexpr std::uint64_t kWidth = 64 / sizeof(Element), kSteps = 1024;
    const std::uint64_t strips = (layout_.inner + kWidth - 1) / kWidth;
    const std::uint64_t size = layout_.outer * layout_.extent * layout_.inner;
    const std::uint32_t threads = core::thread_count(size * (sizeof(Element) + sizeof(Result)), wanted_);
    FirstError error;
    core::for_chunks(layout_.outer * strips, size == 0 ? 1 : threads, 1, [&](std::uint32_t, std::uint64_t strip, std::uint64_t) {
      const std::uint64_t begin = strip / strips * layout_.extent * layout_.inner + strip % strips * kWidth;
      const std::uint64_t width = std::min(kWidth, layout_.inner - strip % strips * kWidth), inner = layout_.inner;
      error.guard(begin, [&] {
        std::vector<State> states(width, scanner_.start());
        std::vector<Element> elements(kWidth * kSteps);
        std::vector<Result> results(kWidth * kSteps);
        std::vector<Result> last(width, scanner_.empty());
        for (std::uint64_t first = 0; first < layout_.extent; first += kSteps) {
          const std::uint64_t steps = std::min(kSteps, layout_.extent - first);
          for (std::uint64_t step = 0; step < steps; ++step) {
            const Element* const from = x + begin + (first + step) * inner;
            for (std::uint64_t k = 0; k < width; ++k) elements[k * kSteps + step] = from[k];
          }
          // Of the last element of all no exclusive result takes account.
          const std::uint64_t count = layout_.exclusive && first + steps == layout_.extent ? steps - 1 : steps;
          for (std::uint64_t k = 0; k < width; ++k) {
            scan(states[k], &elements[k * kSteps], count, &results[k * kSteps], begin + first * inner + k, inner);
          }
          for (std::uint64_t step = 0; step < steps; ++step) {
            Result* const row = to + begin + (first + step) * inner;
            for (std::uint64_t k = 0; k < width; ++k) {
              if (!layout_.exclusive) {
                row[k] = results[k * kSteps + step];
              } else {
                row[k] = step == 0 ? last[k] : results[k * kSteps + step - 1];
              }
            }
          }
          for (std::uint64_t k = 0; k < width; ++k) last[k] = results[k * kSteps + steps - 1];
        }
      });
    });
    error.rethrow();
  }

  const Scanner& scanner_;
  const Layout& layout_;
  std::uint32_t wanted_;
};

template <class Element, class Scanner>
void scan_lines(const Scanner& scanner, const Layout& layout, std::uint32_t threads, const void* x, void* to) {
  Lines<Element, Scanner>(scanner, layout, threads).run(static_cast<const Element*>(x), static_cast<typename Scanner::Result*>(to));
}

}  // namespace samesum::prefix
