// Formulas of arrays whose shapes differ: rows, columns and single numbers, as numpy broadcasts them.
#pragma once

#include "input/elements.hpp"
#include "input/input.hpp"

#include <samesum/formula.hpp>
#include <samesum/source.hpp>

#include <memory>
#include <string>
#include <vector>

namespace samesum::cli {

/// All elements of a file, which lie in `there` one after the other, as an input of a formula.
FormulaInput input_of(const std::string& name, const Elements& file, const Array& there);

/// The values of a formula of files. Null where they are not arrays that can be mapped, or are all of one shape: then they are read side by
/// side, chunk by chunk.
/// @throws Error (usage) for shapes that do not go together.
std::unique_ptr<Source> broadcast_map(const Formula& formula, const std::vector<Input::Operand>& operands,
                                      const std::vector<FormulaParameter>& parameters);

}  // namespace samesum::cli
