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

/// Loops over bytes take so many at once, as one addition if they are equal.
inline constexpr std::size_t kRun = 64;

/// Counters of pairs of bytes, as one addition then counts two.
struct OrderedPairs {
  std::uint16_t counts[65536] = {};
};

/// The same without an order: a pair is counted by one of its bytes, from which the other is at most 128 away upwards, modulo 256, and by
/// that distance. So 33,024 counters suffice, of 8 bits, which a first-level cache holds.
struct UnorderedPairs {
  static constexpr std::uint16_t kNone = 129 * 256;  ///< a counter of no pair
  alignas(64) std::uint8_t counts[kNone + 64] = {};  ///< of 256 * distance + byte
  std::uint16_t waiting[kPlaces][kRun / 2];          ///< pairs to be counted
  /// Counts of the byte and of the other, moved here from `counts`. A counter that wraps around adds 256.
  std::uint32_t bytes[2][256] = {};
  std::uint32_t wrapped = 0;  ///< how often one has wrapped around since all were zero
};
/// Moves all counts to `bytes`.
void move_counts(UnorderedPairs& pairs);

/// 256 counters in several copies, so that successive equal bytes do not wait for each other, and those of pairs, made on first use.
struct ByteTables {
  static constexpr std::size_t kCopies = 16;
  std::uint32_t single[kCopies][256] = {};
  std::unique_ptr<OrderedPairs> ordered;  ///< each time that one wraps around adds 2^16 to both bytes' first copies
  std::unique_ptr<UnorderedPairs> unordered;
};
/// At most 2^31 bytes may be added before the tables are emptied.
void add_bytes(const std::uint8_t* from, std::size_t count, ByteTables& tables);

/// Adds `count` float32 or float64 at any alignment, of a plan with even(), to `copies` (1, 2, 8) adjacent counters for each slot.
void add_even(const std::byte* from, std::size_t count, const Plan& plan, std::size_t copies, std::uint32_t* tables);

}  // namespace samesum::binning
