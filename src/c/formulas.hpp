// Formulas of the C interface: their inputs, operators, and problems of pairs.
#pragma once

#include "c/handles.hpp"

#include <samesum/formula.hpp>
#include <samesum/operator.hpp>
#include <samesum/pairs.hpp>

#include <vector>

namespace samesum::c {

/// What a formula takes by name: arrays, and single numbers.
struct Inputs {
  std::vector<FormulaInput> arrays;
  std::vector<FormulaParameter> parameters;
};
Inputs inputs_of(const samesum_input* inputs, std::size_t count);
Operator operator_of(const samesum_operator* given);
PairsProblem problem_of(const samesum_pairs_problem& given);
/// Results to memory of the caller's, as write().
void write_values(const std::vector<Value>& found, samesum_value* results, size_t* count);

}  // namespace samesum::c
