// Operators bound to types: what their operands are, and in which ranges integers are at all levels of a tree.
#include "formula/operator/operator_tree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace samesum::formula {
namespace {

std::string counted(std::size_t components) { return components == 1 ? "one number" : fmt::format("{} numbers", components); }

}  // namespace

Formula conversion_to(Scalar type) {
  return Formula(type == Scalar::float64   ? "float64(x)"
                 : type == Scalar::float32 ? "float32(x)"
                 : type == Scalar::uint64  ? "uint64(x)"
                 : type == Scalar::int64   ? "int64(x)"
                                           : "x != 0");
}

Value value_of(std::uint64_t bits, Scalar type) {
  switch (type) {
    case Scalar::float32:
      return {static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))), DType::float32};
    case Scalar::float64:
      return {std::bit_cast<double>(bits), DType::float64};
    case Scalar::int64:
      return {static_cast<std::int64_t>(bits), DType::int64};
    default:
      return {bits, dtype_of(type)};
  }
}

std::string text_of(const State& state, std::span<const Scalar> types) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < types.size(); ++k) {
    std::visit([&](auto number) { parts.push_back(fmt::format("{}", number)); }, value_of(state[k], types[k]).number);
  }
  return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
}

Bound::Bound(const Operator& op, std::span<const DType> types, Elements elements)
    : op_(op), parameters_(values_of(op.parameters)), complex_(elements.complex) {
  for (const DType type : types) types_.push_back(scalar_of(type));
  find_types();
  if (!op.identity.empty()) static_cast<void>(identity());  // an error now, not for the first input without elements
  if (elements.ranges.empty()) {
    for (const DType type : types) elements.ranges.push_back(range_of(type));
  }
  find_ranges(types, elements);
}

// Elements become what the operator gives for them.
void Bound::find_types() {
  constexpr int kMaxRounds = 4;
  for (int round = 0;; ++round) {
    program_ = resolved(op_.combine);
    if (program_.uses_index) {
      throw Error(ErrorKind::usage, fmt::format("the operator {} takes i: its operands have no index", op_.combine.to_string()));
    }
    if (program_.results.size() != types_.size()) {
      throw Error(ErrorKind::usage, fmt::format("the operator {} gives {} for operands of {}: it has to give an operand again",
                                                op_.combine.to_string(), counted(program_.results.size()), counted(types_.size())));
    }
    if (program_.complex != complex_) {
      throw Error(ErrorKind::usage, fmt::format("the operator {} gives {} for {}: it has to give an operand again", op_.combine.to_string(),
                                                complex_ ? "a tuple" : "a complex number", complex_ ? "complex numbers" : "tuples"));
    }
    std::vector<Scalar> given;
    for (const std::uint32_t result : program_.results) given.push_back(program_.nodes[result].type);
    if (given == types_) break;
    if (round == kMaxRounds) {
      throw Error(ErrorKind::usage, fmt::format("the operator {} gives other types than its operands have, however often it is applied",
                                                op_.combine.to_string()));
    }
    types_ = std::move(given);
  }
  for (std::size_t k = 0; k < types_.size(); ++k) {
    const Node& node = program_.nodes[program_.results[k]];
    exchanges_ |= node.op == Op::input && program_.inputs[node.bits].component != k;
  }
}

Program Bound::resolved(const Formula& formula) const {
  std::vector<InputType> inputs;
  const auto components = static_cast<std::uint32_t>(types_.size());
  std::vector<DType> types;
  for (const Scalar type : types_) types.push_back(dtype_of(type));
  for (const char* name : {"a", "b"}) inputs.push_back({name, types[0], components, components > 1 && !complex_, types, complex_});
  std::vector<ParameterType> numbers;
  for (const FormulaParameter& parameter : op_.parameters) numbers.push_back({parameter.name, parameter.value.number.index() != 0});
  return resolve(formula.tree(), std::span<const InputType>(inputs), numbers);
}

void Bound::find_ranges(std::span<const DType> types, const Elements& elements) {
  std::vector<Range> leaves = elements.ranges;
  for (std::size_t k = 0; k < types_.size(); ++k) {
    const Range whole = range_of(types_[k]);
    if (scalar_of(types[k]) != types_[k] || !within(leaves[k], whole)) leaves[k] = whole;
  }
  std::vector<Range> parameters;
  for (const ParameterUse& use : program_.parameters) {
    const std::uint64_t bits = is_integer(use.type) ? bits_of(parameters_[use.parameter], use.type) : 0;
    const Wide value = use.type == Scalar::int64 ? Wide{static_cast<std::int64_t>(bits)} : Wide{bits};
    parameters.push_back({value, value});
  }
  const int levels = elements.count < 2 ? 1 : static_cast<int>(std::bit_width(elements.count - 1));
  std::vector<Range> nodes = leaves;
  for (int level = 0; level < levels; ++level) {
    std::vector<Range> inputs;
    for (const InputComponent& input : program_.inputs) inputs.push_back(nodes[input.component]);
    const std::vector<Range> results = apply_ranges(program_, inputs, parameters);
    bool grown = false;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      grown |= !within(results[k], nodes[k]);
      nodes[k] = together(nodes[k], results[k]);
    }
    if (!grown) break;
  }
  // An operation that may fail does so by the tree, so that it fails everywhere or nowhere.
  if (!program_.may_fail) any_order_ = formula::any_order(program_, types_, leaves, parameters, levels);
}

void store_states(const Bound& bound, std::span<const void* const> results, std::size_t count, std::span<std::byte* const> to) {
  std::vector<std::vector<std::byte>> copies;
  for (std::size_t k = 0; k < to.size() && bound.exchanges(); ++k) {
    const auto* const from = static_cast<const std::byte*>(results[k]);
    copies.emplace_back(from, from + count * bytes_of(bound.types()[k]));
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    const Scalar type = bound.types()[k];
    std::memmove(to[k], bound.exchanges() ? copies[k].data() : results[k], count * bytes_of(type));
    canonical(type, to[k], count);
  }
}

Error Bound::failed(std::string_view what, std::uint64_t first, std::uint64_t count) const {
  return {ErrorKind::no_answer,
          fmt::format("{} in the operator {}, among the elements {} to {}", what, op_.combine.to_string(), first, first + count - 1)};
}

State Bound::identity() const {
  if (op_.identity.empty()) {
    throw Error(ErrorKind::no_answer, "there are no elements, and the operator has no identity: give it one");
  }
  if (op_.identity.size() != types_.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("the identity has {}, the elements have {}", counted(op_.identity.size()), counted(types_.size())));
  }
  State state;
  for (std::size_t k = 0; k < types_.size(); ++k) state.push_back(bits_of(op_.identity[k], types_[k]));
  return state;
}

}  // namespace samesum::formula
