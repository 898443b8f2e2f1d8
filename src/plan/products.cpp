// Plans of products on devices that run kernels.
#include "plan/planned.hpp"

#include "product/product_plan.hpp"

#include <samesum/error.hpp>

namespace samesum::planning {
namespace {

static_assert(sizeof(ProductRecord) == 24, "the kernels write it as three 64-bit words");

template <class Kernels>
class PlannedProduct : public Planned {
 public:
  template <class... Arguments>
  explicit PlannedProduct(const Request& request, const Arguments&... arguments)
      : request_(request), kernels_(request.device.implementation(), request.type, arguments...) {
    own_.memory = request.device.implementation().allocate(sizeof(ProductRecord));
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const Array& data = arrays[0];
    const device::Run run = device::planned_run(data, core::Order::index, request_.device, request_.type, Layout::contiguous);
    check_count(data.size(), Plan::kMaxElements);
    kernels_.launch(run, to != nullptr ? *to : own_);
    launched_ = launched_ || to == nullptr;
  }

  Result result() override {
    if (!launched_) device::refuse_result();
    ProductRecord record{};
    request_.device.implementation().read(own_.memory, 0, &record, sizeof record);
    return value_of(record, request_.type);
  }

  std::string configuration() const override { return kernels_.text(); }

 private:
  Request request_;
  Kernels kernels_;
  device::Place own_;  // of launches without a place
  bool launched_ = false;
};

}  // namespace

Value value_of(const ProductRecord& record, DType type) {
  if (!is_integer(type)) return {record.value, type == DType::float64 ? DType::float64 : DType::float32};
  if (record.overflow != 0) {
    throw Error(ErrorKind::no_answer, "the product of integers does not fit into 64 bits: product() gives its value in its message");
  }
  if (is_signed(type)) return {record.integer, DType::int64};
  return {static_cast<std::uint64_t>(record.integer), DType::uint64};
}

std::unique_ptr<Planned> make(const Request& request, ops::Product) {
  if (is_integer(request.type)) return make_locked<PlannedProduct<product_tree::PlannedIntegers>>(request, request.tuning);
  return make_locked<PlannedProduct<product_tree::PlannedFloats>>(request, request.nan == NanPolicy::skip, request.tuning,
                                                                  Plan::kMaxElements);
}

}  // namespace samesum::planning
