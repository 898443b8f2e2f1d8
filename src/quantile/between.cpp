// Positions among sorted numbers, and what lies between two neighbours: exact values, rounded once.
#include "quantile/between.hpp"

#include "exact/big_integer.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

namespace samesum::selection {
namespace {

using exact::BigInteger;
__extension__ typedef __int128 Int128;  // no standard name for it

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BigInteger sum(const BigInteger& a, const BigInteger& b) { return a - (BigInteger() - b); }

BigInteger big(Uint128 value) {
  return sum(BigInteger(static_cast<std::uint64_t>(value >> 64)).shifted_left(64), BigInteger(static_cast<std::uint64_t>(value)));
}

// A number as an integer · 2^exponent.
struct Scaled {
  std::uint64_t magnitude = 0;
  bool negative = false;
  int exponent = 0;

  explicit Scaled(const Value& value) {
    if (const auto* real = std::get_if<double>(&value.number)) {
      const auto bits = std::bit_cast<std::uint64_t>(*real);
      const int field = static_cast<int>(bits >> 52 & 0x7ff);
      magnitude = (bits & 0xfffffffffffff) | (field != 0 ? std::uint64_t{1} << 52 : 0);
      exponent = std::max(field, 1) - 1075;
      negative = bits >> 63 != 0;
    } else if (const auto* with_sign = std::get_if<std::int64_t>(&value.number)) {
      negative = *with_sign < 0;
      magnitude = negative ? 0 - static_cast<std::uint64_t>(*with_sign) : static_cast<std::uint64_t>(*with_sign);
    } else {
      magnitude = std::get<std::uint64_t>(value.number);
    }
  }
  BigInteger integer() const { return negative ? BigInteger() - BigInteger(magnitude) : BigInteger(magnitude); }
};

int length(Uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(x)));
}

// (a·(whole - rest) + b·rest) / whole, rounded once to a double, where 128 bits hold what is computed and the result is normal.
std::optional<double> in_words(Scaled a, Scaled b, Uint128 rest, Uint128 whole) {
  if (a.magnitude == 0) a.exponent = b.exponent;
  if (b.magnitude == 0) b.exponent = a.exponent;
  const int exponent = std::min(a.exponent, b.exponent), apart = std::max(a.exponent, b.exponent) - exponent;
  const int bits = length(a.magnitude | b.magnitude);
  if (apart > 64 || bits + apart + length(whole) > 126) return std::nullopt;
  const auto number = [&](const Scaled& x) {
    const auto shifted = static_cast<Int128>(Uint128{x.magnitude} << (x.exponent - exponent));
    return x.negative ? -shifted : shifted;
  };
  const Int128 numerator = number(a) * static_cast<Int128>(whole - rest) + number(b) * static_cast<Int128>(rest);
  if (numerator == 0) return 0.0;
  auto magnitude = static_cast<Uint128>(numerator < 0 ? -numerator : numerator);
  const int shift = 127 - length(magnitude);
  magnitude <<= shift;
  const Uint128 quotient = magnitude / whole;
  constexpr int kDigits = 53;
  const int dropped = length(quotient) - kDigits;
  if (dropped < 2) return std::nullopt;
  const Uint128 below = quotient & ((Uint128{1} << dropped) - 1), half = Uint128{1} << (dropped - 1);
  auto mantissa = static_cast<std::uint64_t>(quotient >> dropped);
  const bool more = quotient * whole != magnitude;
  if (below > half || (below == half && (more || mantissa % 2 != 0))) ++mantissa;
  const double result = std::ldexp(static_cast<double>(mantissa), exponent - shift + dropped);
  if (!(result >= std::numeric_limits<double>::min() && result <= std::numeric_limits<double>::max())) return std::nullopt;
  return numerator < 0 ? -result : result;
}

// Whether two numbers are equal; zeros of different signs are not.
bool same(const Value& a, const Value& b) {
  if (a != b) return false;
  const auto* left = std::get_if<double>(&a.number);
  return left == nullptr || std::signbit(*left) == std::signbit(std::get<double>(b.number));
}

// low + (high - low) · rest / whole, a fraction in lowest terms, if that, low and high are integers.
std::optional<Value> integer_between(const Value& low, const Value& high, Uint128 rest, Uint128 whole) {
  if (std::holds_alternative<double>(low.number) || std::holds_alternative<double>(high.number)) return std::nullopt;
  const auto wide = [](const Value& value) -> Int128 {
    const auto* with_sign = std::get_if<std::int64_t>(&value.number);
    return with_sign != nullptr ? Int128{*with_sign} : Int128{std::get<std::uint64_t>(value.number)};
  };
  const auto distance = static_cast<Uint128>(wide(high) - wide(low));
  if (distance % whole != 0) return std::nullopt;
  const Int128 value = wide(low) + static_cast<Int128>(distance / whole * rest);
  if (std::holds_alternative<std::uint64_t>(low.number)) return Value{static_cast<std::uint64_t>(value), low.type};
  if (value > std::numeric_limits<std::int64_t>::max()) return Value{static_cast<std::uint64_t>(value), DType::uint64};
  return Value{static_cast<std::int64_t>(value), low.type};
}

}  // namespace

Value as_float(const Value& value) {
  return {std::visit([](auto number) -> double { return static_cast<float>(number); }, value.number), DType::float32};
}

void require_elements(std::uint64_t count, std::uint64_t nans) {
  if (count != 0) return;
  throw Error(ErrorKind::no_answer,
              fmt::format("no elements have no median, nor other quantiles{}", nans == 0 ? "" : ": all are NaN, and left out"));
}

Fraction fraction_of(double q) {
  constexpr double kLeast = 1e-20;  // so that 10^decimals fits 128 bits
  if (!(q >= 0 && q <= 1)) throw Error(ErrorKind::usage, fmt::format("a quantile is one of a number from 0 to 1, not of {}", q));
  if (q == 0) return {};
  if (q < kLeast) throw Error(ErrorKind::usage, fmt::format("a quantile of {}: it may be 0, or from {} to 1", q, kLeast));
  std::array<char, 32> text;
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), q, std::chars_format::scientific).ptr;
  const char* const exponent_at = std::find<const char*>(text.data(), end, 'e');
  Fraction fraction;
  for (const char* at = text.data(); at != exponent_at; ++at) {
    if (*at == '.') continue;
    fraction.digits = 10 * fraction.digits + static_cast<std::uint64_t>(*at - '0');
    fraction.decimals += at != text.data();
  }
  int exponent = 0;
  std::from_chars(exponent_at + (exponent_at[1] == '+' ? 2 : 1), end, exponent);
  fraction.decimals -= exponent;
  return fraction;
}

Position position(Fraction q, std::uint64_t count, QuantileMethod method) {
  Uint128 whole = 1;
  for (int i = 0; i < q.decimals; ++i) whole *= 10;
  const Uint128 index = Uint128{count - 1} * q.digits;  // the factors have 64 and 57 bits
  const auto below = static_cast<std::uint64_t>(index / whole);
  const Uint128 rest = index % whole;
  const auto at = [](std::uint64_t element) { return Position{element, 0, 1}; };
  switch (method) {
    case QuantileMethod::lower:
      return at(below);
    case QuantileMethod::higher:
      return at(below + (rest != 0 ? 1 : 0));
    case QuantileMethod::nearest: {
      const Uint128 twice = 2 * rest;
      return at(twice > whole || (twice == whole && below % 2 != 0) ? below + 1 : below);
    }
    case QuantileMethod::midpoint:
      return rest == 0 ? at(below) : Position{below, 1, 2};
    default:
      return {below, rest, whole};
  }
}

Between::Between(const Position& position, bool to_float)
    : rest_(position.rest), whole_(position.whole), to_float_(to_float), half_(2 * position.rest == position.whole) {
  for (Uint128 a = whole_, b = rest_;;) {  // Euclid's algorithm: b becomes 0, and a the greatest common divisor
    if (b == 0) {
      whole_ /= a;
      rest_ /= a;
      break;
    }
    a = std::exchange(b, a % b);
  }
  if (whole_ >> 53 == 0) {
    const auto rest = static_cast<double>(rest_), whole = static_cast<double>(whole_);
    weight_ = rest / whole;
    less_ = std::fma(-weight_, whole, rest) / whole;      // what is divided is exact
  } else if (whole_ >> 74 == 0 && rest_ > whole_ >> 8) {  // 53 bits, and the 53 behind them
    const Uint128 scaled = rest_ << 53;
    weight_ = static_cast<double>(static_cast<std::uint64_t>(scaled / whole_)) * 0x1p-53;
    less_ = static_cast<double>(static_cast<std::uint64_t>((scaled % whole_ << 53) / whole_)) * 0x1p-106;
  }
}

Value Between::operator()(const Value& low, const Value& high) const {
  const Value value = [&]() -> Value {
    if (same(low, high)) return low;
    const double from = low.as_double(), to = high.as_double();
    if (std::isinf(from) || std::isinf(to)) {
      return {from == -kInfinity && to == kInfinity ? kNan : std::isinf(from) ? from : to, DType::float64};
    }
    if (auto integer = integer_between(low, high, rest_, whole_)) return *integer;
    const Scaled a(low), b(high);
    if (!to_float_) {
      if (const std::optional<double> found = in_words(a, b, rest_, whole_)) return {*found, DType::float64};
    }
    const int exponent = std::min(a.exponent, b.exponent);
    const BigInteger left = a.integer().shifted_left(a.exponent - exponent), right = b.integer().shifted_left(b.exponent - exponent);
    const BigInteger numerator = sum(left * big(whole_ - rest_), right * big(rest_));
    return {to_float_ ? double{exact::round_quotient<float>(numerator, big(whole_), exponent)}
                      : exact::round_quotient(numerator, big(whole_), exponent),
            DType::float64};
  }();
  return to_float_ ? as_float(value) : value;  // of integers and elements; others are floats already
}

// Sums and products of doubles as a double and its rest (D. Knuth, The Art of Computer Programming, volume 2, 4.2.2).
std::optional<double> Between::quickly(double low, double high) const {
  constexpr double kLeast = 0x1p-900, kMost = 0x1p1000;  // so that no rest is lost, and nothing overflows
  if (std::bit_cast<std::uint64_t>(low) == std::bit_cast<std::uint64_t>(high)) return to_float_ ? double{static_cast<float>(low)} : low;
  const auto rest_of = [](double a, double b, double sum) {
    const double second = sum - a;
    return (a - (sum - second)) + (b - second);
  };
  if (half_) {  // often halfway between two doubles
    const double all = low + high;
    if (all == 0) return 0.0;
    if (!(std::fabs(all) >= kLeast && std::fabs(all) <= kMost)) return std::nullopt;
    if (!to_float_) return all / 2;
    if (rest_of(low, high, all) == 0) return double{static_cast<float>(all / 2)};
    return std::nullopt;
  }
  const double distance = high - low;
  if (weight_ == 0 || !(distance >= kLeast && distance <= kMost)) return std::nullopt;
  const double product = distance * weight_;
  const double below = std::fma(distance, weight_, -product) + (distance * less_ + rest_of(high, -low, distance) * weight_);
  const double first = low + product;
  const double second = rest_of(low, product, first) + below;
  // The exact value lies within `error` of first + second.
  const double error = 0x1p-50 * std::fabs(second) + 0x1p-96 * product;
  const double least = first + (second - error), most = first + (second + error);
  if (!to_float_) return least == most && std::fabs(least) >= kLeast ? std::optional(least) : std::nullopt;
  const auto narrow = static_cast<float>(std::nextafter(least, -kInfinity));  // as the double itself may be halfway
  return narrow == static_cast<float>(std::nextafter(most, kInfinity)) ? std::optional<double>(narrow) : std::nullopt;
}

Ranking::Ranking(std::span<const Fraction> quantiles, std::uint64_t count, const QuantileRule& rule) {
  std::vector<Position> positions;
  for (const Fraction fraction : quantiles) {
    positions.push_back(position(fraction, count, rule.method));
    ranks.push_back(positions.back().below);
    ranks.push_back(positions.back().last());
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const auto index_of = [&](std::uint64_t rank) {
    return static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
  };
  for (const Position& at : positions) {
    places.push_back({index_of(at.below), index_of(at.last()), {}});
    if (at.rest != 0) places.back().between.emplace(at, rule.to_float);
  }
}

}  // namespace samesum::selection
