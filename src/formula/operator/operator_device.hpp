// Operators on devices that run kernels: whole tiles of the tree in one launch, with the formula in front of them.
#pragma once

#include "device/kernels/program.hpp"
#include "formula/operator/operator_tree.hpp"

#include <cstdint>
#include <span>
#include <string>
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

/// Larger where all compute units still have tiles then.
TreeShape choose_shape(const DeviceInfo& info, std::span<const Scalar> types, std::uint64_t size);
/// Whether a value of one type becomes one of another without a check.
bool converts(Scalar from, Scalar to);
/// The program whose leaves are the states themselves.
Program states_program(std::span<const Scalar> types);
/// The text of a value, with the NaN that results have.
std::string canonical_text(Scalar type, const std::string& value);

/// Appends whole tiles of what `leaf` gives at the positions from `first` on, of which there are `size`: as many as there are. Returns the
/// position behind them; `first` where no kernel can take these arrays, or an operation failed: then the other path finds which.
/// `arrays` are those of the leaf's inputs, on a device that runs kernels, of one shape.
std::uint64_t append_tiles(const Bound& bound, States& states, const Program& leaf, std::span<const Value> parameters,
                           std::span<const Array> arrays, std::uint64_t first, std::uint64_t size);

}  // namespace samesum::formula
