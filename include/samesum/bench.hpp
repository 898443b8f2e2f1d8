// Measuring: test data, a device's limits, and the ladder of the sum's variants side by side.
// Threads: concurrent measurements are allowed, but each sees the others' load; Effort::progress is called by the measuring thread.
#pragma once

#include <samesum/array.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {
namespace bench {

// --- data ------------------------------------------------------------------------------------------------------------------------

/// Distributions of elements. Integers are uniform over their whole range for every kind; with `zeros` half of them are 0. 16-bit floats
/// are truncated float32.
enum class DataKind {
  uniform,    ///< over [0, 1)
  normal,     ///< mean 0, standard deviation 1
  lognormal,  ///< exp(3 z) of a normal z: many binades
  bits,       ///< random bit patterns, finite ones only: all exponents, both signs
  zeros,      ///< half of them 0, the others uniform
};

/// "uniform", "normal", ….
std::string_view name_of(DataKind kind) noexcept;
/// @throws Error (usage) for any other name, listing those that are known.
DataKind parse_data_kind(std::string_view name);

/// An array of generated elements: element i depends on kind, type, seed and i alone.
class Data {
 public:
  /// `size` elements, generated on all cores. O(size).
  Data(DataKind kind, DType type, std::uint64_t size, std::uint64_t seed = 1);
  Array view() const noexcept { return {memory_.get(), size_, type_}; }  ///< the data, valid while this object is

 private:
  std::shared_ptr<void> memory_;
  std::uint64_t size_;
  DType type_;
};

// --- figures ---------------------------------------------------------------------------------------------------------------------

/// The median and the spread of repeated measurements.
struct Statistics {
  double median = 0;
  double low = 0;   ///< 10th percentile
  double high = 0;  ///< 90th percentile
  std::uint32_t runs = 0;
};

/// How long to measure, and a callback for progress.
struct Effort {
  std::uint32_t runs = 31;                         ///< the maximum of measurements of one quantity
  std::uint32_t least_runs = 3;                    ///< and the minimum, however long they take
  double seconds = 1;                              ///< time limit, once least_runs are done
  std::function<void(std::string_view)> progress;  ///< called with what is being measured; using the device there throws Error (usage)
  void tell(std::string_view what) const {
    if (progress) progress(what);
  }
};

/// How fast memory was read: a buffer of `bytes`, read repeatedly, so that a small one comes from the caches.
struct ReadRate {
  std::string where;  ///< "cuda:0", "cpu, 2 threads"
  std::uint64_t bytes = 0;
  Statistics seconds;
  double bytes_per_second = 0;
  std::string configuration;  ///< the fastest of those tried
};

// --- ceilings --------------------------------------------------------------------------------------------------------------------

struct Ceiling;

struct CeilingOptions {
  std::vector<std::uint64_t> sizes;  ///< bytes to read; empty: from 64 KiB up to a large part of the memory
  std::uint32_t threads = 0;         ///< of the CPU; 0: all
  bool read = true;
  bool arithmetic = true;
  bool latency = true;
  bool atomics = false;
  std::function<void(const Ceiling&)> measured;  ///< called with all results so far whenever one was added
  Effort effort;
};

/// Multiply-adds from registers; each counts as two operations. The results were compared with the host's.
struct ArithmeticRate {
  std::string where;
  DType type = DType::float32;
  Statistics seconds;
  double operations_per_second = 0;
  std::string configuration;
};

/// The cost of starting something that does nothing.
struct Latency {
  std::string what;  ///< "kernel, back to back", …
  Statistics seconds;
};

/// Atomic additions of 1 to 32-bit words. One launch's additions were counted.
struct AtomicRate {
  std::string memory;                ///< "local", "global"
  std::string addresses;             ///< "one word", "neighbouring words of 256 KiB", "scattered words of 256 MiB", …
  Statistics latency;                ///< seconds of one, of a single work-item that waits for each result
  double operations_per_second = 0;  ///< of the whole device; nothing waits for a result
  std::string configuration;
};

struct Ceiling {
  DeviceInfo device;
  std::vector<ReadRate> reads;
  std::vector<ArithmeticRate> arithmetic;
  std::vector<Latency> latencies;
  std::vector<AtomicRate> atomics;
};

/// The limits of `device`: the read bandwidth over sizes (the best of a sweep over load width, loads in flight, groups and group size;
/// threads and prefetching on the CPU), the multiply-add rate, the latency of a launch; on request atomic additions.
/// @throws Error (usage) for a size that does not fit the device, and for atomics of a device that runs no kernels.
Ceiling measure_ceiling(const Device& device, const CeilingOptions& options = {});

/// What a kernel of the caller's own should leave, if that is not what its ladder expects: it may compute something else.
struct ExpectedResult {
  std::optional<Array> values;  ///< in host memory, one for each result; none: the ladder's own check
  std::optional<Formula>
      accepts;  ///< of a result `a` and its expected value `b`, a condition: abs(a - b) <= 1e-3*abs(b). None: equal, or both NaN
};

// --- the ladder of the sum -------------------------------------------------------------------------------------------------------

struct Ladder;

struct LadderOptions {
  std::vector<std::string> rungs;   ///< names of rungs; empty: all
  std::uint32_t group_size = 0;     ///< work-items of a group; 0: each rung's own
  std::uint32_t groups = 0;         ///< for rungs that have a choice; 0: as many as can be resident
  std::uint32_t tile = 8;           ///< columns of tile_passes' tiles
  std::uint32_t tile_rows = 0;      ///< and rows; 0: as many
  std::uint32_t block_columns = 0;  ///< columns of tree_passes' tiles, which are a group's work-items; 0: nearly square
  std::uint64_t result_align = 1;   ///< rows of what tree_passes and tile_passes leave start at multiples of this number of elements
  std::uint32_t registers = 0;      ///< of a work-item of a textbook variant, at most, if the compiler has such an option; 0: no limit
  std::uint32_t threads = 0;        ///< of the CPU's rungs; 0: all cores
  std::string kernel_name;          ///< a rung of the caller's own: its name,
  std::string kernel_source;  ///< and its source with the kernel `sum` (GLOBAL const REAL* in, ulong n, GLOBAL REAL* out), which writes
                              ///< each group's sum to out[group_id()]; a second launch of one group sums those
  ExpectedResult expected;    ///< of that kernel, one number
  std::function<void(const Ladder&)> measured;  ///< called with all results so far whenever a rung was added
  Effort effort;
};

enum class Verdict {
  right,           ///< textbook: within its error bound; answer: bit for bit
  wrong,           ///< not ranked
  not_comparable,  ///< the bound does not apply to this data (an addition may overflow): timed, not checked
  skipped,         ///< the device or the options do not allow it
  failed,          ///< the device, its driver or its compiler failed
};
std::string_view name_of(Verdict verdict) noexcept;

/// One round of a rung that passes over the data several times.
struct Round {
  std::uint64_t rows = 0, columns = 0;                ///< of its input
  std::uint64_t result_rows = 0, result_columns = 0;  ///< of its output
  Statistics seconds;
};

/// One variant of the sum: checked first, then timed.
struct LadderRow {
  std::string name;
  std::string where;   ///< "cpu, 1 thread", "cuda:0": also names its ceiling
  bool exact = false;  ///< of kind `answer`; otherwise `textbook`
  Verdict verdict = Verdict::skipped;
  std::string reason;  ///< of any verdict but right
  std::string configuration;
  double value = 0;
  double error = 0;    ///< |value - exact sum|
  double bound = 0;    ///< upper bound on `error`; 0 if exact
  Statistics seconds;  ///< of one sum
  double bytes_per_second = 0;
  Statistics ceiling_fraction;  ///< of its ceiling, measured alternately with it
  double speedup = 0;           ///< over the first row
  std::vector<Round> rounds;
};

struct Ladder {
  DeviceInfo device;
  DType type = DType::float32;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t pitch = 0;  ///< elements from a row's start to the next one's
  double exact_sum = 0;
  double magnitude_sum = 0;        ///< sum of |x|, to which the bounds are relative
  double upload_seconds = 0;       ///< host to device, once; not included in any row's time; 0 for the CPU
  std::vector<ReadRate> ceilings;  ///< of reading the same data
  std::vector<LadderRow> rungs;
};

/// Names of the ladder's rungs on `device`, in order.
std::vector<std::string> sum_rungs(const Device& device);

/// The variants of the sum side by side: on the CPU sequential, on all cores, and exact; then on `device`, if it runs kernels, the
/// textbook's and the exact ones. Each is checked before it is timed. `matrix` has one or two axes and is in host memory. The elements of a
/// row are contiguous. Rows may have gaps between them (a pitch): the device then gets them with their gaps, and only tree_passes and
/// tile_passes are run there.
/// @throws Error (usage) for an unknown rung, a group size that the device cannot run, another array, or data that does not fit the device.
Ladder sum_ladder(const Device& device, const Array& matrix, const LadderOptions& options = {});

/// The matrix that one round of tree_passes or tile_passes leaves: element (r, c) is the sum of one tile of the round before.
struct RoundSums {
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t pitch = 0;     ///< of the matrix in device memory, in elements
  std::vector<double> values;  ///< rows x columns, without gaps
};

/// The results of all rounds of `method`, "tree_passes" or "tile_passes"; the last one is 1 x 1. No round for an array of one element or
/// none. The shape of a tile, the size of a group and result_align are those of `options`.
/// @throws Error (usage) for another method, for elements that are not float32 or float64, and as sum_ladder().
std::vector<RoundSums> sum_rounds(const Device& device, std::string_view method, const Array& matrix, const LadderOptions& options = {});

}  // namespace bench
}  // namespace samesum
