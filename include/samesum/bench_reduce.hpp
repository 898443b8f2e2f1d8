// Measuring reductions: one row an operation, on the CPU and on a device, each checked before it is timed.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/export.hpp>
#include <samesum/operator.hpp>
#include <samesum/reduce.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {
namespace bench {

struct ReduceBench;

struct ReduceBenchOptions {
  std::vector<std::string> operations;  ///< names of reduce_operations(); empty: all
  std::uint32_t group_size = 0;         ///< work-items of a group; 0: chosen
  std::uint32_t groups = 0;             ///< 0: as many as the device holds at once
  std::uint32_t threads = 0;            ///< of the CPU; 0: all cores
  bool host = true;                     ///< measure the CPU too
  /// "sum", "product", "min" or "max": also its textbook variants and a plain loop, in the elements' own type (integers wrap; not float16
  /// and bfloat16). Or anything that `formula` is: then the variants of an operator of the user's own, which has to commute.
  std::string ladder;
  std::optional<Operator> formula;    ///< with an identity; of elements of any of these types, its results converted to them
  std::vector<std::string> variants;  ///< of the ladder: names of textbook variants, "sequential"; empty: all
  std::uint32_t registers = 0;        ///< of a work-item of a variant, at most, if the compiler has such an option; 0: no limit
  std::uint32_t tile_rows = 8;        ///< of tile_passes' tiles,
  std::uint32_t tile_columns = 8;     ///< and their columns
  std::string kernel_name;            ///< a rung of the caller's own: its name,
  /// and its source with the kernel `reduce` (GLOBAL const REAL* in, ulong n, GLOBAL REAL* out), which leaves each group's result in
  /// out[group_id()]; a second launch of one group reduces those. combine(a, b) and IDENTITY are defined.
  std::string kernel_source;
  ExpectedResult expected;                           ///< of that kernel, one number
  std::function<void(const ReduceBench&)> measured;  ///< called with all results so far whenever a row was added
  Effort effort;
};

/// One operation. `ceiling_fraction` is relative to reading the same data (both arrays of a dot product), measured alternately with it.
struct ReduceBenchRow {
  std::string operation;
  std::string where;  ///< "cpu, 2 threads", "cuda:0"
  Verdict verdict = Verdict::skipped;
  std::string reason;
  std::string configuration;
  Statistics seconds;
  double bytes_per_second = 0;
  Statistics ceiling_fraction;
  std::vector<Round> rounds;  ///< of a textbook variant: its launches
};

struct ReduceBench {
  DeviceInfo device;
  DType type = DType::float32;
  std::uint64_t size = 0;
  std::vector<ReadRate> ceilings;
  std::vector<ReduceBenchRow> rows;
};

/// "extremes" (min, max, argmin, argmax in one), "nonzeros", "mean", "norm", "variance", "stats" (extremes, mean, variance), "dot",
/// "product".
std::vector<std::string_view> reduce_operations();

/// Measures reductions of `data` on all cores, and on `device` if it runs kernels, with the data in its memory. The device's results are
/// compared, bit for bit, with the CPU's.
/// @throws Error (usage) for an unknown operation, a group size that the device cannot run, or data that does not fit the device.
ReduceBench measure_reductions(const Device& device, const Array& data, const ReduceBenchOptions& options = {});

}  // namespace bench
}  // namespace samesum
