// In which range the integers of a formula are: those that cannot leave their type need no check, and small ones fewer instructions.
#pragma once

#include "formula/program.hpp"

#include <span>
#include <vector>

namespace samesum::formula {

__extension__ using Wide = __int128;

/// From `least` to `greatest`. Of floating-point numbers it means nothing.
struct Range {
  Wide least = 0, greatest = 0;
};

bool within(Range inner, Range outer) noexcept;
Range together(Range a, Range b) noexcept;

Range range_of(DType type) noexcept;
Range range_of(Scalar type) noexcept;

/// Says of each operation of a program whether it may fail and whether it is narrow, by the ranges of Program::inputs and, where they are
/// known, of Program::parameters. Returns those of the results.
std::vector<Range> apply_ranges(Program& program, std::span<const Range> inputs, std::span<const Range> parameters = {});

}  // namespace samesum::formula
