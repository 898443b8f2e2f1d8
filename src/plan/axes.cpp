// Plans of reductions along axes: what both kinds of device need, and those that run kernels.
#include "plan/planned.hpp"

#include "groups/device/axes_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace samesum::planning {

void require_like(const Request& request, const AlongAxes& axes, const Array& data) {
  const Array& like = axes.like;
  // Any element is a run, whatever the strides.
  const bool there = data.on_device() && data.size() != 0;
  device::planned_run(there ? Array(data.buffer(), 1, data.type(), data.offset()) : data, core::Order::memory, request.device, request.type,
                      Layout::strided);
  // The stride of a single element does not matter.
  bool same = std::ranges::equal(data.shape(), like.shape());
  for (std::size_t axis = 0; same && axis < like.rank(); ++axis)
    same = like.shape()[axis] <= 1 || data.strides()[axis] == like.strides()[axis];
  if (same) return;
  throw Error(ErrorKind::usage,
              fmt::format("the plan is for arrays of shape ({}) and strides ({}), the array has shape ({}) and strides ({})",
                          fmt::join(like.shape(), ", "), fmt::join(like.strides(), ", "), fmt::join(data.shape(), ", "),
                          fmt::join(data.strides(), ", ")));
}

namespace {

class PlannedAlongAxes : public Planned {
 public:
  PlannedAlongAxes(const Request& request, const AlongAxes& wanted)
      : request_(request),
        wanted_(wanted),
        axes_(request.device.implementation(), wanted.like, wanted.axes, wanted.reduction == AxisReduction::mean, request.nan) {
    own_.memory = request.device.implementation().allocate(std::max<std::uint64_t>(result_bytes(), 16));
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    require_like(request_, wanted_, arrays[0]);
    axes_.launch(arrays[0], to != nullptr ? *to : own_, to == nullptr);
    launched_ = launched_ || to == nullptr;
  }

  Result result() override {
    if (!launched_) device::refuse_result();
    Values values(groups::result_type(wanted_.reduction, request_.type), axes_.problem().shape);
    if (values.size() != 0) request_.device.implementation().read(own_.memory, 0, values.data(), result_bytes());
    if (!axes_.all_exist()) {
      throw Error(ErrorKind::no_answer,
                  "a result along these axes does not exist, the sum of integers that needs more than 64 bits or the "
                  "mean of no elements: axis_reduction() names its position");
    }
    return values;
  }

  std::uint64_t result_bytes() const override { return 8 * axes_.problem().results; }

  std::string configuration() const override {
    return fmt::format("results={} of {} elements", axes_.problem().results, axes_.problem().each);
  }

 private:
  Request request_;
  AlongAxes wanted_;
  groups::PlannedAxes axes_;
  device::Place own_;  // of launches without a place
  bool launched_ = false;
};

}  // namespace

std::unique_ptr<Planned> make(const Request& request, const AlongAxes& axes) {
  groups::check_ddof(axes.reduction, axes.axes.ddof());
  if (axes.reduction != AxisReduction::sum && axes.reduction != AxisReduction::mean) {
    throw Error(ErrorKind::usage, fmt::format("a plan along axes computes sums and means on {}, no {}: call axis_reduction()",
                                              request.device.info().selector, name_of(axes.reduction)));
  }
  if (!request.device.info().has(Capability::fp64)) {
    throw Error(ErrorKind::device, fmt::format("a plan along axes needs float64, which {} lacks ({})", request.device.info().selector,
                                               request.device.info().why_not(Capability::fp64)));
  }
  return make_locked<PlannedAlongAxes>(request, axes);
}

}  // namespace samesum::planning
