// The kernel of an elementwise map.
#pragma once

#include "device/kernels/program.hpp"
#include "formula/program.hpp"

#include <span>

namespace samesum::formula {

/// Kernel "map": result k of `program` at each of `count` positions. Its arguments: of each of Program::inputs, whose elements are of the
/// types `inputs`, memory, offset and stride in elements; Program::parameters; of each result the same as of an input; the index of the
/// first position, `count` (less than 2^32), and a word, 0 before: it becomes 2^32 - 1 less the lowest position of this launch at which an
/// operation failed.
device::Source map_source(const Program& program, std::span<const DType> inputs);

}  // namespace samesum::formula
