// The squares of numbers, added to expansions of neighbouring results (axes_expansions.hpp). Compiled once for each instruction set of the
// processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/cpu/axes_squares.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/cpu/axes_expansions.hpp"
#include "groups/cpu/axes_watched-inl.hpp"
#include "groups/expansion.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
namespace squares {

namespace hn = hwy::HWY_NAMESPACE;
using watched::D;
using watched::V;
// As many numbers of memory as a vector has doubles.
template <class Real>
using Numbers = hn::Rebind<Real, D>;

// Sums of some results: as add_square() of moments.h, or add_short_square().
template <bool kWide>
struct Vectors {
  V s, e, f, lost;

  // Both are written for GCC, whose own constructors are not for this instruction set.
  HWY_INLINE Vectors() {}
  HWY_INLINE Vectors(V first, V second, V third, V of_lost) : s(first), e(second), f(third), lost(of_lost) {}

  HWY_INLINE void add_square(V x) {
    const D d;
    const V square = hn::Mul(x, x), sum = hn::Add(s, square);
    V next = watched::error(s, square, sum);
    s = sum;
    V second = hn::Add(e, next);
    next = watched::error(e, next, second);
    if constexpr (kWide) {
      V third = hn::Add(f, next);
      V unsure = hn::Abs(watched::error(f, next, third));
      const V rest = watched::error_of_product(x, x, square), more = hn::Add(second, rest);
      next = watched::error(second, rest, more);
      second = more;
      f = hn::Add(third, next);
      unsure = hn::Add(unsure, hn::Abs(watched::error(third, next, f)));
      const auto small = hn::AndNot(hn::Eq(x, hn::Zero(d)), hn::Lt(hn::Abs(x), hn::Set(d, LEAST_SQUARED)));
      next = hn::Add(unsure, hn::IfThenElseZero(small, hn::Set(d, LOST_OF_SMALL)));
    }
    e = second;
    lost = hn::Add(lost, hn::Abs(next));
  }
};

template <class Real, bool kSkip>
HWY_INLINE V number(const Real* at) {
  const D d;
  const Numbers<Real> numbers;
  auto x = hn::LoadU(numbers, at);
  if constexpr (kSkip) x = hn::IfThenElse(hn::IsNaN(x), hn::Zero(numbers), x);
  if constexpr (std::is_same_v<Real, double>) {
    return x;
  } else {
    return hn::PromoteTo(d, x);
  }
}

template <class Real, bool kSkip>
void add_one(const std::byte* at, std::uint64_t steps, std::int64_t apart, Terms to, std::size_t i) {
  SQUARES x{to.s[i], to.e[i], to.f[i], to.lost[i]};
  for (std::uint64_t step = 0; step < steps; ++step, at += apart) {
    Real value;
    std::memcpy(&value, at, sizeof value);
    if (kSkip && std::isnan(value)) continue;
    x = std::is_same_v<Real, double> ? add_square(x, value) : add_short_square(x, value);
  }
  to.s[i] = x.s, to.e[i] = x.e, to.f[i] = x.f, to.lost[i] = x.lost;
}

constexpr std::size_t kTogether = 2;  // vectors, so that one is added while another waits

template <std::size_t kCount, class Real, bool kSkip>
HWY_INLINE void add_vectors(const std::byte* from, std::uint64_t steps, std::int64_t apart, Terms to, std::size_t first) {
  const D d;
  const std::size_t width = hn::Lanes(d);
  Vectors<sizeof(Real) == sizeof(double)> x[kCount];
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::size_t i = first + k * width;
    x[k] = {hn::LoadU(d, to.s + i), hn::LoadU(d, to.e + i), hn::LoadU(d, to.f + i), hn::LoadU(d, to.lost + i)};
  }
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Real* const row = reinterpret_cast<const Real*>(from + static_cast<std::int64_t>(step) * apart) + first;
    for (std::size_t k = 0; k < kCount; ++k) x[k].add_square(number<Real, kSkip>(row + k * width));
  }
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::size_t i = first + k * width;
    hn::StoreU(x[k].s, d, to.s + i);
    hn::StoreU(x[k].e, d, to.e + i);
    hn::StoreU(x[k].f, d, to.f + i);
    hn::StoreU(x[k].lost, d, to.lost + i);
  }
}

// Rows of more lanes than registers hold are added some at once, so that they are read in as many places, and terms are loaded and stored
// less often.
template <class Real, bool kSkip>
void add_rows(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, Terms to) {
  constexpr std::uint64_t kRows = 8;
  const std::size_t width = hn::Lanes(D());
  const std::uint64_t at_once = lanes <= kTogether * width ? std::max<std::uint64_t>(steps, 1) : kRows;
  for (std::uint64_t first = 0; first < steps; first += at_once) {
    const std::uint64_t rows = std::min(at_once, steps - first);
    const std::byte* const row = from + static_cast<std::int64_t>(first) * apart;
    std::size_t i = 0;
    for (; i + kTogether * width <= lanes; i += kTogether * width) add_vectors<kTogether, Real, kSkip>(row, rows, apart, to, i);
    for (; i + width <= lanes; i += width) add_vectors<1, Real, kSkip>(row, rows, apart, to, i);
    for (; i < lanes; ++i) add_one<Real, kSkip>(row + i * sizeof(Real), rows, apart, to, i);
  }
}

// Adds rows of few numbers, one behind the other, as fewer rows of more, whose sums are added up at the end. Returns how many were added.
constexpr std::size_t kFew = kTogether * hn::MaxLanes(D());
std::uint64_t fold_rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::size_t lanes, Terms to) {
  const std::size_t fold = kFew / lanes, all = fold * lanes;
  const std::uint64_t rows_of_all = steps / fold;
  double terms[4][kFew] = {};
  const auto add = wide ? skip ? add_rows<double, true> : add_rows<double, false> : skip ? add_rows<float, true> : add_rows<float, false>;
  add(from, rows_of_all, static_cast<std::int64_t>(all * (wide ? sizeof(double) : sizeof(float))), all,
      {terms[0], terms[1], terms[2], terms[3], nullptr});
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    SQUARES sum{to.s[lane], to.e[lane], to.f[lane], to.lost[lane]};
    for (std::size_t k = lane; k < all; k += lanes) sum = squares_merge(sum, {terms[0][k], terms[1][k], terms[2][k], terms[3][k]});
    to.s[lane] = sum.s, to.e[lane] = sum.e, to.f[lane] = sum.f, to.lost[lane] = sum.lost;
  }
  return rows_of_all * fold;
}

void rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::int64_t apart, std::size_t lanes, Terms to) {
  const std::size_t bytes = wide ? sizeof(double) : sizeof(float);
  if (2 * lanes <= kFew && apart == static_cast<std::int64_t>(lanes * bytes) && steps >= 4 * kFew / lanes) {
    const std::uint64_t done = fold_rows(from, wide, skip, steps, lanes, to);
    from += done * lanes * bytes;
    steps -= done;
  }
  const auto add = wide ? skip ? add_rows<double, true> : add_rows<double, false> : skip ? add_rows<float, true> : add_rows<float, false>;
  add(from, steps, apart, lanes, to);
}

// A run is a column of rows of one number.
void run(const std::byte* from, bool wide, bool skip, std::uint64_t count, Terms to) {
  rows(from, wide, skip, count, wide ? sizeof(double) : sizeof(float), 1, to);
}

}  // namespace squares
using squares::rows;
using squares::run;
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {
namespace {

SIMD_EXPORT(rows);
SIMD_EXPORT(run);

}  // namespace

void Terms::add_square_rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::int64_t apart, std::size_t lanes) const {
  SIMD_CALL(rows)(from, wide, skip, steps, apart, lanes, *this);
}
void Terms::add_square_run(const std::byte* from, bool wide, bool skip, std::uint64_t count) const {
  SIMD_CALL(run)(from, wide, skip, count, *this);
}

}  // namespace samesum::groups
#endif  // HWY_ONCE
