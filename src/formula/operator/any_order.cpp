#include "formula/operator/any_order.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace samesum::formula {
namespace {

// Recognizes component k of an operator.
class Component {
 public:
  Component(const Program& program, std::uint32_t k, Range leaves) : program_(program), k_(k), leaves_(leaves) {}

  std::optional<std::uint64_t> unit() const {
    const Node& root = node(program_.results[k_]);
    const bool real = is_float(root.type);
    switch (root.op) {
      case Op::min:
      case Op::max:
        if (operands(root)) return extreme(root.type, root.op == Op::min);
        break;
      case Op::add:
        if (!real && operands(root)) return 0;
        break;
      case Op::bit_or:
      case Op::bit_xor:
      case Op::gcd:
        if (operands(root)) return 0;
        break;
      case Op::bit_and:
        if (operands(root)) return ~std::uint64_t{0};
        break;
      case Op::mulmod:
        if (same_everywhere(root.from[2]) && operands(root)) return 1;
        break;
      case Op::modulo: {
        if (real || !same_everywhere(root.from[1])) break;
        const Node& of = node(root.from[0]);
        if (!operands(of, root.from[1])) break;
        if (of.op == Op::multiply) return 1;
        if (of.op == Op::add && leaves_.least >= 0) return 0;
        break;
      }
      default:
        break;
    }
    return std::nullopt;
  }

 private:
  const Node& node(std::uint32_t number) const { return program_.nodes[number]; }
  bool same_everywhere(std::uint32_t number) const { return node(number).op == Op::constant || node(number).op == Op::parameter; }

  // Whether a node is component k of this operand, or that modulo the number `modulus`.
  bool is(std::uint32_t number, std::uint32_t operand, std::optional<std::uint32_t> modulus) const {
    const Node& of = node(number);
    if (modulus && of.op == Op::modulo && of.from[1] == *modulus) return is(of.from[0], operand, std::nullopt);
    return of.op == Op::input && program_.inputs[of.bits].input == operand && program_.inputs[of.bits].component == k_;
  }
  bool operands(const Node& of, std::optional<std::uint32_t> modulus = std::nullopt) const {
    const auto are = [&](std::uint32_t first, std::uint32_t second) {
      return is(of.from[0], first, modulus) && is(of.from[1], second, modulus);
    };
    return of.operands >= 2 && (are(0, 1) || are(1, 0));
  }

  static std::uint64_t extreme(Scalar type, bool greatest) {
    switch (type) {
      case Scalar::float32:
        return std::bit_cast<std::uint32_t>(greatest ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity());
      case Scalar::float64:
        return std::bit_cast<std::uint64_t>(greatest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
      default: {
        const Range whole = range_of(type);
        return static_cast<std::uint64_t>(greatest ? whole.greatest : whole.least);
      }
    }
  }

  const Program& program_;
  std::uint32_t k_;
  Range leaves_;
};

}  // namespace

std::optional<AnyOrder> any_order(const Program& combine, std::span<const Scalar> types, std::span<const Range> leaves,
                                  std::span<const Range> parameters, int levels) {
  AnyOrder order{combine, {}};
  std::vector<Range> sums;
  for (std::uint32_t k = 0; k < combine.results.size(); ++k) {
    const std::optional<std::uint64_t> unit = Component(combine, k, leaves[k]).unit();
    if (!unit) return std::nullopt;
    order.unit.push_back(*unit);
    const Wide value = types[k] == Scalar::int64 ? Wide{static_cast<std::int64_t>(*unit)} : Wide{*unit};
    sums.push_back(is_integer(types[k]) ? Range{value, value} : Range{});
  }
  // The ranges of a tree with that number of levels, whose first combines elements and units, hold for any order.
  for (int level = 0; level <= levels; ++level) {
    std::vector<Range> inputs;
    for (const InputComponent& input : combine.inputs) {
      const Range sum = sums[input.component];
      inputs.push_back(input.input == 0 ? sum : together(sum, leaves[input.component]));
    }
    const std::vector<Range> results = apply_ranges(order.program, inputs, parameters);
    if (order.program.may_fail) return std::nullopt;
    bool grown = false;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      grown |= !within(results[k], sums[k]);
      sums[k] = together(sums[k], results[k]);
    }
    if (!grown) break;
  }
  return order;
}

Folder::Folder(const AnyOrder& order, std::span<const Value> parameters, std::span<const Scalar> types)
    : order_(order), types_(types), evaluator_(order.program, parameters) {
  for (std::size_t k = 0; k < types.size(); ++k) {
    std::vector<std::uint64_t>& sums = sums_.emplace_back(Evaluator::kBlock);
    auto* const to = reinterpret_cast<std::byte*>(sums.data());
    for (std::size_t i = 0; i < Evaluator::kBlock; ++i) std::memcpy(to + i * bytes_of(types[k]), &order.unit[k], bytes_of(types[k]));
  }
}

void Folder::run(std::span<const Column> columns, std::size_t count) {
  evaluator_.run(columns, 0, count);
  for (std::size_t k = 0; k < types_.size(); ++k) std::memcpy(sums_[k].data(), evaluator_.results()[k], count * bytes_of(types_[k]));
}

void Folder::add(std::span<const Column> from, std::uint64_t count) {
  std::vector<Column> columns;
  for (const InputComponent& input : order_.program.inputs) {
    const Scalar type = types_[input.component];
    const auto bytes = static_cast<std::int64_t>(bytes_of(type));
    columns.push_back(input.input == 0 ? Column{reinterpret_cast<const std::byte*>(sums_[input.component].data()), dtype_of(type), bytes}
                                       : from[input.component]);
  }
  while (count != 0) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, Evaluator::kBlock));
    run(columns, part);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (order_.program.inputs[i].input != 0) columns[i].data += static_cast<std::int64_t>(part) * columns[i].stride;
    }
    count -= part;
  }
}

State Folder::result() {
  std::vector<Column> columns(order_.program.inputs.size());
  for (std::size_t half = Evaluator::kBlock / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const InputComponent& input = order_.program.inputs[i];
      const Scalar type = types_[input.component];
      const std::size_t bytes = bytes_of(type);
      const auto* const sums = reinterpret_cast<const std::byte*>(sums_[input.component].data());
      columns[i] = {sums + (input.input == 0 ? 0 : half * bytes), dtype_of(type), static_cast<std::int64_t>(bytes)};
    }
    run(columns, half);
  }
  State state(types_.size(), 0);
  for (std::size_t k = 0; k < types_.size(); ++k) {
    canonical(types_[k], sums_[k].data(), 1);
    std::memcpy(&state[k], sums_[k].data(), bytes_of(types_[k]));
  }
  return state;
}

}  // namespace samesum::formula
