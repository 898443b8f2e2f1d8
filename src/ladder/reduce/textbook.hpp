// The sum's textbook variants on a device that runs kernels (textbook.cl): rungs of the ladder, checked against an error bound.
#pragma once

#include "device/device.hpp"

#include <samesum/bench.hpp>
#include <samesum/operator.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::reduction {

/// The operation: all of them have the same textbook variants. (Numbered as in textbook.cl.)
enum class TextbookOperation { sum = 0, product = 1, max = 2, min = 3, formula = 4 };

/// The user's own operator as source: the function that print() makes of it, and a call with `a` and `b`.
struct FormulaSource {
  std::string function, call;
  std::vector<std::string_view> files;  ///< ahead of it
  Value identity = {};
};

/// The source of an operator for elements of `type` on `device`.
/// @throws Error (usage) where it has no identity, or does not go with elements of one component of this type, or with the device.
FormulaSource formula_source(const Operator& op, DType type, const DeviceInfo& device);

/// The variant that leaves the barriers of the tree out: expected to be wrong.
inline constexpr std::string_view kMissingBarrier = "missing_barrier";

/// The launch parameters of a textbook variant. 0: the variant's default.
struct TextbookOptions {
  std::uint32_t group_size = 0;
  std::uint32_t groups = 0;
  std::uint32_t tile = 8;   ///< columns of tile_passes' tiles
  std::string source = {};  ///< of a user's kernel, which replaces a variant (LadderOptions)
  TextbookOperation operation = TextbookOperation::sum;
  std::uint32_t tile_rows = 0;      ///< of tile_passes; 0: as many as columns
  std::uint32_t block_columns = 0;  ///< of tree_passes' groups; 0: nearly square
  std::string entry = "sum";        ///< of the user's kernel
  FormulaSource formula = {};       ///< of an operation `formula`
  std::uint64_t pitch = 0;          ///< elements from a row's start to the next one's; 0: columns. For variants that know rows
  std::uint64_t result_align = 1;   ///< rows of the rounds' results start at multiples of this many elements
  std::uint32_t registers = 0;      ///< of a work-item, at most, where the compiler has such an option; 0: no limit. Not of `unrolled`
};

/// One pass over the data, or over the previous pass's result.
struct TextbookRound {
  device::Kernel kernel;
  device::Grid grid;
  std::vector<device::Argument> arguments;
  std::uint64_t rows, columns;                ///< of its input
  std::uint64_t result_rows, result_columns;  ///< of its output
  device::Memory result;
  std::uint64_t result_pitch;  ///< elements from a row's start to the next one's
};

/// All launches of a variant for one matrix.
struct TextbookPlan {
  std::vector<TextbookRound> rounds;
  device::Memory result;  ///< its first element is the sum (the product, the maximum); none where there are no elements
  std::string configuration;
  std::uint64_t depth = 0;  ///< no element takes part in more additions than this
};

/// A textbook variant prepared for a matrix in device memory; launched any number of times, one launch at a time.
class TextbookSum {
 public:
  /// `name` is one of textbook_variants(). The data are rows x columns elements of `type` from the start of `data`.
  /// @throws Error (usage) where the options do not fit the variant or the device.
  TextbookSum(std::string_view name, device::Device& device, DType type, const device::Memory& data, std::uint64_t rows,
              std::uint64_t columns, const TextbookOptions& options);

  /// Enqueues the whole sum.
  void launch() {
    for (const TextbookRound& round : plan_.rounds) launch(round);
  }
  void launch(const TextbookRound& round) { device_.launch(round.kernel, round.grid, round.arguments); }

  /// The value of the last launch, of a floating-point type; waits for it.
  double result();
  /// The same of any type, as its bytes, above them 0.
  std::uint64_t bits();

  const TextbookPlan& plan() const noexcept { return plan_; }

 private:
  device::Device& device_;
  DType type_;
  TextbookPlan plan_;
};

/// How long each round takes; a few launches of the whole.
std::vector<bench::Round> time_rounds(TextbookSum& sum, device::Device& device, const bench::Effort& effort);

/// The names of the textbook variants, from the naive one up.
std::span<const std::string_view> textbook_variants();

/// Why `device` cannot run the variant `name` for elements of `type`; empty where it can.
std::string why_no_textbook(std::string_view name, const DeviceInfo& device, DType type,
                            TextbookOperation operation = TextbookOperation::sum);

}  // namespace samesum::reduction
