#include "groups/index/group_table.hpp"

#include <cmath>
#include <optional>
#include <utility>

namespace samesum::groups {
namespace {

__extension__ using Wide = __int128;

// Adds a finite number.
void add_finite(ProductAccumulator& sum, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52) & 0x7ff;
  const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffff);
  const std::int64_t mantissa = exponent != 0 ? fraction | std::int64_t{1} << 52 : fraction;
  constexpr int kLeast = ProductAccumulator::kUnit - 1074;  // the position of the least positive double
  sum.add_scaled(bits >> 63 != 0 ? -mantissa : mantissa, kLeast + (exponent != 0 ? exponent - 1 : 0));
}

template <class Sum>
void move_to(Sum& sum, Terms3& terms, double value) {
  const auto add = [&sum](double term) {
    if constexpr (requires { sum.add_finite(term); }) {
      sum.add_finite(term);
    } else {
      add_finite(sum, term);
    }
  };
  add(terms.s);
  add(terms.e);
  add(terms.f);
  terms.s = value;
  terms.e = terms.f = 0;
}

// The sum as three doubles, each the rest rounded; nothing where these do not hold it.
template <class Sum>
std::optional<Terms3> terms_of(Sum rest) {
  const auto is_zero = [&rest] { return std::ranges::all_of(rest.canonical_digits(), [](std::int64_t digit) { return digit == 0; }); };
  Terms3 terms;
  for (double* term : {&terms.s, &terms.e, &terms.f}) {
    *term = rest.round();
    if (!std::isfinite(*term)) return std::nullopt;
    if (*term == 0) break;  // or less than any double, as squares may be
    if constexpr (requires { rest.add_finite(-*term); }) {
      rest.add_finite(-*term);
    } else {
      add_finite(rest, -*term);
    }
  }
  return is_zero() ? std::optional(terms) : std::nullopt;
}

// The digits alone, of an accumulator without elements.
template <class Sum>
Sum digits_of(const Sum& sum) {
  Sum digits;
  const auto all = sum.canonical_digits();
  if constexpr (requires { digits.add_digits(all); }) {
    digits.add_digits(all);
  } else {
    for (int i = 0; i < Sum::kDigits; ++i) digits.add_scaled(all[static_cast<std::size_t>(i)], 32 * i);
  }
  return digits;
}

// Up to 512 ranges of groups: enough for all threads, and each of a large table stays in a second-level cache.
std::uint32_t bits_for(std::uint64_t groups) {
  return static_cast<std::uint32_t>(std::max(0, static_cast<int>(std::bit_width(groups)) - 9));
}

}  // namespace

Spilled::Spilled(const Spilled& other)
    : nans(other.nans), positive_infinities(other.positive_infinities), negative_infinities(other.negative_infinities) {
  if (other.sum) sum = std::make_unique<Accumulator>(*other.sum);
  if (other.squares) squares = std::make_unique<ProductAccumulator>(*other.squares);
}

Table::Table(std::uint64_t groups, bool squares, bool extrema)
    : has_squares_(squares),
      has_extrema_(extrema),
      range_bits_(bits_for(groups)),
      sums_(groups),
      squares_(squares ? groups : 0),
      extrema_(extrema ? groups : 0),
      spilled_((groups >> range_bits_) + 1) {}

void Table::grow(std::uint64_t groups) {
  sums_.resize(groups);
  if (has_squares_) squares_.resize(groups);
  if (has_extrema_) extrema_.resize(groups);
  std::vector<Spill> old = std::exchange(spilled_, {});
  range_bits_ = bits_for(groups);
  spilled_.resize((groups >> range_bits_) + 1);
  for (Spill& range : old) {
    for (auto& [group, what] : range) spill(group) = std::move(what);
  }
}

void Table::keep(bool squares, bool extrema) {
  if (has_squares_ && !squares) squares_ = {};
  if (has_extrema_ && !extrema) extrema_ = {};
  has_squares_ &= squares;
  has_extrema_ &= extrema;
}

template <class Number>
void Table::add(const Number* values, const std::uint64_t* groups, std::size_t count) {
  // The cells of groups that no cache holds are fetched while others are worked on.
  constexpr std::size_t kAhead = 24;
  const bool fetch = sums_.size() > std::size_t{1} << 14;
  for (std::size_t i = 0; i < count; ++i) {
    if (fetch && i + kAhead < count) __builtin_prefetch(&sums_[groups[i + kAhead]], 1);
    ++sums_[groups[i]].count;
    add_to_sum(values[i], groups[i]);
  }
  if (has_squares_) {
    for (std::size_t i = 0; i < count; ++i) add_square(values[i], groups[i]);
  }
  if (has_extrema_) {
    for (std::size_t i = 0; i < count; ++i) add_extrema(values[i], groups[i]);
  }
}
template void Table::add(const double*, const std::uint64_t*, std::size_t);
template void Table::add(const std::int64_t*, const std::uint64_t*, std::size_t);
template void Table::add(const std::uint64_t*, const std::uint64_t*, std::size_t);

void Table::spill_sum(double value, std::uint64_t group) {
  Spilled& to = spill(group);
  if (std::isnan(value)) {
    ++to.nans;
  } else if (std::isinf(value)) {
    ++(value > 0 ? to.positive_infinities : to.negative_infinities);
  } else {
    move_to(spilled_sum(group), sums_[group], value);
  }
}

Accumulator& Table::spilled_sum(std::uint64_t group) {
  Spilled& to = spill(group);
  if (!to.sum) to.sum = std::make_unique<Accumulator>();
  return *to.sum;
}

ProductAccumulator& Table::spilled_squares(std::uint64_t group) {
  Spilled& to = spill(group);
  if (!to.squares) to.squares = std::make_unique<ProductAccumulator>();
  return *to.squares;
}

void Table::spill_square(double value, std::uint64_t group) { move_to(spilled_squares(group), squares_[group], value); }

void Table::add_square(double value, std::uint64_t group) {
  // A product and its error are numbers (T. J. Dekker, 1971), unless they leave the range.
  const double size = std::abs(value);
  if (size >= 0x1p-480 && size <= 0x1p500) {
    const double product = value * value;
    const double spread = 0x1p27 * value + value, high = spread - (spread - value), low = value - high;
    const double error = ((high * high - product) + 2 * high * low) + low * low;
    add_to_squares(product, group);
    if (error != 0) add_to_squares(error, group);
  } else if (std::isfinite(value)) {
    if (value != 0) spilled_squares(group).add(value, value);
  }
}

void Table::add_square(std::int64_t value, std::uint64_t group) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (value <= kExact && value >= -kExact) return add_square(static_cast<double>(value), group);
  spilled_squares(group).add(value, value);
}

void Table::add_square(std::uint64_t value, std::uint64_t group) {
  if (value >> 53 == 0) return add_square(static_cast<double>(value), group);
  spilled_squares(group).add(value, value);
}

Table::Bound Table::bound(std::int64_t value) noexcept {
  const auto high = static_cast<double>(value);
  return {high, static_cast<std::int64_t>(value - static_cast<Wide>(high))};
}
Table::Bound Table::bound(std::uint64_t value) noexcept {
  const auto high = static_cast<double>(value);
  return {high, static_cast<std::int64_t>(value - static_cast<Wide>(high))};
}

void Table::merge(std::uint64_t group, const Table& other, std::uint64_t from) {
  const Sum& sum = other.sums_[from];
  if (sum.count == 0) return;
  sums_[group].count += sum.count;
  add_to_sum(sum.s, group);  // a zero too, for its sign
  if (sum.e != 0) add_to_sum(sum.e, group);
  if (sum.f != 0) add_to_sum(sum.f, group);
  if (has_squares_) {
    const Terms3& squares = other.squares_[from];
    for (const double term : {squares.s, squares.e, squares.f}) {
      if (term != 0) add_to_squares(term, group);
    }
  }
  if (has_extrema_) widen(other.extrema_[from].min, other.extrema_[from].max, group);
  if (const Spilled* const more = other.spilled(from)) {
    Spilled& to = spill(group);
    to.nans += more->nans;
    to.positive_infinities += more->positive_infinities;
    to.negative_infinities += more->negative_infinities;
    if (more->sum) {
      if (!to.sum) to.sum = std::make_unique<Accumulator>();
      to.sum->merge(*more->sum);
    }
    if (more->squares && has_squares_) spilled_squares(group).merge(*more->squares);
  }
}

void Table::merge(std::uint64_t group, const Statistics& all) {
  const Statistics::Contents& contents = all.contents();
  const Accumulator& sum = contents.sum;
  sums_[group].count += contents.count;
  Spilled& to = spill(group);
  to.nans += contents.nan_count;
  to.positive_infinities += sum.positive_infinities();
  to.negative_infinities += sum.negative_infinities();
  const double zero = sum.round(NanPolicy::skip);
  if (zero == 0 && std::signbit(zero)) {
    add_to_sum(zero, group);
  } else {
    if (!to.sum) to.sum = std::make_unique<Accumulator>();
    to.sum->add_digits(sum.canonical_digits());
  }
  if (has_squares_) {
    ProductAccumulator& squares = spilled_squares(group);
    const auto digits = contents.squares.canonical_digits();
    for (int i = 0; i < ProductAccumulator::kDigits; ++i) squares.add_scaled(digits[static_cast<std::size_t>(i)], 32 * i);
  }
  if (has_extrema_ && contents.min) widen(bound(contents.min->value), bound(contents.max->value), group);
}

void Table::assign(std::uint64_t group, const Accumulator& sum, const ProductAccumulator* squares) {
  if (sum.count() == 0) return;
  sums_[group].count = sum.count();
  if (sum.nan_count() + sum.positive_infinities() + sum.negative_infinities() != 0) {
    Spilled& to = spill(group);
    to.nans = sum.nan_count();
    to.positive_infinities = sum.positive_infinities();
    to.negative_infinities = sum.negative_infinities();
  }
  const double rounded = sum.round(NanPolicy::skip);
  const bool negative_zeros = (rounded == 0 && std::signbit(rounded)) || sum.count() == sum.nan_count();
  if (!negative_zeros) {
    const Accumulator digits = digits_of(sum);
    if (const std::optional<Terms3> terms = terms_of(digits)) {
      static_cast<Terms3&>(sums_[group]) = *terms;
    } else {
      spill(group).sum = std::make_unique<Accumulator>(digits);
    }
  }
  if (!has_squares_ || squares == nullptr) return;
  const ProductAccumulator digits = digits_of(*squares);
  if (const std::optional<Terms3> terms = terms_of(digits)) {
    squares_[group] = *terms;
  } else {
    spilled_squares(group) = digits;
  }
}

bool Table::are_extrema(const Extrema& extrema, Kind kind) noexcept {
  const auto is_bound = [kind](const Bound& x) {
    if (kind == Kind::none || std::isnan(x.high)) return false;
    if (kind == Kind::floats && x.low == 0) return true;
    // An integer, of either type of 64 bits if there are signed ones, or floats, among them.
    const Wide least = kind == Kind::unsigned_integers ? 0 : std::numeric_limits<std::int64_t>::min();
    if (!(x.high >= static_cast<double>(least) && x.high <= 0x1p64) || x.low > 4096 || x.low < -4096) return false;
    const Wide value = static_cast<Wide>(x.high) + x.low;
    if (value < least || value > std::numeric_limits<std::uint64_t>::max() || (value == 0 && std::signbit(x.high))) return false;
    return x.high == (value < 0 ? bound(static_cast<std::int64_t>(value)) : bound(static_cast<std::uint64_t>(value))).high;
  };
  return is_bound(extrema.min) && is_bound(extrema.max) && !less(extrema.max, extrema.min);
}

void Table::merge_counts(std::uint64_t group, std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities,
                         std::uint64_t negative_infinities, bool others) {
  sums_[group].count += count;
  if (others) add_to_sum(0.0, group);
  if (nans + positive_infinities + negative_infinities == 0) return;
  Spilled& to = spill(group);
  to.nans += nans;
  to.positive_infinities += positive_infinities;
  to.negative_infinities += negative_infinities;
}

void Table::merge_sum(std::uint64_t group, std::int64_t value, int exponent) {
  if (value == 0) return;
  constexpr int kLeast = -1074, kSafe = 900;  // from which doubles are sure to have room
  if (exponent < kLeast) {
    value >>= kLeast - exponent;
    exponent = kLeast;
  }
  if (exponent > kSafe) {
    spilled_sum(group).add_scaled(value, exponent - kLeast);
    return;
  }
  for (const std::int64_t part : {value >> 32 << 32, value & 0xffffffff}) {
    if (part != 0) add_to_sum(std::ldexp(static_cast<double>(part), exponent), group);
  }
}

void Table::merge_squares(std::uint64_t group, std::int64_t value, int exponent) {
  if (value == 0) return;
  constexpr int kLeast = -2 * 1074, kMax = 4190 - ProductAccumulator::kUnit;
  if (exponent < kLeast) {
    value >>= kLeast - exponent;
    exponent = kLeast;
  }
  if (exponent < -1074 || exponent > 900) {
    const int above = std::max(exponent - kMax, 0);  // such digits have few bits
    spilled_squares(group).add_scaled(value * (std::int64_t{1} << above), exponent - above + ProductAccumulator::kUnit);
    return;
  }
  for (const std::int64_t part : {value >> 32 << 32, value & 0xffffffff}) {
    if (part != 0) add_to_squares(std::ldexp(static_cast<double>(part), exponent), group);
  }
}

std::uint64_t Table::nans(std::uint64_t group) const noexcept {
  const Spilled* const more = spilled(group);
  return more == nullptr ? 0 : more->nans;
}

bool Table::rounded(std::uint64_t group, double& result) const noexcept {
  const Sum& sum = sums_[group];
  if (sum.count == 0 || spilled(group) != nullptr) return false;
  const EXPANSION x = expansion_rounded(sum.expansion());
  result = x.s;
  return x.inexact == 0;
}

bool Table::mean(std::uint64_t group, double& result) const noexcept {
  const Sum& sum = sums_[group];
  if (sum.count == 0 || sum.count >> 53 != 0 || spilled(group) != nullptr) return false;
  const EXPANSION x = expansion_mean(sum.expansion(), static_cast<double>(sum.count));
  result = x.s;
  return x.inexact == 0;
}

bool Table::moment(std::uint64_t group, std::uint32_t what, std::uint64_t ddof, double& result) const noexcept {
  const Sum& sum = sums_[group];
  if (sum.count <= ddof || sum.count >> 52 != 0 || spilled(group) != nullptr) return false;
  const Terms3& squares = squares_[group];  // of zeros alone -0.0, which is 0
  const ROUNDED found = groups::moment(what, sum.expansion(), {squares.s + 0.0, squares.e, squares.f, 0}, static_cast<double>(sum.count),
                                       static_cast<double>(ddof));
  result = found.value;
  return found.certain != 0;
}

Accumulator Table::sum(std::uint64_t group, Kind kind) const {
  const Sum& sum = sums_[group];
  Accumulator total;
  for (const double term : {sum.s, sum.e, sum.f}) total.add_finite(term);
  const Spilled* const more = spilled(group);
  if (more != nullptr && more->sum) {
    const auto digits = more->sum->canonical_digits();
    total.add_digits(digits);
  }
  if (kind == Kind::floats || kind == Kind::none) {
    const Spilled none;
    const Spilled& special = more != nullptr ? *more : none;
    const bool negative_zero = sum.s == 0 && std::signbit(sum.s) && sum.e == 0 && special.sum == nullptr &&
                               special.positive_infinities + special.negative_infinities == 0;
    total.add_counts(sum.count, special.nans, special.positive_infinities, special.negative_infinities, negative_zero);
  } else {
    total.add_integer_count(sum.count, kind == Kind::integers);
  }
  return total;
}

ProductAccumulator Table::squares(std::uint64_t group) const {
  const Spilled* const more = spilled(group);
  const Spilled none;
  const Spilled& special = more != nullptr ? *more : none;
  ProductAccumulator total;
  if (special.squares) total = *special.squares;
  const Terms3& terms = squares_[group];
  for (const double term : {terms.s, terms.e, terms.f}) add_finite(total, term);
  const std::uint64_t count = sums_[group].count;
  const std::uint64_t infinities = special.positive_infinities + special.negative_infinities;
  total.add_counts(count - total.count(), special.nans, infinities, 0, count == special.nans);
  return total;
}

}  // namespace samesum::groups
