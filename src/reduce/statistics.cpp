// What was collected, as a value: merging, and what follows from the exact sums.
#include <samesum/statistics.hpp>

#include "exact/big_integer.hpp"
#include "exact/counted.hpp"

#include <samesum/error.hpp>
#include <samesum/plan.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace samesum {
namespace {

constexpr std::uint64_t kNanBits = 0x7ff8000000000000;
constexpr int kUnit = 1074;  // an accumulator's digits count 2^-1074

double canonical_nan() noexcept { return std::bit_cast<double>(kNanBits); }

// Whether a < b, with -0.0 < +0.0; of any two types, as chunks of a text may have different ones. Holds every 64-bit integer and every
// double.
bool less(const Value& a, const Value& b) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto exact = [](const Value& value) { return std::visit([](auto number) -> long double { return number; }, value.number); };
  const long double left = exact(a), right = exact(b);
  if (left != right || left != 0) return left < right;
  return std::signbit(left) && !std::signbit(right);
}

template <class Real>
Real rounded(const Accumulator& sum, NanPolicy nan) {
  if constexpr (sizeof(Real) == 8) {
    return sum.round(nan);
  } else {
    return sum.round_to_float(nan);
  }
}

void require(bool collected, std::string_view what) {
  if (!collected) throw Error(ErrorKind::usage, fmt::format("the {} was not collected: ask for it in Fields", what));
}

[[noreturn]] void no_elements(const char* what, std::uint64_t nans) {
  throw Error(ErrorKind::no_answer, fmt::format("there is no {} of no elements{}", what, nans != 0 ? ": all are NaN, and left out" : ""));
}

// An index plus an offset; an index that was not requested stays unknown.
std::uint64_t moved(std::uint64_t index, std::uint64_t by) { return index == ExtremaRecord::kNowhere ? index : index + by; }
std::optional<std::uint64_t> moved(std::optional<std::uint64_t> index, std::uint64_t by) {
  return index ? std::optional(moved(*index, by)) : std::nullopt;
}

// Whether there is such an extreme, but it was not looked for.
bool lacks(const Statistics::Contents& contents, const std::optional<Extremum>& end) {
  return !end && contents.count != contents.nan_count;
}

// So that equal statistics are those of which the same is known.
void drop_what_is_not_collected(Statistics::Contents& contents) {
  if (!contents.fields.extrema) {
    contents.mixed = false;
    contents.first_nan.reset();
    contents.min.reset();
    contents.max.reset();
  }
  if (!contents.fields.sum) contents.sum = {};
  if (!contents.fields.squares) contents.squares = {};
  if (!contents.fields.nonzeros) contents.nonzeros = 0;
}

// Of elements of one type (there are some): whether that is a float type.
bool has_floats(const Statistics::Contents& contents) {
  const std::optional<Extremum>& either = contents.min ? contents.min : contents.max;
  return contents.nan_count != 0 || (either && !is_integer(either->value.type));
}

// Gives extremes of several types one, so that it does not depend on the order in which parts were merged: of integers and floats float64,
// of integers int64, wherever it has the value.
void unify(Statistics::Contents& all, const Statistics::Contents& later) {
  bool one_type = true;
  for (const std::optional<Extremum>& other : {all.max, later.min, later.max}) {
    one_type = one_type && all.min && other && other->value.type == all.min->value.type;
  }
  if (one_type && !all.mixed) return;
  for (std::optional<Extremum>* end : {&all.min, &all.max}) {
    if (!*end || !is_integer((*end)->value.type)) continue;
    Value& value = (*end)->value;
    const auto* large = std::get_if<std::uint64_t>(&value.number);
    const bool negative = large == nullptr && std::get<std::int64_t>(value.number) < 0;
    const auto bits = large != nullptr ? *large : static_cast<std::uint64_t>(std::get<std::int64_t>(value.number));
    const std::uint64_t magnitude = negative ? 0 - bits : bits;
    const bool is_double = std::bit_width(magnitude) - std::countr_zero(magnitude) <= std::numeric_limits<double>::digits;
    if (all.mixed && is_double) {
      value = {value.as_double(), DType::float64};
    } else if (negative || magnitude >> 63 == 0) {
      value = {static_cast<std::int64_t>(bits), DType::int64};
    }
  }
}

Extremum extreme(const Statistics::Contents& contents, const std::optional<Extremum>& found, NanPolicy nan, const char* what) {
  require(contents.fields.extrema, what);
  if (contents.first_nan && nan == NanPolicy::propagate) {
    const DType type = found ? found->value.type : DType::float64;
    return {{canonical_nan(), is_integer(type) ? DType::float64 : type}, *contents.first_nan};
  }
  if (!found) no_elements(what, contents.nan_count);
  return *found;
}

}  // namespace

Statistics::Statistics(Contents contents) : contents_(std::move(contents)) { drop_what_is_not_collected(contents_); }

Statistics Statistics::without_extrema() const {
  Contents contents = contents_;
  contents.fields.extrema = false;
  return Statistics(std::move(contents));
}

void Statistics::merge(const Statistics& later) {
  Contents& a = contents_;
  const Contents& b = later.contents_;
  const std::uint64_t places = a.count + a.missing;            // before those of b
  exact::counted(places, exact::counted(b.count, b.missing));  // before anything is changed
  if (b.count == 0) {
    a.missing += b.missing;
    return;
  }
  if (a.count == 0) {
    a = b;
    a.missing += places;
    for (std::optional<Extremum>* end : {&a.min, &a.max}) {
      if (*end) (*end)->index = moved((*end)->index, places);
    }
    a.first_nan = moved(b.first_nan, places);
    return;
  }
  a.fields = {a.fields.extrema && b.fields.extrema, a.fields.sum && b.fields.sum, a.fields.squares && b.fields.squares,
              a.fields.nonzeros && b.fields.nonzeros};
  a.mixed = a.mixed || b.mixed || (a.fields.extrema && has_floats(a) != has_floats(b));
  const auto take = [&](std::optional<Extremum>& to, const std::optional<Extremum>& from, bool better) {
    if (lacks(a, to) || lacks(b, from)) return to.reset();
    if (from && (!to || better)) to = Extremum{from->value, moved(from->index, places)};
  };
  take(a.min, b.min, a.min && b.min && less(b.min->value, a.min->value));
  take(a.max, b.max, a.max && b.max && less(a.max->value, b.max->value));
  unify(a, b);
  if (!a.first_nan) a.first_nan = moved(b.first_nan, places);
  a.count += b.count;
  a.nan_count += b.nan_count;
  a.nonzeros += b.nonzeros;
  a.missing += b.missing;
  if (a.fields.sum) a.sum.merge(b.sum);
  if (a.fields.squares) a.squares.merge(b.squares);
  drop_what_is_not_collected(a);
}

std::uint64_t Statistics::nan_count() const { return contents_.nan_count; }

Extremum Statistics::min(NanPolicy nan) const { return extreme(contents_, contents_.min, nan, "minimum"); }
Extremum Statistics::max(NanPolicy nan) const { return extreme(contents_, contents_.max, nan, "maximum"); }

std::uint64_t Statistics::nonzero_count(NanPolicy nan) const {
  require(contents_.fields.nonzeros, "number of non-zeros");
  return contents_.nonzeros - (nan == NanPolicy::skip ? contents_.nan_count : 0);
}

const Accumulator& Statistics::sum() const {
  require(contents_.fields.sum, "sum");
  return contents_.sum;
}

const ProductAccumulator& Statistics::squares() const {
  require(contents_.fields.squares, "sum of squares");
  return contents_.squares;
}

template <class Real>
Real Statistics::average(NanPolicy nan) const {
  const Accumulator& total = sum();
  if (used(nan) == 0) no_elements("mean", contents_.nan_count);
  const bool decided =
      (contents_.nan_count != 0 && nan == NanPolicy::propagate) || total.positive_infinities() + total.negative_infinities() != 0;
  if (decided) return rounded<Real>(total, nan);
  const auto exact = exact::BigInteger::from_digits(total.canonical_digits());
  if (exact.is_zero()) return rounded<Real>(total, nan);  // which has the sign of the zero
  return exact::round_quotient<Real>(exact, used(nan), -kUnit);
}

double Statistics::mean(NanPolicy nan) const { return average<double>(nan); }
float Statistics::mean_to_float(NanPolicy nan) const { return average<float>(nan); }

template <class Real>
Real Statistics::spread(std::uint64_t ddof, NanPolicy nan, bool root) const {
  const Accumulator& total = sum();
  const std::uint64_t n = used(nan);
  if (n <= ddof) {
    throw Error(ErrorKind::no_answer, fmt::format("a variance with ddof {} needs more than {} element{}: there {} {}", ddof, ddof,
                                                  ddof == 1 ? "" : "s", n == 1 ? "is" : "are", n));
  }
  if ((contents_.nan_count != 0 && nan == NanPolicy::propagate) || squares().infinities() != 0)
    return std::numeric_limits<Real>::quiet_NaN();
  using exact::BigInteger;
  const auto first = BigInteger::from_digits(total.canonical_digits());       // in units of 2^-1074
  const auto second = BigInteger::from_digits(squares().canonical_digits());  // of 2^-2148
  const BigInteger numerator = second * n - first * first;
  const BigInteger denominator = BigInteger(n) * (n - ddof);
  constexpr int kExponent = -ProductAccumulator::kUnit;
  return root ? exact::round_root_of_quotient<Real>(numerator, denominator, kExponent)
              : exact::round_quotient<Real>(numerator, denominator, kExponent);
}

bool Statistics::consistent() const {
  const Contents& c = contents_;
  const std::uint64_t places = c.count + c.missing;
  if (c.nan_count > c.count || places < c.count || (c.mixed && c.count == 0)) return false;
  if (c.fields.nonzeros && (c.nonzeros < c.nan_count || c.nonzeros > c.count)) return false;
  if (c.fields.sum && (c.sum.count() != c.count || c.sum.nan_count() != c.nan_count)) return false;
  const std::uint64_t infinities = c.sum.positive_infinities() + c.sum.negative_infinities();
  if (c.fields.squares) {
    const bool negative = c.squares.negative_infinities() != 0 || std::signbit(c.squares.round(NanPolicy::skip));
    if (negative || c.squares.count() != c.count || c.squares.nan_count() != c.nan_count) return false;
  }
  if (c.fields.sum && c.fields.squares) {  // by Cauchy and Schwarz
    if (c.squares.infinities() != infinities) return false;
    const auto first = exact::BigInteger::from_digits(c.sum.canonical_digits());
    const auto second = exact::BigInteger::from_digits(c.squares.canonical_digits());
    if ((second * (c.count - c.nan_count - infinities) - first * first).is_negative()) return false;
  }
  if (!c.fields.extrema) return true;
  const auto has_place = [&](std::uint64_t index) { return index < places || index == ExtremaRecord::kNowhere; };
  if ((c.nan_count != 0) != c.first_nan.has_value() || (c.first_nan && !has_place(*c.first_nan))) return false;
  for (const std::optional<Extremum>& end : {c.min, c.max}) {
    if (end && (c.count == c.nan_count || !has_place(end->index))) return false;
    if (end && end->index != ExtremaRecord::kNowhere && end->index == c.first_nan) return false;
  }
  if (!c.min || !c.max) return true;
  const bool differ = less(c.min->value, c.max->value);
  const bool known = c.min->index != ExtremaRecord::kNowhere && c.max->index != ExtremaRecord::kNowhere;
  return !less(c.max->value, c.min->value) && (!known || differ == (c.min->index != c.max->index));
}

double Statistics::variance(std::uint64_t ddof, NanPolicy nan) const { return spread<double>(ddof, nan, false); }
double Statistics::standard_deviation(std::uint64_t ddof, NanPolicy nan) const { return spread<double>(ddof, nan, true); }
float Statistics::variance_to_float(std::uint64_t ddof, NanPolicy nan) const { return spread<float>(ddof, nan, false); }
float Statistics::standard_deviation_to_float(std::uint64_t ddof, NanPolicy nan) const { return spread<float>(ddof, nan, true); }

}  // namespace samesum
