// The sum of products as a value, over the arithmetic that kernels share (exact.h).
#include <samesum/product_accumulator.hpp>

#include "device/dialect/host.h"
#include "exact/big_integer.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace samesum::dialect {
#include "exact/exact.h"
}

namespace samesum {
namespace {

__extension__ typedef unsigned __int128 Uint128;  // no standard name for it

constexpr std::uint32_t kMaxPending = 1u << 29;  // an addition changes a digit by less than 2^32

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
  if (++pending_ != kMaxPending) return;
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

void ProductAccumulator::add(double a, double b) noexcept {
  const double product = a * b;  // its sign, and what kind it is
  const bool negative = std::signbit(a) != std::signbit(b);
  ++count_;
  if (std::isnan(product)) {
    ++nans_;
  } else if (std::isinf(a) || std::isinf(b)) {
    ++(negative ? negative_infinities_ : positive_infinities_);
    only_negative_zeros_ = false;
  } else if (a == 0 || b == 0) {
    if (!negative) only_negative_zeros_ = false;
  } else {
    only_negative_zeros_ = false;
    const Parts left = take_apart(a), right = take_apart(b);
    add_product(left.mantissa, right.mantissa, negative, left.position + right.position);
  }
}

void ProductAccumulator::add_magnitudes(std::uint64_t a, std::uint64_t b, bool negative) noexcept {
  ++count_;
  only_negative_zeros_ = false;
  add_product(a, b, negative, kUnit);
}

void ProductAccumulator::add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities,
                                    std::uint64_t negative_infinities, bool only_negative_zeros) noexcept {
  count_ += count;
  nans_ += nans;
  positive_infinities_ += positive_infinities;
  negative_infinities_ += negative_infinities;
  only_negative_zeros_ = only_negative_zeros_ && only_negative_zeros;
}

void ProductAccumulator::merge(const ProductAccumulator& other) noexcept {
  const auto others = other.canonical_digits();
  for (int i = 0; i < kDigits; ++i) digits_[i] += others[i];
  count_addition();
  add_counts(other.count_, other.nans_, other.positive_infinities_, other.negative_infinities_, other.only_negative_zeros_);
}

std::array<std::int64_t, ProductAccumulator::kDigits> ProductAccumulator::canonical_digits() const noexcept {
  auto digits = digits_;
  dialect::exact_normalize(digits.data(), 0, kDigits - 1);
  return digits;
}

int ProductAccumulator::special(NanPolicy nan) const noexcept {
  return dialect::exact_special(count_, nans_, positive_infinities_, negative_infinities_, only_negative_zeros_ ? 0 : 1,
                                nan == NanPolicy::skip);
}

double ProductAccumulator::round(NanPolicy nan) const {
  if (const int kind = special(nan); kind != EXACT_FINITE) return std::bit_cast<double>(dialect::exact_special_float64(kind));
  return exact::round_quotient(exact::BigInteger::from_digits(canonical_digits()), 1, -kUnit);
}

double ProductAccumulator::round_root(NanPolicy nan) const {
  const int kind = special(nan);
  if (kind == EXACT_POSITIVE_INFINITY || kind == EXACT_NEGATIVE_ZERO) return std::bit_cast<double>(dialect::exact_special_float64(kind));
  const auto sum = exact::BigInteger::from_digits(canonical_digits());
  if (kind != EXACT_FINITE || sum.is_negative()) return std::numeric_limits<double>::quiet_NaN();
  return exact::round_root_of_quotient(sum, 1, -kUnit);
}

namespace {

// The sum's lowest 64 bits, where it is an integer between these.
std::uint64_t integer_of(const ProductAccumulator& sum, std::uint64_t most_positive, std::uint64_t most_negative, const char* type) {
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
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(integer_of(*this, kMost, kMost + 1, "int64"));
}
std::uint64_t ProductAccumulator::to_uint64() const { return integer_of(*this, std::numeric_limits<std::uint64_t>::max(), 0, "uint64"); }

// A friend: it is exported only where that is said here.
SAMESUM_EXPORT bool operator==(const ProductAccumulator& a, const ProductAccumulator& b) noexcept {
  return a.count_ == b.count_ && a.nans_ == b.nans_ && a.positive_infinities_ == b.positive_infinities_ &&
         a.negative_infinities_ == b.negative_infinities_ && a.only_negative_zeros_ == b.only_negative_zeros_ &&
         a.canonical_digits() == b.canonical_digits();
}

}  // namespace samesum
