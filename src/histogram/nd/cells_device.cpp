#include "histogram/nd/cells_device.hpp"

#include "core/array/pack.hpp"
#include "histogram/nd/along_axis.hpp"

#include <samesum/error.hpp>
#include <samesum/map_source.hpp>

#include <algorithm>
#include <utility>

namespace samesum::binning {

DeviceCells::DeviceCells(device::Device& device, std::span<const Bins> axes, std::span<const DType> types) : device_(device) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis axis;
    axis.merge_last = axes[i].formula() != nullptr;
    axis.plan = std::make_unique<Plan>(axis.merge_last ? bins_of_values(axes[i]) : axes[i], types[i]);
    axis.on_device = std::make_unique<DevicePlan>(device, *axis.plan);
    axis.kernel = device::build(device, source(*axis.on_device), "histogram_cells");
    axis.places = static_cast<std::uint32_t>(places(axes[i]));
    axes_.push_back(std::move(axis));
  }
  cells_ = device.allocate(4 * kPart);
}

void DeviceCells::launch(std::size_t axis, const device::Run& column) {
  const Axis& own = axes_[axis];
  const auto element = static_cast<std::int64_t>(size_of(own.plan->type()));
  std::vector<device::Argument> arguments = {column.memory,
                                             column.offset / static_cast<std::uint64_t>(element),
                                             column.stride / element,
                                             column.count,
                                             cells_,
                                             own.places,
                                             static_cast<std::int32_t>(own.merge_last),
                                             static_cast<std::int32_t>(axis != 0)};
  own.on_device->add_to(arguments);
  const std::uint32_t group_size = DevicePlan::group_size(device_.info());
  const std::uint64_t groups =
      std::clamp<std::uint64_t>((column.count + group_size - 1) / group_size, 1, 16 * device_.info().compute_units);
  device_.launch(own.kernel, {.groups = static_cast<std::uint32_t>(groups), .group_size = group_size}, arguments);
}

void DeviceCells::find(std::span<const device::Run> columns) {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) launch(axis, columns[axis]);
}

void DeviceCells::find(std::span<const View> columns) {
  if (column_.bytes == 0) column_ = device_.allocate(8 * kPart);
  std::vector<std::byte> packed;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    View column = columns[axis];
    if (!column.contiguous()) {
      packed.resize(column.bytes());
      column = core::pack(column, packed.data());
    }
    device_.write(column_, 0, column.data(), column.bytes());
    launch(axis, {column_, column.size(), static_cast<std::int64_t>(size_of(column.type())), 0});
  }
}

DeviceColumns::DeviceColumns(const std::vector<Array>& coordinates, const std::vector<Bins>& axes) : size_(coordinates[0].size()) {
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const Array& data = coordinates[i];
    Column column{data.type(), std::nullopt, std::nullopt, nullptr};
    if (i < axes.size() && axes[i].formula() != nullptr) {
      column.values = map(axes[i].formula()->formula, {FormulaInput("x", data)}, axes[i].formula()->parameters);
      column.type = *column.values->type();
    } else {
      column.run = device::single_run(data, core::Order::index);
      if (column.run && column.run->offset % size_of(data.type()) != 0) column.run.reset();
      if (!column.run) column.gather.emplace(data, core::Order::index);
    }
    columns_.push_back(std::move(column));
  }
}

std::vector<DType> DeviceColumns::types() const {
  std::vector<DType> types;
  for (const Column& column : columns_) types.push_back(column.type);
  return types;
}

bool DeviceColumns::in_place() const {
  return std::ranges::all_of(columns_, [](const Column& column) { return column.run.has_value(); });
}

std::span<const device::Run> DeviceColumns::next(std::uint64_t most) {
  parts_.clear();
  const std::uint64_t count = std::min(most, size_ - done_);
  if (count == 0) return {};
  for (Column& column : columns_) {
    if (column.values) {
      parts_.push_back(*device::single_run(*column.values->next(), core::Order::index));
    } else {
      parts_.push_back(column.run ? column.run->part(done_, count) : column.gather->part(done_, count));
    }
  }
  done_ += count;
  return parts_;
}

}  // namespace samesum::binning
