// The sum's textbook variants on a device that runs kernels (textbook.cl): rungs of the ladder, checked against an error bound.
#pragma once

#include "device/device.hpp"

#include <samesum/types.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::reduction {

/// The operation: all of them have the same textbook variants. (Numbered as in textbook.cl.)
enum class TextbookOperation { sum = 0, product = 1, max = 2 };

/// The launch parameters of a textbook variant. 0: the variant's default.
struct TextbookOptions {
  std::uint32_t group_size = 0;
  std::uint32_t groups = 0;
  std::uint32_t tile = 8;
  std::string source = {};  ///< of a user's kernel `sum`, which replaces a variant (LadderOptions)
  TextbookOperation operation = TextbookOperation::sum;
};

/// One pass over the data, or over the previous pass's result.
struct TextbookRound {
  device::Kernel kernel;
  device::Grid grid;
  std::vector<device::Argument> arguments;
  std::uint64_t rows, columns;                ///< of its input
  std::uint64_t result_rows, result_columns;  ///< of its output
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

  /// The value of the last launch; waits for it.
  double result();

  const TextbookPlan& plan() const noexcept { return plan_; }

 private:
  device::Device& device_;
  DType type_;
  TextbookPlan plan_;
};

/// The names of the textbook variants, from the naive one up.
std::span<const std::string_view> textbook_variants();

/// Why `device` cannot run the variant `name` for elements of `type`; empty where it can.
std::string why_no_textbook(std::string_view name, const DeviceInfo& device, DType type,
                            TextbookOperation operation = TextbookOperation::sum);

}  // namespace samesum::reduction
