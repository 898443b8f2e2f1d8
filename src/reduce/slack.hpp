// How far sums may be off that have been rounded.
#pragma once

#include <cmath>
#include <utility>

namespace samesum::statistics {

/// A number that may be beyond the range of doubles: number · 2^exponent.
struct Scaled {
  double number = 0;
  int exponent = 0;

  /// Rounds.
  void add(Scaled other) noexcept {
    if (number == 0 || (other.number != 0 && other.exponent > exponent)) std::swap(*this, other);
    number += std::ldexp(other.number, other.exponent - exponent);
  }
};

/// Bounds, themselves so much rounded that twice as much is certain.
struct Slack {
  double sum = 0;
  Scaled squares;
};

}  // namespace samesum::statistics
