// Plans of reductions by operators: what both kinds of device need, and those that run kernels.
#include "plan/planned.hpp"

#include <algorithm>

namespace samesum::planning {

std::shared_ptr<const formula::BoundMap> bound_map(const ByOperator& by) {
  return std::make_shared<const formula::BoundMap>(by.formula, by.inputs, by.parameters, by.op, Plan::kMaxElements);
}

namespace {

class PlannedByOperator : public Planned {
 public:
  PlannedByOperator(const Request& request, std::shared_ptr<const formula::BoundMap> map)
      : request_(request), map_(std::move(map)), operator_(request.device, map_, request.size, Plan::kMaxElements) {
    own_.memory = request.device.implementation().allocate(std::max<std::uint64_t>(result_bytes(), 16));
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const std::vector<FormulaInput> inputs = inputs_of(map_->inputs, arrays);
    const std::vector<std::uint64_t> shape = shape_of(inputs);
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    check_count(count, Plan::kMaxElements);
    operator_.launch(inputs, to != nullptr ? *to : own_);
    launched_ = launched_ || to == nullptr;
  }

  Result result() override {
    if (!launched_) device::refuse_result();
    std::vector<std::uint64_t> words(map_->finish.results.size());
    request_.device.implementation().read(own_.memory, 0, words.data(), result_bytes());
    return operator_.values(words);
  }

  std::uint64_t result_bytes() const override { return 8 * map_->finish.results.size(); }

  std::string configuration() const override { return operator_.text(); }

 private:
  Request request_;
  std::shared_ptr<const formula::BoundMap> map_;
  formula::PlannedOperator operator_;
  device::Place own_;  // of launches without a place
  bool launched_ = false;
};

}  // namespace

std::unique_ptr<Planned> make(const Request& request, const ByOperator& by) { return make_locked<PlannedByOperator>(request, bound_map(by)); }

}  // namespace samesum::planning
