// The cells of samples with several coordinates, and their counts, on devices that run kernels.
#pragma once

#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "histogram/nd/cells.hpp"
#include "histogram/nd/device_plan.hpp"

#include <samesum/histogram.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace samesum::binning {

/// CellFinder's results, in a device's memory. Requires that the device's mutex is held by whoever calls.
class DeviceCells {
 public:
  /// Samples of a part, at most: the chunk of a formula's values on a device.
  static constexpr std::uint64_t kPart = std::uint64_t{1} << 22;

  DeviceCells(device::Device& device, std::span<const Bins> axes, std::span<const DType> types);

  /// Enqueues: cells()[i] is that of sample i. `columns`: kPart samples or fewer, equally many.
  void find(std::span<const device::Run> columns);
  /// The same of coordinates in host memory, which are uploaded.
  void find(std::span<const View> columns);
  const device::Memory& cells() const noexcept { return cells_; }

  /// The kernel's source for one axis.
  static device::Source source(const DevicePlan& plan) { return plan.source("histogram/nd/cells.cl", {}); }

 private:
  struct Axis {
    std::unique_ptr<const Plan> plan;
    std::unique_ptr<const DevicePlan> on_device;
    device::Kernel kernel;
    std::uint32_t places = 0;
    bool merge_last = false;
  };
  void launch(std::size_t axis, const device::Run& column);

  device::Device& device_;
  std::vector<Axis> axes_;
  device::Memory cells_, column_;
};

/// The coordinates of arrays in a device's memory, part by part; those with bins by a formula as its values.
class DeviceColumns {
 public:
  /// Takes the device's mutex, as next() does.
  DeviceColumns(const std::vector<Array>& coordinates, const std::vector<Bins>& axes);

  std::vector<DType> types() const;
  /// Whether all columns are runs of the arrays themselves: then parts may be of any size.
  bool in_place() const;
  /// The next `most` samples or fewer, valid until the next call; empty at the end.
  std::span<const device::Run> next(std::uint64_t most = DeviceCells::kPart);

 private:
  struct Column {
    DType type;
    std::optional<device::Run> run;
    std::optional<device::Gather> gather;
    std::unique_ptr<Source> values;
  };
  std::vector<Column> columns_;
  std::vector<device::Run> parts_;
  std::uint64_t size_, done_ = 0;
};

}  // namespace samesum::binning
