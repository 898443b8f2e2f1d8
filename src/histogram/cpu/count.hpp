// Counting on the CPU.
#pragma once

#include "histogram/plan.hpp"

#include "core/view.hpp"
#include "reduce/term.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace samesum::binning {

/// The slot counts of `data`, on `threads` threads (0: chosen by the size, at most all cores); `used` receives how many.
std::vector<std::uint64_t> count_on_cpu(View data, const Plan& plan, std::uint32_t threads, std::uint32_t* used = nullptr);

/// The same of a formula's values, which are computed block by block. Its counts by value are folded already.
std::vector<std::uint64_t> count_on_cpu(statistics::HostTerms& terms, const Plan& plan, std::uint32_t threads,
                                        std::uint32_t* used = nullptr);

/// The byte counts of `channels` interleaved channels: 256 for each.
std::vector<std::uint64_t> count_bytes_on_cpu(View data, std::uint32_t channels, std::uint32_t threads, std::uint32_t* used = nullptr);

/// The textbook's loop, on one thread: float32 into `bins` even bins, or bytes (bins = 256, low = 0, high = 256). Samples on an edge may be
/// counted on either side, which is why the library does not use it.
void count_plainly(View data, double low, double high, std::uint32_t bins, std::uint64_t* counts);

// --- loops for one thread (loops.cpp)

/// Loops over bytes read so many places of an array in turns, and fetch so far ahead: memory gives more to a processor that reads in
/// several.
inline constexpr std::size_t kPlaces = 4, kPrefetchBytes = 1024;

/// 256 counters in several copies, so that successive equal bytes do not depend on each other; with counters of byte pairs for data of
/// which few pairs are frequent. Those that wrap around add 2^16 to both bytes' first copies.
struct ByteTables {
  static constexpr std::size_t kCopies = 16;
  std::uint32_t single[kCopies][256] = {};
  struct Pairs {
    std::uint16_t counts[65536] = {};
  };
  std::unique_ptr<Pairs> pairs;  ///< made on first use
};
/// At most 2^31 bytes may be added before the tables are emptied.
void add_bytes(const std::uint8_t* from, std::size_t count, ByteTables& tables);

/// Adds `count` float32 or float64 at any alignment, of a plan with even(), to `copies` (1, 2, 8) adjacent counters for each slot.
void add_even(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables);

}  // namespace samesum::binning
