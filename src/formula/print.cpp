#include "formula/print.hpp"

#include "device/dialect/element_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace samesum::formula {
namespace {

std::string_view suffix(Scalar type) {
  constexpr std::string_view kSuffixes[] = {"flag", "i64", "u64", "f32", "f64"};
  return kSuffixes[static_cast<std::size_t>(type)];
}

struct Written {
  Op op;
  std::string_view text;
};

template <std::size_t kCount>
constexpr std::string_view text_of(const Written (&table)[kCount], Op op) {
  for (const Written& one : table) {
    if (one.op == op) return one.text;
  }
  return "";
}

// Operations that C writes between two operands; the second table is for floats only.
constexpr Written kInfix[] = {{Op::less, "<"},       {Op::less_equal, "<="}, {Op::equal, "=="},
                              {Op::not_equal, "!="}, {Op::logical_and, "&"}, {Op::logical_or, "|"},
                              {Op::bit_and, "&"},    {Op::bit_or, "|"},      {Op::bit_xor, "^"}};
constexpr Written kInfixOfFloats[] = {{Op::add, "+"}, {Op::subtract, "-"}, {Op::multiply, "*"}, {Op::divide, "/"}};

std::string_view infix(Op op, Scalar from) {
  const std::string_view symbol = text_of(kInfix, op);
  return symbol.empty() && is_float(from) ? text_of(kInfixOfFloats, op) : symbol;
}

// Operations that are functions of the dialect, by the beginning of their names.
constexpr Written kFunctionNames[] = {{Op::abs, "abs"},
                                      {Op::floor, "floor"},
                                      {Op::ceil, "ceil"},
                                      {Op::trunc, "trunc"},
                                      {Op::round, "rint"},
                                      {Op::sqrt, "sqrt"},
                                      {Op::popcount, "popcount"},
                                      {Op::clz, "clz"},
                                      {Op::exp, "exp"},
                                      {Op::log, "log"},
                                      {Op::log1p, "log1p"},
                                      {Op::expm1, "expm1"},
                                      {Op::sin, "sin"},
                                      {Op::cos, "cos"},
                                      {Op::tan, "tan"},
                                      {Op::tanh, "tanh"},
                                      {Op::exp2, "exp2"},
                                      {Op::log2, "log2"},
                                      {Op::log10, "log10"},
                                      {Op::cbrt, "cbrt"},
                                      {Op::sinh, "sinh"},
                                      {Op::cosh, "cosh"},
                                      {Op::asin, "asin"},
                                      {Op::acos, "acos"},
                                      {Op::atan, "atan"},
                                      {Op::erf, "erf"},
                                      {Op::erfc, "erfc"},
                                      {Op::add, "add"},
                                      {Op::subtract, "subtract"},
                                      {Op::multiply, "multiply"},
                                      {Op::divide, "divide"},
                                      {Op::modulo, "modulo"},
                                      {Op::shift_left, "shift_left"},
                                      {Op::shift_right, "shift_right"},
                                      {Op::min, "min"},
                                      {Op::max, "max"},
                                      {Op::gcd, "gcd"},
                                      {Op::mulmod, "mulmod"},
                                      {Op::atan2, "atan2"},
                                      {Op::pow, "pow"},
                                      {Op::hypot, "hypot"},
                                      {Op::fma, "fma"}};

class Printer {
 public:
  Printer(const Program& program, std::string_view name) : program_(program), name_(name), faults_(program.nodes.size()) {}

  std::string print() {
    std::string parameters, result_type;
    for (std::size_t i = 0; i < program_.inputs.size(); ++i)
      parameters += fmt::format("{} x{}, ", dialect_name(program_.inputs[i].type), i);
    if (program_.uses_index) parameters += "long i, ";
    for (std::size_t i = 0; i < program_.parameters.size(); ++i)
      parameters += fmt::format("{} p{}, ", dialect_name(program_.parameters[i].type), i);

    for (std::size_t i = 0; i < program_.nodes.size(); ++i) statement(static_cast<std::uint32_t>(i));
    std::vector<std::string> wanted;
    std::string results;
    for (std::size_t k = 0; k < program_.results.size(); ++k) {
      const std::uint32_t node = program_.results[k];
      result_type += fmt::format("{}{} r{};", k == 0 ? "" : " ", dialect_name(program_.nodes[node].type), k);
      results += fmt::format("  result.r{} = v{};\n", k, node);
      add_fault(wanted, node);
    }
    text_ += wanted.empty() ? "  (void)error;\n" : fmt::format("  *error |= {};\n", fmt::join(wanted, " | "));
    if (unused_) text_ = "  uint unused = 0;\n" + text_;
    const bool tuple = program_.results.size() > 1;
    if (tuple) {
      text_ += fmt::format("  {}_result result;\n{}  return result;\n", name_, results);
    } else {
      text_ += fmt::format("  return v{};\n", program_.results[0]);
    }
    return fmt::format(
        "typedef {} {}_result;\nFN {}_result {}({}uint* error) {{\n{}}}\n",
        tuple ? fmt::format("struct {{ {} }}", result_type) : std::string(dialect_name(program_.nodes[program_.results[0]].type)), name_,
        name_, name_, parameters, text_);
  }

 private:
  void add_fault(std::vector<std::string>& to, std::uint32_t node) const {
    const std::string& fault = faults_[node];
    if (!fault.empty() && std::find(to.begin(), to.end(), fault) == to.end()) to.push_back(fault);
  }

  // Where the faults of a node's value stand: in a variable of its own, or in that of its only operand with faults.
  void declare_faults(std::uint32_t number) {
    const Node& node = program_.nodes[number];
    if (!node.may_fail) return;
    std::vector<std::string> from;
    if (node.op == Op::select || node.op == Op::logical_and || node.op == Op::logical_or) {
      add_fault(from, node.from[0]);
      const auto of = [&](std::size_t i) { return faults_[node.from[i]].empty() ? std::string("0u") : faults_[node.from[i]]; };
      const std::string yes = node.op == Op::logical_or ? "0u" : of(1), no = node.op == Op::select       ? of(2)
                                                                             : node.op == Op::logical_or ? of(1)
                                                                                                         : "0u";
      if (yes != no) {
        from.push_back(fmt::format("(v{} ? {} : {})", node.from[0], yes, no));
      } else if (yes != "0u") {
        from.push_back(yes);
      }
    } else {
      for (std::size_t i = 0; i < node.operands; ++i) add_fault(from, node.from[i]);
    }
    if (!node.checked && from.size() == 1 && from[0][0] == 'e') {
      faults_[number] = from[0];
      return;
    }
    faults_[number] = fmt::format("e{}", number);
    text_ += fmt::format("  {}uint e{} = {};\n", node.checked ? "" : "const ", number,
                         from.empty() ? "0u" : fmt::format("{}", fmt::join(from, " | ")));
  }

  void statement(std::uint32_t number) {
    declare_faults(number);
    const Node& node = program_.nodes[number];
    text_ += fmt::format("  const {} v{} = {};\n", dialect_name(node.type), number, value(number, node));
  }

  std::string value(std::uint32_t number, const Node& node) {
    const auto v = [&](std::size_t i) { return fmt::format("v{}", node.from[i]); };
    const Scalar from = node.operands == 0 ? node.type : program_.nodes[node.from[node.operands - 1]].type;
    const std::string error = node.checked ? fmt::format(", &e{}", number) : "";
    switch (node.op) {
      case Op::input:
        return fmt::format("x{}", node.bits);
      case Op::index:
        return "i";
      case Op::parameter:
        return fmt::format("p{}", node.bits);
      case Op::constant:
        return literal(node.type, node.bits);
      case Op::complement:
        return "~" + v(0);
      case Op::logical_not:
        return fmt::format("{} == 0", v(0));
      case Op::isnan:
        return fmt::format("{0} != {0}", v(0));
      case Op::select:
        return fmt::format("{} ? {} : {}", v(0), v(1), v(2));
      case Op::modulo:
        if (is_float(from)) return fmt::format("fmod({}, {})", v(0), v(1));
        break;
      case Op::convert:
        if (node.checked) return fmt::format("{}_of_{}({}{})", name_of(node.type), suffix(from), v(0), error);
        return fmt::format("({}){}", dialect_name(node.type), v(0));
      case Op::negate:
        if (is_float(from)) return "-" + v(0);
        return fmt::format("subtract{}_{}({}, {}{})", node.checked ? "" : "_fits", suffix(from), literal(from, 0), v(0), error);
      default:
        break;
    }
    if (const std::string_view symbol = infix(node.op, from); !symbol.empty()) return fmt::format("{} {} {}", v(0), symbol, v(1));
    return call(number, node, from, v);
  }

  template <class Operand>
  std::string call(std::uint32_t number, const Node& node, Scalar from, const Operand& v) {
    std::string operands = v(0);
    for (std::size_t i = 1; i < node.operands; ++i) operands += ", " + v(i);
    const std::string_view name = text_of(kFunctionNames, node.op);
    if (is_float(from)) {
      if (program_.fixed && is_transcendental(node.op)) return fmt::format("fixed_{}_{}({})", name, suffix(from), operands);
      const bool own = node.op == Op::abs || node.op == Op::min || node.op == Op::max;
      return own ? fmt::format("{}_{}({})", name, suffix(from), operands) : fmt::format("{}({})", name, operands);
    }
    if (node.op == Op::popcount || node.op == Op::clz) return fmt::format("({}){}_u64((ulong){})", dialect_name(node.type), name, operands);
    if (node.op == Op::abs && from == Scalar::uint64) return operands;
    if (node.op == Op::abs && !node.checked) return fmt::format("(long)magnitude_i64({})", operands);
    if (node.op == Op::min || node.op == Op::max || (node.op == Op::gcd && from == Scalar::uint64 && !node.narrow))
      return fmt::format("{}_{}({})", name, suffix(from), operands);
    if (node.op == Op::add || node.op == Op::subtract || node.op == Op::multiply) {
      if (!node.checked) return fmt::format("{}_{}_{}({})", name, node.narrow ? "narrow" : "fits", suffix(from), operands);
    }
    if (node.checked) return fmt::format("{}_{}({}, &e{})", name, suffix(from), operands, number);
    if (node.op == Op::gcd || node.op == Op::mulmod) {
      if (node.narrow) return fmt::format("{}_narrow_{}({})", name, suffix(from), operands);
    }
    if ((node.op == Op::divide || node.op == Op::modulo) && node.narrow) {
      const std::uint64_t divisor = program_.nodes[node.from[1]].bits;
      const auto shift = static_cast<int>(std::bit_width(divisor)) - 1;
      return fmt::format("{}_narrow_{}({}, {}u, {}u, {}u)", name, suffix(from), v(0), divisor, (std::uint64_t{1} << (32 + shift)) / divisor,
                         shift);
    }
    // It cannot fail, and has no variable that would say so; the function has one for all.
    unused_ = true;
    return fmt::format("{}_{}({}, &unused)", name, suffix(from), operands);
  }

  const Program& program_;
  std::string_view name_;
  std::vector<std::string> faults_;
  std::string text_;
  bool unused_ = false;
};

}  // namespace

std::string literal(Scalar type, std::uint64_t bits) {
  switch (type) {
    case Scalar::boolean:
      return bits != 0 ? "1" : "0";
    case Scalar::int64:
      if (bits == std::uint64_t{1} << 63) return "LEAST_I64";
      return fmt::format("{}L", static_cast<std::int64_t>(bits));
    case Scalar::uint64:
      return fmt::format("{}UL", bits);
    case Scalar::float32:
      return fmt::format("as_float(0x{:08x}u)", bits);
    default:
      return fmt::format("as_double(0x{:016x}UL)", bits);
  }
}

std::string_view dialect_name(Scalar type) noexcept {
  constexpr std::string_view kNames[] = {"uchar", "long", "ulong", "float", "double"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view stored_name(DType type) noexcept { return device::element_name(type); }

std::string loaded(DType type, std::string_view word) {
  if (type == DType::float16) return fmt::format("half_to_float({})", word);
  if (type == DType::bfloat16) return fmt::format("as_float((uint){} << 16)", word);
  return fmt::format("({})({})", dialect_name(scalar_of(type)), word);
}

std::vector<std::string_view> files_of(const std::vector<const Program*>& programs) {
  std::vector<std::string_view> files{"formula/operations.h"};
  const auto add = [&](std::string_view file) {
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  for (const Program* program : programs) {
    if (!program->fixed) continue;
    for (const Node& node : program->nodes) {
      if (const Transcendental* const function = find_transcendental(node.op)) {
        add("formula/transcendental/parts.h");
        add(function->file);
      }
    }
  }
  return files;
}

std::string print(const Program& program, std::string_view name) { return Printer(program, name).print(); }

}  // namespace samesum::formula
