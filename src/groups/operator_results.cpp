#include "groups/operator_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace samesum::groups {

using formula::Scalar;

OperatorResults::OperatorResults(std::span<const Scalar> types, const std::vector<std::uint64_t>& shape) {
  for (const Scalar type : types) values_.emplace_back(formula::dtype_of(type), shape);
}

std::vector<std::byte*> OperatorResults::from(std::uint64_t result) {
  std::vector<std::byte*> places;
  for (Values& values : values_) places.push_back(static_cast<std::byte*>(values.data()) + result * size_of(values.type()));
  return places;
}

void OperatorResults::put(std::uint64_t result, const formula::State& state, std::span<const Scalar> types) {
  const std::vector<std::byte*> places = from(result);
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::uint64_t bits = state[k];
    formula::canonical(types[k], &bits, 1);
    std::memcpy(places[k], &bits, formula::bytes_of(types[k]));
  }
}

void OperatorResults::fill(const formula::State& state, std::span<const Scalar> types) {
  for (std::uint64_t result = 0; result < values_[0].size(); ++result) put(result, state, types);
}

Error named_error(const formula::Bound& bound, const std::string& name, const Error& error) {
  return {error.kind(), fmt::format("{} {}: {}", bound.op().combine.to_string(), name, error.what())};
}

formula::State root_of(const formula::Bound& bound, std::span<const Array> components, std::uint32_t threads) {
  formula::States states(bound, threads);
  formula::append(bound, states, components);
  return states.root();
}

void throw_first_failure(const formula::Bound& bound, std::uint64_t results,
                         const std::function<std::vector<Array>(std::uint64_t)>& elements_of, const ResultName& name,
                         std::uint32_t threads) {
  for (std::uint64_t result = 0; result < results; ++result) {
    try {
      static_cast<void>(root_of(bound, elements_of(result), threads));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      throw named_error(bound, name(result), error);
    }
  }
  throw bound.failed("an integer operation failed", 0, elements_of(0)[0].size());
}

std::vector<Values> finished(const formula::Bound& bound, std::vector<Values> states, const ResultName& name) {
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
      throw named_error(bound, name(first + failure->position), formula::failed(*finish, 0, {}, failure->faults));
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

}  // namespace samesum::groups
