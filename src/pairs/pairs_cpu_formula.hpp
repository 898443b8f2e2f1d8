// f by a formula, for one x and many y at a time.
#pragma once

#include "formula/evaluate.hpp"
#include "pairs/pairs_formula.hpp"

#include <vector>

namespace samesum::all_pairs {

/// Holds its scratch memory: one a thread. Requires a core::DefaultFloatEnvironment while it is used.
template <class Real>
class FormulaValues {
 public:
  static constexpr std::size_t kBlock = formula::Evaluator::kBlock;

  explicit FormulaValues(const Problem& problem)
      : problem_(problem),
        formula_(*problem.formula),
        evaluator_(formula_.program, formula_.parameters),
        columns_(formula_.operands.size()),
        by_elements_(formula_.operands.size() * kBlock) {}

  /// Takes `count` y (1 to kBlock) from number `first` on, element by element.
  void load(std::uint64_t first, std::size_t count) {
    count_ = count;
    const std::uint64_t components = problem_.components;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const PairFormula::Operand& operand = formula_.operands[k];
      if (!operand.of_y) continue;
      const bool in_b = operand.element < components;
      const std::uint64_t width = in_b ? components : problem_.extras;
      const Real* const from = static_cast<const Real*>(in_b ? problem_.b : problem_.of_y) + first * width + operand.element - (in_b ? 0 : components);
      Real* const to = by_elements_.data() + k * kBlock;
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i * width];
      columns_[k] = {reinterpret_cast<const std::byte*>(to), problem_.type, sizeof(Real)};
    }
  }

  /// f of the x with these components and each of the y; valid until the next call.
  const Real* of(const Real* x) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const PairFormula::Operand& operand = formula_.operands[k];
      if (!operand.of_y) columns_[k] = {reinterpret_cast<const std::byte*>(x + operand.element), problem_.type, 0};
    }
    evaluator_.run(columns_, 0, count_);
    return static_cast<const Real*>(evaluator_.results()[0]);
  }

 private:
  const Problem& problem_;
  const PairFormula& formula_;
  formula::Evaluator evaluator_;
  std::vector<formula::Column> columns_;
  std::vector<Real> by_elements_;
  std::size_t count_ = 0;
};

}  // namespace samesum::all_pairs
