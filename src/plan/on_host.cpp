// Plans on the CPU, which runs no kernels: enqueue() completes the operation, and several plans run concurrently.
#include "plan/planned.hpp"

#include "core/half.hpp"
#include "core/visit.hpp"
#include "groups/axes.hpp"
#include "histogram/plan.hpp"
#include "pairs/cpu/pairs_cpu.hpp"
#include "pairs/tree/host_elements.hpp"
#include "reduce/collect.hpp"
#include "reduce/cpu/extremes_cpu.hpp"
#include "reduce/extremes/extremes_device.hpp"
#include "reduce/sum.hpp"

#include <samesum/error.hpp>
#include <samesum/map_source.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>
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

// Of an Accumulator or a ProductAccumulator.
template <class Sum>
SumRecord record_of(const Sum& sum, DType type, NanPolicy nan) {
  SumRecord record{sum.round(nan), 0, sum.round_to_float(nan), 0};
  if (!is_integer(type)) return record;
  try {
    record.integer = is_signed(type) ? sum.to_int64() : static_cast<std::int64_t>(sum.to_uint64());
  } catch (const Error&) {
    record.overflow = 1;
  }
  return record;
}

// The element that has this value, in the first bytes.
std::uint64_t element_of(const Value& value) {
  return core::visit(value.type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (requires { element.bits; }) {
      const double number = std::get<double>(value.number);
      element = Element::truncate(static_cast<float>(number));  // which is exact
      if (std::is_same_v<Element, core::Float16> && std::isinf(number)) element.bits = number < 0 ? 0xfc00 : 0x7c00;
    } else {
      std::visit([&](const auto number) { element = static_cast<Element>(number); }, value.number);
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return bits;
  });
}

// Of elements of `type`, or of what a formula gives. `fields` are those that were asked for.
StatisticsRecord record_of(const Statistics& found, const Fields& fields, DType type, NanPolicy nan) {
  const auto number = [](bool exists, const auto& value) { return exists ? value() : std::numeric_limits<double>::quiet_NaN(); };
  const bool some = found.count() > (nan == NanPolicy::skip ? found.nan_count() : 0);
  StatisticsRecord record{};
  record.count = found.count();
  record.nonzeros = fields.nonzeros ? found.nonzero_count(nan) : 0;
  record.sum = {std::numeric_limits<double>::quiet_NaN(), 0, std::numeric_limits<float>::quiet_NaN(), 0};
  if (fields.sum) record.sum = record_of(found.sum(), type, nan);
  record.mean = number(fields.sum && some, [&] { return found.mean(nan); });
  record.variance = number(fields.sum && fields.squares && some, [&] { return found.variance(0, nan); });
  record.standard_deviation = number(fields.sum && fields.squares && some, [&] { return found.standard_deviation(0, nan); });
  record.squared_norm = number(fields.squares, [&] { return found.squared_norm(nan); });
  record.norm = number(fields.squares, [&] { return found.norm(nan); });
  record.extrema = {0, ExtremaRecord::kNowhere, 0, ExtremaRecord::kNowhere, ExtremaRecord::kNowhere, found.nan_count()};
  if (!fields.extrema) return record;
  const Statistics::Contents& contents = found.contents();
  if (contents.min) record.extrema.min = element_of(contents.min->value), record.extrema.min_index = contents.min->index;
  if (contents.max) record.extrema.max = element_of(contents.max->value), record.extrema.max_index = contents.max->index;
  if (contents.first_nan) record.extrema.first_nan = *contents.first_nan;
  return record;
}

class OnHost : public Planned {
 public:
  OnHost(const Request& request, const Operation& operation)
      : request_(request), operation_(operation), options_{.nan = request.nan, .device = request.device, .tuning = request.tuning} {
    find_sum_variant(request.device, request.tuning.variant);
    if (const auto* wanted = std::get_if<PairsProblem>(&operation)) pairs_ = prepared_pairs(request, *wanted);
    if (const auto* wanted = std::get_if<FormulaFields>(&operation)) type_ = result_type(program_of(*wanted));
    if (const auto* wanted = std::get_if<AlongAxes>(&operation)) axes_.emplace(wanted->like, wanted->axes);
    if (const auto* wanted = std::get_if<ByOperator>(&operation)) by_operator_ = bound_map(*wanted);
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    if (pairs_) return enqueue_pairs(arrays[0], arrays[1], to);
    if (const auto* formula = std::get_if<FormulaFields>(&operation_)) return enqueue_formula(*formula, arrays, to);
    if (const auto* axes = std::get_if<AlongAxes>(&operation_)) return enqueue_axes(*axes, arrays[0], to);
    if (const auto* by = std::get_if<ByOperator>(&operation_)) return enqueue_operator(*by, arrays, to);
    const bool strided =
        request_.layout == Layout::strided || std::holds_alternative<ops::Dot>(operation_) || std::holds_alternative<Fields>(operation_);
    const auto checked = [&](const Array& array) {
      const device::Run run =
          device::planned_run(array, core::Order::index, request_.device, request_.type, strided ? Layout::strided : Layout::contiguous);
      return View(device::on_host(array).data(), run.count, request_.type, run.stride);
    };
    const View data = checked(arrays[0]);
    if (std::holds_alternative<ops::Product>(operation_)) return enqueue_product(data, to);
    Result found =
        std::visit([&](const auto& kind) { return run(kind, data, arrays.size() > 1 ? checked(arrays[1]) : data, to); }, operation_);
    if (to != nullptr && std::holds_alternative<ops::Extrema>(operation_)) return;  // as on devices, where it goes to one place
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }

  Result result() override {
    const std::lock_guard lock(mutex_);
    if (product_) return value_of(*product_, request_.type);
    if (!found_) device::refuse_result();
    return *found_;
  }

  std::uint64_t result_bytes() const override {
    if (by_operator_) return 8 * by_operator_->finish.results.size();
    const auto* const axes = std::get_if<AlongAxes>(&operation_);
    return axes != nullptr ? axes_->results * size_of(groups::result_type(axes->reduction, request_.type)) : 0;
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

  void enqueue_formula(const FormulaFields& formula, std::span<const Array> arrays, const device::Place* to) {
    for (const Array& array : arrays) device::planned_run(array, core::Order::index, request_.device, array.type(), Layout::strided);
    Statistics found = collect(*map(formula.formula, inputs_of(formula.inputs, arrays), formula.parameters), formula.fields, options_);
    if (to != nullptr && formula.fields == statistics::kSumAlone) {
      const SumRecord record = record_of(found.sum(), type_, request_.nan);
      write(to, &record, sizeof record);
    } else if (to != nullptr) {
      const StatisticsRecord record = record_of(found, formula.fields, type_, request_.nan);
      write(to, &record, sizeof record);
    }
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }

  void enqueue_axes(const AlongAxes& wanted, const Array& data, const device::Place* to) {
    require_like(request_, wanted, data);
    Values found = axis_reduction(device::on_host(data), wanted.reduction, wanted.axes, options_);
    if (to != nullptr) return write(to, found.data(), result_bytes());
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }

  void enqueue_operator(const ByOperator& by, std::span<const Array> arrays, const device::Place* to) {
    for (const Array& array : arrays) device::planned_run(array, core::Order::index, request_.device, array.type(), Layout::strided);
    std::vector<Value> found = reduce(by.formula, inputs_of(by.inputs, arrays), by.parameters, by.op, options_);
    if (to != nullptr) {
      std::vector<std::uint64_t> words;
      for (const Value& value : found) words.push_back(element_of(value));
      return write(to, words.data(), 8 * words.size());
    }
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }

  void enqueue_product(View data, const device::Place* to) {
    check_count(data.size(), Plan::kMaxElements);
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
  Result run(ops::Dot, View a, View b, const device::Place* to) const {
    statistics::require_alike(a, b);
    check_count(a.size(), Plan::kMaxElements);
    ProductAccumulator products = dot(a, b, options_);
    if (to != nullptr) {
      const SumRecord record = record_of(products, request_.type, request_.nan);
      write(to, &record, sizeof record);
    }
    return products;
  }
  Result run(const ops::Extrema& extrema, View data, View, const device::Place* to) const {
    const Statistics found = collect(data, {true, false, false, false}, options_);
    const ExtremaRecord record = statistics::record_of(found.contents(), data, extrema);
    write(to, &record, sizeof record);
    return Statistics(statistics::contents_of(record, data.size(), request_.type, extrema.indices));
  }
  Result run(const Fields& fields, View data, View, const device::Place* to) const {
    check_count(data.size(), Plan::kMaxElements);
    Statistics found = collect(data, fields, options_);
    if (to != nullptr) {
      const StatisticsRecord record = record_of(found, fields, request_.type, request_.nan);
      write(to, &record, sizeof record);
    }
    return found;
  }
  Result run(const Bins& bins, View data, View, const device::Place* to) const {
    check_count(data.size(), Plan::kMaxElements);
    Histogram found = histogram(data, bins, options_);
    if (to != nullptr) {
      std::vector<std::uint64_t> slots{found.under()};
      slots.insert(slots.end(), found.counts().begin(), found.counts().end());
      slots.insert(slots.end(), {found.over(), found.nan_count()});
      write(to, slots.data(), 8 * slots.size());
    }
    return found;
  }

  // These have functions of their own, which enqueue() calls instead.
  template <class Kind>
  requires(std::same_as<Kind, PairsProblem> || std::same_as<Kind, ops::Product> || std::same_as<Kind, FormulaFields> ||
           std::same_as<Kind, AlongAxes> || std::same_as<Kind, ByOperator>) Result run(const Kind&, View, View, const device::Place*)
  const { return Value(); }

  Request request_;
  Operation operation_;
  Options options_;
  std::optional<all_pairs::OwnProblem> pairs_;
  std::optional<groups::AxisProblem> axes_;
  std::shared_ptr<const formula::BoundMap> by_operator_;
  DType type_ = DType::float64;  // that a formula gives
  std::mutex mutex_;
  std::optional<Result> found_;
  std::optional<ProductRecord> product_;
};

}  // namespace

std::unique_ptr<Planned> on_host(const Request& request, const Operation& operation) {
  return std::make_unique<OnHost>(request, operation);
}

}  // namespace samesum::planning
