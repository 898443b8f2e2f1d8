#include "core/float_environment.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "formula/syntax.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum {
namespace {

std::string shown(std::span<const std::uint64_t> shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

// The axes of positions: all but the last of a vector.
std::span<const std::uint64_t> positions_of(const FormulaInput& input) {
  const std::span<const std::uint64_t> shape = input.array.shape();
  if (!input.vector && !input.complex) return shape;
  if (shape.empty())
    throw Error(ErrorKind::usage, fmt::format("the input '{}' of a formula is said to be of vectors, but has no axis", input.name));
  return shape.first(shape.size() - 1);
}

}  // namespace

namespace formula {

Program resolve(const Tree& tree, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters) {
  std::vector<InputType> types;
  for (const FormulaInput& input : inputs) {
    positions_of(input);
    const std::uint64_t components = input.vector || input.complex ? input.array.shape().back() : 1;
    types.push_back({input.name,
                     input.array.type(),
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(components, kMaxComponents + 1)),
                     input.vector,
                     {},
                     input.complex});
  }
  std::vector<ParameterType> numbers;
  for (const FormulaParameter& parameter : parameters) numbers.push_back({parameter.name, parameter.value.number.index() != 0});
  return resolve(tree, std::span<const InputType>(types), numbers);
}

std::vector<Value> values_of(const std::vector<FormulaParameter>& parameters) {
  std::vector<Value> values;
  for (const FormulaParameter& parameter : parameters) values.push_back(parameter.value);
  return values;
}

Array broadcast(const Array& array, std::span<const std::uint64_t> shape, std::string_view name) {
  const std::size_t rank = array.rank();
  std::vector<std::int64_t> strides(shape.size(), 0);
  bool fits = rank <= shape.size();
  for (std::size_t k = 0; fits && k < rank; ++k) {
    const std::size_t axis = shape.size() - rank + k;
    fits = array.shape()[k] == shape[axis] || array.shape()[k] == 1;
    if (array.shape()[k] == shape[axis]) strides[axis] = array.strides()[k];
  }
  if (!fits)
    throw Error(ErrorKind::usage, fmt::format("'{}' has the shape {}, which is not {} and cannot be broadcast to it", name,
                                              shown(array.shape()), shown(shape)));
  if (array.on_device()) return Array(array.buffer(), Shape(shape), array.type(), array.offset(), Strides(strides));
  return Array(array.data(), Shape(shape), array.type(), Strides(strides));
}

Array component_of(const FormulaInput& input, std::uint32_t component, std::span<const std::uint64_t> shape) {
  return broadcast(input.vector || input.complex ? input.array.at(input.array.rank() - 1, component) : input.array, shape, input.name);
}

Error failed(const Formula& formula, std::uint64_t position, std::span<const std::uint64_t> shape, std::uint32_t faults) {
  std::string place = std::to_string(position);
  if (shape.size() > 1) {
    std::vector<std::uint64_t> indices(shape.size());
    for (std::size_t k = shape.size(); k-- > 0; position /= shape[k]) indices[k] = position % shape[k];
    place = shown(indices);
  }
  const std::string text = formula.to_string();
  return {ErrorKind::no_answer,
          fmt::format("{} at index {} of the formula {}{}", faults == 0 ? "an integer operation failed" : name_of_fault(faults), place,
                      text.substr(0, 100), text.size() > 100 ? "..." : "")};
}

}  // namespace formula

Formula::Formula(std::string_view text, FormulaMath math) {
  formula::Tree tree = formula::parse(text);
  tree.fixed = math == FormulaMath::fixed;
  tree_ = std::make_shared<const formula::Tree>(std::move(tree));
}

std::string Formula::to_string() const { return formula::to_string(*tree_); }

std::vector<std::string> Formula::names() const { return formula::free_names(*tree_); }

FormulaDescription Formula::describe(const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters) const {
  const core::DefaultFloatEnvironment environment;
  const formula::Program program = formula::resolve(*tree_, inputs, parameters);
  const formula::Reproducibility bits = formula::reproducibility(program);
  FormulaDescription result;
  for (const std::uint32_t node : program.results) result.results.push_back(formula::dtype_of(program.nodes[node].type));
  result.complex = program.complex;
  result.may_fail = program.may_fail;
  const auto computes_in = [&](formula::Scalar type) {
    return std::any_of(program.nodes.begin(), program.nodes.end(), [&](const formula::Node& node) { return node.type == type; });
  };
  if (computes_in(formula::Scalar::float64)) result.needs.push_back(Capability::fp64);
  if (computes_in(formula::Scalar::float32)) result.needs.insert(result.needs.end(), {Capability::denormals, Capability::unfused});
  if (bits.division) result.needs.push_back(Capability::division);
  if (bits.square_root) result.needs.push_back(Capability::square_root);
  if (bits.fma) result.needs.push_back(Capability::fma);
  result.reproducible = !bits.transcendental;
  if (bits.transcendental) {
    result.reason = fmt::format("{} is not rounded correctly by all devices: its values may differ in the last places from one to another",
                                bits.function);
  }
  return result;
}

std::vector<std::uint64_t> shape_of(const std::vector<FormulaInput>& inputs) {
  std::vector<std::uint64_t> shape;
  for (const FormulaInput& input : inputs) {
    const std::span<const std::uint64_t> own = positions_of(input);
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (std::size_t k = 0; k < own.size(); ++k) {
      std::uint64_t& extent = shape[shape.size() - own.size() + k];
      if (own[k] != 1 && extent != 1 && own[k] != extent) {
        throw Error(ErrorKind::usage, fmt::format("'{}' has the shape {}, which does not go together with that of the inputs before it, {}",
                                                  input.name, shown(own), shown(shape)));
      }
      if (extent == 1) extent = own[k];
    }
  }
  return shape;
}

namespace {

// map() of a program, which is that of `formula` or has a conversion behind it.
void write(const Formula& formula, const formula::Program& program, const std::vector<FormulaInput>& inputs,
           const std::vector<FormulaParameter>& parameters, const std::vector<Array>& results) {
  if (results.size() != program.results.size()) {
    throw Error(ErrorKind::usage, fmt::format("this formula gives {} numbers at each position, and there are {} arrays for them",
                                              program.results.size(), results.size()));
  }
  const std::vector<std::uint64_t> shape(results[0].shape().begin(), results[0].shape().end());
  std::vector<Array> from, to = results;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const DType wanted = formula::dtype_of(program.nodes[program.results[k]].type);
    if (results[k].type() != wanted) {
      throw Error(ErrorKind::usage,
                  fmt::format("result {} of this formula is {}, and the array for it {}", k, name_of(wanted), name_of(results[k].type())));
    }
    if (!std::equal(shape.begin(), shape.end(), results[k].shape().begin(), results[k].shape().end())) {
      throw Error(ErrorKind::usage, fmt::format("the arrays for results have the shapes {} and {}: they have to be the same", shown(shape),
                                                shown(results[k].shape())));
    }
  }
  for (const FormulaInput& input : inputs) {
    if (!input.vector && !input.complex) formula::broadcast(input.array, shape, input.name);  // also what the formula does not use
  }
  for (const formula::InputComponent& use : program.inputs) from.push_back(formula::component_of(inputs[use.input], use.component, shape));
  if (results[0].size() == 0) return;

  const bool on_device = results[0].on_device();
  for (const std::vector<Array>* arrays : {&from, &to}) {
    for (const Array& array : *arrays) {
      if (array.on_device() != on_device ||
          (on_device && &array.buffer().device().implementation() != &results[0].buffer().device().implementation())) {
        throw Error(ErrorKind::usage, "the arrays of a formula lie in different places: bring all of them to host memory or to one device");
      }
    }
  }
  const std::vector<Value> values = formula::values_of(parameters);
  if (on_device && results[0].buffer().device().info().has(Capability::kernels)) {
    return formula::map_on_device(formula, program, values, from, to, shape);
  }
  if (on_device) {
    for (Array& array : from) array = device::on_host(array);
    for (Array& array : to) array = device::on_host(array);
  }
  formula::map_on_host(formula, program, values, from, to, shape);
}

}  // namespace

void map(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
         const std::vector<Array>& results) {
  const core::DefaultFloatEnvironment environment;
  write(formula, formula::resolve(formula.tree(), inputs, parameters), inputs, parameters, results);
}

void evaluate_to(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                 DType type, std::span<const std::uint64_t> shape, void* to) {
  const core::DefaultFloatEnvironment environment;
  formula::Program program = formula::resolve(formula.tree(), inputs, parameters);
  if (program.results.size() != 1) {
    throw Error(ErrorKind::usage,
                fmt::format("this formula gives {} numbers at each position: map() writes them to an array each", program.results.size()));
  }
  const DType given = formula::dtype_of(program.nodes[program.results[0]].type);
  if (given != type) {
    if (type != DType::float64) throw Error(ErrorKind::usage, fmt::format("this formula gives {}, not {}", name_of(given), name_of(type)));
    program = formula::resolve(formula::as_float64(formula.tree()), inputs, parameters);
  }
  write(formula, program, inputs, parameters, {Array(to, Shape(shape), type)});
}

}  // namespace samesum
