// Operators on devices that run kernels: whole tiles of the tree in one launch, with the formula in front of them.
#pragma once

#include "device/kernels/program.hpp"
#include "formula/operator/operator_tree.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace samesum::formula {

/// A tree's kernel for a device, or that of a fold.
struct TreeShape {
  std::uint32_t group_size = 0, loads = 0, each = 0;
  bool runs = false;  ///< a group's tiles follow one another
  std::uint64_t tile() const { return std::uint64_t{group_size} * loads * each; }
};

/// The source of tree.cl or, where `unit` has a number for each component, of fold.cl. Its leaves are what `leaf` gives for inputs of the
/// types `inputs`, of which those that are `whole` follow one another and begin at a load's boundary.
device::Source tree_source(const Program& leaf, std::span<const DType> inputs, const std::vector<bool>& whole, const Program& combine,
                           std::span<const Scalar> types, const TreeShape& shape, std::span<const std::uint64_t> unit = {});

/// Appends whole tiles of what `leaf` gives at the positions from `first` on, of which there are `size`: as many as there are. Returns the
/// position behind them; `first` where no kernel can take these arrays, or an operation failed: then the other path finds which.
/// `arrays` are those of the leaf's inputs, on a device that runs kernels, of one shape.
std::uint64_t append_tiles(const Bound& bound, States& states, const Program& leaf, std::span<const Value> parameters,
                           std::span<const Array> arrays, std::uint64_t first, std::uint64_t size);

}  // namespace samesum::formula
