// Trees along axes on devices that run kernels.
#pragma once

#include "device/kernels/program.hpp"
#include "formula/operator/operator_tree.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace samesum::groups {

/// What roots_along() does, of components on a device that runs kernels, with roots in host memory. False, too, where no kernel can take
/// them.
bool roots_on_device(const formula::Bound& bound, std::span<const Array> components, const Axes& axes, std::span<std::byte* const> to);

constexpr std::uint64_t kNodeLeaves = 8;       ///< below a node of a launch: three levels of the tree
constexpr std::size_t kMaxTreeComponents = 6;  ///< arrays that OpenCL promises to take, for what is read and what is written

/// The parts of kernels that combine the leaves of nodes.
struct NodeText {
  /// STATE; STATE node_over(STATE* leaves, uint count, <parameters> uint* error), of NODE_LEAVES at most, which are overwritten.
  std::string functions;
  std::string parameters, passed;  ///< the operator's, as parameters and as arguments
};
NodeText node_text(const formula::Bound& bound);

/// The source of the kernel "tree_level" for components of these types of elements; none: they are states.
device::Source level_source(const formula::Bound& bound, std::span<const DType> elements);

}  // namespace samesum::groups
