// The kernels of axes.cl, and how work is shared out among work-items.
#pragma once

#include "device/kernels/program.hpp"
#include "groups/axes.hpp"

#include <cstdint>
#include <string_view>

namespace samesum::groups {

/// The type of the kernels' language in which elements lie; of 16-bit floats their bits.
std::string_view element_name(DType type);

struct AxesShape {
  bool skip = false;
  std::uint32_t group_size = 256;
  std::uint32_t width = 1;  ///< results of a group at once
  bool neighbours = false;  ///< results lie side by side
  std::uint64_t parts = 1;  ///< into which the elements of each result are cut
  bool loads = false;       ///< elements of a result can be read by 16 bytes
  bool few = false;         ///< so few elements a result that a work-item takes several results
};

AxesShape axes_shape(const AxisProblem& problem, bool skip, const DeviceInfo& info);

/// Kernels "axes", "axes_few" and, for several parts, "axes_parts".
device::Source axes_source(DType type, const AxesShape& shape);

/// Kernel "axes_exact", for the results that those leave.
device::Source axes_exact_source(DType type, const AxesShape& shape);

}  // namespace samesum::groups
