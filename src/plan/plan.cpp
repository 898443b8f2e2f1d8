// The public class: the parts common to all operations.
#include <samesum/plan.hpp>

#include "core/float_environment.hpp"
#include "plan/planned.hpp"
#include "reduce/collect.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <variant>

namespace samesum {
namespace planning {

std::optional<RecordKind> record_of(const Operation& operation, const Array& data, const Planned& work) {
  if (std::holds_alternative<ops::Sum>(operation) || std::holds_alternative<ops::Dot>(operation))
    return RecordKind{"a SumRecord", sizeof(SumRecord)};
  const auto* const formula = std::get_if<FormulaFields>(&operation);
  if (formula != nullptr && formula->fields == statistics::kSumAlone) return RecordKind{"a SumRecord", sizeof(SumRecord)};
  if (std::holds_alternative<Fields>(operation) || std::holds_alternative<FormulaFields>(operation))
    return RecordKind{"a StatisticsRecord", sizeof(StatisticsRecord)};
  if (std::holds_alternative<ops::Product>(operation)) return RecordKind{"a ProductRecord", sizeof(ProductRecord)};
  if (std::holds_alternative<ops::Extrema>(operation)) return RecordKind{"an ExtremaRecord", sizeof(ExtremaRecord)};
  if (const auto* bins = std::get_if<Bins>(&operation)) return RecordKind{"its counts", 8 * (bins->count() + 3)};
  if (std::holds_alternative<ByOperator>(operation)) return RecordKind{"the numbers of an operator's result", work.result_bytes()};
  if (std::holds_alternative<AlongAxes>(operation)) return RecordKind{"the results along the axes", work.result_bytes()};
  if (const auto* pairs = std::get_if<PairsProblem>(&operation)) {
    return RecordKind{"C", data.size() / pairs->components * work.bytes_of_x()};
  }
  return std::nullopt;
}

void check_count(std::uint64_t size, std::uint64_t most) {
  if (size <= most) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{} elements are too many for a plan at once, which takes {}: enqueue parts, and merge what it finds", size, most));
}

}  // namespace planning

struct Plan::State {
  State(planning::Request asked, Operation wanted) : request(std::move(asked)), operation(std::move(wanted)) {
    const core::DefaultFloatEnvironment environment;
    const Device& device = request.device;
    if (device.info().has(Capability::kernels)) {
      work = std::visit([&](const auto& kind) { return planning::make(request, kind); }, operation);
    } else {
      work = planning::on_host(request, operation);
    }
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) {
    const core::DefaultFloatEnvironment environment;
    const bool two = std::holds_alternative<ops::Dot>(operation) || std::holds_alternative<PairsProblem>(operation);
    const std::vector<FormulaInput>* formula = nullptr;  // its inputs
    if (const auto* fields = std::get_if<FormulaFields>(&operation)) formula = &fields->inputs;
    if (const auto* by = std::get_if<ByOperator>(&operation)) formula = &by->inputs;
    const std::size_t wanted = formula != nullptr ? formula->size() : two ? 2 : 1;
    if (arrays.size() != wanted) {
      throw Error(ErrorKind::usage, formula != nullptr ? fmt::format("the plan's formula has {} inputs, and takes as many arrays, not {}",
                                                                     wanted, arrays.size())
                                    : two              ? "a plan of a dot product or of pairs takes two arrays"
                                                       : "this plan's operation takes one array");
    }
    const std::optional<device::Lock> lock = locked();
    work->enqueue(arrays, to);
  }

  device::Place place(const Array& data, const Buffer& to, std::uint64_t offset) const {
    const std::optional<planning::RecordKind> record = planning::record_of(operation, data, *work);
    if (!record) {
      throw Error(ErrorKind::usage,
                  "this plan's operation leaves no record in device memory: enqueue it without a place, and ask for result()");
    }
    return device::place_in(to, offset, record->name, record->bytes, request.device);
  }

  // On the CPU no lock is needed: work runs concurrently.
  std::optional<device::Lock> locked() const {
    if (!request.device.info().has(Capability::kernels)) return std::nullopt;
    return std::optional<device::Lock>(std::in_place, request.device.implementation().mutex());
  }

  planning::Request request;
  Operation operation;
  std::unique_ptr<planning::Planned> work;
};

Plan::Plan(const Device& device, Operation operation, DType type, std::uint64_t size, const Options& options, Layout layout)
    : state_(std::make_shared<State>(planning::Request{device, type, size, options.nan, options.tuning, layout}, std::move(operation))) {}

Plan::Plan(const Device& device, FormulaFields operation, std::uint64_t size, const Options& options)
    : Plan(device, Operation(std::move(operation)), DType::float64, size, options) {}

Plan::Plan(const Device& device, ByOperator operation, std::uint64_t size, const Options& options)
    : Plan(device, Operation(std::move(operation)), DType::float64, size, options) {}

Plan::Plan(const Device& device, AlongAxes operation, const Options& options)
    : state_(std::make_shared<State>(planning::Request{device, operation.like.type(), operation.like.size(), options.nan, options.tuning},
                                     Operation(operation))) {}

void Plan::enqueue(std::span<const Array> arrays) { state_->enqueue(arrays, nullptr); }

void Plan::enqueue(std::span<const Array> arrays, const Buffer& to, std::uint64_t offset) {
  if (arrays.empty()) throw Error(ErrorKind::usage, "a plan takes at least one array");
  const device::Place place = state_->place(arrays[0], to, offset);
  state_->enqueue(arrays, &place);
}

void Plan::enqueue(const Array& data) { enqueue(std::span(&data, 1)); }

void Plan::enqueue(const Array& data, const Buffer& to, std::uint64_t offset) { enqueue(std::span(&data, 1), to, offset); }

void Plan::enqueue(const Array& a, const Array& b) {
  const Array both[] = {a, b};
  enqueue(both);
}

void Plan::enqueue(const Array& a, const Array& b, const Buffer& to, std::uint64_t offset) {
  const Array both[] = {a, b};
  enqueue(both, to, offset);
}

Result Plan::result() const {
  const core::DefaultFloatEnvironment environment;
  const std::optional<device::Lock> lock = state_->locked();
  return state_->work->result();
}

void Plan::refuse_type_of(const Result& result) {
  constexpr std::array kNames = {"Accumulator", "ProductAccumulator", "Statistics", "Histogram", "PairsResult", "Value",
                                 "Values",      "std::vector<Value>"};
  static_assert(kNames.size() == std::variant_size_v<Result>);
  const char* const name = kNames[result.index()];
  throw Error(ErrorKind::usage, fmt::format("the result of this plan's operation is of another type, {0}: call result<{0}>()", name));
}

std::string Plan::configuration() const { return state_->work->configuration(); }

}  // namespace samesum
