// The kernel of an elementwise map.
#pragma once

#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "formula/program.hpp"

#include <samesum/error.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace samesum::formula {

/// Kernel "map": result k of `program` at each of `count` positions. Its arguments: of each of Program::inputs, whose elements are of the
/// types `inputs`, memory, offset and stride in elements; Program::parameters; of each result the same as of an input; the index of the
/// first position, `count` (less than 2^32), and a word, 0 before: it becomes 2^32 - 1 less the lowest position of this launch at which an
/// operation failed.
device::Source map_source(const Program& program, std::span<const DType> inputs);

/// Appends the values of Program::parameters as a kernel's arguments.
void add_parameters(const Program& program, std::span<const Value> parameters, std::vector<device::Argument>& arguments);

/// The error for position k of `runs`, of which the first has the index `index`, at which a kernel has seen an operation fail: what failed
/// is found again on the host. Requires the device's mutex.
Error failed_on_device(device::Device& device, const Formula& formula, const Program& program, std::span<const Value> parameters,
                       std::span<const device::Run> runs, std::span<const DType> types, std::span<const std::uint64_t> shape,
                       std::uint64_t k, std::uint64_t index);

}  // namespace samesum::formula
