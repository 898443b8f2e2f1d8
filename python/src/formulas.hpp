// Formulas and operators from Python's objects.
#pragma once

#include "objects.hpp"

#include <samesum/axes_formula.hpp>
#include <samesum/by_formula.hpp>
#include <samesum/formula.hpp>
#include <samesum/operator.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace samesum::python {

/// The arrays and the numbers that a formula takes by name; of "x[]" a vector at each position.
struct Inputs {
  explicit Inputs(const nb::dict& named);

  std::vector<std::unique_ptr<View>> views;
  std::vector<FormulaInput> arrays;
  std::vector<FormulaParameter> parameters;
  std::uint64_t bytes = 0;
};

/// An operator: `identity` is None, a number, or a tuple with one for each component; `finish` may be empty.
/// @throws Error (usage) where a parameter is no number.
Operator operator_of(const std::string& combine, nb::handle identity, const nb::dict& parameters, const std::string& finish);

/// What an operator reduces: the array `x`, or, unless `map` is empty, what this formula gives of x and other arrays.
struct Terms {
  Terms(const std::string& map, const nb::dict& named);

  /// Of all positions; `where`: along Axes, or By key.
  template <class... Where>
  auto reduce(const Operator& op, const Options& options, const Where&... where) const {
    if (plain) return samesum::reduce(inputs.arrays[0].array, op, where..., options);
    return samesum::reduce(formula, inputs.arrays, inputs.parameters, op, where..., options);
  }

  Inputs inputs;
  Formula formula;
  bool complex;  ///< it gives complex numbers
  bool plain;    ///< it is the array
};

nb::list arrays_of(std::vector<Values> found);

void bind_formulas(nb::module_& m);

}  // namespace samesum::python
