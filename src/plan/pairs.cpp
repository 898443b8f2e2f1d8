// Plans of all pairs: what both kinds of device need, and those that run kernels.
#include "plan/planned.hpp"

#include "pairs/pairs_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace samesum::planning {
namespace {

class PlannedPairs : public Planned {
 public:
  PlannedPairs(const Request& request, all_pairs::OwnProblem own)
      : request_(request),
        own_(std::move(own)),
        pairs_(all_pairs::on_device(request.device.implementation(), own_.problem, {.group_size = request.tuning.group_size})) {
    pairs_->prepare();
    c_.memory = request.device.implementation().allocate(own_.problem.x_count * all_pairs::result_bytes(own_.problem));
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const PairOperands operands = pair_operands(request_, own_.problem, arrays[0], arrays[1]);
    if (to == nullptr && operands.x_count > own_.problem.x_count) {
      throw Error(ErrorKind::usage,
                  fmt::format("A has {} vectors, and the plan room for {} of C: enqueue it with a place for C, or make the "
                              "plan for as many elements",
                              operands.x_count, own_.problem.x_count));
    }
    pairs_->enqueue({operands.a.memory, operands.a.offset}, operands.x_count, {operands.b.memory, operands.b.offset}, operands.y_count,
                    to != nullptr ? *to : c_);
    if (to == nullptr) count_ = operands.x_count;
  }

  Result result() override {
    if (!count_) device::refuse_result();
    return all_pairs::with_type(own_.problem.result(), [&](auto number) { return PairsResult(read<decltype(number)>()); });
  }

  std::size_t bytes_of_x() const override { return all_pairs::result_bytes(own_.problem); }

  std::string configuration() const override { return pairs_->configuration().text(); }

 private:
  template <class Value>
  std::vector<Value> read() const {
    std::vector<Value> c(*count_ * own_.problem.results);
    if (!c.empty()) request_.device.implementation().read(c_.memory, c_.offset, c.data(), c.size() * sizeof(Value));
    return c;
  }

  Request request_;
  all_pairs::OwnProblem own_;
  std::unique_ptr<all_pairs::OnDevice> pairs_;
  device::Place c_;                     // of launches without a place
  std::optional<std::uint64_t> count_;  // of its x, of the latest of them
};

}  // namespace

all_pairs::OwnProblem prepared_pairs(const Request& request, const PairsProblem& pairs) {
  // Where there are weights, they say how many y there are.
  const std::uint64_t components = pairs.components;
  std::uint64_t y_count = components != 0 ? request.size / components : 0;
  if (pairs.weights)
    y_count = pairs.weights->size();
  else if (!pairs.of_y.empty() && pairs.of_y[0].array.rank() != 0)
    y_count = pairs.of_y[0].array.shape()[0];
  const bool listed = pairs.reduction == PairReduction::smallest || pairs.reduction == PairReduction::argsmallest;
  if (listed && !pairs.weights && pairs.of_y.empty()) y_count = std::max<std::uint64_t>(y_count, pairs.k);
  const std::uint64_t x_count = components != 0 ? request.size / components : 0;
  all_pairs::OwnProblem own =
      all_pairs::prepared(Array(nullptr, std::max<std::uint64_t>(x_count, 1) * components, request.type),
                          Array(nullptr, std::max<std::uint64_t>(y_count, 1) * components, request.type), pairs, request.device.info());
  if (own.problem.may_fail)
    throw Error(ErrorKind::usage, "a plan of pairs has no way to say that an integer operation failed, as one here may: use pairs()");
  if (own.problem.one_by_one()) {
    throw Error(ErrorKind::usage, "exact sums of several numbers are made one after the other: give each of them a plan");
  }
  return own;
}

PairOperands pair_operands(const Request& request, const all_pairs::Problem& problem, const Array& a, const Array& b) {
  const auto vectors = [&](const Array& array, const char* name) {
    if (array.size() % problem.components == 0) return array.size() / problem.components;
    throw Error(ErrorKind::usage,
                fmt::format("{} has {} elements, which are no vectors of {} components", name, array.size(), problem.components));
  };
  PairOperands found{device::planned_run(a, core::Order::index, request.device, request.type, Layout::contiguous),
                     device::planned_run(b, core::Order::index, request.device, request.type, Layout::contiguous), vectors(a, "A"),
                     vectors(b, "B")};
  if (found.y_count == 0) throw Error(ErrorKind::usage, "B is empty: a plan of pairs takes at least one vector");
  if (problem.smallest() && found.y_count < problem.k) {
    throw Error(ErrorKind::usage, fmt::format("B has {} vectors, of which the plan is to find the {} smallest", found.y_count, problem.k));
  }
  if (problem.extras != 0 && found.y_count != problem.y_count) {
    throw Error(ErrorKind::usage,
                fmt::format("B has {} vectors, and the plan weights or further inputs for {}", found.y_count, problem.y_count));
  }
  return found;
}

std::unique_ptr<Planned> make(const Request& request, const PairsProblem& pairs) {
  return make_locked<PlannedPairs>(request, prepared_pairs(request, pairs));
}

}  // namespace samesum::planning
