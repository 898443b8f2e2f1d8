#include "formula/shapes.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace samesum::formula {
namespace {

constexpr bool is_integer(Kind kind) { return kind == Kind::int64 || kind == Kind::uint64 || kind == Kind::whole; }

std::string_view name_of(Kind kind) {
  return kind == Kind::whole ? "a whole number" : kind == Kind::real ? "a number" : formula::name_of(static_cast<Scalar>(kind));
}

constexpr Constant kConstants[] = {
    {"pi", std::numbers::pi}, {"e", std::numbers::e}, {"inf", HUGE_VAL}, {"nan", __builtin_nan("")}, {"true", 1}, {"false", 0}};

}  // namespace

Shapes::Shapes(const Tree& tree, std::span<const InputType> inputs, std::span<const ParameterType> parameters)
    : tree_(tree), inputs_(inputs), parameters_(parameters), shapes_(tree.parts.size()) {
  check_names();
  for (std::size_t i = 0; i < tree.parts.size(); ++i) shapes_[i] = shape_of(tree.parts[i]);
}

void Shapes::fail(const Part& part, std::string_view message) const { throw error_at(tree_.text, part.column, message); }

void Shapes::check_names() const {
  std::vector<std::string_view> names;
  for (const InputType& input : inputs_) {
    names.push_back(input.name);
    if (input.components == 0 || input.components > kMaxComponents) {
      throw Error(ErrorKind::usage, fmt::format("the input '{}' of a formula has {} components; 1 to {} are possible", input.name,
                                                input.components, kMaxComponents));
    }
  }
  for (const ParameterType& parameter : parameters_) names.push_back(parameter.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw Error(ErrorKind::usage, fmt::format("a formula is given two inputs or parameters with the name '{}'", *twice));
}

const Constant* Shapes::constant_of(const Part& part) const {
  const auto* const found =
      std::find_if(std::begin(kConstants), std::end(kConstants), [&](const Constant& c) { return c.name == tree_.word(part); });
  return found == std::end(kConstants) ? nullptr : found;
}

Shape Shapes::shape_of(const Part& part) const {
  switch (part.kind) {
    case Part::Kind::whole:
      return {Shape::Form::number, {Kind::whole}};
    case Part::Kind::real:
      return {Shape::Form::number, {Kind::real}};
    case Part::Kind::name:
      return shape_of_name(part);
    case Part::Kind::reference:
      return shapes_[part.children[0]];
    case Part::Kind::tuple: {
      Shape shape{Shape::Form::tuple, {}};
      for (const std::uint32_t child : part.children) {
        if (shapes_[child].tuple()) fail(tree_.parts[child], "tuples do not nest");
        if (shapes_[child].complex()) fail(tree_.parts[child], "a tuple has no complex numbers: write real(z), imag(z)");
        shape.kinds.push_back(shapes_[child].kinds[0]);
      }
      return shape;
    }
    case Part::Kind::component: {
      const Shape& of = shapes_[part.children[0]];
      if (of.complex()) fail(part, "the parts of a complex number are real(z) and imag(z)");
      if (!of.tuple()) fail(part, "this is one number and has no components");
      if (part.whole >= of.kinds.size())
        fail(part, fmt::format("there are {} components, from [0] to [{}]", of.kinds.size(), of.kinds.size() - 1));
      return {Shape::Form::number, {of.kinds[part.whole]}};
    }
    default:
      if (part.function->signature == Signature::vectors) return shape_of_vectors(part);
      if (part.function->signature == Signature::complex) return shape_of_complex(part);
      for (const std::uint32_t child : part.children) {
        if (shapes_[child].complex()) return shape_of_complex(part);
      }
      return shape_of_each(part);
  }
}

Shape Shapes::shape_of_name(const Part& part) const {
  if (const InputType* const input = input_of(part)) {
    const bool tuple = input->vector || input->components > 1;
    Shape shape{input->complex ? Shape::Form::complex : tuple ? Shape::Form::tuple : Shape::Form::number, {}};
    for (std::uint32_t k = 0; k < input->components; ++k) shape.kinds.push_back(kind_from(formula::scalar_of(input->type_of(k))));
    return shape;
  }
  if (const ParameterType* const parameter = parameter_of(part))
    return {Shape::Form::number, {parameter->whole ? Kind::whole : Kind::real}};
  const std::string_view word = tree_.word(part);
  if (word == "i") return {Shape::Form::number, {Kind::int64}};
  if (word == "true" || word == "false") return {Shape::Form::number, {Kind::boolean}};
  if (constant_of(part) != nullptr) return {Shape::Form::number, {Kind::real}};
  if (find_function(word) != nullptr) fail(part, fmt::format("'{0}' is a function: write its operands, {0}(...)", word));
  std::string known;
  for (const InputType& input : inputs_) known += (known.empty() ? "" : ", ") + input.name;
  for (const ParameterType& parameter : parameters_) known += (known.empty() ? "" : ", ") + parameter.name;
  fail(part, fmt::format("no input or parameter has the name '{}'; there are {}", word.substr(0, 40),
                         known.empty() ? "none" : known.substr(0, 400)));
}

Shape Shapes::shape_of_vectors(const Part& part) const {
  const Shape &a = shapes_[part.children[0]], &b = shapes_[part.children[1]];
  if (!a.tuple() || !b.tuple() || a.kinds.size() != b.kinds.size())
    fail(part, fmt::format("{} takes two vectors of as many components", part.function->name));
  Kind kind = a.kinds[0];
  for (const Shape* shape : {&a, &b}) {
    for (const Kind k : shape->kinds) kind = join(part, kind, k);
  }
  return {Shape::Form::number, {number(kind)}};
}

// Where complex numbers are made, or are among the operands.
Shape Shapes::shape_of_complex(const Part& part) const {
  const Function& function = *part.function;
  const auto floats = [](Kind kind) { return kind == Kind::whole ? Kind::real : is_integer(kind) ? Kind::float64 : kind; };
  bool complex = false;
  for (const std::uint32_t child : part.children) {
    if (shapes_[child].tuple()) fail(part, "complex numbers do not go with tuples: write real(z), imag(z)");
    complex |= shapes_[child].complex();
  }
  const std::size_t first = function.op == Op::select ? 1 : 0, count = function.op == Op::power ? 1 : part.children.size();
  Kind kind = number(kind_at(part.children[first], 0));
  for (std::size_t i = first + 1; i < count; ++i) kind = join(part, kind, kind_at(part.children[i], 0));
  switch (function.op) {
    case Op::real:
    case Op::imag:
    case Op::abs2:
      return {Shape::Form::number, {kind}};
    case Op::abs:
    case Op::arg:
      return {Shape::Form::number, {floats(kind)}};
    case Op::equal:
    case Op::not_equal:
      return {Shape::Form::number, {Kind::boolean}};
    case Op::conj:
      if (!complex) return {Shape::Form::number, {kind}};
      break;
    case Op::select:
      if (shapes_[part.children[0]].complex() || kind_at(part.children[0], 0) != Kind::boolean)
        fail(part, "a condition is true or false: write z != 0");
      break;
    case Op::power:
      if (!whole_exponent(part)) fail(part, "a power of a complex number has a whole number in the text as its exponent");
      break;
    case Op::complex:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::negate:
    case Op::exp:
      break;
    default:
      fail(part, fmt::format("'{}' takes no complex numbers: these have + - * / ^ == != exp, and real, imag, conj, abs, abs2, arg",
                             function.name));
  }
  return {Shape::Form::complex, {floats(kind), floats(kind)}};
}

// Component by component.
Shape Shapes::shape_of_each(const Part& part) const {
  Shape shape{Shape::Form::number, std::vector<Kind>(1)};
  for (const std::uint32_t child : part.children) {
    const Shape& of = shapes_[child];
    if (!of.tuple()) continue;
    if (shape.tuple() && shape.kinds.size() != of.kinds.size()) {
      fail(part, fmt::format("one tuple has {} components, another {}", shape.kinds.size(), of.kinds.size()));
    }
    shape = {Shape::Form::tuple, std::vector<Kind>(of.kinds.size())};
  }
  for (std::size_t k = 0; k < shape.kinds.size(); ++k) {
    std::vector<Kind> operands;
    for (const std::uint32_t child : part.children) operands.push_back(kind_at(child, k));
    shape.kinds[k] = kind_of(part, operands);
  }
  return shape;
}

Kind Shapes::join(const Part& part, Kind a, Kind b) const {
  a = number(a);
  b = number(b);
  if (a == b || b == Kind::whole) return a;
  if (a == Kind::whole) return b;
  if (a == Kind::real || b == Kind::real) {
    const Kind other = a == Kind::real ? b : a;
    return is_integer(other) ? Kind::float64 : other;
  }
  if (is_integer(a) && is_integer(b)) fail(part, "int64 and uint64 have no common type: write int64(x) or uint64(x) for one of them");
  return Kind::float64;
}

Kind Shapes::kind_of(const Part& part, std::span<const Kind> operands) const {
  const Function& function = *part.function;
  const auto joined = [&](std::size_t first) {
    Kind kind = number(operands[first]);
    for (std::size_t i = first + 1; i < operands.size(); ++i) kind = join(part, kind, operands[i]);
    return kind;
  };
  switch (function.signature) {
    case Signature::numbers:
    case Signature::rounding:
      return joined(0);
    case Signature::floats: {
      const Kind kind = joined(0);
      return kind == Kind::whole ? Kind::real : is_integer(kind) ? Kind::float64 : kind;
    }
    case Signature::integers:
    case Signature::bits:
    case Signature::count: {
      const Kind kind = joined(0);
      if (!is_integer(kind)) fail(part, fmt::format("'{}' takes integers, not {}", function.name, name_of(kind)));
      return function.signature == Signature::count ? Kind::int64 : kind;
    }
    case Signature::comparison:
      joined(0);
      return Kind::boolean;
    case Signature::logic:
      for (const Kind kind : operands) {
        if (kind != Kind::boolean)
          fail(part, fmt::format("'{}' takes what is true or false, not {}: write x != 0", function.name, name_of(kind)));
      }
      return Kind::boolean;
    case Signature::choice:
      if (operands[0] != Kind::boolean) fail(part, fmt::format("a condition is true or false, not {}: write x != 0", name_of(operands[0])));
      return operands[1] == Kind::boolean && operands[2] == Kind::boolean ? Kind::boolean : joined(1);
    case Signature::conversion:
      return kind_from(function.target);
    default:
      return kind_of_power(part, number(operands[0]), operands[1]);
  }
}

Kind Shapes::kind_of_power(const Part& part, Kind base, Kind exponent) const {
  if (const std::optional<std::int64_t> whole = whole_exponent(part)) {
    if (*whole >= 0 || !is_integer(base)) return base;
    if (base == Kind::whole) return Kind::real;
    fail(part, "a negative power of an integer is none: write float64(x) for the base");
  }
  const Kind kind = join(part, base, exponent);
  if (kind == Kind::whole) return Kind::real;
  if (is_integer(kind))
    fail(part, "an exponent of an integer is a whole number in the text; for others write pow(a, b), of floating-point numbers");
  return kind;
}

std::optional<std::int64_t> Shapes::whole_exponent(const Part& part) const {
  const Part* exponent = &tree_.parts[part.children[1]];
  bool negative = false;
  if (exponent->kind == Part::Kind::apply && exponent->function->op == Op::negate) {
    negative = true;
    exponent = &tree_.parts[exponent->children[0]];
  }
  if (exponent->kind != Part::Kind::whole) return std::nullopt;
  if (exponent->whole > kMaxExponent)
    fail(*exponent, fmt::format("a whole exponent is at most {}; with a point, pow() is computed", kMaxExponent));
  return negative ? -static_cast<std::int64_t>(exponent->whole) : static_cast<std::int64_t>(exponent->whole);
}

Scalar Shapes::common(const Part& part, std::uint32_t k, std::size_t first) const {
  Kind kind = number(kind_at(part.children[first], k));
  for (std::size_t i = first + 1; i < part.children.size(); ++i) kind = join(part, kind, kind_at(part.children[i], k));
  return scalar_of(kind);
}

}  // namespace samesum::formula
