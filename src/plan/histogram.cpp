// Plans of histograms on devices that run kernels.
#include "plan/planned.hpp"

#include "histogram/histogram_device.hpp"
#include "histogram/plan.hpp"

namespace samesum::planning {
namespace {

class PlannedHistogram : public Planned {
 public:
  PlannedHistogram(const Request& request, const Bins& bins)
      : request_(request),
        bins_(bins),
        plan_(bins, request.type),
        histogram_(request.device.implementation(), {&plan_}, request.size, request.tuning.group_size) {
    if (!plan_.may_fail() && (!plan_.by_value() || request.device.info().has(Capability::int64_atomics))) histogram_.prepare_export();
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const Array& data = arrays[0];
    const device::Run run = device::planned_run(data, core::Order::memory, request_.device, request_.type, Layout::contiguous);
    check_count(data.size(), Plan::kMaxElements);
    if (to != nullptr) histogram_.prepare_export();  // throws where the device cannot export
    histogram_.clear();
    histogram_.launch(run.memory, run.count, run.offset);
    if (to != nullptr) histogram_.export_to(*to);
    launched_ = true;
  }

  Result result() override {
    if (!launched_) device::refuse_result();
    return histogram_.result(bins_);
  }

  std::string configuration() const override { return histogram_.configuration().text(); }

 private:
  Request request_;
  Bins bins_;
  binning::Plan plan_;
  binning::DeviceHistogram histogram_;
  bool launched_ = false;
};

}  // namespace

std::unique_ptr<Planned> make(const Request& request, const Bins& bins) { return make_locked<PlannedHistogram>(request, bins); }

}  // namespace samesum::planning
