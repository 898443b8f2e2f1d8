// Quantiles: their ranks, and interpolation between two elements.
#include <samesum/quantile.hpp>

#include "core/array/pieces.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "exact/big_integer.hpp"
#include "quantile/keys.hpp"
#include "quantile/select.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

namespace samesum {
namespace {

using exact::BigInteger;
using selection::Uint128;
__extension__ typedef __int128 Int128;  // no standard name for it

constexpr std::pair<QuantileMethod, std::string_view> kMethods[] = {
    {QuantileMethod::linear, "linear"},   {QuantileMethod::lower, "lower"},       {QuantileMethod::higher, "higher"},
    {QuantileMethod::nearest, "nearest"}, {QuantileMethod::midpoint, "midpoint"},
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});

// A number from 0 to 1 as digits / 10^decimals.
struct Fraction {
  std::uint64_t digits = 0;
  int decimals = 0;
};

// The shortest decimal number that reads back as `q`.
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

// An index into sorted numbers: below + rest / whole, rest < whole. With a nonzero rest, the number at below + 1 is needed too.
struct Position {
  std::uint64_t below;
  Uint128 rest;
  Uint128 whole;

  std::uint64_t last() const noexcept { return below + (rest != 0 ? 1 : 0); }
};

// The position of the quantile `q` of `count` >= 1 numbers.
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

BigInteger sum(const BigInteger& a, const BigInteger& b) { return a - (BigInteger() - b); }

BigInteger big(Uint128 value) {
  return sum(BigInteger(static_cast<std::uint64_t>(value >> 64)).shifted_left(64), BigInteger(static_cast<std::uint64_t>(value)));
}

// A number as an integer · 2^exponent.
struct Scaled {
  BigInteger integer;
  int exponent = 0;

  explicit Scaled(const Value& value) {
    std::uint64_t magnitude = 0;
    bool negative = false;
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
    integer = negative ? BigInteger() - BigInteger(magnitude) : BigInteger(magnitude);
  }
};

// Whether two numbers are equal; zeros of different signs are not.
bool same(const Value& a, const Value& b) {
  if (a != b) return false;
  const auto* left = std::get_if<double>(&a.number);
  return left == nullptr || std::signbit(*left) == std::signbit(std::get<double>(b.number));
}

// low + (high - low) · rest / whole, if that, low and high are integers.
std::optional<Value> integer_between(const Value& low, const Value& high, Uint128 rest, Uint128 whole) {
  if (std::holds_alternative<double>(low.number) || std::holds_alternative<double>(high.number)) return std::nullopt;
  const auto wide = [](const Value& value) -> Int128 {
    const auto* with_sign = std::get_if<std::int64_t>(&value.number);
    return with_sign != nullptr ? Int128{*with_sign} : Int128{std::get<std::uint64_t>(value.number)};
  };
  for (Uint128 a = whole, b = rest;;) {  // Euclid's algorithm: b becomes 0, and a the greatest common divisor
    if (b == 0) {
      whole /= a;
      rest /= a;
      break;
    }
    a = std::exchange(b, a % b);
  }
  const auto distance = static_cast<Uint128>(wide(high) - wide(low));
  if (distance % whole != 0) return std::nullopt;
  const Int128 value = wide(low) + static_cast<Int128>(distance / whole * rest);
  if (std::holds_alternative<std::uint64_t>(low.number)) return Value{static_cast<std::uint64_t>(value), low.type};
  if (value > std::numeric_limits<std::int64_t>::max()) return Value{static_cast<std::uint64_t>(value), DType::uint64};
  return Value{static_cast<std::int64_t>(value), low.type};
}

Value as_float(const Value& value) {
  return {std::visit([](auto number) -> double { return static_cast<float>(number); }, value.number), DType::float32};
}

// low + (high - low) · rest / whole, 0 < rest < whole.
template <class Real>
Value between(const Value& low, const Value& high, Uint128 rest, Uint128 whole) {
  if (same(low, high)) return low;
  const double from = low.as_double(), to = high.as_double();
  if (std::isinf(from) || std::isinf(to)) {
    return {from == -kInfinity && to == kInfinity ? kNan : std::isinf(from) ? from : to, DType::float64};
  }
  if (auto integer = integer_between(low, high, rest, whole)) return *integer;
  const Scaled a(low), b(high);
  const int exponent = std::min(a.exponent, b.exponent);
  const BigInteger left = a.integer.shifted_left(a.exponent - exponent), right = b.integer.shifted_left(b.exponent - exponent);
  return {exact::round_quotient<Real>(sum(left * big(whole - rest), right * big(rest)), big(whole), exponent), DType::float64};
}

// Selects given ranks; completes the report of where and how.
using Select = std::function<selection::Selected(const selection::Ranks&, Report&)>;

Quantiles quantiles_of(const Select& select, std::optional<DType> type, std::span<const double> q, const QuantileRule& rule,
                       const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const auto start = std::chrono::steady_clock::now();
  std::vector<Fraction> fractions;
  for (const double one : q) fractions.push_back(fraction_of(one));
  std::vector<Position> positions;
  std::vector<std::uint64_t> ranks;
  const auto find_ranks = [&](std::uint64_t count, std::uint64_t nans) {
    if (count == 0 && nans == 0) throw Error(ErrorKind::no_answer, "there is no quantile of no elements");
    if (nans != 0 && options.nan == NanPolicy::propagate) return ranks;
    if (count == 0) throw Error(ErrorKind::no_answer, "there is no quantile of no elements: all are NaN, and left out");
    for (const Fraction fraction : fractions) {
      positions.push_back(position(fraction, count, rule.method));
      ranks.push_back(positions.back().below);
      ranks.push_back(positions.back().last());
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  };
  Report report{"cpu", "selection", "", 0, 0, 0};
  const selection::Selected selected = select(find_ranks, report);
  Quantiles result{{}, selected.count, selected.nan_count};
  if (options.report != nullptr) {
    report.bytes = selected.count * size_of(type.value_or(DType::float64));
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    *options.report = report;
  }
  if (positions.empty()) {
    result.values.assign(q.size(), {kNan, rule.to_float ? DType::float32 : type && !is_integer(*type) ? *type : DType::float64});
    return result;
  }
  const auto at = [&](std::uint64_t rank) -> const Value& {
    return selected.values[static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin())];
  };
  for (const Position& place : positions) {
    const Value& low = at(place.below);
    const auto interpolated = rule.to_float ? between<float> : between<double>;
    result.values.push_back(place.rest == 0 ? low : interpolated(low, at(place.last()), place.rest, place.whole));
    if (rule.to_float) result.values.back() = as_float(result.values.back());  // for integers and elements; others are floats already
  }
  return result;
}

// Whether kernels count the digits of elements that lie there.
bool selects_on(const std::optional<Device>& there, const Options& options) {
  return there && there->info().has(Capability::kernels) &&
         (!options.device || &options.device->implementation() == &there->implementation());
}

}  // namespace

std::string_view name_of(QuantileMethod method) noexcept {
  for (const auto& [known, name] : kMethods) {
    if (known == method) return name;
  }
  return "";
}

QuantileMethod parse_quantile_method(std::string_view name) {
  std::string names;
  for (const auto& [method, known] : kMethods) {
    if (known == name) return method;
    names.append(names.empty() ? "" : ", ").append(known);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown method '{}' of a quantile: there are {}", name, names));
}

Quantiles quantiles(const Array& data, std::span<const double> q, const QuantileRule& rule, const Options& options) {
  const auto pass = [&](const std::function<void(const selection::Piece&)>& body) {
    core::ProgressParts progress(options, 0);
    device::for_host_blocks(data, core::Order::memory,
                            [&](View block) { progress.for_parts(block, [&](View part) { core::for_contiguous_pieces(part, body); }); });
  };
  const auto select = [&](const selection::Ranks& ranks, Report& report) {
    if (data.size() <= selection::kMaxCopied ||
        !selects_on(data.on_device() ? std::optional(data.buffer().device()) : std::nullopt, options)) {
      return selection::select(pass, data.type(), options.tuning.threads, ranks);
    }
    report.device = data.buffer().device().info().selector;
    core::ProgressParts progress(options, 0);
    return selection::select(
        data, ranks, [&](std::uint64_t count) { progress.add(count * size_of(data.type())); }, report.configuration);
  };
  return quantiles_of(select, data.type(), q, rule, options);
}

Quantiles quantiles(const std::function<std::unique_ptr<Source>()>& open, std::span<const double> q, const QuantileRule& rule,
                    const Options& options) {
  std::unique_ptr<Source> source = open();
  const std::optional<DType> type = source->type();
  core::ProgressParts of_terms(options, 0);
  std::unique_ptr<statistics::HostTerms> terms;
  const auto pass = [&](const std::function<void(const selection::Piece&)>& body) {
    if (terms != nullptr) return body(selection::Piece(*terms));
    if (source == nullptr) source = open();
    core::ProgressParts progress(options, 0);
    while (const std::optional<Array> view = source->next()) {
      device::for_host_blocks(*view, core::Order::memory,
                              [&](View block) { progress.for_parts(block, [&](View part) { core::for_contiguous_pieces(part, body); }); });
    }
    source.reset();
  };
  const auto select = [&](const selection::Ranks& ranks, Report& report) {
    const bool many = type && source->resident_bytes() > selection::kMaxCopied * size_of(*type);
    if (many && selects_on(source->device(), options)) {
      if (const auto there = statistics::terms_of(*source, *source->device())) {
        report.device = there->device().info().selector;
        core::ProgressParts progress(options, 0);
        return selection::select(
            *there, ranks, [&](std::uint64_t count) { progress.add(count * size_of(*type)); }, report.configuration);
      }
    }
    terms = statistics::host_terms_of(*source, Device::open("cpu"), of_terms);
    return selection::select(pass, type, options.tuning.threads, ranks);
  };
  return quantiles_of(select, type, q, rule, options);
}

Value quantile(const Array& data, double q, const QuantileRule& rule, const Options& options) {
  return quantiles(data, std::span<const double>(&q, 1), rule, options).values.front();
}

Value median(const Array& data, const Options& options) { return quantile(data, 0.5, {}, options); }

}  // namespace samesum
