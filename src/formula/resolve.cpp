// Type inference: from a tree whose names mean something to operations on numbers.
#include "formula/evaluate.hpp"
#include "formula/program.hpp"
#include "formula/ranges.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

namespace samesum::formula {
namespace {

/// A Scalar, or that of a number which takes the type of what it meets.
enum class Kind : std::uint8_t { boolean, int64, uint64, float32, float64, whole, real };

constexpr bool is_weak(Kind kind) { return kind >= Kind::whole; }
constexpr bool is_integer(Kind kind) { return kind == Kind::int64 || kind == Kind::uint64 || kind == Kind::whole; }
constexpr Kind kind_from(Scalar type) { return static_cast<Kind>(type); }
/// The type of a number that meets no other.
constexpr Scalar scalar_of(Kind kind) {
  return kind == Kind::whole ? Scalar::int64 : kind == Kind::real ? Scalar::float64 : static_cast<Scalar>(kind);
}

std::string_view name_of(Kind kind) {
  return kind == Kind::whole ? "a whole number" : kind == Kind::real ? "a number" : formula::name_of(static_cast<Scalar>(kind));
}

/// A number, or a tuple of several.
struct Shape {
  bool tuple = false;
  std::vector<Kind> kinds;
};

struct Constant {
  std::string_view name;
  double value;
};
constexpr Constant kConstants[] = {
    {"pi", std::numbers::pi}, {"e", std::numbers::e}, {"inf", HUGE_VAL}, {"nan", __builtin_nan("")}, {"true", 1}, {"false", 0}};

class Resolver {
 public:
  Resolver(const Tree& tree, std::span<const InputType> inputs, std::span<const ParameterType> parameters)
      : tree_(tree), inputs_(inputs), parameters_(parameters), shapes_(tree.parts.size()) {}

  Program resolve() {
    check_names();
    for (std::size_t i = 0; i < tree_.parts.size(); ++i) shapes_[i] = shape_of(tree_.parts[i]);
    const Shape& result = shapes_[tree_.root];
    for (std::uint32_t k = 0; k < result.kinds.size(); ++k) {
      program_.results.push_back(emit(tree_.root, k, scalar_of(result.kinds[k])));
      program_.may_fail |= program_.nodes[program_.results.back()].may_fail;
    }
    return without_the_unused();
  }

 private:
  [[noreturn]] void fail(const Part& part, std::string_view message) const { throw error_at(tree_.text, part.column, message); }

  void check_names() const {
    std::vector<std::string_view> names;
    for (const InputType& input : inputs_) {
      names.push_back(input.name);
      if (input.components == 0 || input.components > kMostComponents) {
        throw Error(ErrorKind::usage, fmt::format("the input '{}' of a formula has {} components; 1 to {} are possible", input.name,
                                                  input.components, kMostComponents));
      }
    }
    for (const ParameterType& parameter : parameters_) names.push_back(parameter.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
      throw Error(ErrorKind::usage, fmt::format("a formula is given two inputs or parameters with the name '{}'", *twice));
  }

  // What the name of a part means.
  const InputType* input_of(const Part& part) const { return find(inputs_, part); }
  const ParameterType* parameter_of(const Part& part) const { return find(parameters_, part); }
  template <class T>
  const T* find(std::span<const T> all, const Part& part) const {
    const auto found = std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == tree_.word(part); });
    return found == all.end() ? nullptr : &*found;
  }
  const Constant* constant_of(const Part& part) const {
    const auto* const found =
        std::find_if(std::begin(kConstants), std::end(kConstants), [&](const Constant& c) { return c.name == tree_.word(part); });
    return found == std::end(kConstants) ? nullptr : found;
  }

  Shape shape_of(const Part& part) const {
    switch (part.kind) {
      case Part::Kind::whole:
        return {false, {Kind::whole}};
      case Part::Kind::real:
        return {false, {Kind::real}};
      case Part::Kind::name:
        return shape_of_name(part);
      case Part::Kind::reference:
        return shapes_[part.children[0]];
      case Part::Kind::tuple: {
        Shape shape{true, {}};
        for (const std::uint32_t child : part.children) {
          if (shapes_[child].tuple) fail(tree_.parts[child], "tuples do not nest");
          shape.kinds.push_back(shapes_[child].kinds[0]);
        }
        return shape;
      }
      case Part::Kind::component: {
        const Shape& of = shapes_[part.children[0]];
        if (!of.tuple) fail(part, "this is one number and has no components");
        if (part.whole >= of.kinds.size())
          fail(part, fmt::format("there are {} components, from [0] to [{}]", of.kinds.size(), of.kinds.size() - 1));
        return {false, {of.kinds[part.whole]}};
      }
      default:
        return part.function->signature == Signature::vectors ? shape_of_vectors(part) : shape_of_each(part);
    }
  }

  Shape shape_of_name(const Part& part) const {
    if (const InputType* const input = input_of(part)) {
      return {input->vector || input->components > 1, std::vector<Kind>(input->components, kind_from(formula::scalar_of(input->type)))};
    }
    if (const ParameterType* const parameter = parameter_of(part)) return {false, {parameter->whole ? Kind::whole : Kind::real}};
    const std::string_view word = tree_.word(part);
    if (word == "i") return {false, {Kind::int64}};
    if (word == "true" || word == "false") return {false, {Kind::boolean}};
    if (constant_of(part) != nullptr) return {false, {Kind::real}};
    std::string known;
    for (const InputType& input : inputs_) known += (known.empty() ? "" : ", ") + input.name;
    for (const ParameterType& parameter : parameters_) known += (known.empty() ? "" : ", ") + parameter.name;
    fail(part, fmt::format("no input or parameter has the name '{}'; there are {}", word.substr(0, 40),
                           known.empty() ? "none" : known.substr(0, 400)));
  }

  Shape shape_of_vectors(const Part& part) const {
    const Shape &a = shapes_[part.children[0]], &b = shapes_[part.children[1]];
    if (!a.tuple || !b.tuple || a.kinds.size() != b.kinds.size())
      fail(part, fmt::format("{} takes two vectors of as many components", part.function->name));
    Kind kind = a.kinds[0];
    for (const Shape* shape : {&a, &b}) {
      for (const Kind k : shape->kinds) kind = join(part, kind, k);
    }
    return {false, {number(kind)}};
  }

  // Component by component.
  Shape shape_of_each(const Part& part) const {
    Shape shape{false, std::vector<Kind>(1)};
    for (const std::uint32_t child : part.children) {
      const Shape& of = shapes_[child];
      if (!of.tuple) continue;
      if (shape.tuple && shape.kinds.size() != of.kinds.size()) {
        fail(part, fmt::format("one tuple has {} components, another {}", shape.kinds.size(), of.kinds.size()));
      }
      shape = {true, std::vector<Kind>(of.kinds.size())};
    }
    for (std::size_t k = 0; k < shape.kinds.size(); ++k) {
      std::vector<Kind> operands;
      for (const std::uint32_t child : part.children) operands.push_back(kind_at(child, k));
      shape.kinds[k] = kind_of(part, operands);
    }
    return shape;
  }
  Kind kind_at(std::uint32_t part, std::size_t k) const { return shapes_[part].kinds[shapes_[part].tuple ? k : 0]; }

  static constexpr Kind number(Kind kind) { return kind == Kind::boolean ? Kind::whole : kind; }

  Kind join(const Part& part, Kind a, Kind b) const {
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

  Kind kind_of(const Part& part, std::span<const Kind> operands) const {
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
        if (operands[0] != Kind::boolean)
          fail(part, fmt::format("a condition is true or false, not {}: write x != 0", name_of(operands[0])));
        return operands[1] == Kind::boolean && operands[2] == Kind::boolean ? Kind::boolean : joined(1);
      case Signature::conversion:
        return kind_from(function.target);
      default:
        return kind_of_power(part, number(operands[0]), operands[1]);
    }
  }

  Kind kind_of_power(const Part& part, Kind base, Kind exponent) const {
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

  // Where an exponent is a whole number in the text, with a sign or without.
  std::optional<std::int64_t> whole_exponent(const Part& part) const {
    const Part* exponent = &tree_.parts[part.children[1]];
    bool negative = false;
    if (exponent->kind == Part::Kind::apply && exponent->function->op == Op::negate) {
      negative = true;
      exponent = &tree_.parts[exponent->children[0]];
    }
    if (exponent->kind != Part::Kind::whole) return std::nullopt;
    if (exponent->whole > kMostExponent)
      fail(*exponent, fmt::format("a whole exponent is at most {}; with a point, pow() is computed", kMostExponent));
    return negative ? -static_cast<std::int64_t>(exponent->whole) : static_cast<std::int64_t>(exponent->whole);
  }

  // ---- nodes

  std::uint32_t add(const Part& part, Op op, Scalar type, std::initializer_list<std::uint32_t> from, std::uint64_t bits = 0) {
    if (tree_.fixed) op = fixed(op);
    Node node{op, type, static_cast<std::uint8_t>(from.size()), false, false, {}, bits};
    std::copy(from.begin(), from.end(), node.from.begin());
    const auto key = std::make_tuple(op, type, node.from[0], node.from[1], node.from[2], bits, node.operands);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;

    const Range range = range_of(node, ranges_, program_.nodes, node.checked);
    node.may_fail = node.checked;
    bool constant = node.operands != 0 && !is_transcendental(op);
    std::vector<std::uint64_t> operands;
    for (const std::uint32_t operand : from) {
      const Node& of = program_.nodes[operand];
      node.may_fail |= of.may_fail;
      constant &= of.op == Op::constant;
      operands.push_back(of.bits);
    }
    if (constant) {
      const Scalar of = program_.nodes[node.from[node.operands - 1]].type;
      if (const std::optional<std::uint64_t> value = fold(node, of, operands)) return known_[key] = this->constant(part, type, *value);
    }
    if (program_.nodes.size() == kMostOperations) fail(part, fmt::format("this formula computes more than {} operations", kMostOperations));
    program_.nodes.push_back(node);
    ranges_.push_back(range);
    return known_[key] = static_cast<std::uint32_t>(program_.nodes.size() - 1);
  }
  std::uint32_t constant(const Part& part, Scalar type, std::uint64_t bits) { return add(part, Op::constant, type, {}, bits); }
  std::uint32_t constant_of_double(const Part& part, Scalar type, double value) {
    if (type == Scalar::float32) return constant(part, type, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    return constant(part, type, type == Scalar::float64 ? std::bit_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  }
  std::uint32_t converted(const Part& part, std::uint32_t node, Scalar type) {
    return program_.nodes[node].type == type ? node : add(part, Op::convert, type, {node});
  }

  // Component k of a part in a type.
  std::uint32_t emit(std::uint32_t number, std::uint32_t k, Scalar type) {
    const Part& part = tree_.parts[number];
    if (!shapes_[number].tuple) k = 0;
    if (part.kind == Part::Kind::reference) return emit(part.children[0], k, type);
    const auto key = std::make_tuple(number, k, type);
    if (const auto found = emitted_.find(key); found != emitted_.end()) return found->second;
    const Kind kind = shapes_[number].kinds[k];
    const Scalar own = is_weak(kind) ? type : scalar_of(kind);
    return emitted_[key] = converted(part, emit_own(part, k, own), type);
  }

  std::uint32_t emit_own(const Part& part, std::uint32_t k, Scalar type) {
    switch (part.kind) {
      case Part::Kind::whole:
      case Part::Kind::real:
        return literal(part, type, false);
      case Part::Kind::name:
        return emit_name(part, k, type);
      case Part::Kind::tuple:
        return emit(part.children[k], 0, type);
      case Part::Kind::component:
        return emit(part.children[0], static_cast<std::uint32_t>(part.whole), type);
      default:
        return emit_apply(part, k, type);
    }
  }

  std::uint32_t literal(const Part& part, Scalar type, bool negative) {
    const std::string_view word = tree_.word(part);
    if (is_float(type)) {
      const bool hexadecimal = word.size() > 1 && (word[1] == 'x' || word[1] == 'X');
      const auto read = [&](auto value) {
        const auto done = std::from_chars(word.data() + (hexadecimal ? 2 : 0), word.data() + word.size(), value,
                                          hexadecimal ? std::chars_format::hex : std::chars_format::general);
        if (done.ec != std::errc()) fail(part, fmt::format("this number is too great or too small for {}", formula::name_of(type)));
        return value;
      };
      if (type == Scalar::float64) return constant(part, type, std::bit_cast<std::uint64_t>(read(0.0)));
      return constant(part, type, std::bit_cast<std::uint32_t>(read(0.0f)));
    }
    constexpr std::uint64_t kGreatest = 0x7fffffffffffffff;
    if (type == Scalar::int64 && part.whole > kGreatest + (negative ? 1 : 0)) fail(part, "this number does not fit int64");
    return constant(part, type, negative ? 0 - part.whole : part.whole);
  }

  std::uint32_t emit_name(const Part& part, std::uint32_t k, Scalar type) {
    if (const InputType* const input = input_of(part)) {
      const auto number = static_cast<std::uint32_t>(input - inputs_.data());
      const auto found = std::find_if(program_.inputs.begin(), program_.inputs.end(),
                                      [&](const InputComponent& c) { return c.input == number && c.component == k; });
      const auto slot = static_cast<std::uint64_t>(found - program_.inputs.begin());
      if (found == program_.inputs.end()) program_.inputs.push_back({number, k, type});
      const std::uint32_t node = add(part, Op::input, type, {}, slot);
      if (is_integer(kind_from(type))) ranges_[node] = range_of(input->type);
      return node;
    }
    if (const ParameterType* const parameter = parameter_of(part)) {
      const auto number = static_cast<std::uint32_t>(parameter - parameters_.data());
      const auto found = std::find_if(program_.parameters.begin(), program_.parameters.end(),
                                      [&](const ParameterUse& use) { return use.parameter == number && use.type == type; });
      const auto slot = static_cast<std::uint64_t>(found - program_.parameters.begin());
      if (found == program_.parameters.end()) program_.parameters.push_back({number, type});
      return add(part, Op::parameter, type, {}, slot);
    }
    if (const Constant* const constant = constant_of(part)) return constant_of_double(part, type, constant->value);
    program_.uses_index = true;
    return add(part, Op::index, Scalar::int64, {});
  }

  // The type in which the operands of an application meet, of those from `first` on.
  Scalar common(const Part& part, std::uint32_t k, std::size_t first = 0) const {
    Kind kind = number(kind_at(part.children[first], k));
    for (std::size_t i = first + 1; i < part.children.size(); ++i) kind = join(part, kind, kind_at(part.children[i], k));
    return scalar_of(kind);
  }

  std::uint32_t emit_apply(const Part& part, std::uint32_t k, Scalar type) {
    const Function& function = *part.function;
    const auto operand = [&](std::size_t i, Scalar of) { return emit(part.children[i], k, of); };
    const auto all = [&](Op op, Scalar of, Scalar gives) {
      if (part.children.size() == 1) return add(part, op, gives, {operand(0, of)});
      const std::uint32_t a = operand(0, of), b = operand(1, of);
      if (part.children.size() == 2) return add(part, op, gives, {a, b});
      return add(part, op, gives, {a, b, operand(2, of)});
    };
    switch (function.op) {
      case Op::power:
        return emit_power(part, k, type);
      case Op::rsqrt:
        return add(part, Op::divide, type, {constant_of_double(part, type, 1), all(Op::sqrt, type, type)});
      case Op::dot:
      case Op::sqdist:
        return emit_vectors(part, type);
      case Op::convert:
        return emit_conversion(part, k, type);
      case Op::isnan: {
        const Scalar of = common(part, k);
        return is_float(of) ? all(Op::isnan, of, Scalar::boolean) : constant(part, Scalar::boolean, 0);
      }
      case Op::greater:
      case Op::greater_equal: {
        const Scalar of = common(part, k);
        const std::uint32_t a = operand(0, of), b = operand(1, of);
        return add(part, function.op == Op::greater ? Op::less : Op::less_equal, Scalar::boolean, {b, a});
      }
      case Op::select: {
        const std::uint32_t condition = operand(0, Scalar::boolean), yes = operand(1, type);
        return add(part, Op::select, type, {condition, yes, operand(2, type)});
      }
      case Op::fma:
        if (is_float(type)) break;
        return add(part, Op::add, type, {add(part, Op::multiply, type, {operand(0, type), operand(1, type)}), operand(2, type)});
      case Op::negate: {
        const Part& of = tree_.parts[part.children[0]];
        if (of.kind == Part::Kind::whole && type == Scalar::int64) return literal(of, type, true);
        break;
      }
      default:
        break;
    }
    switch (function.signature) {
      case Signature::comparison:
        return all(function.op, common(part, k), Scalar::boolean);
      case Signature::rounding:
        return is_float(type) ? all(function.op, type, type) : operand(0, type);
      case Signature::count:
        return all(function.op, common(part, k), Scalar::int64);
      case Signature::integers:
      case Signature::bits: {
        // Whole numbers alone stay integers whatever they meet.
        const Scalar of = is_float(type) ? Scalar::int64 : type;
        return all(function.op, of, of);
      }
      default:
        return all(function.op, type, type);
    }
  }

  std::uint32_t emit_conversion(const Part& part, std::uint32_t k, Scalar type) {
    const Kind kind = kind_at(part.children[0], k);
    // A number in the text takes the type at once; but a fraction is cut off.
    const bool at_once = kind == Kind::whole || (kind == Kind::real && is_float(type));
    return converted(part, emit(part.children[0], k, at_once ? type : scalar_of(kind)), type);
  }

  std::uint32_t emit_power(const Part& part, std::uint32_t k, Scalar type) {
    const std::uint32_t base = emit(part.children[0], k, type);
    const std::optional<std::int64_t> whole = whole_exponent(part);
    if (!whole) return add(part, Op::pow, type, {base, emit(part.children[1], k, type)});
    const auto n = static_cast<std::uint64_t>(*whole < 0 ? -*whole : *whole);
    if (n == 0) return constant_of_double(part, type, 1);
    std::uint32_t power = base;
    for (int bit = static_cast<int>(std::bit_width(n)) - 2; bit >= 0; --bit) {
      power = add(part, Op::multiply, type, {power, power});
      if ((n >> bit & 1) != 0) power = add(part, Op::multiply, type, {power, base});
    }
    return *whole < 0 ? add(part, Op::divide, type, {constant_of_double(part, type, 1), power}) : power;
  }

  std::uint32_t emit_vectors(const Part& part, Scalar type) {
    const std::size_t components = shapes_[part.children[0]].kinds.size();
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < components; ++k) {
      std::uint32_t a = emit(part.children[0], k, type), b = emit(part.children[1], k, type);
      if (part.function->op == Op::sqdist) a = b = add(part, Op::subtract, type, {a, b});
      if (k == 0) {
        sum = add(part, Op::multiply, type, {a, b});
      } else if (is_float(type)) {
        sum = add(part, Op::fma, type, {a, b, sum});
      } else {
        sum = add(part, Op::add, type, {sum, add(part, Op::multiply, type, {a, b})});
      }
    }
    return sum;
  }

  // What was folded away has left its operands behind.
  Program without_the_unused() {
    std::vector<bool> used(program_.nodes.size(), false);
    for (const std::uint32_t result : program_.results) used[result] = true;
    for (std::size_t i = program_.nodes.size(); i-- > 0;) {
      const Node& node = program_.nodes[i];
      for (std::size_t k = 0; used[i] && k < node.operands; ++k) used[node.from[k]] = true;
    }
    Program result;
    result.may_fail = program_.may_fail;
    std::vector<std::uint32_t> place(program_.nodes.size());
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      if (!used[i]) continue;
      Node node = program_.nodes[i];
      for (std::size_t k = 0; k < node.operands; ++k) node.from[k] = place[node.from[k]];
      if (node.op == Op::input) {
        result.inputs.push_back(program_.inputs[node.bits]);
        node.bits = result.inputs.size() - 1;
      }
      if (node.op == Op::parameter) {
        result.parameters.push_back(program_.parameters[node.bits]);
        node.bits = result.parameters.size() - 1;
      }
      result.uses_index |= node.op == Op::index;
      place[i] = static_cast<std::uint32_t>(result.nodes.size());
      result.nodes.push_back(node);
    }
    for (const std::uint32_t root : program_.results) result.results.push_back(place[root]);
    return result;
  }

  const Tree& tree_;
  std::span<const InputType> inputs_;
  std::span<const ParameterType> parameters_;
  std::vector<Shape> shapes_;
  Program program_;
  std::vector<Range> ranges_;
  std::map<std::tuple<Op, Scalar, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint8_t>, std::uint32_t> known_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Scalar>, std::uint32_t> emitted_;
};

}  // namespace

Program resolve(const Tree& tree, std::span<const InputType> inputs, std::span<const ParameterType> parameters) {
  return Resolver(tree, inputs, parameters).resolve();
}

std::vector<std::string> free_names(const Tree& tree) {
  std::vector<std::string> names;
  std::vector<const Part*> parts;
  for (const Part& part : tree.parts) {
    if (part.kind == Part::Kind::name) parts.push_back(&part);
  }
  std::sort(parts.begin(), parts.end(), [](const Part* a, const Part* b) { return a->column < b->column; });
  for (const Part* part : parts) {
    if (std::find(names.begin(), names.end(), tree.word(*part)) == names.end()) names.emplace_back(tree.word(*part));
  }
  return names;
}

Reproducibility reproducibility(const Program& program) {
  Reproducibility result;
  for (const Node& node : program.nodes) {
    if (is_transcendental(node.op) && !result.transcendental) {
      result.transcendental = true;
      const auto all = functions();
      result.function = std::find_if(all.begin(), all.end(), [&](const Function& f) { return f.op == node.op; })->name;
    }
    if (!is_float(node.type)) continue;
    result.division |= node.op == Op::divide || node.op == Op::fixed_log || node.op == Op::fixed_tanh;
    result.square_root |= node.op == Op::sqrt;
    result.fma |= node.op == Op::fma;
  }
  return result;
}

std::string_view name_of_fault(std::uint32_t faults) noexcept {
  if ((faults & kOverflow) != 0) return "overflow";
  if ((faults & kDivision) != 0) return "division by zero";
  if ((faults & kShift) != 0) return "shift out of range";
  if ((faults & kConversion) != 0) return "a conversion to an integer that does not fit";
  return "a modulus that is not positive";
}

}  // namespace samesum::formula
