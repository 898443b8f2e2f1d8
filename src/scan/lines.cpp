#include "scan/lines.hpp"

#include "core/threads/chunks.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace samesum::prefix {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 15;  // elements: a block of doubles stays in the second-level cache
constexpr std::uint64_t kBlocksEach = 4;                  // of a thread, between two meetings
constexpr std::uint64_t kSteps = 1024;                    // along lines that are brought together

// Copies values of 1, 2, 4 or 8 bytes that lie `from_apart` values apart to where they lie `to_apart` values apart.
template <std::size_t kBytes>
void copy_apart(const std::byte* from, std::uint64_t from_apart, std::byte* to, std::uint64_t to_apart, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to + i * to_apart * kBytes, from + i * from_apart * kBytes, kBytes);
}
using CopyApart = decltype(&copy_apart<1>);

CopyApart copy_of(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return copy_apart<1>;
    case 2:
      return copy_apart<2>;
    case 4:
      return copy_apart<4>;
    default:
      return copy_apart<8>;
  }
}

class Lines {
 public:
  Lines(const AnyScanner& scanner, const Layout& layout, std::uint32_t threads, const void* x, void* to)
      : scanner_(scanner), layout_(layout), wanted_(threads), x_(static_cast<const std::byte*>(x)), to_(static_cast<std::byte*>(to)) {}

  void run() const {
    if (layout_.inner > 1) return run_strips();
    const bool segments = !layout_.offsets.empty();
    const std::uint64_t lines = segments ? layout_.offsets.size() : layout_.outer, size = layout_.outer * layout_.extent;
    const auto first_of = [&](std::uint64_t line) {
      return !segments ? line * layout_.extent : line == lines ? size : layout_.offsets[line];
    };
    const std::uint32_t threads = thread_count(size);
    // Short lines one by one, many at once; long ones one after the other, each by all threads.
    const auto is_long = [&](std::uint64_t line) { return threads > 1 && first_of(line + 1) - first_of(line) >= 4 * kBlock; };
    const std::uint64_t chunk = std::clamp<std::uint64_t>(lines / (8 * threads), 1, 1 + (kBlock * lines) / (size + 1));
    FirstError error;
    core::for_chunks(lines, threads == 1 || lines == 1 ? 1 : threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
      error.guard(first_of(first), [&] {
        const std::unique_ptr<States> state = scanner_.make_states(1);
        for (std::uint64_t line = first; line < first + count; ++line) {
          const std::uint64_t begin = first_of(line);
          if (!is_long(line)) error.guard(begin, [&] { run_short(*state, begin, first_of(line + 1) - begin); });
        }
      });
    });
    for (std::uint64_t line = 0; line < lines; ++line) {
      const std::uint64_t begin = first_of(line);
      if (is_long(line)) error.guard(begin, [&] { run_long(begin, first_of(line + 1) - begin, threads); });
    }
    error.rethrow();
  }

 private:
  std::uint32_t thread_count(std::uint64_t size) const {
    return core::thread_count(size * (scanner_.element_bytes + scanner_.result_bytes), wanted_);
  }
  const std::byte* element(std::uint64_t i) const { return x_ + i * scanner_.element_bytes; }
  std::byte* result(std::uint64_t i) const { return to_ + i * scanner_.result_bytes; }

  // `index` is that of the first element in the whole array, `apart` how far the next one is. Exclusive results are inclusive ones, one
  // place further on.
  static void scan(States& states, std::size_t line, const std::byte* x, std::uint64_t count, std::byte* to, std::uint64_t index,
                   std::uint64_t apart = 1) {
    try {
      states.scan(line, x, count, to);
    } catch (const NoResult& none) {
      throw Error(ErrorKind::no_answer, fmt::format("at index {}: {}", index + none.element * apart, none.why));
    }
  }
  void run_short(States& state, std::uint64_t begin, std::uint64_t count) const {
    if (count == 0) return;
    state.start(0);
    if (!layout_.exclusive) return scan(state, 0, element(begin), count, result(begin), begin);
    state.store_empty(result(begin));
    scan(state, 0, element(begin), count - 1, result(begin + 1), begin);
  }

  // All threads take blocks of a part of the line that the caches hold: first their totals, then, from what lies before each, the results.
  void run_long(std::uint64_t begin, std::uint64_t count, std::uint32_t threads) const {
    const std::unique_ptr<States> states = scanner_.make_states(kBlocksEach * threads + 1);
    if (layout_.exclusive) {
      states->store_empty(result(begin));
      --count;
    }
    const std::uint64_t part = kBlock * kBlocksEach * threads, end = begin + count;
    for (std::uint64_t first = begin; first < end; first += part) {
      const std::uint64_t size = std::min(part, end - first), blocks = (size + kBlock - 1) / kBlock;
      const auto length = [&](std::uint64_t block) { return std::min(kBlock, size - block * kBlock); };
      FirstError error;
      // The last block's total comes with its results.
      core::for_chunks(blocks - 1, blocks == 1 ? 1 : threads, 1, [&](std::uint32_t, std::uint64_t block, std::uint64_t) {
        error.guard(block, [&] {
          states->start(block + 1);
          states->add(block + 1, element(first + block * kBlock), length(block));
        });
      });
      error.rethrow();
      for (std::uint64_t block = 1; block < blocks; ++block) states->precede(block - 1, block);
      core::for_chunks(blocks, threads, 1, [&](std::uint32_t, std::uint64_t block, std::uint64_t) {
        const std::uint64_t at = first + block * kBlock;
        error.guard(block, [&] { scan(*states, block, element(at), length(block), result(layout_.exclusive ? at + 1 : at), at); });
      });
      error.rethrow();
      states->copy(blocks - 1, 0);
    }
  }

  // Lines whose elements lie apart: those of a cache line's width are brought together, some steps at a time.
  void run_strips() const {
    const std::uint64_t widest = 64 / scanner_.element_bytes, inner = layout_.inner;
    const std::uint64_t strips = (inner + widest - 1) / widest, size = layout_.outer * layout_.extent * inner;
    const CopyApart copy_elements = copy_of(scanner_.element_bytes), copy_results = copy_of(scanner_.result_bytes);
    FirstError error;
    core::for_chunks(layout_.outer * strips, size == 0 ? 1 : thread_count(size), 1, [&](std::uint32_t, std::uint64_t strip, std::uint64_t) {
      const std::uint64_t begin = strip / strips * layout_.extent * inner + strip % strips * widest;
      const std::uint64_t width = std::min(widest, inner - strip % strips * widest);
      error.guard(begin, [&] {
        const std::unique_ptr<States> states = scanner_.make_states(width);
        // Before the results of a line that are written next lies the one before them, with which exclusive ones begin; those to be written
        // begin at a multiple of 64 bytes from the first.
        constexpr std::uint64_t kLead = 64, kRow = kLead + kSteps;
        std::vector<std::byte> elements(width * kSteps * scanner_.element_bytes), results(width * kRow * scanner_.result_bytes);
        const auto result_at = [&](std::uint64_t line, std::uint64_t step) {
          return &results[(line * kRow + kLead - 1 + step) * scanner_.result_bytes];
        };
        for (std::uint64_t k = 0; k < width; ++k) states->store_empty(result_at(k, 0));
        for (std::uint64_t first = 0; first < layout_.extent; first += kSteps) {
          const std::uint64_t steps = std::min(kSteps, layout_.extent - first), at = begin + first * inner;
          for (std::uint64_t step = 0; step < steps; ++step) {
            copy_elements(element(at + step * inner), 1, &elements[step * scanner_.element_bytes], kSteps, width);
          }
          // Of the last element of all no exclusive result takes account.
          const std::uint64_t count = layout_.exclusive && first + steps == layout_.extent ? steps - 1 : steps;
          for (std::uint64_t k = 0; k < width; ++k) {
            scan(*states, k, &elements[k * kSteps * scanner_.element_bytes], count, result_at(k, 1), at + k, inner);
          }
          for (std::uint64_t step = 0; step < steps; ++step) {
            copy_results(result_at(0, layout_.exclusive ? step : step + 1), kRow, result(at + step * inner), 1, width);
          }
          for (std::uint64_t k = 0; k < width; ++k) std::memcpy(result_at(k, 0), result_at(k, steps), scanner_.result_bytes);
        }
      });
    });
    error.rethrow();
  }

  const AnyScanner& scanner_;
  const Layout& layout_;
  std::uint32_t wanted_;
  const std::byte* x_;
  std::byte* to_;
};

}  // namespace

void scan_lines(const AnyScanner& scanner, const Layout& layout, std::uint32_t threads, const void* x, void* to) {
  Lines(scanner, layout, threads, x, to).run();
}

}  // namespace samesum::prefix
