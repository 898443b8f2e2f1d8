// The sum of products, built on the arithmetic that kernels share (exact.h).
#include <samesum/product_accumulator.hpp>

#include "core/float_environment.hpp"
#include "exact/big_integer.hpp"
#include "exact/counted.hpp"
#include "exact/exact_host.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace samesum {
namespace {

__extension__ typedef unsigned __int128 Uint128;  // no standard name for it

constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kInfinity = 0x7ff0000000000000;

// A finite double as mantissa · 2^(position - 1074).
struct Parts {
  std::uint64_t mantissa;
  int position;
};

Parts take_apart(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52) & 0x7ff;
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  return exponent != 0 ? Parts{fraction | std::uint64_t{1} << 52, exponent - 1} : Parts{fraction, 0};
}

}  // namespace

void ProductAccumulator::add_scaled(std::int64_t value, int position) noexcept {
  dialect::exact_add_scaled(digits_.data(), value, position);
  count_addition();
}

void ProductAccumulator::count_addition() noexcept {
  if (++pending_ != exact::kMaxPending) return;
  dialect::exact_normalize(digits_.data(), 0, kDigits - 1);
  pending_ = 0;
}

void ProductAccumulator::add_product(std::uint64_t a, std::uint64_t b, bool negative, int position) noexcept {
  const Uint128 product = Uint128{a} * b;
  const auto sign = [negative](std::uint64_t piece) {
    return negative ? -static_cast<std::int64_t>(piece) : static_cast<std::int64_t>(piece);
  };
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 62) - 1;
  add_scaled(sign(static_cast<std::uint64_t>(product) & kMask), position);
  add_scaled(sign(static_cast<std::uint64_t>(product >> 62) & kMask), position + 62);
  if (product >> 124 != 0) add_scaled(sign(static_cast<std::uint64_t>(product >> 124)), position + 124);
}

// Numbers are classified by their bits: the caller's mode may treat denormals as zeros, or trap.
void ProductAccumulator::add(double a, double b) {
  const auto a_bits = std::bit_cast<std::uint64_t>(a), b_bits = std::bit_cast<std::uint64_t>(b);
  const std::uint64_t left_bits = a_bits & ~kSign, right_bits = b_bits & ~kSign;  // of the magnitudes
  const bool negative = ((a_bits ^ b_bits) & kSign) != 0;
  const bool zero = left_bits == 0 || right_bits == 0, infinite = left_bits == kInfinity || right_bits == kInfinity;
  count_ = exact::counted(count_, 1);
  if (left_bits > kInfinity || right_bits > kInfinity || (zero && infinite)) {
    ++nans_;
  } else if (infinite) {
    ++(negative ? negative_infinities_ : positive_infinities_);
    only_negative_zeros_ = false;
  } else if (zero) {
    if (!negative) only_negative_zeros_ = false;
  } else {
    only_negative_zeros_ = false;
    const Parts left = take_apart(a), right = take_apart(b);
    add_product(left.mantissa, right.mantissa, negative, left.position + right.position);
  }
}

void ProductAccumulator::add(const Value& a, const Value& b) {
  const auto magnitude_of = [](const Value& value) {
    const auto* const integer = std::get_if<std::int64_t>(&value.number);
    return integer != nullptr ? magnitude(*integer) : std::get<std::uint64_t>(value.number);
  };
  const auto is_negative = [](const Value& value) { return std::visit([](auto number) { return number < 0; }, value.number); };
  const auto* const left = std::get_if<double>(&a.number);
  const auto* const right = std::get_if<double>(&b.number);
  if (left != nullptr && right != nullptr) return add(*left, *right);
  if (left == nullptr && right == nullptr) return add_magnitudes(magnitude_of(a), magnitude_of(b), is_negative(a) != is_negative(b));
  const Value& integer = left != nullptr ? b : a;
  const double number = left != nullptr ? *left : *right;
  const std::uint64_t size = magnitude_of(integer), bits = std::bit_cast<std::uint64_t>(number);
  if (size == 0 || (bits & ~kSign) == 0 || (bits & ~kSign) >= kInfinity) {
    return add(number, size == 0 ? 0.0 : is_negative(integer) ? -1.0 : 1.0);
  }
  count_ = exact::counted(count_, 1);
  only_negative_zeros_ = false;
  const Parts parts = take_apart(number);
  add_product(parts.mantissa, size, ((bits & kSign) != 0) != is_negative(integer), parts.position + kUnit / 2);
}

void ProductAccumulator::add_magnitudes(std::uint64_t a, std::uint64_t b, bool negative) {
  count_ = exact::counted(count_, 1);
  only_negative_zeros_ = false;
  add_product(a, b, negative, kUnit);
}

void ProductAccumulator::add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities,
                                    std::uint64_t negative_infinities, bool only_negative_zeros) {
  count_ = exact::counted(count_, count);
  nans_ += nans;
  positive_infinities_ += positive_infinities;
  negative_infinities_ += negative_infinities;
  only_negative_zeros_ = only_negative_zeros_ && only_negative_zeros;
}

void ProductAccumulator::merge(const ProductAccumulator& other) {
  add_counts(other.count_, other.nans_, other.positive_infinities_, other.negative_infinities_, other.only_negative_zeros_);
  exact::merge_digits(digits_, pending_, other.digits_, other.pending_);
}

std::array<std::int64_t, ProductAccumulator::kDigits> ProductAccumulator::canonical_digits() const noexcept {
  auto digits = digits_;
  if (pending_ != 0) dialect::exact_normalize(digits.data(), 0, kDigits - 1);
  return digits;
}

int ProductAccumulator::special(NanPolicy nan) const noexcept {
  return dialect::exact_special(count_, nans_, positive_infinities_, negative_infinities_, only_negative_zeros_ ? 0 : 1,
                                nan == NanPolicy::skip);
}

template <class Real>
Real ProductAccumulator::rounded(NanPolicy nan, bool root) const {
  const int kind = special(nan);
  const bool decided = root ? kind == EXACT_POSITIVE_INFINITY || kind == EXACT_NEGATIVE_ZERO : kind != EXACT_FINITE;
  if constexpr (sizeof(Real) == 8) {
    if (decided) return std::bit_cast<double>(dialect::exact_special_float64(kind));
  } else {
    if (decided) return std::bit_cast<float>(dialect::exact_special_float32(kind));
  }
  const auto sum = exact::BigInteger::from_digits(canonical_digits());
  if (!root) return exact::round_quotient<Real>(sum, 1, -kUnit);
  if (kind != EXACT_FINITE || sum.is_negative()) return std::numeric_limits<Real>::quiet_NaN();
  return exact::round_root_of_quotient<Real>(sum, 1, -kUnit);
}

double ProductAccumulator::round(NanPolicy nan) const { return rounded<double>(nan, false); }
double ProductAccumulator::round_root(NanPolicy nan) const { return rounded<double>(nan, true); }
float ProductAccumulator::round_to_float(NanPolicy nan) const { return rounded<float>(nan, false); }
float ProductAccumulator::round_root_to_float(NanPolicy nan) const { return rounded<float>(nan, true); }

namespace {

// The sum's lowest 64 bits; throws unless it is an integer between these bounds.
std::uint64_t integer_of(const ProductAccumulator& sum, std::uint64_t most_positive, std::uint64_t most_negative, const char* type) {
  const core::DefaultFloatEnvironment environment;
  const auto digits = exact::BigInteger::from_digits(sum.canonical_digits());
  if (sum.nan_count() + sum.infinities() != 0 || digits.has_bits_below(ProductAccumulator::kUnit)) {
    throw Error(ErrorKind::no_answer, fmt::format("the sum of the products is no integer: it is {}", sum.round()));
  }
  const exact::BigInteger whole = digits.shifted_right(ProductAccumulator::kUnit);
  const auto words = whole.words();
  const std::uint64_t magnitude = (words.size() > 1 ? std::uint64_t{words[1]} << 32 : 0) | (words.empty() ? 0 : words[0]);
  if (words.size() > 2 || magnitude > (whole.is_negative() ? most_negative : most_positive)) {
    throw Error(ErrorKind::no_answer, fmt::format("the sum of the products does not fit into {}: it is exactly {}", type, whole.decimal()));
  }
  return whole.is_negative() ? 0 - magnitude : magnitude;
}

}  // namespace

std::int64_t ProductAccumulator::to_int64() const {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(integer_of(*this, kMax, kMax + 1, "int64"));
}
std::uint64_t ProductAccumulator::to_uint64() const { return integer_of(*this, std::numeric_limits<std::uint64_t>::max(), 0, "uint64"); }

// Friends are exported only by an attribute on their definition.
SAMESUM_EXPORT bool operator==(const ProductAccumulator& a, const ProductAccumulator& b) noexcept {
  return a.count_ == b.count_ && a.nans_ == b.nans_ && a.positive_infinities_ == b.positive_infinities_ &&
         a.negative_infinities_ == b.negative_infinities_ && a.only_negative_zeros_ == b.only_negative_zeros_ &&
         a.canonical_digits() == b.canonical_digits();
}

}  // namespace samesum
