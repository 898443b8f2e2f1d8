// Prefix sums of floats on the CPU: tiles (tiles.hpp) as far as they are certain, else number by number: by expansions of three doubles
// while these are exact, else by the accumulator.
#include "scan/sums.hpp"

#include "core/view.hpp"
#include "device/dialect/host.h"
#include "reduce/cpu/sum_cpu.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace samesum::prefix {
namespace {

using dialect::uint;
using std::fma;
#define REAL double
#include "groups/expansion.h"
#undef REAL

template <class T>
Accumulator sum_of(const T* x, std::size_t count) {
  return reduction::sum_cpu(View(x, count, dtype_of<T>()), 1);
}

Accumulator sum_of_terms(const Base& base) {
  Accumulator sum;
  for (const double term : {base.b0, base.b1, base.b2}) sum.add_finite(term);
  return sum;
}

// The accumulator as a base. A sum beyond the range of doubles has none: the base is infinite, and no tile begins from it.
Base base_of(const Accumulator& exact) {
  Accumulator rest;
  rest.add_digits(exact.canonical_digits());
  Base base;
  double* const terms[] = {&base.b0, &base.b1, &base.b2, &base.error};
  for (double* term : terms) {
    *term = rest.round();
    if (*term == 0) break;
    if (!std::isfinite(*term)) {
      base.error = *term;
      break;
    }
    rest.add_finite(-*term);
  }
  base.error = std::abs(base.error) * 2;
  return base;
}

// The exact sum of what lies before.
Accumulator exact_sum(const SumState& state) { return state.is_exact ? state.exact : sum_of_terms(state.base); }

// A finite sum; none of several elements is -0.0.
template <class U>
U rounded(const Accumulator& sum) {
  if constexpr (std::is_same_v<U, double>) {
    return sum.round();
  } else {
    return sum.round_to_float();
  }
}

}  // namespace

template <class T, class U>
void FloatSums<T, U>::add(State& state, const T* x, std::size_t count) const {
  const Accumulator sum = sum_of(x, count);
  State part;
  part.exact = sum;
  part.is_exact = true;
  part.nan = sum.nan_count() != 0;
  part.positive_infinity = sum.positive_infinities() != 0;
  part.negative_infinity = sum.negative_infinities() != 0;
  part.any = sum.count() != sum.nan_count();
  const double value = sum.round(NanPolicy::skip);
  part.only_negative_zeros = !part.any || (value == 0 && std::signbit(value));
  merge(state, part);
}

template <class T, class U>
void FloatSums<T, U>::merge(State& state, const State& later) const {
  Accumulator sum;
  sum.add_digits(exact_sum(state).canonical_digits());
  sum.add_digits(exact_sum(later).canonical_digits());
  state.exact = sum;
  state.base = base_of(sum);
  state.is_exact = true;
  state.nan |= later.nan;
  state.positive_infinity |= later.positive_infinity;
  state.negative_infinity |= later.negative_infinity;
  state.any |= later.any;
  state.only_negative_zeros &= later.only_negative_zeros;
}

// Results up to the next finite element behind which there is no infinity or NaN, and not -0.0 alone.
template <class T, class U>
std::size_t FloatSums<T, U>::scan_specials(State& state, const T* x, std::size_t count, U* to) const {
  constexpr U kInfinity = std::numeric_limits<U>::infinity();
  const U nan = static_cast<U>(std::bit_cast<double>(std::uint64_t{0x7ff8} << 48));
  const auto negative_zero = [](T element) { return element == 0 && std::signbit(element); };
  for (std::size_t i = 0; i < count; ++i) {
    const T element = x[i];
    const bool none = (state.nan && !skip_) || (state.positive_infinity && state.negative_infinity);
    if (none) {
      std::fill_n(to + i, count - i, nan);
      return count;
    }
    if (!state.positive_infinity && !state.negative_infinity && std::isfinite(element)) {
      if (!(state.only_negative_zeros && negative_zero(element))) {
        state.any = true;
        state.only_negative_zeros = false;
        return i;
      }
    }
    if (std::isnan(element)) {
      state.nan = true;
    } else {
      state.any = true;
      state.only_negative_zeros &= negative_zero(element);
      state.positive_infinity |= std::isinf(element) && element > 0;
      state.negative_infinity |= std::isinf(element) && element < 0;
    }
    if ((state.nan && !skip_) || (state.positive_infinity && state.negative_infinity)) {
      to[i] = nan;
    } else if (state.positive_infinity || state.negative_infinity) {
      to[i] = state.positive_infinity ? kInfinity : -kInfinity;
    } else if (state.only_negative_zeros) {
      to[i] = state.any ? -U{0} : U{0};
    } else {
      to[i] = rounded<U>(exact_sum(state));  // at a skipped NaN
    }
  }
  return count;
}

template <class T, class U>
void FloatSums<T, U>::scan_exactly(State& state, const T* x, std::size_t count, U* to) const {
  std::size_t i = 0;
  if (!state.is_exact || state.base.error == 0) {
    EXPANSION sum{state.base.b0, state.base.b1, state.base.b2, 0};
    for (; i < count; ++i) {
      const EXPANSION next = expansion_add(sum, x[i]);
      if (next.inexact != 0 || !std::isfinite(next.s)) break;
      sum = expansion_normalized(next);
      EXPANSION result = expansion_rounded(sum);
      const bool narrow = std::is_same_v<U, float> && (result.e != 0 || std::abs(result.s) >= 0x1p120);
      if (result.inexact != 0 || narrow) {
        to[i] = rounded<U>(sum_of_terms({sum.s, sum.e, sum.f, 0}));
      } else {
        to[i] = static_cast<U>(result.s);
      }
    }
    state.base = {sum.s, sum.e, sum.f, 0};
    state.is_exact = false;
    if (i == count) return;
  }
  Accumulator exact = exact_sum(state);
  for (; i < count; ++i) {
    exact.add_finite(x[i]);
    to[i] = rounded<U>(exact);
  }
  state.exact = exact;
  state.is_exact = true;
  state.base = base_of(exact);
}

template <class T, class U>
void FloatSums<T, U>::scan(State& state, const T* x, std::size_t count, U* to) const {
  for (std::size_t done = 0;;) {
    done += scan_specials(state, x + done, count - done, to + done);
    if (done == count) return;
    const Base before = state.base;
    const std::size_t tiles = scan_tiles(x + done, count - done, skip_, state.base, to + done);
    // The accumulator has to follow where the base alone does not tell.
    if (state.base.error == 0) {
      state.is_exact = state.is_exact && tiles == 0;
    } else if (tiles != 0) {
      if (!state.is_exact) state.exact = sum_of_terms(before);
      state.exact.add_digits(sum_of(x + done, tiles).canonical_digits());
      state.is_exact = true;
    }
    done += tiles;
    // A tile that is not certain, up to an infinity or a NaN.
    std::size_t size = 0;
    const std::size_t most = std::min(kTile, count - done);
    while (size < most && std::isfinite(x[done + size])) ++size;
    if (size != 0) scan_exactly(state, x + done, size, to + done);
    done += size;
  }
}

template class FloatSums<float, float>;
template class FloatSums<float, double>;
template class FloatSums<double, float>;
template class FloatSums<double, double>;

}  // namespace samesum::prefix
