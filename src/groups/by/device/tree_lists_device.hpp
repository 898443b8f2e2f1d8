// Trees over lists of different lengths on devices that run kernels.
#pragma once

#include "device/kernels/program.hpp"
#include "formula/operator/operator_tree.hpp"
#include "groups/by/device/lists_device.hpp"

#include <samesum/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace samesum::groups {

/// What roots_of_lists() does, of components that have_lists() on one device, with roots in host memory. `numbered`: the operator's last
/// component has no array; it is the element's number, an int64. False, too, where no kernel can take them.
bool roots_on_device(const formula::Bound& bound, std::span<const Array> components, bool numbered, const DeviceLists& lists,
                     std::span<std::byte* const> to);

/// What "tree_of_lists" reads.
struct ListLeaves {
  std::span<const DType> elements = {};  ///< of the components; none: states
  bool sorted = false, numbered = false;
};
device::Source lists_source(const formula::Bound& bound, const ListLeaves& leaves);

}  // namespace samesum::groups
