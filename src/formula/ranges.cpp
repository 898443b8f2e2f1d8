#include "formula/ranges.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace samesum::formula {
namespace {

bool has(Range range, Wide value) { return range.least <= value && value <= range.greatest; }

// The products of the ends; of two uint64 they may not fit.
Range product(Range a, Range b) {
  Range result;
  bool first = true;
  for (const Wide x : {a.least, a.greatest}) {
    for (const Wide y : {b.least, b.greatest}) {
      Wide value = 0;
      if (__builtin_mul_overflow(x, y, &value))
        value = (x < 0) != (y < 0) ? std::numeric_limits<Wide>::min() : std::numeric_limits<Wide>::max();
      result = first ? Range{value, value} : together(result, {value, value});
      first = false;
    }
  }
  return result;
}

Wide magnitude(Range range) { return std::max(range.greatest, -range.least); }

// Of an operation by those of its operands, and whether it has to be checked.
Range range_of_operation(const Node& node, std::span<const Range> ranges, std::span<const Node> nodes, bool& checked) {
  const Range whole = range_of(node.type);
  const auto from = [&](std::size_t i) { return ranges[node.from[i]]; };
  // A result that fits needs no check; one that may not is any number of the type behind it.
  const auto fits = [&](Range range) {
    checked = !within(range, whole);
    return checked ? whole : range;
  };
  checked = false;
  if (is_float(node.type)) return {};
  switch (node.op) {
    case Op::constant: {
      const Wide value = node.type == Scalar::int64 ? Wide{static_cast<std::int64_t>(node.bits)} : Wide{node.bits};
      return {value, value};
    }
    case Op::index:
      return {0, std::numeric_limits<std::int64_t>::max()};
    case Op::convert:
      if (is_float(nodes[node.from[0]].type)) {
        checked = true;
        return whole;
      }
      return fits(from(0));
    case Op::negate:
      return fits({-from(0).greatest, -from(0).least});
    case Op::abs:
      if (from(0).least >= 0) return from(0);
      return fits({0, magnitude(from(0))});
    case Op::add:
      return fits({from(0).least + from(1).least, from(0).greatest + from(1).greatest});
    case Op::subtract:
      return fits({from(0).least - from(1).greatest, from(0).greatest - from(1).least});
    case Op::multiply:
      return fits(product(from(0), from(1)));
    case Op::divide: {
      checked = has(from(1), 0) || (node.type == Scalar::int64 && from(0).least == whole.least && has(from(1), -1));
      const Wide most = magnitude(from(0));
      return {std::max(whole.least, from(0).least >= 0 && from(1).least >= 0 ? 0 : -most), std::min(whole.greatest, most)};
    }
    case Op::modulo: {
      checked = has(from(1), 0);
      const Wide most = std::max<Wide>(std::min(magnitude(from(1)) - 1, magnitude(from(0))), 0);
      return {from(0).least >= 0 ? 0 : -most, most};
    }
    case Op::min:
      return {std::min(from(0).least, from(1).least), std::min(from(0).greatest, from(1).greatest)};
    case Op::max:
      return {std::max(from(0).least, from(1).least), std::max(from(0).greatest, from(1).greatest)};
    case Op::select:
      return together(from(1), from(2));
    case Op::bit_and:
      if (from(0).least >= 0 || from(1).least >= 0) {
        const Wide a = from(0).least >= 0 ? from(0).greatest : whole.greatest, b = from(1).least >= 0 ? from(1).greatest : whole.greatest;
        return {0, std::min(a, b)};
      }
      return whole;
    case Op::popcount:
    case Op::clz:
      return {0, 64};
    case Op::shift_left:
      checked = !within(from(1), {0, 63});
      return whole;
    case Op::bit_or:
    case Op::bit_xor: {
      if (from(0).least < 0 || from(1).least < 0) return whole;
      const auto greatest = static_cast<std::uint64_t>(std::max(from(0).greatest, from(1).greatest));
      return {0, std::min(whole.greatest, (Wide{1} << std::bit_width(greatest)) - 1)};
    }
    case Op::shift_right:
      checked = !within(from(1), {0, 63});
      return {std::min<Wide>(from(0).least, 0), std::max<Wide>(from(0).greatest, 0)};
    case Op::gcd:
      checked = node.type == Scalar::int64 && (from(0).least == whole.least || from(1).least == whole.least);
      return {0, std::min(whole.greatest, std::max(magnitude(from(0)), magnitude(from(1))))};
    case Op::mulmod:
      checked = from(2).least < 1;
      return {0, std::max<Wide>(from(2).greatest - 1, 0)};
    default:
      return whole;
  }
}

// Whether the narrow form of an operation that need not be checked gives the same.
bool is_narrow(const Node& node, std::span<const Range> ranges, std::span<const Node> nodes) {
  const auto from = [&](std::size_t i) { return ranges[node.from[i]]; };
  const bool is_signed = node.type == Scalar::int64;
  constexpr Wide kOne = 1;
  switch (node.op) {
    case Op::multiply: {
      const Range word = range_of(is_signed ? DType::int32 : DType::uint32);
      return within(from(0), word) && within(from(1), word);
    }
    case Op::gcd:
      return magnitude(from(0)) < kOne << 32 && magnitude(from(1)) < kOne << 32;
    case Op::mulmod:
      return within(product(from(0), from(1)), range_of(node.type));
    case Op::divide:
    case Op::modulo: {
      if (nodes[node.from[1]].op != Op::constant) return false;
      const Wide divisor = from(1).least;
      if (divisor < 3 || divisor >= kOne << 30 || (divisor & (divisor - 1)) == 0) return false;
      return magnitude(from(0)) >> 32 < kOne << (std::bit_width(static_cast<std::uint64_t>(divisor)) - 1);
    }
    default:
      return false;
  }
}

}  // namespace

bool within(Range inner, Range outer) noexcept { return inner.least >= outer.least && inner.greatest <= outer.greatest; }
Range together(Range a, Range b) noexcept { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }

Range range_of(DType type) noexcept {
  const int bits = 8 * static_cast<int>(size_of(type));
  if (is_signed(type)) return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
  return {0, (Wide{1} << bits) - 1};
}

Range range_of(Scalar type) noexcept {
  if (type == Scalar::boolean) return {0, 1};
  return range_of(type == Scalar::uint64 ? DType::uint64 : DType::int64);
}

std::vector<Range> apply_ranges(Program& program, std::span<const Range> inputs, std::span<const Range> parameters) {
  std::vector<Range> ranges, results;
  for (Node& node : program.nodes) {
    if (node.op == Op::input && is_integer(node.type)) {
      ranges.push_back(inputs[node.bits]);
    } else if (node.op == Op::parameter && is_integer(node.type) && !parameters.empty()) {
      ranges.push_back(parameters[node.bits]);
    } else {
      bool checked = false;
      ranges.push_back(range_of_operation(node, ranges, program.nodes, checked));
      node.checked = checked;
      node.narrow = !checked && is_integer(node.type) && is_narrow(node, ranges, program.nodes);
    }
    node.may_fail = node.checked;
    for (std::size_t k = 0; k < node.operands; ++k) node.may_fail |= program.nodes[node.from[k]].may_fail;
  }
  program.may_fail = false;
  for (const std::uint32_t result : program.results) {
    results.push_back(ranges[result]);
    program.may_fail |= program.nodes[result].may_fail;
  }
  return results;
}

}  // namespace samesum::formula
