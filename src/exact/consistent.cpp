// Validation of deserialized sums: whether some elements can have that sum.
#include "exact/big_integer.hpp"
#include "exact/exact_host.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

namespace samesum {
namespace {

using exact::BigInteger;
using exact::kUnit;

constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max(), kLeast = std::uint64_t{1} << 63;  // integers' magnitudes

// `count` less the `others`; no value where they exceed it.
std::optional<std::uint64_t> without(std::uint64_t count, std::initializer_list<std::uint64_t> others) {
  for (const std::uint64_t other : others) {
    if (other > count) return std::nullopt;
    count -= other;
  }
  return count;
}

// Whether `count` elements, each between -most_negative and most_positive, can have this sum.
bool reachable(const BigInteger& sum, std::uint64_t count, const BigInteger& most_negative, const BigInteger& most_positive) {
  return !((sum.is_negative() ? most_negative : most_positive) * count - sum.magnitude()).is_negative();
}

// Whether the flag for -0.0 is consistent with the finite elements, the infinities and a zero sum.
bool zeros_fit(std::uint64_t finite, bool infinities, bool only_negative_zeros, bool zero) {
  return only_negative_zeros ? zero && !infinities : finite != 0 || infinities;
}

// Whether digits in their unique form are all 0; whether the highest of them are nothing but the sign.
bool is_zero(std::span<const std::int64_t> digits) {
  std::int64_t any = 0;
  for (const std::int64_t digit : digits) any |= digit;
  return any == 0;
}
bool is_sign(std::span<const std::int64_t> digits) {
  const std::int64_t sign = digits.back() >> 63;
  std::int64_t other = digits.back() ^ sign;
  for (const std::int64_t digit : digits.first(digits.size() - 1)) other |= digit ^ (sign & 0xffffffff);
  return other == 0;
}

// In units of 2^-1074.
BigInteger greatest_double() { return BigInteger((std::uint64_t{1} << 53) - 1).shifted_left(971 + kUnit); }
BigInteger scaled(std::uint64_t whole) { return BigInteger(whole).shifted_left(kUnit); }

}  // namespace

bool Accumulator::consistent() const {
  const auto finite = without(count_, {nans_, positive_infinities_, negative_infinities_});
  if (!finite || (elements_ == Elements::none) != (count_ == 0)) return false;
  const auto all = canonical_digits();
  const std::span<const std::int64_t> digits = all;
  const bool zero = is_zero(digits), is_float = elements_ == Elements::none || elements_ == Elements::floats;
  if (!zeros_fit(*finite, (positive_infinities_ | negative_infinities_) != 0, only_negative_zeros_, zero)) return false;
  // Nearly all sums are of a size that one element can have: a double below 2^2048 units, an integer below 2^(35 · 32 - kUnit) = 2^46.
  if (is_float && is_sign(digits.subspan(64))) return *finite != 0 || zero;
  if (!is_float && is_sign(digits.subspan(35)) && is_zero(digits.first(33)) && digits[33] % (std::int64_t{1} << (kUnit - 33 * 32)) == 0) {
    return *finite == count_ && !only_negative_zeros_ && (elements_ == Elements::integers || digits.back() >= 0);
  }
  const auto sum = BigInteger::from_digits(digits);
  if (is_float) return reachable(sum, *finite, greatest_double(), greatest_double());
  if (*finite != count_ || only_negative_zeros_ || sum.has_bits_below(kUnit)) return false;
  return elements_ == Elements::integers ? reachable(sum, count_, scaled(kLeast), scaled(kGreatest))
                                         : reachable(sum, count_, 0, scaled(kGreatest));
}

bool ProductAccumulator::consistent() const {
  const auto finite = without(count_, {nans_, positive_infinities_, negative_infinities_});
  if (!finite) return false;
  const auto all = canonical_digits();
  const std::span<const std::int64_t> digits = all;
  const bool zero = is_zero(digits);
  if (!zeros_fit(*finite, (positive_infinities_ | negative_infinities_) != 0, only_negative_zeros_, zero)) return false;
  if (is_sign(digits.subspan(128))) return *finite != 0 || zero;  // below 2^4096 units: one product can be greater
  const BigInteger greatest = greatest_double() * greatest_double();
  return reachable(BigInteger::from_digits(digits), *finite, greatest, greatest);
}

}  // namespace samesum
