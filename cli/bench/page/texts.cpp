// What each rung of the ladders does, and what limits it still.
#include "bench/page/page.hpp"

#include <algorithm>
#include <array>

namespace samesum::cli::report {
namespace {

// What shows the limit: a count, or a counter of NVIDIA's Nsight Compute (`ncu --metrics`).
constexpr std::string_view kCeiling = "the fraction of the ceiling";
constexpr std::string_view kCycles = "cycles for each element: perf stat -e cycles";
constexpr std::string_view kAtomics = "one atomic addition for each element: lts__t_sectors_op_red.sum, lts__t_sectors_op_atom.sum";
constexpr std::string_view kBarriers = "smsp__warp_issue_stalled_barrier_per_warp_active.pct";
constexpr std::string_view kSectors =
    "32 sectors a load instruction instead of 4: l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
constexpr std::string_view kWaiting = "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct";
constexpr std::string_view kRounds = "the time of each round, in the JSON";
constexpr std::string_view kIssued = "instructions for each element: smsp__inst_executed.sum";
constexpr std::string_view kLocal = "local atomics that meet: l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
constexpr std::string_view kLoads = "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct";
constexpr std::string_view kSpills = "registers and spills in the log of samesum kernel";
constexpr std::string_view kRace = "samesum check; on CUDA compute-sanitizer --tool racecheck";
constexpr std::string_view kArrivals = "the atomic additions of a barrier: items or groups";
constexpr std::string_view kLatency = "the latency of an atomic addition: samesum bench ceiling --atomics";
constexpr std::string_view kLaunch = "an empty kernel, back to back, in Ceilings";
constexpr std::string_view kSwitches = "context switches: perf stat -e context-switches";
constexpr std::string_view kWatchdog = "the watchdog's message, in Check";

constexpr std::array kTexts = {
    // Reductions; those of a CPU first.
    Text{"reduce", "sequential", "One core, one loop, one accumulator.",
         "latency: each addition waits for the one before, three to four cycles an element, while memory idles.", kCycles},
    Text{"reduce", "parallel", "All cores and SIMD, with several accumulators, so that no addition waits for another.",
         "memory. The order of additions is another one, and so are the bits of a sum.", kCeiling},
    Text{"reduce", "exact_blocks",
         "The correctly rounded sum: blocks are added in floating point where the processor's inexact flag or the exponents show "
         "that nothing is lost, and exactly elsewhere.",
         "memory. Data with exponents of all sizes may be added up twice.", kCeiling},
    Text{"reduce", "accumulator", "The same, but the exact sum is kept and can be merged with others.",
         "one addition to memory for each element whose exponent fits no exponent window.", kCeiling},
    Text{"reduce", "one_scalar", "Every work-item adds its element to one number in memory: the shortest kernel there is.",
         "the rate of atomic operations on one address, as all of them queue there.", kAtomics},
    Text{"reduce", "missing_barrier", "The tree without the barriers between its levels.",
         "a data race: partial results are read before they are written.", kRace, true},
    Text{"reduce", "tree_passes",
         "A group copies a tile to local memory and reduces it as a tree, so that no two work-items touch one address.",
         "barriers: log2(group) of them for one load a work-item, with half of the work-items idle after the first.", kBarriers},
    Text{"reduce", "tile_passes", "Each work-item reduces a tile of its own: no barrier is left.",
         "memory transactions: neighbouring work-items read addresses a tile apart, so that each load is a cache line of its own.",
         kSectors},
    Text{"reduce", "grid_stride_two_pass",
         "As many groups as the device holds; neighbouring work-items read neighbouring elements, with one tree a group.",
         "bytes in flight: one load of 4 bytes a work-item; and a second launch.", kWaiting},
    Text{"reduce", "unrolled", "The same with four loads in each step of the loop, all in flight together.",
         "the second launch, and loads of 4 bytes.", kWaiting},
    Text{"reduce", "templated", "The same, with the size of the group as a constant: the compiler unrolls the tree.", "the second launch.",
         kRounds},
    Text{"reduce", "grid_stride_atomic",
         "Groups add to one result by an atomic operation, so that no second pass over partial results is needed.",
         "as grid_stride_two_pass; groups arrive in any order, so a floating-point sum changes from run to run.", kWaiting},
    Text{"reduce", "single_pass",
         "Loads of 16 bytes, four in flight in each work-item; the last group reduces the partial results in the same launch.",
         "memory. A floating-point sum depends on the shape of the launch.", kCeiling},
    Text{"reduce", "exact_bins",
         "Reads as single_pass does, but adds mantissas as integers to bins by exponent: the same bits on every device and in any order.",
         "memory, on a GPU; on a CPU, where one work-item runs at a time, the integer instructions.", kCeiling},
    Text{"reduce", "extremes", "Minimum, maximum and both indices in one pass.", "memory.", kCeiling},
    Text{"reduce", "nonzeros", "Counts the elements that are not zero.", "memory.", kCeiling},
    Text{"reduce", "mean", "The exact sum divided by the count, rounded once.", "memory, as the exact sum.", kCeiling},
    Text{"reduce", "norm", "The exact sum of squares; its root, rounded once.", "arithmetic: a square has twice the digits.", kIssued},
    Text{"reduce", "variance", "Exact sums of elements and of squares in one pass, rounded once at the end.", "arithmetic: two exact sums.",
         kIssued},
    Text{"reduce", "stats", "All statistics in one pass.", "arithmetic: two exact sums and the extremes.", kIssued},
    Text{"reduce", "dot", "The exact sum of exact products.", "memory: two arrays are read; and the products' digits.", kCeiling},
    Text{"reduce", "product", "A balanced tree of products, the same everywhere.", "memory, or the multiplications of a CPU.", kCeiling},
    // Histograms.
    Text{"histogram", "sequential", "One core, one counter a bin.",
         "latency: equal bytes in sequence wait for one counter's store and load.", kCycles},
    Text{"histogram", "cpu", "All cores, several tables each, so that equal bytes meet different counters.",
         "increments: one for each byte.", kCycles},
    Text{"histogram", "racy", "Adds to counters without atomics: two work-items read one count, both add one, and one is lost.",
         "a data race. The counts are right only if work-items run one after the other.", kRace, true},
    Text{"histogram", "block_partition", "Atomic additions make the counts right; each work-item counts a section of its own.",
         "atomics in global memory, and loads of distant addresses by neighbouring work-items.", kAtomics},
    Text{"histogram", "interleaved", "Neighbouring work-items read neighbouring bytes, so that a cache line serves many.",
         "atomics in global memory: equal values queue at one address (compare the data set 'equal').", kAtomics},
    Text{"histogram", "privatized", "Each group counts in local memory and adds its counters to the result once.",
         "atomics in local memory: equal values queue there.", kLocal},
    Text{"histogram", "aggregated", "A run of equal values is counted in a register and added when it ends.",
         "atomics, where neighbours differ.", kLocal},
    Text{"histogram", "best", "16 bytes a load, tables that do not collide, counters narrower than a word.",
         "memory on a GPU; increments on a CPU.", kCeiling},
    // All pairs.
    Text{"pairs", "serial", "One thread; a multiplication and an addition at a time.", "latency: each addition waits for the one before.",
         kCycles},
    Text{"pairs", "naive", "A work-item for each x reads all of B from global memory.", "loads: one for each multiply-add.", kWaiting},
    Text{"pairs", "local_all", "All of B in local memory first, shared by the group.",
         "the size of local memory: beyond it, it is an error.", kLoads},
    Text{"pairs", "local_tiled", "Tiles of B in local memory, so that B may have any size.",
         "loads from local memory: one for each multiply-add; and two barriers a tile.", kLoads},
    Text{"pairs", "vec4", "A work-item has four x, so that each b that is loaded serves four multiply-adds.",
         "loads: one for four multiply-adds.", kWaiting},
    Text{"pairs", "vec4_best", "The same with the best group size for the device.", "as vec4.", kWaiting},
    Text{"pairs", "vec8", "Eight x: one load for eight multiply-adds.", "loads; registers.", kWaiting},
    Text{"pairs", "vec8_local", "Eight x, and tiles of B in local memory.", "barriers and loads from local memory.", kLoads},
    Text{"pairs", "vec8_both", "Vectors of A and of B: eight b with one load.", "registers: what does not fit is spilled.", kSpills},
    Text{"pairs", "vec8_tile", "Tiles of vectors of B in local memory.", "barriers and loads from local memory.", kLoads},
    Text{"pairs", "register_blocks",
         "Sixteen x in registers, 16 bytes of a tile a load, and B split over groups so that all units are busy.",
         "multiply-adds: the arithmetic limit.", kCeiling},
    Text{"pairs", "compensated", "Error-free transformations keep what additions round away.",
         "arithmetic: several additions for each one.", kIssued},
    Text{"pairs", "exact", "Sums without rounding, the same bits everywhere.", "arithmetic on integers.", kIssued},
    // Barriers.
    Text{"barrier", "none", "Only the group's own barrier.", "nothing: this is the work alone.", "", true},
    Text{"barrier", "every_item", "Every work-item adds 1 to a counter and waits for it.",
         "atomics on one address: one for each work-item.", kArrivals},
    Text{"barrier", "group_leader", "One work-item of each group adds and waits for its group.",
         "atomics on one address: one for each group; and polls that delay them.", kArrivals},
    Text{"barrier", "leader_group", "Flags instead of a counter: the first group watches all flags, then releases the others.",
         "two trips through memory.", kLatency},
    Text{"barrier", "ticket", "One atomic addition with acquire and release; the last to arrive need not wait.",
         "atomics: one for each group.", kLatency},
    Text{"barrier", "best", "grid_barrier(): the ticket, with polls that begin when they can succeed.", "the latency of memory.", kLatency},
    Text{"barrier", "reset_every_item", "A textbook's original: the counter is set back before all have seen it full.",
         "a race; the watchdog ends it.", kWatchdog, true},
    Text{"barrier", "reset_group_leader", "The same error with one work-item of each group.", "a race; the watchdog ends it.", kWatchdog,
         true},
    Text{"barrier", "plain_flag", "Waits by plain loads, of which a compiler may keep the first in a register.",
         "no order between memory accesses; the watchdog ends it.", kWatchdog, true},
    Text{"barrier", "launches", "A launch for each step: the end of a kernel is a barrier.", "the latency of a launch.", kLaunch},
    Text{"barrier", "std_barrier", "Threads of the processor and C++'s std::barrier.", "waking threads.", kSwitches},
};

}  // namespace

Text text_of(std::string_view ladder, std::string_view rung) {
  const auto found = std::ranges::find_if(kTexts, [&](const Text& text) { return text.ladder == ladder && text.rung == rung; });
  return found == kTexts.end() ? Text{} : *found;
}

}  // namespace samesum::cli::report
