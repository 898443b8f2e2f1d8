// The kernels of axes.cl, and how work is shared out among work-items.
#pragma once

#include "device/dialect/element_name.hpp"
#include "device/kernels/program.hpp"
#include "groups/axes.hpp"

#include <cstdint>

namespace samesum::groups {

using device::element_name;

struct AxesShape {
  bool skip = false;
  std::uint32_t group_size = 256;
  std::uint32_t width = 1;  ///< results that a group computes at once
  bool neighbours = false;  ///< adjacent results are adjacent in memory
  std::uint64_t parts = 1;  ///< into which the elements of each result are cut
  bool loads = false;       ///< elements of a result can be read by 16 bytes
  bool few = false;         ///< a work-item computes several results of few elements
};

AxesShape axes_shape(const AxisProblem& problem, bool skip, const DeviceInfo& info);

/// Kernels "axes", "axes_few" and, for several parts, "axes_parts".
device::Source axes_source(DType type, const AxesShape& shape);

/// Kernel "axes_exact", for the results that those kernels cannot compute.
device::Source axes_exact_source(DType type, const AxesShape& shape);

}  // namespace samesum::groups
