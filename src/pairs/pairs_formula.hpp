// A formula as f: a program for the type of A and B, and where its operands lie.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "formula/program.hpp"
#include "pairs/problem.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>
#include <samesum/pairs.hpp>
#include <samesum/value.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace samesum::all_pairs {

struct PairFormula {
  /// A component of the x; or an element of the y, whose components come before its further inputs.
  struct Operand {
    bool of_y = false;
    std::uint32_t element = 0;
  };

  formula::Program program;
  std::vector<Value> parameters;
  std::vector<Operand> operands;  ///< of Program::inputs
};

/// The further inputs of each y, by the names that a formula has for them: PairsProblem::weights as `w`, and PairsProblem::of_y.
std::vector<FormulaInput> inputs_of_y(const PairsProblem& options);
/// How many elements of an input each y has.
std::uint64_t components_of(const FormulaInput& input);

/// The formula of `options` for vectors A and B of `type`; what it gives is converted to `wanted`, where that is a type. Without, a bool
/// becomes an int64, but for an operator.
/// @throws Error (usage) where names or types do not go together.
PairFormula bind(const PairsProblem& options, DType type, std::optional<DType> wanted);
/// The error for a formula of `options` that cannot be f.
Error refused(const PairsProblem& options, std::string_view message);

/// What a program's bits depend on, beside what all formulas need.
std::vector<Capability> needs_of(const formula::Program& program);

/// The type of f's value; of several the first.
DType value_type(const Problem& problem) noexcept;
/// The named function of `options` of elements of this type as a formula, for integers and complex numbers. @throws Error (usage) where it
/// computes in floating point.
Formula formula_of(const PairsProblem& options, DType type);

/// Defines what function.h takes of a formula but its functions.
void define(device::Source& source, const PairFormula& formula);
/// Adds the formula, as function.h takes it, to the source of a kernel with `files`.
void add_to(device::Source& source, const PairFormula& formula, std::vector<std::string_view> files);
/// What a kernel takes in place of F_TAKES.
std::vector<device::Argument> arguments_of(const PairFormula& formula);

}  // namespace samesum::all_pairs
