// Formulas as terms of reductions.
#pragma once

#include "formula/bound.hpp"
#include "reduce/term.hpp"

#include <memory>
#include <span>
#include <vector>

namespace samesum::formula {

/// How an array of a term is read.
enum class Reading {
  loads,    ///< as many elements at once as a load of the result has; aligned behind Term::head
  strided,  ///< one by one
  rows,     ///< one by one, along rows of Term::row_length
};

/// The source of a term (of one result) whose inputs are of the types `inputs`.
statistics::TermCode term_code(const Program& program, std::span<const DType> inputs, std::span<const Reading> readings);

/// The terms of a formula of one result; null where no kernel can take them (more inputs than a kernel's arguments have room for).
/// `arrays` are those of Program::inputs, one at least, on a device that runs kernels, and of the positions' shape.
std::unique_ptr<statistics::Terms> terms_of(const Formula& formula, const Program& program, std::span<const Value> parameters,
                                            std::span<const Array> arrays, std::span<const std::uint64_t> shape);

/// The same where the arrays lie in host memory. All that is given must outlive it.
std::unique_ptr<statistics::HostTerms> host_terms_of(const Formula& formula, const Program& program, std::span<const Value> parameters,
                                                     std::span<const Array> arrays, std::span<const std::uint64_t> shape);

}  // namespace samesum::formula
