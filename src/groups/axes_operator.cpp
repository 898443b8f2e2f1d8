// Operators of one's own along axes. Where an operation fails, the results are computed again one by one, up to the first that has no
// answer.
#include "core/float_environment.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/axes_formula.hpp"
#include "groups/device/trees_device.hpp"
#include "groups/trees.hpp"

#include <samesum/axes_formula.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

namespace samesum {
namespace groups {
namespace {

using formula::Scalar;

// Results of these types, and of the shape of a problem.
class Results {
 public:
  Results(std::span<const Scalar> types, const std::vector<std::uint64_t>& shape) {
    for (const Scalar type : types) values_.emplace_back(formula::dtype_of(type), shape);
  }
  std::vector<std::byte*> from(std::uint64_t result) {
    std::vector<std::byte*> places;
    for (Values& values : values_) places.push_back(static_cast<std::byte*>(values.data()) + result * size_of(values.type()));
    return places;
  }
  void put(std::uint64_t result, const formula::State& state, std::span<const Scalar> types) {
    const std::vector<std::byte*> places = from(result);
    for (std::size_t k = 0; k < places.size(); ++k) {
      std::uint64_t bits = state[k];
      formula::canonical(types[k], &bits, 1);
      std::memcpy(places[k], &bits, formula::bytes_of(types[k]));
    }
  }
  void fill(const formula::State& state, std::span<const Scalar> types) {
    for (std::uint64_t result = 0; result < values_[0].size(); ++result) put(result, state, types);
  }
  std::vector<Values>& values() noexcept { return values_; }

 private:
  std::vector<Values> values_;
};

// The error of a result, which is named.
Error at_position(const formula::Bound& bound, std::uint64_t result, const std::vector<std::uint64_t>& shape, const Error& error) {
  return {error.kind(), fmt::format("{} at {}: {}", bound.op().combine.to_string(), position_of(result, shape), error.what())};
}

// Results from number `first` on, those of `components` along axes: an operation has failed in one of these.
[[noreturn]] void fail(const formula::Bound& bound, std::span<const Array> components, const Axes& axes, std::uint64_t first,
                       const std::vector<std::uint64_t>& shape, std::uint32_t threads) {
  std::vector<AxisProblem> problems;
  for (const Array& array : components) problems.emplace_back(array, axes);
  for (std::uint64_t result = 0; result < problems[0].results; ++result) {
    std::vector<Array> elements;
    for (const AxisProblem& problem : problems) elements.push_back(problem.elements(result));
    try {
      static_cast<void>(root_of(bound, elements, threads));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      throw at_position(bound, first + result, shape, error);
    }
  }
  throw bound.failed("an integer operation failed", 0, problems[0].each);
}

// What Operator::finish makes of the results.
std::vector<Values> finished(const formula::Bound& bound, std::vector<Values> states) {
  const std::optional<Formula>& finish = bound.op().finish;
  if (!finish) return states;
  const formula::Program program = bound.resolved(*finish);
  std::vector<Values> results;
  for (const std::uint32_t result : program.results) results.emplace_back(formula::dtype_of(program.nodes[result].type), states[0].shape());
  for (const formula::InputComponent& input : program.inputs) {
    if (input.input == 1) throw Error(ErrorKind::usage, "the formula behind a reduction has one operand, the result, called a");
  }
  formula::Evaluator evaluator(program, bound.parameters());
  const std::uint64_t size = states[0].size(), most = program.uses_index ? 1 : formula::Evaluator::kBlock;  // each result is its first
  std::vector<formula::Column> columns(program.inputs.size());
  for (std::uint64_t first = 0; first < size; first += most) {
    const std::uint64_t count = std::min(most, size - first);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::uint32_t component = program.inputs[k].component;
      const Scalar type = bound.types()[component];
      columns[k] = formula::contiguous(static_cast<const std::byte*>(states[component].data()) + first * formula::bytes_of(type), type);
    }
    if (const std::optional<formula::Failure> failure = evaluator.run(columns, 0, count)) {
      throw at_position(bound, first + failure->position, states[0].shape(), formula::failed(*finish, 0, {}, failure->faults));
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Scalar type = program.nodes[program.results[k]].type;
      auto* const to = static_cast<std::byte*>(results[k].data()) + first * formula::bytes_of(type);
      std::memcpy(to, evaluator.results()[k], count * formula::bytes_of(type));
      formula::canonical(type, to, count);
    }
  }
  return results;
}

// Arrays in any memory as arrays in the host's.
class HostCopies {
 public:
  explicit HostCopies(std::span<const Array> arrays) {
    copies_.reserve(arrays.size());
    for (const Array& array : arrays) {
      const bool far = array.on_device() && array.buffer().device().info().has(Capability::kernels);
      arrays_.push_back(far ? copies_.emplace_back(copied_to_host(array)).array() : array.on_device() ? device::on_host(array) : array);
    }
  }
  std::span<const Array> arrays() const noexcept { return arrays_; }

 private:
  std::vector<Values> copies_;
  std::vector<Array> arrays_;
};

// Results of components of one shape along axes, which go to `to`: from number `first` of all those of `shape` on.
void reduce_part(const formula::Bound& bound, std::span<const Array> components, const Axes& axes, std::uint64_t first,
                 const std::vector<std::uint64_t>& shape, std::uint32_t threads, Results& to) {
  const auto on_kernels = [](const Array& array) { return array.on_device() && array.buffer().device().info().has(Capability::kernels); };
  if (std::ranges::all_of(components, on_kernels) && roots_on_device(bound, components, axes, to.from(first))) return;
  const HostCopies here(components);
  if (!roots_along(bound, here.arrays(), axes, threads, to.from(first))) fail(bound, here.arrays(), axes, first, shape, threads);
}

// The results of one box of a formula's positions, which has more than fit into memory, or of all.
void reduce_long(const formula::Bound& bound, FormulaValues& values, const Box& box, std::uint64_t result,
                 const std::vector<std::uint64_t>& shape, std::uint32_t threads, Results& to) {
  const std::uint64_t most = std::uint64_t{1} << (values.device() ? 24 : 18), size = box.size();
  formula::States states(bound, threads);
  try {
    for (std::uint64_t first = 0; first < size; first += most) {
      const std::vector<Array> part = values.evaluate(box, first, std::min(most, size - first));
      formula::append(bound, states, part);
    }
    to.put(result, states.root(), bound.types());
  } catch (const FormulaFailed&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    throw at_position(bound, result, shape, error);
  }
}

}  // namespace
}  // namespace groups

std::vector<Values> reduce(const Array& data, const Operator& op, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::refuse_ddof("an operator", axes);
  const groups::AxisProblem problem(data, axes);
  const DType types[] = {data.type()};
  const formula::Bound bound(op, types, {.count = problem.each});
  groups::Results results(bound.types(), problem.shape);
  if (problem.results != 0 && problem.each == 0) {
    results.fill(bound.identity(), bound.types());
  } else if (problem.results != 0) {
    device::require_on(data, device::device_for(data, data.bytes(), options));
    const bool upload = !data.on_device() && options.device && options.device->info().has(Capability::kernels);
    const Array there = upload ? device::uploaded(data, *options.device) : data;
    groups::reduce_part(bound, std::span(&there, 1), axes, 0, problem.shape, options.tuning.threads, results);
  }
  return groups::finished(bound, std::move(results.values()));
}

void reduce(const Array& data, const Operator& op, const Axes& axes, const std::vector<Array>& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const std::vector<Values> results = reduce(data, op, axes, options);
  if (results.size() != to.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("this operator gives {} numbers, and there are {} arrays for them", results.size(), to.size()));
  }
  for (std::size_t k = 0; k < to.size(); ++k) groups::require_like(to[k], results[k].shape(), results[k].type());
  for (std::size_t k = 0; k < to.size(); ++k) groups::copy_to(to[k], static_cast<const std::byte*>(results[k].data()));
}

std::vector<Values> reduce(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                           const Operator& op, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::refuse_ddof("an operator", axes);
  groups::FormulaValues values(map, inputs, parameters, options);
  const Array positions(nullptr, Shape(values.shape()), DType::uint8);
  const groups::AxisProblem problem(positions, axes);
  const formula::Bound bound(op, values.types(), {values.ranges(), problem.each, values.complex()});
  if (values.device()) formula::require_types(bound.program(), values.device()->info());
  groups::Results results(bound.types(), problem.shape);
  if (problem.results != 0 && problem.each == 0) results.fill(bound.identity(), bound.types());
  values.for_boxes(groups::reduced_axes(positions, axes), [&](const groups::Box& box, std::uint64_t result) {
    const std::uint32_t threads = options.tuning.threads;
    if (values.is_long(box) || problem.results == 1) {
      return groups::reduce_long(bound, values, box, result, problem.shape, threads, results);
    }
    std::vector<Array> components;
    for (const Array& array : values.evaluate(box, 0, box.size())) components.push_back(array.reshaped(Shape(box.count)));
    groups::reduce_part(bound, components, axes, result, problem.shape, threads, results);
  });
  return groups::finished(bound, std::move(results.values()));
}

}  // namespace samesum
