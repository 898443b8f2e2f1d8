// The kernels of axes.cl, and how work is shared out among work-items.
#pragma once

#include "device/dialect/element_name.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "groups/axes.hpp"

#include <cstdint>
#include <memory>

namespace samesum::groups {

using device::element_name;

struct AxesShape {
  AxisReduction what = AxisReduction::sum;
  bool skip = false;
  std::uint32_t group_size = 256;
  std::uint32_t width = 1;  ///< results that a group computes at once
  bool neighbours = false;  ///< adjacent results are adjacent in memory
  std::uint64_t parts = 1;  ///< into which the elements of each result are cut
  bool loads = false;       ///< elements of a result can be read by 16 bytes
  bool few = false;         ///< a work-item computes several results of few elements
};

AxesShape axes_shape(const AxisProblem& problem, AxisReduction what, bool skip, const DeviceInfo& info);

/// An element x of up to 53 bits as a double, in the language of kernels.
std::string_view as_double_source(DType type);

/// Kernels "axes", "axes_few" and, for several parts, "axes_parts".
device::Source axes_source(DType type, const AxesShape& shape);

/// Kernel "axes_exact", for the sums and means that those kernels cannot compute.
device::Source axes_exact_source(DType type, const AxesShape& shape);

/// Kernel "segments".
device::Source segments_source(DType type, const AxesShape& shape);

/// The rounded sums of segments, without a table of sums: of `values` along one axis, and where `offsets` (uint64, ascending, not above the
/// number of values) says. 64 bits for each, which may have been changed if the result is false: then these values are not adjacent, or a
/// sum of integers does not fit. `elements`: of all segments together.
bool segments_on_device(const Array& values, const Array& offsets, std::uint64_t elements, NanPolicy nan, const device::Place& to);

struct AxesScratch;

/// Sums or means along axes of arrays of one shape and type, with the same strides: prepared once, launched any number of times. Requires
/// that the device, which has float64, is locked.
class PlannedAxes {
 public:
  /// @throws Error (usage) for an axis that arrays like this one do not have, and for none or too many elements of a result.
  PlannedAxes(device::Device& device, const Array& like, const Axes& axes, bool mean, NanPolicy nan);

  /// Enqueues: 64 bits for each result, in C order. Where a sum does not fit they are 0; where there is no mean, NaN.
  /// `looked_at`: all_exist() tells of this launch.
  void launch(const Array& data, const device::Place& to, bool looked_at);
  /// Waits: whether all results exist of the latest launch that is looked at.
  bool all_exist() const;

  const AxisProblem& problem() const noexcept { return problem_; }

 private:
  device::Device& device_;
  AxisProblem problem_;
  AxisReduction what_;
  bool skip_;
  std::uint64_t parts_ = 1;  // for which there is memory
  std::shared_ptr<AxesScratch> scratch_;
  device::Memory other_state_;  // of launches that are not looked at
};

}  // namespace samesum::groups
