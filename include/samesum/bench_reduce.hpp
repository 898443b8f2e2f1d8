// Measuring reductions: one row an operation, on the CPU and on a device, each checked before it is timed.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/export.hpp>
#include <samesum/reduce.hpp>

#include <functional>
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
  std::string ladder;                   ///< "max" or "product": also its textbook variants and a plain loop; float32 and float64
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

/// Measures reductions of `data` on all cores, and on `device` where it runs kernels, with the data in its memory. The device's results are
/// compared, bit for bit, with the CPU's.
/// @throws Error (usage) for an unknown operation, a group size that the device cannot run, or data that does not fit the device.
ReduceBench measure_reductions(const Device& device, const Array& data, const ReduceBenchOptions& options = {});

}  // namespace bench
}  // namespace samesum
