// f by a formula, for one x and many y at a time.
#pragma once

#include "formula/cpu/evaluate.hpp"
#include "pairs/pairs_formula.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::all_pairs {

/// Holds its scratch memory: one a thread. Requires a core::DefaultFloatEnvironment while it is used.
template <class Real>
class FormulaValues {
 public:
  static constexpr std::size_t kBlock = formula::Evaluator::kBlock;
  static constexpr std::size_t kMax = 8 * kBlock;  ///< y that are there at once: they stay in a second-level cache

  explicit FormulaValues(const Problem& problem)
      : problem_(problem),
        formula_(*problem.formula),
        evaluator_(formula_.program, formula_.parameters),
        columns_(formula_.operands.size()),
        x_(formula_.operands.size() * kBlock),
        y_(formula_.operands.size() * kMax) {}

  /// Takes `count` y (at most kMax) from number `first` on, element by element: to the places that `order` says, where it is not null.
  void load_y(std::uint64_t first, std::size_t count, const std::uint16_t* order = nullptr) {
    const std::uint64_t components = problem_.components;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const PairFormula::Operand& operand = formula_.operands[k];
      if (!operand.of_y) continue;
      const bool in_b = operand.element < components;
      const std::uint64_t width = in_b ? components : problem_.extras;
      const Real* const from =
          static_cast<const Real*>(in_b ? problem_.b : problem_.of_y) + first * width + operand.element - (in_b ? 0 : components);
      Real* const to = y_.data() + k * kMax;
      if (order == nullptr) {
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i * width];
      } else {
        for (std::size_t i = 0; i < count; ++i) to[order[i]] = from[i * width];
      }
    }
  }

  /// Takes an x.
  void load_x(const Real* x) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const PairFormula::Operand& operand = formula_.operands[k];
      if (!operand.of_y) std::fill_n(x_.data() + k * kBlock, kBlock, x[operand.element]);
    }
  }
  /// f of that x and `count` y (1 to kBlock), from number `first` of those that are there; valid until the next call.
  const Real* run(std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const Real* const from = formula_.operands[k].of_y ? y_.data() + k * kMax + first : x_.data() + k * kBlock;
      columns_[k] = {reinterpret_cast<const std::byte*>(from), problem_.type, sizeof(Real)};
    }
    failure_ = evaluator_.run(columns_, 0, count);
    return static_cast<const Real*>(evaluator_.results()[0]);
  }
  /// Of the latest run(): all numbers of a formula that gives several; and the first of those y for which it has no value.
  std::span<const void* const> results() const noexcept { return evaluator_.results(); }
  const std::optional<formula::Failure>& failure() const noexcept { return failure_; }

 private:
  const Problem& problem_;
  const PairFormula& formula_;
  formula::Evaluator evaluator_;
  std::vector<formula::Column> columns_;
  std::optional<formula::Failure> failure_;
  std::vector<Real> x_, y_;  // of each operand
};

}  // namespace samesum::all_pairs
