// In which range the integers of a formula are: those that cannot leave their type need no check.
#pragma once

#include "formula/program.hpp"

#include <span>

namespace samesum::formula {

__extension__ using Wide = __int128;

/// From `least` to `greatest`. Of floating-point numbers it means nothing.
struct Range {
  Wide least = 0, greatest = 0;
};

Range range_of(DType type) noexcept;
Range range_of(Scalar type) noexcept;
/// Of an operation by those of its operands, and whether it has to be checked.
Range range_of(const Node& node, std::span<const Range> ranges, std::span<const Node> nodes, bool& checked) noexcept;

}  // namespace samesum::formula
