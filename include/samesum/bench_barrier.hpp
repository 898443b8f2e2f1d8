// Measuring: the ladder of the grid barrier. Arguments and figures as in samesum/bench.hpp.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {
namespace bench {

struct BarrierLadder;

struct BarrierLadderOptions {
  std::vector<std::string> methods;        ///< empty: all
  std::vector<std::uint32_t> group_sizes;  ///< of the neighbour sums; empty: 1024, 256, 64, 32, on CPUs 256, 32
  std::uint32_t items = 2048;              ///< of the neighbour sums; each group size divides them
  std::uint32_t rounds = 0;                ///< of the neighbour sums; 0: 500000, on CPUs 100
  std::uint32_t runs = 3;                  ///< measurements of each
  bool shapes = true;                      ///< also barriers alone, for several shapes of grids
  double limit_seconds = 10;               ///< of the watchdog
  std::string kernel_name;                 ///< a method of the caller's own: its name,
  /// and its source, with the function `FN bool synchronize(GridBarrier* grid, GLOBAL uint* words)` in the kernel dialect, after
  /// grid_barrier.h: true once all groups have come, false if the launch is to end. `words`: two zeros for each group. Its waits should
  /// be grid_wait()'s, which the watchdog ends.
  std::string kernel_source;
  std::function<void(std::string_view)> progress;      ///< as in Effort
  std::function<void(const BarrierLadder&)> measured;  ///< called with all results so far whenever a row was added
};

/// A method as measured: work-items that replace each element by the sum of itself and its neighbours, or barriers alone.
struct BarrierRow {
  std::string method;
  std::uint32_t groups = 0;
  std::uint32_t group_size = 0;
  std::uint64_t barriers = 0;  ///< of one run
  Verdict verdict = Verdict::skipped;
  std::string reason;          ///< of any verdict but right
  Statistics seconds;          ///< of one barrier, with the work between two
  double total_seconds = 0;    ///< of one run
  double without_seconds = 0;  ///< of one run of `none`, in groups of this size: of the work alone. 0: not measured
};

/// The cost for a launch of finding the number of resident groups.
struct Discovery {
  std::uint32_t launched = 0, found = 0;
  std::uint32_t known = 0;  ///< as the device reports it; 0: it does not
  Statistics first;         ///< seconds of a launch without prior knowledge
  Statistics next;          ///< and of one that launches the number found before
  Statistics plain;         ///< and of one without discovery
};

struct BarrierLadder {
  DeviceInfo device;
  std::uint32_t items = 0, rounds = 0;
  std::vector<BarrierRow> sums;    ///< the neighbour sums
  std::vector<BarrierRow> shapes;  ///< barriers alone: not checked
  std::vector<Discovery> discovery;
};

/// Names of the methods, in order: `none`, the textbook's three, `ticket`, `best`, the textbook's faulty originals `reset_every_item`,
/// `reset_group_leader` and `plain_flag`, then `launches`, and `std_barrier`: threads of the host and C++'s own barrier, once.
std::vector<std::string> barrier_methods();
/// Whether a method is expected to be wrong: `none`, and the faulty ones, which may happen to be right.
bool is_faulty_barrier(std::string_view method) noexcept;

/// The methods side by side. The neighbour sums start from an array without a pattern, and from all ones; both results are compared with
/// the CPU's. What is_faulty_barrier() has is expected to be wrong, and is reported as such.
/// @throws Error (usage) for an unknown method or if the device cannot synchronise groups.
BarrierLadder barrier_ladder(const Device& device, const BarrierLadderOptions& options = {});

/// `rounds` rounds of neighbour sums on the CPU: the reference for the methods.
std::vector<std::uint32_t> neighbour_sums(std::vector<std::uint32_t> start, std::uint32_t rounds);

}  // namespace bench
}  // namespace samesum
