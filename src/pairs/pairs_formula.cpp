#include "pairs/pairs_formula.hpp"

#include "formula/bound.hpp"
#include "formula/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace samesum::all_pairs {

std::vector<FormulaInput> inputs_of_y(const PairsProblem& options) {
  std::vector<FormulaInput> inputs;
  if (options.weights) inputs.emplace_back("w", *options.weights);
  inputs.insert(inputs.end(), options.of_y.begin(), options.of_y.end());
  return inputs;
}

std::uint64_t components_of(const FormulaInput& input) { return input.vector || input.complex ? input.array.shape().back() : 1; }

Error refused(const PairsProblem& options, std::string_view message) {
  return {ErrorKind::usage, fmt::format("{}: {}", options.formula->to_string().substr(0, 200), message)};
}

PairFormula bind(const PairsProblem& options, DType type, std::optional<DType> wanted) {
  const formula::Tree& tree = options.formula->tree();
  // Vectors also where they have one component: `sqdist(a, b)` is meant for any number of them, and a tuple of one is a number.
  const auto components = static_cast<std::uint32_t>(options.components);
  std::vector<formula::InputType> types;
  for (const char* name : {"a", "b"}) types.push_back({name, type, components, !options.complex, {}, options.complex});
  std::vector<std::uint32_t> begin = {0, 0};
  std::uint32_t end = components;
  for (const FormulaInput& input : inputs_of_y(options)) {
    const auto count = static_cast<std::uint32_t>(components_of(input));
    types.push_back({input.name, type, count, input.vector, {}, input.complex});
    begin.push_back(end);
    end += count;
  }
  std::vector<formula::ParameterType> numbers;
  for (const FormulaParameter& parameter : options.parameters) numbers.push_back({parameter.name, parameter.value.number.index() != 0});

  PairFormula result{formula::resolve(tree, types, numbers), formula::values_of(options.parameters), {}};
  formula::Program& program = result.program;
  if (program.uses_index) throw refused(options, "a pair has no index i: give an input of y that numbers them");
  const std::vector<std::string> names = options.formula->names();
  if (options.weights && std::find(names.begin(), names.end(), "w") == names.end()) {
    throw refused(options, "there are weights, which a formula takes as w, and this one does not: write w*(...)");
  }
  for (const formula::InputComponent& use : program.inputs) {
    result.operands.push_back({use.input != 0, begin[use.input] + use.component});
  }
  for (std::uint32_t& node : program.results) {
    if (!wanted && (options.combine || program.nodes[node].type != formula::Scalar::boolean)) continue;
    const formula::Scalar to = formula::scalar_of(wanted.value_or(DType::int64));
    if (program.nodes[node].type == to) continue;
    program.nodes.push_back({formula::Op::convert, to, 1, false, program.nodes[node].may_fail, {node}, 0});
    node = static_cast<std::uint32_t>(program.nodes.size() - 1);
  }
  return result;
}

DType value_type(const Problem& problem) noexcept {
  if (problem.formula == nullptr) return problem.type;
  const formula::Program& program = problem.formula->program;
  return formula::dtype_of(program.nodes[program.results[0]].type);
}

namespace {

std::string text_of_complex(PairFunction f) {
  switch (f) {
    case PairFunction::product:
      return "a*b";
    case PairFunction::difference:
      return "a - b";
    case PairFunction::absdiff:
      return "abs(a - b)";
    case PairFunction::sqdist:
      return "abs2(a - b)";
    default:
      throw Error(ErrorKind::usage,
                  fmt::format("{} takes no complex numbers: write a formula, with abs2(a - b) for the squared distance", name_of(f)));
  }
}

// `is_unsigned`: of uint64, whose difference may be negative where its magnitude is wanted.
std::string text_of_vectors(const PairsProblem& options, bool is_unsigned) {
  std::string text;
  switch (options.f) {
    case PairFunction::product:
      return "dot(a, b)";
    case PairFunction::sqdist:
      if (!is_unsigned) return "sqdist(a, b)";
      for (std::uint64_t d = 0; d < options.components; ++d) {
        text += fmt::format("{0}(max(a[{1}], b[{1}]) - min(a[{1}], b[{1}]))^2", d == 0 ? "" : " + ", d);
      }
      return text;
    case PairFunction::difference:
    case PairFunction::absdiff:
      for (std::uint64_t d = 0; d < options.components; ++d) {
        const char* const term = options.f == PairFunction::difference ? "{}(a[{}] - b[{}])"
                                 : is_unsigned                         ? "{0}(max(a[{1}], b[{1}]) - min(a[{1}], b[{1}]))"
                                                                       : "{}abs(a[{}] - b[{}])";
        text += fmt::format(fmt::runtime(term), d == 0 ? "" : " + ", d, d);
      }
      return text;
    default:
      throw Error(ErrorKind::usage, fmt::format("{} of integers is no integer: convert A and B, or write a formula", name_of(options.f)));
  }
}

}  // namespace

Formula formula_of(const PairsProblem& options, DType type) {
  const std::string text = options.complex ? text_of_complex(options.f) : text_of_vectors(options, type == DType::uint64);
  return Formula(options.weights ? fmt::format("w*({})", text) : text);
}

std::vector<Capability> needs_of(const formula::Program& program) {
  const formula::Reproducibility bits = formula::reproducibility(program);
  std::vector<Capability> needed;
  if (bits.division) needed.push_back(Capability::division);
  if (bits.square_root) needed.push_back(Capability::square_root);
  if (bits.fma) needed.push_back(Capability::fma);
  return needed;
}

namespace {

// s + the value of a node, for numbers s and node of Program::nodes. Where the value is a product, or a chain of multiply-adds that begins
// with one, s is added by these, with a rounding less for each term.
std::uint32_t added(formula::Program& program, std::uint32_t node, std::uint32_t sum) {
  std::vector<std::uint32_t> chain = {node};
  while (program.nodes[chain.back()].op == formula::Op::fma) chain.push_back(program.nodes[chain.back()].from[2]);
  const auto append = [&](formula::Op op, std::uint8_t operands, std::array<std::uint32_t, 3> from) {
    program.nodes.push_back({op, program.nodes[node].type, operands, false, false, from, 0});
    return static_cast<std::uint32_t>(program.nodes.size() - 1);
  };
  if (program.nodes[chain.back()].op != formula::Op::multiply) return append(formula::Op::add, 2, {sum, node, 0});
  for (; !chain.empty(); chain.pop_back()) {
    const std::array<std::uint32_t, 3> from = program.nodes[chain.back()].from;
    sum = append(formula::Op::fma, 3, {from[0], from[1], sum});
  }
  return sum;
}

// The program with one input more, behind the others, to which its result is added.
formula::Program with_sum(const formula::Program& program) {
  formula::Program result = program;
  const formula::Scalar type = program.nodes[program.results[0]].type;
  result.nodes.push_back({formula::Op::input, type, 0, false, false, {}, result.inputs.size()});
  result.inputs.push_back({0, 0, type});
  result.results[0] = added(result, program.results[0], static_cast<std::uint32_t>(result.nodes.size() - 1));
  return result;
}

}  // namespace

void define(device::Source& source, const PairFormula& formula) {
  std::string takes, gives, operands, parameters;
  for (const PairFormula::Operand& operand : formula.operands)
    operands += fmt::format("{}[{}], ", operand.of_y ? "b" : "a", operand.element);
  for (std::size_t k = 0; k < formula.program.parameters.size(); ++k) {
    takes += fmt::format(", {} p{}", formula::dialect_name(formula.program.parameters[k].type), k);
    gives += fmt::format(", p{}", k);
    parameters += fmt::format("p{}, ", k);
  }
  source.defines.insert(source.defines.end(),
                        {{"F_TAKES", takes}, {"F_GIVES", gives}, {"F_OPERANDS", operands}, {"F_PARAMETERS", parameters}});
}

void add_to(device::Source& source, const PairFormula& formula, std::vector<std::string_view> files) {
  define(source, formula);
  const std::vector<std::string_view> before = formula::files_of({&formula.program});
  source.files.insert(source.files.end(), before.begin(), before.end());
  source.text = formula::print(formula.program, "formula") + formula::print(with_sum(formula.program), "formula_sum");
  source.after = std::move(files);
}

std::vector<device::Argument> arguments_of(const PairFormula& formula) {
  std::vector<device::Argument> arguments;
  for (const formula::ParameterUse& use : formula.program.parameters) {
    const std::uint64_t bits = formula::bits_of(formula.parameters[use.parameter], use.type);
    switch (use.type) {
      case formula::Scalar::int64:
        arguments.emplace_back(static_cast<std::int64_t>(bits));
        break;
      case formula::Scalar::uint64:
        arguments.emplace_back(bits);
        break;
      case formula::Scalar::float32:
        arguments.emplace_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        break;
      default:
        arguments.emplace_back(std::bit_cast<double>(bits));
    }
  }
  return arguments;
}

}  // namespace samesum::all_pairs
