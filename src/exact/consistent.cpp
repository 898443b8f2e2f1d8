// Validation of deserialized sums: whether some elements can have that sum.
#include "exact/big_integer.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace samesum {
namespace {

using exact::BigInteger;

constexpr int kUnit = 1074;                                                                                      // the bit of 2^0 in a sum
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

// In units of 2^-1074.
BigInteger greatest_double() { return BigInteger((std::uint64_t{1} << 53) - 1).shifted_left(971 + kUnit); }
BigInteger scaled(std::uint64_t whole) { return BigInteger(whole).shifted_left(kUnit); }

}  // namespace

bool Accumulator::consistent() const {
  const auto finite = without(count_, {nans_, positive_infinities_, negative_infinities_});
  if (!finite || (elements_ == Elements::none) != (count_ == 0)) return false;
  const auto sum = BigInteger::from_digits(canonical_digits());
  if (!zeros_fit(*finite, (positive_infinities_ | negative_infinities_) != 0, only_negative_zeros_, sum.is_zero())) return false;
  if (elements_ == Elements::none || elements_ == Elements::floats) return reachable(sum, *finite, greatest_double(), greatest_double());
  if (*finite != count_ || only_negative_zeros_ || sum.has_bits_below(kUnit)) return false;
  return elements_ == Elements::integers ? reachable(sum, count_, scaled(kLeast), scaled(kGreatest))
                                         : reachable(sum, count_, 0, scaled(kGreatest));
}

bool ProductAccumulator::consistent() const {
  const auto finite = without(count_, {nans_, positive_infinities_, negative_infinities_});
  if (!finite) return false;
  const auto sum = BigInteger::from_digits(canonical_digits());
  const BigInteger greatest = greatest_double() * greatest_double();
  return zeros_fit(*finite, (positive_infinities_ | negative_infinities_) != 0, only_negative_zeros_, sum.is_zero()) &&
         reachable(sum, *finite, greatest, greatest);
}

}  // namespace samesum
