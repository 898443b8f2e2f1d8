#include "pairs/tree/nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace samesum::all_pairs {
namespace {

using formula::Scalar;

// A reduction as formulas: of `v`, what f gives, and `i`; of two nodes; of the root.
struct Texts {
  std::string lift, combine, finish;
  std::vector<Value> identity;  // empty: there is none
};

// The same of one number: the components of its node.
struct Piece {
  std::vector<std::string> lift, combine, finish;
  std::string lets = {}, finish_lets = {};  // ahead of all
  std::vector<Value> identity = {};         // empty: there is none
};

// What the formulas call the components that one number has in a node.
struct Names {
  std::string_view node;
  std::size_t first = 0;
  bool alone = false;  // a node of one number has no components
  std::string operator()(std::size_t i) const { return alone ? std::string(node) : fmt::format("{}[{}]", node, first + i); }
};

// Number k of what f gives, and of a pair of nodes.
struct Number {
  std::size_t k = 0;
  Scalar type = Scalar::float32;
  Names a, b;
  std::string v() const { return fmt::format("v[{}]", k); }
  bool is_float() const { return type == Scalar::float32 || type == Scalar::float64; }
};

Value real(double number) { return {number, DType::float64}; }
Value whole(std::int64_t number) { return {number, DType::int64}; }

std::string tuple_of(const std::vector<std::string>& parts) {
  return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
}

std::string_view conversion(Scalar type) {
  return type == Scalar::float32 ? "float32" : type == Scalar::float64 ? "float64" : type == Scalar::uint64 ? "uint64" : "int64";
}

// A greatest f, and the sum of exp(f - greatest).
Piece piece_of_logsumexp(const Number& n) {
  const std::string m = n.a(0), o = n.b(0), s = n.a(1), t = n.b(1), d = fmt::format("d{}", n.k);
  return {.lift = {n.v(), fmt::format("{}(1)", conversion(n.type))},
          .combine = {fmt::format("max({}, {})", m, o), fmt::format("{0} < {1} ? {3} + {2}*exp({4}) : {2} + {3}*exp({4})", m, o, s, t, d)},
          .finish = {fmt::format("{} + log({})", m, s)},
          .lets = fmt::format("let {0} = {1} == {2} ? 0 : -abs({1} - {2}); ", d, m, o),
          .identity = {real(-std::numeric_limits<double>::infinity()), real(0)}};
}

// A sum and what its additions rounded away (Knuth's two-sum). Where the sum is not finite, that is not a number.
Piece piece_of_compensated_sum(const Number& n) {
  const std::string s = fmt::format("s{}", n.k), back = fmt::format("r{}", n.k);
  return {.lift = {n.v(), fmt::format("{}(0)", conversion(n.type))},
          .combine = {s, fmt::format("{0} + {1} + (({2} - ({3} - {4})) + ({5} - {4}))", n.a(1), n.b(1), n.a(0), s, back, n.b(0))},
          .finish = {fmt::format("{0} - {0} == 0 ? {0} + {1} : {0}", n.a(0), n.a(1))},
          .lets = fmt::format("let {0} = {1} + {2}; let {3} = {0} - {1}; ", s, n.a(0), n.b(0), back),
          .identity = {real(0), real(0)}};
}

// The high and the low 32 bits of 64 apart, which have room for the sums of 2^31 of them.
Piece piece_of_integer_sum(const Number& n) {
  const std::string high = fmt::format("h{}", n.k);
  return {.lift = {n.v() + " >> 32", n.v() + " & 4294967295"},
          .combine = {fmt::format("{} + {}", n.a(0), n.b(0)), fmt::format("{} + {}", n.a(1), n.b(1))},
          .finish = {fmt::format("{}*4294967296 + ({} & 4294967295)", high, n.a(1))},
          .finish_lets = fmt::format("let {} = {} + ({} >> 32); ", high, n.a(0), n.a(1)),
          .identity = {whole(0), whole(0)}};
}

// A magnitude of 64 bits; 1 where the product is negative, and 2 where the magnitude was too large. A zero makes up for that, so the order
// does not matter.
Piece piece_of_integer_product(const Number& n) {
  const std::string m = n.a(0), o = n.b(0), zero = fmt::format("z{}", n.k), over = fmt::format("o{}", n.k);
  const bool is_signed = n.type == Scalar::int64;
  Piece piece;
  if (is_signed) {
    piece.lift = {fmt::format("{0} < 0 ? uint64(-({0} + 1)) + 1 : uint64({0})", n.v()), fmt::format("{} < 0 ? int64(1) : int64(0)", n.v())};
    piece.finish = {fmt::format("{1} >= 2 ? 9223372036854775807 + {1} : {1} != 0 ? -int64({0} - 1) - 1 : int64({0})", m, n.a(1))};
  } else {
    piece.lift = {n.v(), "int64(0)"};
    piece.finish = {fmt::format("{1} >= 2 ? uint64(0 - {1}) : {0}", m, n.a(1))};
  }
  piece.lets =
      fmt::format("let {0} = {2} == 0 || {3} == 0; let {1} = {0} ? 0 : ({4} | {5}) & 2 | ({3} > ~uint64(0)/{2} ? int64(2) : int64(0)); ",
                  zero, over, m, o, n.a(1), n.b(1));
  piece.combine = {fmt::format("{} ? 0 : {} != 0 ? 1 : {}*{}", zero, over, m, o),
                   fmt::format("{} ? 0 : xor({}, {}) & 1 | {}", zero, n.a(1), n.b(1), over)};
  piece.identity = {whole(1), whole(0)};
  return piece;
}

// The best f and its y. What is equal keeps the lower y, as that is `a`.
Piece piece_of_place(const Number& n, bool greatest) {
  const std::string a = n.a(0), b = n.b(0), takes = fmt::format("t{}", n.k);
  const char* const better = greatest ? ">" : "<";
  const std::string number = fmt::format("{} {} {}", b, better, a);
  const std::string real_number =
      fmt::format("!isnan({0}) && (isnan({1}) || {1} {2} {0} || {0} == 0 && {1} == 0 && 1/{1} {2} 1/{0})", a, b, better);
  return {.lift = {n.v(), "i"},
          .combine = {fmt::format("{} ? {} : {}", takes, b, a), fmt::format("{} ? {} : {}", takes, n.b(1), n.a(1))},
          .finish = {n.a(1)},
          .lets = fmt::format("let {} = {}; ", takes, n.is_float() ? real_number : number)};
}

Piece piece_of(const PairsProblem& options, const Number& n) {
  const auto simple = [&](std::string combine, std::vector<Value> identity) {
    return Piece{.lift = {n.v()}, .combine = {std::move(combine)}, .finish = {n.a(0)}, .identity = std::move(identity)};
  };
  switch (options.reduction) {
    case PairReduction::sum:
      if (!n.is_float()) return piece_of_integer_sum(n);
      if (options.accuracy == PairAccuracy::exact) {
        throw Error(ErrorKind::usage,
                    "exact sums of a formula that makes floating-point numbers of integers: convert A and B to these first");
      }
      if (options.accuracy == PairAccuracy::compensated) return piece_of_compensated_sum(n);
      return simple(fmt::format("{} + {}", n.a(0), n.b(0)), {real(0)});
    case PairReduction::min:
    case PairReduction::max:
      return simple(fmt::format("{}({}, {})", name_of(options.reduction), n.a(0), n.b(0)), {});
    case PairReduction::product:
      return n.is_float() ? simple(fmt::format("{}*{}", n.a(0), n.b(0)), {real(1)}) : piece_of_integer_product(n);
    case PairReduction::argmin:
    case PairReduction::argmax:
      return piece_of_place(n, options.reduction == PairReduction::argmax);
    case PairReduction::logsumexp:
      if (!n.is_float())
        throw Error(ErrorKind::usage, "logsumexp takes an f that gives floating-point numbers: float32(...), float64(...)");
      return piece_of_logsumexp(n);
    default:
      throw Error(ErrorKind::usage, fmt::format("{} of pairs takes an f that gives one number", name_of(options.reduction)));
  }
}

Texts texts_of(const PairsProblem& options, std::span<const Scalar> values) {
  std::vector<std::size_t> widths;
  for (const Scalar type : values) widths.push_back(piece_of(options, {0, type, {"a"}, {"b"}}).lift.size());
  const bool alone = widths.size() == 1 && widths[0] == 1;
  Texts texts;
  Piece all;
  std::size_t first = 0;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Piece piece = piece_of(options, {k, values[k], {"a", first, alone}, {"b", first, alone}});
    first += widths[k];
    append(all.lift, piece.lift);
    append(all.combine, piece.combine);
    append(all.finish, piece.finish);
    append(texts.identity, piece.identity);
    all.lets += piece.lets;
    all.finish_lets += piece.finish_lets;
  }
  texts.lift = tuple_of(all.lift);
  texts.combine = all.lets + tuple_of(all.combine);
  texts.finish = all.finish_lets + tuple_of(all.finish);
  return texts;
}

// An operator of elements as f gives them: the user's, or a product of complex numbers, whose parts are not reduced by themselves.
std::optional<Operator> operator_of_elements(const PairsProblem& options, bool complex_values) {
  if (options.combine || !complex_values || options.reduction == PairReduction::sum) return options.combine;
  if (options.reduction != PairReduction::product) {
    throw Error(ErrorKind::usage, fmt::format("{} takes an f that gives real numbers, and this one gives complex ones: write real(...), "
                                              "imag(...) or abs2(...)",
                                              name_of(options.reduction)));
  }
  return Operator(Formula("a*b"), {real(1), real(0)});
}

Operator operator_of(const PairsProblem& options, std::span<const Scalar> values) {
  const Texts texts = texts_of(options, values);
  Operator op(Formula(texts.combine), texts.identity);
  op.finish.emplace(texts.finish);
  return op;
}

formula::Program resolve_lift(const std::string& text, std::span<const Scalar> values) {
  std::vector<DType> types;
  for (const Scalar type : values) types.push_back(formula::dtype_of(type));
  const formula::InputType inputs[] = {{"v", types[0], static_cast<std::uint32_t>(values.size()), true, types}};
  return formula::resolve(Formula(text).tree(), std::span<const formula::InputType>(inputs), {});
}

std::vector<DType> elements_of(const PairsProblem& options, std::span<const Scalar> values, bool as_given) {
  std::vector<DType> types;
  const auto add = [&](Scalar type) { types.push_back(formula::dtype_of(type)); };
  if (as_given) {
    for (const Scalar type : values) add(type);
  } else {
    const formula::Program lift = resolve_lift(texts_of(options, values).lift, values);
    for (const std::uint32_t node : lift.results) add(lift.nodes[node].type);
  }
  return types;
}

// What makes nodes of the types that the operator takes, as it does of elements.
std::string own_lift(std::span<const Scalar> values, std::span<const Scalar> types) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const std::string v = fmt::format("v[{}]", k);
    if (types[k] == values[k]) {
      parts.push_back(v);
    } else if (types[k] == Scalar::boolean) {
      parts.push_back(v + " != 0");
    } else {
      parts.push_back(fmt::format("{}({})", conversion(types[k]), v));
    }
  }
  return tuple_of(parts);
}

}  // namespace

Nodes::Nodes(const PairsProblem& options, std::span<const Scalar> values, bool complex_values)
    : Nodes(options, values, complex_values, operator_of_elements(options, complex_values)) {}

Nodes::Nodes(const PairsProblem& options, std::span<const Scalar> values, bool complex_values, const std::optional<Operator>& of_elements)
    : op(of_elements ? *of_elements : operator_of(options, values)),
      bound(op, elements_of(options, values, of_elements.has_value()), {.complex = complex_values && of_elements}),
      lift(resolve_lift(of_elements ? own_lift(values, bound.types()) : texts_of(options, values).lift, values)),
      own(options.combine.has_value()),
      complex(options.combine && options.combine->finish ? false : complex_values),
      name(own ? "operator" : name_of(options.reduction)) {
  if (op.finish) {
    finish = bound.resolved(*op.finish);
    complex |= finish.complex;
    for (const formula::InputComponent& input : finish.inputs) {
      if (input.input == 1) throw Error(ErrorKind::usage, "the formula behind a reduction has one operand, the result, called a");
    }
  } else {
    for (std::uint32_t k = 0; k < bound.types().size(); ++k) {
      formula::Node node;
      node.type = bound.types()[k];
      node.op = formula::Op::input;
      node.bits = k;
      finish.nodes.push_back(node);
      finish.results.push_back(k);
      finish.inputs.push_back({0, k, node.type});
    }
  }
  // A bool is 0 or 1 in C.
  for (std::uint32_t& node : finish.results) {
    if (finish.nodes[node].type != Scalar::boolean) continue;
    finish.nodes.push_back({formula::Op::convert, Scalar::int64, 1, false, finish.nodes[node].may_fail, {node}, 0});
    node = static_cast<std::uint32_t>(finish.nodes.size() - 1);
  }
  result = formula::dtype_of(finish.nodes[finish.results[0]].type);
  for (const std::uint32_t node : finish.results) {
    if (formula::dtype_of(finish.nodes[node].type) == result) continue;
    throw Error(ErrorKind::usage,
                fmt::format("the operator {} gives numbers of several types, and C has one: a 'finish' makes numbers of one type of them",
                            op.combine.to_string()));
  }
}

Error Nodes::unfinished(std::uint64_t x, std::uint32_t faults) const {
  if (!own) return {ErrorKind::no_answer, fmt::format("the {} of x = {} does not fit into {}", name, x, name_of(result))};
  return {ErrorKind::no_answer, fmt::format("{} in what is made of the result of x = {}", formula::name_of_fault(faults), x)};
}

bool by_tree(const PairsProblem& options, std::span<const Scalar> values) noexcept {
  const auto is_integer = [](Scalar type) { return type != Scalar::float32 && type != Scalar::float64; };
  if (options.combine || options.reduction == PairReduction::product || options.reduction == PairReduction::logsumexp) return true;
  return values.size() > 1 || is_integer(values[0]);
}

}  // namespace samesum::all_pairs
