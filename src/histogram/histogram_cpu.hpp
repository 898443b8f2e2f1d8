// Counting on the host's own processor.
#pragma once

#include "histogram/plan.hpp"

#include "core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::binning {

/// The slots of `data` with `threads` threads (0: as many as pay for the size, at most all cores); `used` receives how many.
std::vector<std::uint64_t> count_on_cpu(View data, const Plan& plan, std::uint32_t threads, std::uint32_t* used = nullptr);

/// Counts of bytes that take turns in so many channels: 256 for each.
std::vector<std::uint64_t> count_bytes_on_cpu(View data, std::uint32_t channels, std::uint32_t threads, std::uint32_t* used = nullptr);

/// The textbook's loop, on one thread: a histogram as anybody writes it. float32 into `bins` even bins, or bytes (bins = 256, low = 0,
/// high = 256). Of samples on an edge it may take either side, which is why it is not what this library does.
void count_plainly(View data, double low, double high, std::uint32_t bins, std::uint64_t* counts);

// --- loops for one thread (histogram_cpu_loops.cpp)

/// 256 counters in several copies, so that equal bytes in a row do not wait for each other; with pairs of bytes for data of few values.
struct ByteTables {
  static constexpr std::size_t kCopies = 8;
  std::uint32_t single[kCopies][256] = {};
  std::vector<std::uint32_t> pairs;  ///< 65536, once they are needed
};
/// Up to 2^31 bytes between two emptyings.
void add_bytes(const std::uint8_t* from, std::size_t count, ByteTables& tables);

/// Adds `count` float32 at any alignment, of a plan with even(), to `copies` (1, 2, 8) counters for each slot, which lie side by side.
void add_even(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables);

}  // namespace samesum::binning
