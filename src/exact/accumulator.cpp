// The accumulator, built on the arithmetic that kernels share (exact.h).
#include <samesum/accumulator.hpp>

#include "exact/counted.hpp"
#include "exact/exact_host.hpp"

#include <bit>
#include <type_traits>

namespace samesum {
namespace {

static_assert(EXACT_DIGITS == Accumulator::kDigits);
static_assert(std::is_same_v<std::int64_t, long>);

void normalize(std::array<std::int64_t, Accumulator::kDigits>& digits) noexcept {
  dialect::exact_normalize(digits.data(), 0, Accumulator::kDigits - 1);
}

}  // namespace

void Accumulator::add_scaled(std::int64_t value, int position) noexcept {
  dialect::exact_add_scaled(digits_.data(), value, position);
  if (++pending_ == exact::kMaxPending) {
    normalize(digits_);
    pending_ = 0;
  }
}

void Accumulator::add_finite(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52) & 0x7ff;
  const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffff);
  const std::int64_t mantissa = exponent != 0 ? fraction | std::int64_t{1} << 52 : fraction;
  add_scaled(bits >> 63 != 0 ? -mantissa : mantissa, exponent != 0 ? exponent - 1 : 0);
}

void Accumulator::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63;
  count_ = exact::counted(count_, 1);
  note(Elements::floats);
  if ((bits >> 52 & 0x7ff) == 0x7ff) {
    const bool is_nan = (bits & 0xfffffffffffff) != 0;
    ++(is_nan ? nans_ : negative ? negative_infinities_ : positive_infinities_);
    if (!is_nan) only_negative_zeros_ = false;
    return;
  }
  if (bits == std::uint64_t{1} << 63) return;  // -0.0
  only_negative_zeros_ = false;
  add_finite(value);
}

// Not by conversion to double: where the caller treats denormals as zeros, that conversion does too.
void Accumulator::add(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23) & 0xff;
  const auto fraction = static_cast<std::int64_t>(bits & 0x7fffff);
  const bool negative = bits >> 31 != 0;
  count_ = exact::counted(count_, 1);
  note(Elements::floats);
  if (exponent == 0xff) {
    ++(fraction != 0 ? nans_ : negative ? negative_infinities_ : positive_infinities_);
    if (fraction == 0) only_negative_zeros_ = false;
    return;
  }
  if (bits == std::uint32_t{1} << 31) return;  // -0.0
  only_negative_zeros_ = false;
  constexpr int kLowest = exact::kUnit - 149;  // the position of the smallest positive float
  const std::int64_t mantissa = exponent != 0 ? fraction | std::int64_t{1} << 23 : fraction;
  add_scaled(negative ? -mantissa : mantissa, kLowest + (exponent != 0 ? exponent - 1 : 0));
}

void Accumulator::add_signed(std::int64_t value) {
  add_integer_count(1, true);
  add_scaled(value, exact::kUnit);
}

void Accumulator::add_unsigned(std::uint64_t value) {
  add_integer_count(1, false);
  add_scaled(static_cast<std::int64_t>(value & 0xffffffff), exact::kUnit);
  add_scaled(static_cast<std::int64_t>(value >> 32), exact::kUnit + 32);
}

void Accumulator::add_integer_count(std::uint64_t count, bool is_signed) {
  if (count == 0) return;
  count_ = exact::counted(count_, count);
  only_negative_zeros_ = false;
  note(is_signed ? Elements::integers : Elements::unsigned_integers);
}

void Accumulator::add_counts(std::uint64_t count, std::uint64_t nans, std::uint64_t positive_infinities, std::uint64_t negative_infinities,
                             bool only_negative_zeros) {
  count_ = exact::counted(count_, count);
  if (count != 0) note(Elements::floats);
  nans_ += nans;
  positive_infinities_ += positive_infinities;
  negative_infinities_ += negative_infinities;
  only_negative_zeros_ = only_negative_zeros_ && only_negative_zeros;
}

void Accumulator::add_digits(std::span<const std::int64_t, kDigits> digits) noexcept {
  if (pending_ != 0) normalize(digits_);
  for (int i = 0; i < kDigits; ++i) digits_[i] += digits[i];
  normalize(digits_);
  pending_ = 0;
}

void Accumulator::merge(const Accumulator& other) {
  count_ = exact::counted(count_, other.count_);
  exact::merge_digits(digits_, pending_, other.digits_, other.pending_);
  nans_ += other.nans_;
  positive_infinities_ += other.positive_infinities_;
  negative_infinities_ += other.negative_infinities_;
  only_negative_zeros_ = only_negative_zeros_ && other.only_negative_zeros_;
  note(other.elements_);
}

std::array<std::int64_t, Accumulator::kDigits> Accumulator::canonical_digits() const noexcept {
  auto digits = digits_;
  if (pending_ != 0) normalize(digits);
  return digits;
}

int Accumulator::special(NanPolicy nan) const noexcept {
  return dialect::exact_special(count_, nans_, positive_infinities_, negative_infinities_, only_negative_zeros_ ? 0 : 1,
                                nan == NanPolicy::skip);
}

double Accumulator::round(NanPolicy nan) const noexcept {
  if (const int kind = special(nan); kind != EXACT_FINITE) return std::bit_cast<double>(dialect::exact_special_float64(kind));
  auto digits = canonical_digits();
  const std::uint64_t sign = dialect::exact_make_magnitude(digits.data(), 0, kDigits - 1);
  return std::bit_cast<double>(sign << 63 | dialect::exact_round_float64(digits.data(), 0, kDigits - 1));
}

float Accumulator::round_to_float(NanPolicy nan) const noexcept {
  if (const int kind = special(nan); kind != EXACT_FINITE) return std::bit_cast<float>(dialect::exact_special_float32(kind));
  auto digits = canonical_digits();
  const std::uint32_t sign = dialect::exact_make_magnitude(digits.data(), 0, kDigits - 1);
  return std::bit_cast<float>(sign << 31 | dialect::exact_round_float32(digits.data(), 0, kDigits - 1));
}

// Friends are exported only by an attribute on their definition.
SAMESUM_EXPORT bool operator==(const Accumulator& a, const Accumulator& b) noexcept {
  return a.count_ == b.count_ && a.nans_ == b.nans_ && a.positive_infinities_ == b.positive_infinities_ &&
         a.negative_infinities_ == b.negative_infinities_ && a.only_negative_zeros_ == b.only_negative_zeros_ &&
         a.elements_ == b.elements_ && a.canonical_digits() == b.canonical_digits();
}

}  // namespace samesum
