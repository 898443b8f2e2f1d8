// What f gives for one x and many y, on the CPU: of a formula or of a named function.
#pragma once

#include "pairs/cpu/pairs_cpu_formula.hpp"
#include "pairs/cpu/pairs_cpu_loops.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::all_pairs {

/// Holds its scratch memory: one a thread. Requires a core::DefaultFloatEnvironment while it is used.
template <class Real>
class PairValues {
 public:
  static constexpr std::size_t kBlock = FormulaValues<Real>::kBlock, kMax = FormulaValues<Real>::kMax;

  explicit PairValues(const Problem& problem) : problem_(problem) {
    if (problem.formula != nullptr) {
      formula_.emplace(problem);
    } else {
      values_.resize(kBlock);
    }
  }

  /// Takes `count` y (at most kMax) from number `first` on; to the places that `order` says, where it is not null.
  void load_y(std::uint64_t first, std::size_t count, const std::uint16_t* order = nullptr) {
    if (formula_) return formula_->load_y(first, count, order);
    const std::uint64_t components = problem_.components;
    b_ = static_cast<const Real*>(problem_.b) + first * components;
    weights_ = problem_.weighted() ? static_cast<const Real*>(problem_.of_y) + first : nullptr;
    if (components == 1 && order == nullptr) return;
    turned_.resize(kMax * (components + 1));  // by components, and the weights
    const auto place = [&](std::size_t i) { return order == nullptr ? i : order[i]; };
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint64_t d = 0; d < components; ++d) turned_[d * kMax + place(i)] = b_[i * components + d];
    }
    b_ = turned_.data();
    if (weights_ == nullptr || order == nullptr) return;
    for (std::size_t i = 0; i < count; ++i) turned_[components * kMax + order[i]] = weights_[i];
    weights_ = turned_.data() + components * kMax;
  }
  /// Takes an x.
  void load_x(const Real* x) {
    a_ = x;
    if (formula_) formula_->load_x(x);
  }
  /// The numbers of f for that x and `count` y (1 to kBlock), from number `first` of those that are there; valid until the next call.
  /// Afterwards failure() is that of the first pair for which f has no value.
  std::span<const void* const> run(std::size_t first, std::size_t count) {
    if (formula_) {
      formula_->run(first, count);
      return formula_->results();
    }
    if constexpr (std::floating_point<Real>) {
      const Block<Real> block{a_,
                              b_ + first,
                              weights_ == nullptr ? nullptr : weights_ + first,
                              count,
                              problem_.components,
                              static_cast<Real>(problem_.factor),
                              static_cast<Real>(problem_.softening)};
      evaluate(problem_.f, a_, block, kMax, values_.data());
    }
    named_ = values_.data();
    return {&named_, 1};
  }
  std::optional<formula::Failure> failure() const { return formula_ ? formula_->failure() : std::nullopt; }

 private:
  const Problem& problem_;
  std::optional<FormulaValues<Real>> formula_;
  const Real *a_ = nullptr, *b_ = nullptr, *weights_ = nullptr;
  std::vector<Real> turned_, values_;
  const void* named_ = nullptr;
};

}  // namespace samesum::all_pairs
