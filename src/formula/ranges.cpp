#include "formula/ranges.hpp"

#include <algorithm>
#include <limits>

namespace samesum::formula {
namespace {

bool within(Range inner, Range outer) { return inner.least >= outer.least && inner.greatest <= outer.greatest; }
bool has(Range range, Wide value) { return range.least <= value && value <= range.greatest; }
Range together(Range a, Range b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }

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

}  // namespace

Range range_of(DType type) noexcept {
  const int bits = 8 * static_cast<int>(size_of(type));
  if (is_signed(type)) return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
  return {0, (Wide{1} << bits) - 1};
}

Range range_of(Scalar type) noexcept {
  if (type == Scalar::boolean) return {0, 1};
  return range_of(type == Scalar::uint64 ? DType::uint64 : DType::int64);
}

Range range_of(const Node& node, std::span<const Range> ranges, std::span<const Node> nodes, bool& checked) noexcept {
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
    case Op::shift_right:
      checked = !within(from(1), {0, 63});
      return {std::min<Wide>(from(0).least, 0), std::max<Wide>(from(0).greatest, 0)};
    case Op::gcd:
      checked = node.type == Scalar::int64 && (from(0).least == whole.least || from(1).least == whole.least);
      return {0, whole.greatest};
    case Op::mulmod:
      checked = from(2).least < 1;
      return {0, std::max<Wide>(from(2).greatest - 1, 0)};
    default:
      return whole;
  }
}

}  // namespace samesum::formula
