// Positions among sorted numbers, and what lies between two neighbours.
#pragma once

#include "quantile/keys.hpp"

#include <samesum/quantile.hpp>
#include <samesum/value.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::selection {

/// A number from 0 to 1 as digits / 10^decimals.
struct Fraction {
  std::uint64_t digits = 0;
  int decimals = 0;
};

/// The shortest decimal number that reads back as `q`. @throws Error (usage) for a number that is not from 0 to 1.
Fraction fraction_of(double q);

/// An index into sorted numbers: below + rest / whole, rest < whole. With a nonzero rest, the number at below + 1 is needed too.
struct Position {
  std::uint64_t below;
  Uint128 rest;
  Uint128 whole;

  std::uint64_t last() const noexcept { return below + (rest != 0 ? 1 : 0); }
};

/// The position of the quantile `q` of `count` >= 1 numbers.
Position position(Fraction q, std::uint64_t count, QuantileMethod method);

/// The NaN of results.
inline const double kNan = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
/// The nearest float32.
Value as_float(const Value& value);
/// @throws Error (no_answer) if there are no elements but NaNs.
void require_elements(std::uint64_t count, std::uint64_t nans);

/// What lies between two neighbours at some position.
class Between {
 public:
  Between(const Position& position, bool to_float);

  /// low + (high - low) · rest / whole, rounded once to a double, or to a float32: elements that are equal give that element, and
  /// integers the integer where the exact value is one. Requires rest != 0.
  Value operator()(const Value& low, const Value& high) const;
  /// The same of doubles, in few operations; no value where these do not decide the last bit, and for infinities.
  std::optional<double> quickly(double low, double high) const;

 private:
  Uint128 rest_, whole_;
  bool to_float_, half_;
  double weight_ = 0, less_ = 0;  // rest / whole as the sum of two doubles; weight_ is 0 where it is not known so
};

/// The quantiles of some number of elements: which ranks they need, and how they follow from the elements there.
struct Ranking {
  Ranking(std::span<const Fraction> quantiles, std::uint64_t count, const QuantileRule& rule);

  struct Place {
    std::size_t low, high;           ///< indices into `ranks`
    std::optional<Between> between;  ///< no value: the quantile is the element at `low`
  };
  std::vector<std::uint64_t> ranks;  ///< ascending and distinct
  std::vector<Place> places;         ///< one for each quantile
};

}  // namespace samesum::selection
