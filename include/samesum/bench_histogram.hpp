// Measuring: the ladder of the histogram. Arguments and figures as in samesum/bench.hpp.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/histogram.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {
namespace bench {

/// Kinds of bytes to count, each the best or the worst case of some variant: "uniform", "equal" (one value), "sky" (85% in four values),
/// "sorted", "text".
std::vector<std::string> histogram_data_kinds();
/// `size` bytes of a kind: byte i depends on kind, size, seed and i alone. @throws Error (usage) for an unknown kind.
std::vector<std::uint8_t> histogram_data(std::string_view kind, std::uint64_t size, std::uint64_t seed = 1);

struct HistogramLadder;

struct HistogramLadderOptions {
  std::vector<std::string> rungs;  ///< names of rungs; empty: all
  std::uint32_t group_size = 0;    ///< work-items of a group; 0: each rung's own
  std::uint32_t registers = 0;     ///< of a work-item of a textbook rung, at most, if the compiler has such an option; 0: no limit
  std::uint32_t threads = 0;       ///< of the CPU's rungs; 0: all cores
  std::optional<Bins> bins;        ///< by a formula of the byte x, at most 4096; none: a bin for each byte
  std::string kernel_name;         ///< a rung of the caller's own: its name,
  std::string kernel_source;  ///< and its source with the kernel `histogram`, whose parameters are those of src/ladder/histogram/ladder.cl;
                              ///< BINS is defined, and with `bins` bin_of(x): BINS if x is in none
  ExpectedResult expected;    ///< of that kernel, a count for each bin
  std::function<void(const HistogramLadder&)> measured;  ///< called with all results so far whenever a rung was added
  Effort effort;
};

/// One variant: its counts are compared with those of a plain loop before and after it is timed.
struct HistogramLadderRow {
  std::string name;
  std::string where;  ///< "cpu, 1 thread", "cuda:0": also names its ceiling
  Verdict verdict = Verdict::skipped;
  std::string reason;  ///< of any verdict but right
  std::string configuration;
  Statistics seconds;           ///< of one histogram, clearing the counters included
  Statistics ceiling_fraction;  ///< of reading the data, measured alternately with it
  double samples_per_second = 0;
  double speedup = 0;  ///< over the first row
};

struct HistogramLadder {
  DeviceInfo device;
  std::uint64_t size = 0;
  std::vector<ReadRate> ceilings;
  std::vector<HistogramLadderRow> rungs;
};

/// Names of the rungs, in order: on the CPU `sequential` and `cpu`; on devices `racy` (no atomics: counts are lost if work-items run
/// concurrently; a device that runs them one after the other may lose none), `block_partition`, `interleaved`, `privatized`, `aggregated`,
/// `best`.
std::vector<std::string> histogram_rungs(const Device& device);

/// The counts of `data`, 256 or those of the bins, by every variant side by side.
/// @throws Error (usage) for an unknown rung, or data of 2^32 bytes or more, or data that do not fit the device.
HistogramLadder histogram_ladder(const Device& device, std::span<const std::uint8_t> data, const HistogramLadderOptions& options = {});

}  // namespace bench
}  // namespace samesum
