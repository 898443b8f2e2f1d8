// Type inference: from a tree whose names mean something to operations on numbers.
#include "formula/cpu/evaluate.hpp"
#include "formula/program.hpp"
#include "formula/ranges.hpp"
#include "formula/shapes.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace samesum::formula {
namespace {

class Resolver {
 public:
  Resolver(const Tree& tree, std::span<const InputType> inputs, std::span<const ParameterType> parameters)
      : tree_(tree), inputs_(inputs), parameters_(parameters), shapes_(tree, inputs, parameters) {}

  Program resolve() {
    const Shape& result = shapes_[tree_.root];
    for (std::uint32_t k = 0; k < result.kinds.size(); ++k) {
      program_.results.push_back(emit(tree_.root, k, scalar_of(result.kinds[k])));
    }
    Program program = without_the_unused();
    program.complex = result.complex();
    program.fixed = tree_.fixed;
    std::vector<Range> ranges;
    for (const InputComponent& use : program.inputs) ranges.push_back(range_of(inputs_[use.input].type_of(use.component)));
    apply_ranges(program, ranges);
    return program;
  }

 private:
  [[noreturn]] void fail(const Part& part, std::string_view message) const { shapes_.fail(part, message); }

  std::uint32_t add(const Part& part, Op op, Scalar type, std::initializer_list<std::uint32_t> from, std::uint64_t bits = 0) {
    Node node{op, type, static_cast<std::uint8_t>(from.size()), false, false, {}, bits};
    std::copy(from.begin(), from.end(), node.from.begin());
    const auto key = std::make_tuple(op, type, node.from[0], node.from[1], node.from[2], bits, node.operands);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;

    bool constant = node.operands != 0 && (tree_.fixed || !is_transcendental(op));
    std::vector<std::uint64_t> operands;
    for (const std::uint32_t operand : from) {
      const Node& of = program_.nodes[operand];
      constant &= of.op == Op::constant;
      operands.push_back(of.bits);
    }
    if (constant) {
      const Scalar of = program_.nodes[node.from[node.operands - 1]].type;
      if (const std::optional<std::uint64_t> value = fold(node, of, operands)) return known_[key] = this->constant(part, type, *value);
    }
    if (op == Op::divide) {
      const Node& divisor = program_.nodes[node.from[1]];
      const auto reciprocal = divisor.op == Op::constant ? exact_reciprocal(divisor.bits, type) : std::nullopt;
      if (reciprocal) return known_[key] = add(part, Op::multiply, type, {node.from[0], constant_of_double(part, type, *reciprocal)});
    }
    if (program_.nodes.size() == kMaxOperations) fail(part, fmt::format("this formula computes more than {} operations", kMaxOperations));
    program_.nodes.push_back(node);
    return known_[key] = static_cast<std::uint32_t>(program_.nodes.size() - 1);
  }
  // Of a power of two: to divide by it is to multiply by its reciprocal, rounding included. Compilers do that too, and NVIDIA's of OpenCL
  // then fuses the multiplication with an addition behind it, though it fuses no multiplication that is written.
  static std::optional<double> exact_reciprocal(std::uint64_t bits, Scalar type) {
    if (type != Scalar::float32 && type != Scalar::float64) return std::nullopt;
    const double value =
        type == Scalar::float32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))) : std::bit_cast<double>(bits);
    int exponent = 0;
    const bool power = std::abs(std::frexp(value, &exponent)) == 0.5;
    return power && std::abs(exponent - 1) <= (type == Scalar::float32 ? 126 : 1022) ? std::optional(1 / value) : std::nullopt;
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
    if (shapes_[number].form == Shape::Form::number) k = 0;
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
    if (const InputType* const input = shapes_.input_of(part)) {
      const auto number = static_cast<std::uint32_t>(input - inputs_.data());
      const auto found = std::find_if(program_.inputs.begin(), program_.inputs.end(),
                                      [&](const InputComponent& c) { return c.input == number && c.component == k; });
      const auto slot = static_cast<std::uint64_t>(found - program_.inputs.begin());
      if (found == program_.inputs.end()) program_.inputs.push_back({number, k, type});
      return add(part, Op::input, type, {}, slot);
    }
    if (const ParameterType* const parameter = shapes_.parameter_of(part)) {
      const auto number = static_cast<std::uint32_t>(parameter - parameters_.data());
      const auto found = std::find_if(program_.parameters.begin(), program_.parameters.end(),
                                      [&](const ParameterUse& use) { return use.parameter == number && use.type == type; });
      const auto slot = static_cast<std::uint64_t>(found - program_.parameters.begin());
      if (found == program_.parameters.end()) program_.parameters.push_back({number, type});
      return add(part, Op::parameter, type, {}, slot);
    }
    if (const Constant* const constant = shapes_.constant_of(part)) return constant_of_double(part, type, constant->value);
    program_.uses_index = true;
    return add(part, Op::index, Scalar::int64, {});
  }

  std::uint32_t emit_apply(const Part& part, std::uint32_t k, Scalar type) {
    const Function& function = *part.function;
    if (std::ranges::any_of(part.children, [&](std::uint32_t child) { return shapes_[child].complex(); }) ||
        function.signature == Signature::complex) {
      return emit_complex(part, k, type);
    }
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
      case Op::sign: {  // a > 0 ? 1 : a < 0 ? -1 : a
        const std::uint32_t a = operand(0, type), none = constant_of_double(part, type, 0), one = constant_of_double(part, type, 1);
        const std::uint32_t above = add(part, Op::less, Scalar::boolean, {none, a});
        if (type == Scalar::uint64) return add(part, Op::select, type, {above, one, a});
        const std::uint32_t minus = type == Scalar::int64 ? constant(part, type, ~std::uint64_t{0}) : constant_of_double(part, type, -1);
        const std::uint32_t below = add(part, Op::less, Scalar::boolean, {a, none});
        return add(part, Op::select, type, {above, one, add(part, Op::select, type, {below, minus, a})});
      }
      case Op::dot:
      case Op::sqdist:
        return emit_vectors(part, type);
      case Op::convert:
        return emit_conversion(part, k, type);
      case Op::isnan: {
        const Scalar of = shapes_.common(part, k);
        return is_float(of) ? all(Op::isnan, of, Scalar::boolean) : constant(part, Scalar::boolean, 0);
      }
      case Op::greater:
      case Op::greater_equal: {
        const Scalar of = shapes_.common(part, k);
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
        return all(function.op, shapes_.common(part, k), Scalar::boolean);
      case Signature::rounding:
        return is_float(type) ? all(function.op, type, type) : operand(0, type);
      case Signature::count:
        return all(function.op, shapes_.common(part, k), Scalar::int64);
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

  // A complex number: its parts. Of a real number there is no second.
  struct Complex {
    std::uint32_t real;
    std::optional<std::uint32_t> imag;
  };
  Complex complex_of(std::uint32_t number, Scalar type) {
    const std::uint32_t real = emit(number, 0, type);
    if (!shapes_[number].complex()) return {real, std::nullopt};
    return {real, emit(number, 1, type)};
  }
  std::uint32_t zero(const Part& part, Scalar type) { return constant_of_double(part, type, 0); }

  // Operations with complex operands, each as docs/formulas.md has it: component k of its value, which is of this type.
  std::uint32_t emit_complex(const Part& part, std::uint32_t k, Scalar type) {
    const auto two = [&](Op op, std::uint32_t a, std::uint32_t b) { return add(part, op, type, {a, b}); };
    const auto part_of = [&](const Complex& z) { return k == 0 ? z.real : z.imag ? *z.imag : zero(part, type); };
    switch (part.function->op) {
      case Op::select:
        return add(part, Op::select, type,
                   {emit(part.children[0], 0, Scalar::boolean), part_of(complex_of(part.children[1], type)),
                    part_of(complex_of(part.children[2], type))});
      case Op::complex:
        if (shapes_[part.children[0]].complex() || shapes_[part.children[1]].complex()) fail(part, "complex(a, b) takes two real numbers");
        return emit(part.children[k], 0, type);
      case Op::equal:
      case Op::not_equal: {
        const Scalar of = shapes_.common(part, 0);
        const Complex a = complex_of(part.children[0], of), b = complex_of(part.children[1], of);
        const auto same = [&](std::uint32_t x, std::uint32_t y) { return add(part, part.function->op, Scalar::boolean, {x, y}); };
        return add(part, part.function->op == Op::equal ? Op::logical_and : Op::logical_or, Scalar::boolean,
                   {same(a.real, b.real), same(a.imag.value_or(zero(part, of)), b.imag.value_or(zero(part, of)))});
      }
      default:
        break;
    }
    const Complex a = complex_of(part.children[0], type);
    switch (part.function->op) {
      case Op::real:
        return a.real;
      case Op::imag:
        return a.imag.value_or(zero(part, type));
      case Op::abs:
        return two(Op::hypot, a.real, *a.imag);
      case Op::arg:
        return two(Op::atan2, a.imag.value_or(zero(part, type)), a.real);
      case Op::abs2:
        return a.imag ? squared(part, a, type) : two(Op::multiply, a.real, a.real);
      case Op::conj:
        return k == 0 ? a.real : add(part, Op::negate, type, {*a.imag});
      case Op::negate:
        return add(part, Op::negate, type, {part_of(a)});
      case Op::exp: {
        const std::uint32_t product =
            two(Op::multiply, add(part, Op::exp, type, {a.real}), add(part, k == 0 ? Op::cos : Op::sin, type, {*a.imag}));
        if (k == 0) return product;
        // That of a real number is real, beyond the range too, as in C.
        return add(part, Op::select, type, {add(part, Op::equal, Scalar::boolean, {*a.imag, zero(part, type)}), *a.imag, product});
      }
      case Op::power:
        return part_of(power_of(part, a, type));
      default:
        break;
    }
    const Complex b = complex_of(part.children[1], type);
    switch (part.function->op) {
      case Op::multiply:
        return part_of(product_of(part, a, b, type));
      case Op::divide:
        return part_of(quotient_of(part, a, b, type));
      default:  // + and -
        if (k == 0 || (a.imag && b.imag)) return two(part.function->op, part_of(a), part_of(b));
        if (a.imag) return *a.imag;
        return part.function->op == Op::add ? *b.imag : add(part, Op::negate, type, {*b.imag});
    }
  }

  std::uint32_t squared(const Part& part, const Complex& a, Scalar type) {
    return add(part, Op::add, type, {add(part, Op::multiply, type, {a.real, a.real}), add(part, Op::multiply, type, {*a.imag, *a.imag})});
  }
  Complex product_of(const Part& part, const Complex& a, const Complex& b, Scalar type) {
    const auto times = [&](std::uint32_t x, std::uint32_t y) { return add(part, Op::multiply, type, {x, y}); };
    if (!a.imag && !b.imag) return {times(a.real, b.real), std::nullopt};
    if (!b.imag) return {times(a.real, b.real), times(*a.imag, b.real)};
    if (!a.imag) return {times(a.real, b.real), times(a.real, *b.imag)};
    return {add(part, Op::subtract, type, {times(a.real, b.real), times(*a.imag, *b.imag)}),
            add(part, Op::add, type, {times(a.real, *b.imag), times(*a.imag, b.real)})};
  }
  // (ac + bd)/(c² + d²) and (bc - ad)/(c² + d²).
  Complex quotient_of(const Part& part, const Complex& a, const Complex& b, Scalar type) {
    const auto over = [&](std::uint32_t x, std::uint32_t y) { return add(part, Op::divide, type, {x, y}); };
    if (!b.imag) return {over(a.real, b.real), over(*a.imag, b.real)};
    const std::uint32_t below = squared(part, b, type);
    const Complex above = product_of(part, a, {b.real, add(part, Op::negate, type, {*b.imag})}, type);
    return {over(above.real, below), over(*above.imag, below)};
  }
  Complex power_of(const Part& part, const Complex& base, Scalar type) {
    const std::int64_t whole = *shapes_.whole_exponent(part);
    const auto n = static_cast<std::uint64_t>(whole < 0 ? -whole : whole);
    const Complex one{constant_of_double(part, type, 1), std::nullopt};
    if (n == 0) return {one.real, zero(part, type)};
    Complex power = base;
    for (int bit = static_cast<int>(std::bit_width(n)) - 2; bit >= 0; --bit) {
      power = product_of(part, power, power, type);
      if ((n >> bit & 1) != 0) power = product_of(part, power, base, type);
    }
    return whole < 0 ? quotient_of(part, one, power, type) : power;
  }

  std::uint32_t emit_conversion(const Part& part, std::uint32_t k, Scalar type) {
    const Kind kind = shapes_.kind_at(part.children[0], k);
    // A number in the text takes the type at once; but a fraction is cut off.
    const bool at_once = kind == Kind::whole || (kind == Kind::real && is_float(type));
    return converted(part, emit(part.children[0], k, at_once ? type : scalar_of(kind)), type);
  }

  std::uint32_t emit_power(const Part& part, std::uint32_t k, Scalar type) {
    const std::uint32_t base = emit(part.children[0], k, type);
    const std::optional<std::int64_t> whole = shapes_.whole_exponent(part);
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
  Shapes shapes_;
  Program program_;
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
    const Transcendental* const function = find_transcendental(node.op);
    if (function != nullptr && !program.fixed && !result.transcendental) {
      result.transcendental = true;
      const auto all = functions();
      result.function = std::find_if(all.begin(), all.end(), [&](const Function& f) { return f.op == node.op; })->name;
    }
    if (!is_float(node.type)) continue;
    const bool fixed = function != nullptr && program.fixed;
    result.division |= node.op == Op::divide || (fixed && function->division);
    result.square_root |= node.op == Op::sqrt || (fixed && function->square_root);
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
