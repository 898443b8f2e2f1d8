// The ladder of one reduction: its operation, the results that its variants should have, and the variants' preparation.
#pragma once

#include <samesum/bench_reduce.hpp>

#include "core/view.hpp"
#include "ladder/reduce/reference.hpp"
#include "ladder/reduce/textbook.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace samesum::bench {

/// Results are handled as their bytes: TextbookSum::bits().
class Climb {
 public:
  static constexpr std::string_view kSequential = "sequential";

  /// Whether there is such a ladder. @throws Error (usage) where there is none.
  static void check(DType type, const ReduceBenchOptions& options);

  /// check() has been called.
  Climb(View data, const ReduceBenchOptions& options);

  /// The reduction of reduce_operations() that this ladder leads to; "" where there is none.
  std::string_view leads_to() const noexcept;

  /// A loop over all elements in their own type. O(n).
  std::uint64_t plain_loop() const;

  /// What is wrong with a result; empty if it is right. Integers, extremes and formulas of integers: the only result. Sums: within their
  /// error bound. Products: within the bound of n - 1 roundings, and as wide apart again of the tree's. Formulas of floating-point numbers:
  /// as far from the tree's as n roundings of it.
  std::string why_not_right(std::uint64_t bits);

  /// Why a kernel of the user's own does not add up small whole numbers, if this is a ladder of float sums; "" if it does.
  std::string why_not_whole(std::string_view name, device::Device& device, const std::string& source) const;

  /// Why a variant cannot run; "" where it can.
  std::string why_not(std::string_view name, const DeviceInfo& device) const;

  /// `source`: of a kernel of the user's own that replaces the variant. `size`: elements, if not all.
  std::shared_ptr<reduction::TextbookSum> prepare(std::string_view name, device::Device& device, const device::Memory& data,
                                                  const std::string& source = {}, std::optional<std::uint64_t> size = {}) const;

 private:
  template <class T>
  std::uint64_t loop(bool backwards) const;
  std::string why_not_right_floating(double found);
  std::string fault_of_operator() const;  // of its identity, and of what has to hold in any order; empty if none is found

  View data_;
  const ReduceBenchOptions& options_;
  reduction::TextbookOperation operation_;
  std::optional<std::uint64_t> expected_;  // bits of the result
  std::optional<Reference> sum_;
};

}  // namespace samesum::bench
