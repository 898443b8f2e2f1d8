// Plans of reductions on devices that run kernels.
#include "plan/planned.hpp"
#include "plan/record.hpp"

#include "reduce/collect.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/extremes/extremes_device.hpp"
#include "reduce/sum.hpp"
#include "reduce/sum_device.hpp"

#include <optional>

namespace samesum::planning {
namespace {

static_assert(sizeof(SumRecord) == 24, "the kernels write it as three 64-bit words");
static_assert(sizeof(ExtremaRecord) == 48, "the kernels write it as six 64-bit words");
static_assert(sizeof(StatisticsRecord) == 128, "the kernels write it as sixteen 64-bit words");

class PlannedSum : public Planned {
 public:
  explicit PlannedSum(const Request& request)
      : request_(request), sum_(request.device.implementation(), request.type, request.tuning, request.size) {
    find_sum_variant(request.device, request.tuning.variant);
    sum_.prepare_all(request.layout == Layout::strided);
  }
  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const Array& data = arrays[0];
    sum_.launch(device::planned_run(data, core::Order::memory, request_.device, request_.type, request_.layout), request_.nan, to);
    launched_ = true;
  }
  Result result() override {
    if (!launched_) device::refuse_result();
    return sum_.result().accumulator;
  }
  std::string configuration() const override { return sum_.configuration(); }

 private:
  Request request_;
  reduction::DeviceSum sum_;
  bool launched_ = false;
};

class PlannedExtrema : public Planned {
 public:
  PlannedExtrema(const Request& request, const ops::Extrema& wanted)
      : request_(request), wanted_(wanted), extremes_(request.device.implementation(), request.type, request.tuning, request.size, wanted) {
    extremes_.prepare_all(request.layout == Layout::strided);
  }
  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const Array& data = arrays[0];
    extremes_.launch(device::planned_run(data, core::Order::index, request_.device, request_.type, request_.layout), to);
    if (to == nullptr) count_ = data.size();
  }
  Result result() override {
    if (!count_) device::refuse_result();
    return Statistics(statistics::contents_of(extremes_.result(), *count_, request_.type, wanted_.indices));
  }
  std::string configuration() const override { return extremes_.text(); }

 private:
  Request request_;
  ops::Extrema wanted_;
  statistics::DeviceExtremes extremes_;
  std::optional<std::uint64_t> count_;  // of the latest launch without a record
};

statistics::CollectOptions for_records(statistics::CollectOptions options) {
  options.resident = options.records = true;
  return options;
}

// Statistics, or a dot product. A pass whose result the host reads leaves it in the host's memory, where that is faster, and of one field
// alone may be by a kernel that leaves no words: so there is another pass for records.
class PlannedPass : public Planned {
 public:
  PlannedPass(const Request& request, const Fields& fields, bool dot)
      : request_(request),
        fields_(fields),
        options_(dot ? statistics::collect_options(fields, request.tuning)
                     : statistics::with_nans(statistics::collect_options(fields, request.tuning))),
        order_(dot || fields.extrema ? core::Order::index : core::Order::memory),
        dot_(dot),
        pass_(request.device.implementation(), request.type, options_, dot, request.size) {
    pass_.prepare_all();
    if (dot) return;
    recorder_.emplace(request.device.implementation(), request.type, fields);
    recorded_.emplace(request.device.implementation(), request.type, for_records(options_), dot, request.size);
    recorded_->prepare_all();
  }
  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const Array &a = arrays.front(), &b = arrays.back();
    const device::Run one = device::planned_run(a, order_, request_.device, request_.type, Layout::strided);
    const device::Run other = device::planned_run(b, order_, request_.device, request_.type, Layout::strided);
    if (dot_) statistics::require_alike(a, b);
    check_count(a.size(), Plan::kMaxElements);
    latest_ = to != nullptr && recorded_ ? &*recorded_ : &pass_;
    latest_->launch(one, other, request_.nan, to);
    // A dot product's kernel has written the record.
    if (to != nullptr && recorder_) recorder_->launch(*latest_->words(), a.size(), request_.nan, *to);
  }
  Result result() override {
    if (latest_ == nullptr) device::refuse_result();
    Statistics::Contents found = latest_->result();
    if (dot_) return std::move(found.squares);
    return statistics::without_nans_field(Statistics(std::move(found)), fields_);
  }
  std::string configuration() const override { return pass_.configuration(); }

 private:
  Request request_;
  Fields fields_;
  statistics::CollectOptions options_;
  core::Order order_;
  bool dot_;
  statistics::DevicePass pass_;
  std::optional<Recorder> recorder_;
  std::optional<statistics::DevicePass> recorded_;
  statistics::DevicePass* latest_ = nullptr;
};

}  // namespace

std::unique_ptr<Planned> make(const Request& request, ops::Sum) { return make_locked<PlannedSum>(request); }
std::unique_ptr<Planned> make(const Request& request, ops::Dot) {
  return make_locked<PlannedPass>(request, Fields{.extrema = false, .sum = false, .squares = true}, true);
}
std::unique_ptr<Planned> make(const Request& request, const ops::Extrema& extrema) { return make_locked<PlannedExtrema>(request, extrema); }
std::unique_ptr<Planned> make(const Request& request, const Fields& fields) { return make_locked<PlannedPass>(request, fields, false); }

}  // namespace samesum::planning
