// Measuring: the ladder of all pairs. Arguments and figures as in samesum/bench.hpp.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/export.hpp>
#include <samesum/pairs.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {
namespace bench {

struct PairsLadder;

struct PairsLadderOptions {
  PairsProblem pairs;  ///< f, reduction, components and parameters; accuracy and weights are not used
  DType type = DType::float32;             ///< of the data that are made; integers, made of 16 bits, are computed in 64
  std::uint64_t x_count = 0;               ///< 0: 2^16, on CPUs 2^13
  std::uint64_t y_count = 0;               ///< 0: as x_count
  std::vector<std::string> rungs;          ///< empty: all
  std::uint32_t group_size = 0;            ///< work-items of a group; 0: each rung's own
  bool best_group = false;                 ///< the textbook's rungs: each with the fastest group size of 32, 64, …, 1024
  std::uint32_t registers = 0;             ///< limit for a work-item, if the compiler has such an option; 0: none
  std::uint64_t seed = 1;                  ///< of the data that are made; x has this one, y the next
  std::optional<Array> a, b;               ///< or the caller's own: of `type`, in host memory; x_count and y_count are not used then
  std::uint32_t items = 0;                 ///< x of a work-item of register_blocks; 0: its default
  std::uint32_t tile = 0;                  ///< y of its tiles; 0: its default
  std::uint32_t parts = 0;                 ///< of the y; 0: its default
  std::uint32_t polynomials = 0xffffffff;  ///< mask: which of 16 exponentials of a fast gaussian are polynomials; 0xffffffff: its default
  std::uint32_t threads = 0;               ///< of the CPU's rungs; 0: all cores
  std::string kernel_name;                 ///< a rung of the caller's own: its name,
  std::string kernel_source;       ///< its source with the kernel `pairs`, whose parameters are those of src/ladder/pairs/textbook.cl,
  std::uint32_t kernel_items = 1;  ///< and how many x its work-items have
  ExpectedResult expected;         ///< of that kernel, a number for each x
  std::function<void(const PairsLadder&)> measured;  ///< called with all results so far whenever a rung was added
  Effort effort;
};

/// One variant: checked first, for some of the x, then timed.
struct PairsRow {
  std::string name;
  std::string where;  ///< "cpu, 1 thread", "cuda:0"
  Verdict verdict = Verdict::skipped;
  std::string reason;  ///< of any verdict but right
  std::string configuration;
  double error = 0, bound = 0;  ///< of the x with the largest error/bound; 0 if bits are compared
  Statistics seconds;
  double pairs_per_second = 0;
  double operations_per_second = 0;
  double ceiling_fraction = 0;  ///< of the rate of multiply-adds, measured in the same run
  double speedup = 0;           ///< over `serial`
  double vendor_ratio = 0;      ///< to the vendor's matrix product; 0 if there is none
};

struct PairsLadder {
  DeviceInfo device;
  PairsProblem pairs;
  DType type = DType::float32;
  std::uint64_t x_count = 0, y_count = 0;
  double operations_of_pair = 0;  ///< by the tutorial's count: each +, -, ×, and each exp, ÷ and root as one
  std::vector<ArithmeticRate> ceilings;
  std::optional<ArithmeticRate> matrix_product;  ///< the vendor's, beside sums of products
  std::string no_matrix_product;                 ///< why there is none
  std::vector<PairsRow> rungs;
};

/// Names of the rungs on `device`, in order.
std::vector<std::string> pairs_rungs(const Device& device);

/// The variants of pairs side by side, on normally distributed data.
/// @throws Error (usage) for an unknown rung or options that pairs() refuses.
PairsLadder pairs_ladder(const Device& device, const PairsLadderOptions& options = {});

}  // namespace bench
}  // namespace samesum
