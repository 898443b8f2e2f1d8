// Operators of one's own along axes. Where an operation fails, the results are computed again one by one, up to the first that has no
// answer.
#include "core/float_environment.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/axes_formula.hpp"
#include "groups/device/trees_device.hpp"
#include "groups/operator_results.hpp"
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

// Where results stand.
ResultName at_position(const std::vector<std::uint64_t>& shape) {
  return [&shape](std::uint64_t result) { return "at " + position_of(result, shape); };
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
                 const std::vector<std::uint64_t>& shape, std::uint32_t threads, OperatorResults& to) {
  const auto on_kernels = [](const Array& array) { return array.on_device() && array.buffer().device().info().has(Capability::kernels); };
  if (std::ranges::all_of(components, on_kernels) && roots_on_device(bound, components, axes, to.from(first))) return;
  const HostCopies here(components);
  if (roots_along(bound, here.arrays(), axes, threads, to.from(first))) return;
  std::vector<AxisProblem> problems;
  for (const Array& array : here.arrays()) problems.emplace_back(array, axes);
  const auto elements_of = [&](std::uint64_t result) {
    std::vector<Array> elements;
    for (const AxisProblem& problem : problems) elements.push_back(problem.elements(result));
    return elements;
  };
  const auto name = [&](std::uint64_t result) { return at_position(shape)(first + result); };
  throw_first_failure(bound, problems[0].results, elements_of, name, threads);
}

// The results of one box of a formula's positions, which has more than fit into memory, or of all.
void reduce_long(const formula::Bound& bound, FormulaValues& values, const Box& box, std::uint64_t result,
                 const std::vector<std::uint64_t>& shape, std::uint32_t threads, OperatorResults& to) {
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
    throw named_error(bound, at_position(shape)(result), error);
  }
}

}  // namespace
}  // namespace groups

std::vector<Values> reduce(const Array& data, const Operator& op, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::refuse_ddof("an operator", axes.ddof());
  const groups::AxisProblem problem(data, axes);
  const DType types[] = {data.type()};
  const formula::Bound bound(op, types, {.count = problem.each});
  groups::OperatorResults results(bound.types(), problem.shape);
  if (problem.results != 0 && problem.each == 0) {
    results.fill(bound.identity(), bound.types());
  } else if (problem.results != 0) {
    device::require_on(data, device::device_for(data, data.bytes(), options));
    const bool upload = !data.on_device() && options.device && options.device->info().has(Capability::kernels);
    const Array there = upload ? device::uploaded(data, *options.device) : data;
    groups::reduce_part(bound, std::span(&there, 1), axes, 0, problem.shape, options.tuning.threads, results);
  }
  return groups::finished(bound, std::move(results.values()), groups::at_position(problem.shape));
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
  groups::refuse_ddof("an operator", axes.ddof());
  groups::FormulaValues values(map, inputs, parameters, options);
  const Array positions(nullptr, Shape(values.shape()), DType::uint8);
  const groups::AxisProblem problem(positions, axes);
  const formula::Bound bound(op, values.types(), {values.ranges(), problem.each, values.complex()});
  if (values.device()) formula::require_types(bound.program(), values.device()->info());
  groups::OperatorResults results(bound.types(), problem.shape);
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
  return groups::finished(bound, std::move(results.values()), groups::at_position(problem.shape));
}

}  // namespace samesum
