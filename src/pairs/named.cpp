#include "pairs/named.hpp"

#include "formula/bound.hpp"
#include "formula/program.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace samesum::all_pairs {
namespace {

using formula::Node;
using formula::Op;
using formula::Scalar;

bool same_operations(const PairFormula& a, const PairFormula& b) {
  const auto same_node = [](const Node& x, const Node& y) {
    return x.op == y.op && x.type == y.type && x.operands == y.operands && x.from == y.from && x.bits == y.bits;
  };
  const auto same_operand = [](const PairFormula::Operand& x, const PairFormula::Operand& y) {
    return x.of_y == y.of_y && x.element == y.element;
  };
  return a.program.results == b.program.results && std::ranges::equal(a.program.nodes, b.program.nodes, same_node) &&
         std::ranges::equal(a.operands, b.operands, same_operand);
}

// The problem with weights by whatever name, if that is all that a formula has beside a and b; without parameters and formula.
std::optional<PairsProblem> with_weights_alone(const PairsProblem& options) {
  PairsProblem named = options;
  if (!named.weights && named.of_y.size() == 1) named.weights = named.of_y[0].array;
  if (named.of_y.size() > (options.weights ? 0u : 1u) || (named.of_y.size() == 1 && components_of(named.of_y[0]) != 1)) return std::nullopt;
  named.of_y.clear();
  named.parameters.clear();
  named.formula.reset();
  return named;
}

DType computed_type(DType type) { return formula::dtype_of(formula::scalar_of(type)); }

// The parts of a value that is made of a squared distance, of the weight, and of numbers that are the same for all pairs.
class Parts {
 public:
  Parts(const PairFormula& formula, const PairFormula& distance, std::uint32_t components)
      : formula_(formula), distance_(distance), components_(components) {
    for (const Node& node : formula.program.nodes) numbers_.push_back(number_of(node));
  }

  std::uint32_t root() const { return formula_.program.results[0]; }
  const Node& at(std::uint32_t node) const { return formula_.program.nodes[node]; }

  /// A constant, a parameter, or what is computed of these alone.
  std::optional<double> number(std::uint32_t node) const { return numbers_[node]; }

  bool is_weight(std::uint32_t node) const {
    if (at(node).op != Op::input) return false;
    const PairFormula::Operand& operand = formula_.operands[at(node).bits];
    return operand.of_y && operand.element == components_;
  }

  bool is_distance(std::uint32_t node) const { return same(node, distance_.program.results[0]); }

  /// How often a squared distance.
  std::optional<double> factor_of_distance(std::uint32_t node) const {
    const Node& n = at(node);
    const auto times = [&](std::uint32_t rest, std::optional<double> by) -> std::optional<double> {
      const std::optional<double> factor = by ? factor_of_distance(rest) : std::nullopt;
      return factor ? std::optional(*factor * *by) : std::nullopt;
    };
    if (n.op == Op::negate) return times(n.from[0], -1.0);
    if (is_distance(node)) return 1.0;
    if (n.op == Op::multiply) {
      const std::optional<double> left = number(n.from[0]);
      return left ? times(n.from[1], left) : times(n.from[0], number(n.from[1]));
    }
    if (n.op == Op::divide) {
      const std::optional<double> by = number(n.from[1]);
      return times(n.from[0], by ? std::optional(1 / *by) : std::nullopt);
    }
    return std::nullopt;
  }

  /// What is added to a squared distance.
  std::optional<double> added_to_distance(std::uint32_t node) const {
    if (is_distance(node)) return 0.0;
    const Node& n = at(node);
    if (n.op != Op::add) return std::nullopt;
    return is_distance(n.from[0]) ? number(n.from[1]) : is_distance(n.from[1]) ? number(n.from[0]) : std::nullopt;
  }

 private:
  static std::optional<double> real(std::uint64_t bits, Scalar type) {
    if (type == Scalar::float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return type == Scalar::float64 ? std::optional(std::bit_cast<double>(bits)) : std::nullopt;
  }

  // Its operands come before it: each node is looked at once, however often it is used.
  std::optional<double> number_of(const Node& n) const {
    if (n.op == Op::constant) return real(n.bits, n.type);
    if (n.op == Op::parameter) {
      const formula::ParameterUse& use = formula_.program.parameters[n.bits];
      return real(formula::bits_of(formula_.parameters[use.parameter], use.type), use.type);
    }
    if (n.operands == 0 || n.operands > 2) return std::nullopt;
    const std::optional<double> x = numbers_[n.from[0]], y = n.operands == 2 ? numbers_[n.from[1]] : x;
    if (!x || !y) return std::nullopt;
    switch (n.op) {
      case Op::negate:
        return -*x;
      case Op::add:
        return *x + *y;
      case Op::multiply:
        return *x * *y;
      case Op::divide:
        return *x / *y;
      default:
        return std::nullopt;
    }
  }

  bool same(std::uint32_t node, std::uint32_t of_distance) const {
    const Node &x = at(node), &y = distance_.program.nodes[of_distance];
    if (x.op != y.op || x.type != y.type || x.operands != y.operands) return false;
    if (x.op == Op::input) {
      const PairFormula::Operand &mine = formula_.operands[x.bits], &its = distance_.operands[y.bits];
      return mine.of_y == its.of_y && mine.element == its.element;
    }
    if (x.operands == 0) return x.bits == y.bits;
    for (std::uint8_t i = 0; i < x.operands; ++i) {
      if (!same(x.from[i], y.from[i])) return false;
    }
    return true;
  }

  const PairFormula& formula_;
  const PairFormula& distance_;
  std::uint32_t components_;
  std::vector<std::optional<double>> numbers_;  // of each node
};

std::optional<Approximation> gaussian_of(const Parts& parts, std::uint32_t node, bool single) {
  if (parts.at(node).op != Op::exp) return std::nullopt;
  const std::optional<double> factor = parts.factor_of_distance(parts.at(node).from[0]);
  if (!factor) return std::nullopt;
  const double rounded = single ? static_cast<double>(static_cast<float>(*factor)) : *factor;
  if (!(rounded < 0) || !std::isfinite(rounded)) return std::nullopt;
  return Approximation{PairFunction::gaussian, rounded, 0};
}

std::optional<Approximation> invdist_of(const Parts& parts, std::uint32_t node, bool single) {
  const Node& n = parts.at(node);
  if (n.op != Op::divide || parts.number(n.from[0]) != 1 || parts.at(n.from[1]).op != Op::sqrt) return std::nullopt;
  const std::optional<double> softening = parts.added_to_distance(parts.at(n.from[1]).from[0]);
  if (!softening) return std::nullopt;
  const double rounded = single ? static_cast<double>(static_cast<float>(*softening)) : *softening;
  if (!(rounded >= 0) || !std::isfinite(rounded)) return std::nullopt;
  return Approximation{PairFunction::invdist, 0, rounded};
}

}  // namespace

std::optional<PairFunction> named_by(const PairsProblem& options, DType type, const PairFormula& formula) {
  if (is_integer(type) || options.complex || !formula.program.parameters.empty()) return std::nullopt;
  std::optional<PairsProblem> named = with_weights_alone(options);
  if (!named) return std::nullopt;
  for (const PairFunction f : {PairFunction::product, PairFunction::sqdist, PairFunction::difference, PairFunction::absdiff}) {
    // Of several components the loops add each to a fast sum, for which the bound of a formula has no term.
    if (named->components > 1 && (f == PairFunction::difference || f == PairFunction::absdiff)) break;
    named->f = f;
    named->formula = formula_of(*named, type);
    if (same_operations(formula, all_pairs::bind(*named, type, named->combine ? std::nullopt : std::optional(computed_type(type)))))
      return f;
  }
  return std::nullopt;
}

std::optional<Approximation> approximation_of(const PairsProblem& options, DType type, const PairFormula& formula) {
  if (is_integer(type) || options.complex || formula.program.results.size() != 1) return std::nullopt;
  std::optional<PairsProblem> plain = with_weights_alone(options);
  if (!plain) return std::nullopt;
  const bool weighted = plain->weights.has_value();
  plain->weights.reset();
  plain->formula = Formula("sqdist(a, b)");
  const PairFormula distance = all_pairs::bind(*plain, type, computed_type(type));
  const Parts parts(formula, distance, static_cast<std::uint32_t>(options.components));
  std::uint32_t node = parts.root();
  if (weighted) {
    const Node& product = parts.at(node);
    if (product.op != Op::multiply) return std::nullopt;
    const bool first = parts.is_weight(product.from[0]);
    if (!first && !parts.is_weight(product.from[1])) return std::nullopt;
    node = product.from[first ? 1 : 0];
  }
  const bool single = computed_type(type) == DType::float32;
  const std::optional<Approximation> gaussian = gaussian_of(parts, node, single);
  return gaussian ? gaussian : invdist_of(parts, node, single);
}

}  // namespace samesum::all_pairs
