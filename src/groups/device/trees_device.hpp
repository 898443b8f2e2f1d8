// Trees along axes on devices that run kernels.
#pragma once

#include "device/kernels/program.hpp"
#include "formula/operator/operator_tree.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <cstddef>
#include <span>

namespace samesum::groups {

/// What roots_along() does, of components on a device that runs kernels, with roots in host memory. False, too, where no kernel can take
/// them.
bool roots_on_device(const formula::Bound& bound, std::span<const Array> components, const Axes& axes, std::span<std::byte* const> to);

/// The source of the kernel "tree_level" for components of these types of elements; none: they are states.
device::Source level_source(const formula::Bound& bound, std::span<const DType> elements);

}  // namespace samesum::groups
