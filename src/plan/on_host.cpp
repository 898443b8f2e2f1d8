// Plans on the CPU, which runs no kernels: enqueue() completes the operation, and several plans run concurrently.
#include "plan/planned.hpp"

#include "histogram/plan.hpp"
#include "pairs/pairs_cpu.hpp"
#include "pairs/tree/host_elements.hpp"
#include "reduce/collect.hpp"
#include "reduce/cpu/extremes_cpu.hpp"
#include "reduce/device/extremes_device.hpp"
#include "reduce/sum.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace samesum::planning {
namespace {

// The records, as kernels write them.
ProductRecord record_of_product(View data, const Options& options) {
  ProductRecord record{};
  try {
    const Value value = product(data, options);
    if (const auto* const real = std::get_if<double>(&value.number)) record.value = *real;
    if (const auto* const integer = std::get_if<std::int64_t>(&value.number)) record.integer = *integer;
    if (const auto* const integer = std::get_if<std::uint64_t>(&value.number)) record.integer = static_cast<std::int64_t>(*integer);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    record.overflow = 1;
  }
  return record;
}

SumRecord record_of(const Accumulator& sum, DType type, NanPolicy nan) {
  SumRecord record{sum.round(nan), 0, sum.round_to_float(nan), 0};
  if (!is_integer(type)) return record;
  try {
    record.integer = is_signed(type) ? sum.to_int64() : static_cast<std::int64_t>(sum.to_uint64());
  } catch (const Error&) {
    record.overflow = 1;
  }
  return record;
}

class OnHost : public Planned {
 public:
  OnHost(const Request& request, const Operation& operation)
      : request_(request), operation_(operation), options_{.nan = request.nan, .device = request.device, .tuning = request.tuning} {
    find_sum_variant(request.device, request.tuning.variant);
    if (const auto* wanted = std::get_if<PairsProblem>(&operation)) pairs_ = prepared_pairs(request, *wanted);
  }

  void enqueue(const Array& a, const Array* b, const device::Place* to) override {
    if (pairs_) return enqueue_pairs(a, *b, to);
    const bool strided =
        request_.layout == Layout::strided || std::holds_alternative<ops::Dot>(operation_) || std::holds_alternative<Fields>(operation_);
    const auto checked = [&](const Array& array) {
      const device::Run run =
          device::planned_run(array, core::Order::index, request_.device, request_.type, strided ? Layout::strided : Layout::contiguous);
      return View(device::on_host(array).data(), run.count, request_.type, run.stride);
    };
    const View data = checked(a);
    if (std::holds_alternative<ops::Product>(operation_)) return enqueue_product(data, to);
    Result found = std::visit([&](const auto& kind) { return run(kind, data, b != nullptr ? checked(*b) : data, to); }, operation_);
    if (to != nullptr && !std::holds_alternative<ops::Sum>(operation_)) return;
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }

  Result result() override {
    const std::lock_guard lock(mutex_);
    if (product_) return value_of(*product_, request_.type);
    if (!found_) device::refuse_result();
    return *found_;
  }

  std::size_t bytes_of_x() const override { return pairs_ ? all_pairs::result_bytes(pairs_->problem) : 0; }

  std::string configuration() const override { return fmt::format("threads={}", request_.tuning.threads); }

 private:
  void enqueue_pairs(const Array& a, const Array& b, const device::Place* to) {
    const PairOperands operands = pair_operands(request_, pairs_->problem, a, b);
    all_pairs::Problem problem = pairs_->problem;
    const all_pairs::HostElements here_a(device::on_host(a), problem.type), here_b(device::on_host(b), problem.type);
    problem.a = here_a.data();
    problem.b = here_b.data();
    problem.x_count = operands.x_count;
    problem.y_count = operands.y_count;
    all_pairs::with_type(problem.result(), [&](auto number) {
      std::vector<decltype(number)> c(problem.x_count * problem.results);
      if (!c.empty()) all_pairs::pairs_on_cpu(problem, {c.data()}, request_.tuning.threads);
      if (to != nullptr) return write(to, c.data(), c.size() * sizeof(number));
      const std::lock_guard lock(mutex_);
      found_ = PairsResult(std::move(c));
    });
  }

  void enqueue_product(View data, const device::Place* to) {
    check_count(data, Plan::kMaxElements);
    const ProductRecord record = record_of_product(data, options_);
    if (to != nullptr) return write(to, &record, sizeof record);
    const std::lock_guard lock(mutex_);
    product_ = record;
  }

  void write(const device::Place* to, const void* record, std::uint64_t bytes) const {
    if (to != nullptr) request_.device.implementation().write(to->memory, to->offset, record, bytes);
  }

  Result run(ops::Sum, View data, View, const device::Place* to) const {
    Accumulator sum = accumulate(data, options_);
    if (to != nullptr) {
      const SumRecord record = record_of(sum, request_.type, request_.nan);
      write(to, &record, sizeof record);
    }
    return sum;
  }
  Result run(ops::Dot, View a, View b, const device::Place*) const {
    statistics::require_alike(a, b);
    check_count(a, Plan::kMaxElements);
    return dot(a, b, options_);
  }
  Result run(const ops::Extrema& extrema, View data, View, const device::Place* to) const {
    const Statistics found = collect(data, {true, false, false, false}, options_);
    const ExtremaRecord record = statistics::record_of(found.contents(), data, extrema);
    write(to, &record, sizeof record);
    return Statistics(statistics::contents_of(record, data.size(), request_.type, extrema.indices));
  }
  Result run(const Fields& fields, View data, View, const device::Place*) const {
    check_count(data, Plan::kMaxElements);
    return collect(data, fields, options_);
  }
  Result run(const Bins& bins, View data, View, const device::Place* to) const {
    check_count(data, Plan::kMaxElements);
    Histogram found = histogram(data, bins, options_);
    if (to != nullptr) {
      std::vector<std::uint64_t> slots{found.under()};
      slots.insert(slots.end(), found.counts().begin(), found.counts().end());
      slots.insert(slots.end(), {found.over(), found.nan_count()});
      write(to, slots.data(), 8 * slots.size());
    }
    return found;
  }

  Result run(const PairsProblem&, View, View, const device::Place*) const { return PairsResult(); }  // by enqueue_pairs()
  Result run(ops::Product, View, View, const device::Place*) const { return Value(); }               // by enqueue_product()

  Request request_;
  Operation operation_;
  Options options_;
  std::optional<all_pairs::OwnProblem> pairs_;
  std::mutex mutex_;
  std::optional<Result> found_;
  std::optional<ProductRecord> product_;
};

}  // namespace

std::unique_ptr<Planned> on_host(const Request& request, const Operation& operation) {
  return std::make_unique<OnHost>(request, operation);
}

}  // namespace samesum::planning
