// Reductions by the balanced tree over the y: what a pair gives becomes a node, two nodes become one, and of the root's numbers those of C
// are made. Each of the three steps is a formula, so that the CPU and kernels need nothing else to know a reduction, and have the same
// bits.
#pragma once

#include "formula/operator/operator_tree.hpp"
#include "formula/program.hpp"

#include <samesum/error.hpp>
#include <samesum/operator.hpp>
#include <samesum/pairs.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum::all_pairs {

struct Nodes {
  /// The reduction of `options` for an f that gives numbers of these types, or the two parts of a complex one.
  /// @throws Error (usage) where it is none for such numbers.
  Nodes(const PairsProblem& options, std::span<const formula::Scalar> values, bool complex_values);
  Nodes(const Nodes&) = delete;  // `bound` refers to `op`
  Nodes& operator=(const Nodes&) = delete;

  Operator op;
  formula::Bound bound;     ///< the operator, for nodes
  formula::Program lift;    ///< a node; inputs are what f gives, and the index is that of the y
  formula::Program finish;  ///< of C, all of type `result`; inputs are those of a node
  DType result = DType::float64;
  bool own = false;      ///< an operator of the user's
  bool complex = false;  ///< the two numbers of C are the parts of a complex one

  std::span<const formula::Scalar> types() const noexcept { return bound.types(); }
  bool may_fail() const noexcept { return lift.may_fail || bound.program().may_fail || finish.may_fail; }
  /// The error for an x whose root gives no C.
  Error unfinished(std::uint64_t x, std::uint32_t faults) const;
  std::string name;  ///< of the reduction

 private:
  Nodes(const PairsProblem& options, std::span<const formula::Scalar> values, bool complex_values,
        const std::optional<Operator>& of_elements);
};

/// Whether a reduction of such numbers is one by the tree; otherwise it has kernels of its own.
bool by_tree(const PairsProblem& options, std::span<const formula::Scalar> values) noexcept;

}  // namespace samesum::all_pairs
