// Moments of a vector of neighbouring results at once, along axes on the CPU. Compiled once for each instruction set of the processor
// family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/cpu/axes_moments.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/cpu/axes_expansions.hpp"
#include "groups/cpu/axes_near-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
namespace moments {

namespace hn = hwy::HWY_NAMESPACE;
using near::D;
using near::Lanes;
constexpr std::size_t kWidth = hn::MaxLanes(D());

// Of a vector of results; where it is not certain of one, a NaN.
HWY_INLINE hn::Vec<D> near_results(uint what, const Terms& sums, const Terms& squares, std::size_t i, double count, double ddof) {
  const D d;
  const Lanes zero(0.0);
  near::TWO_TERMS s{zero, zero, zero}, q = s;
  auto certain = hn::Eq(zero.v, zero.v);
  if (sums.s != nullptr) {
    s = near::two_terms(hn::LoadU(d, sums.s + i), hn::LoadU(d, sums.e + i), hn::LoadU(d, sums.f + i), zero);
    certain = hn::Eq(hn::LoadU(d, sums.lost + i), zero.v);
  }
  if (squares.s != nullptr) {
    q = near::two_terms(hn::LoadU(d, squares.s + i), hn::LoadU(d, squares.e + i), hn::LoadU(d, squares.f + i),
                        hn::LoadU(d, squares.lost + i));
  }
  const near::TWO_TERMS x = near::near_moment(what, s, q, count, ddof);
  certain = hn::And(certain, near::are_certain(x));
  return hn::IfThenElse(certain, x.high.v, hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
}

bool round_moments(uint what, const Terms& sums, const Terms& squares, std::size_t lanes, double count, double ddof, double* to) {
  if (!near::finds(what)) {
    std::fill_n(to, lanes, std::numeric_limits<double>::quiet_NaN());
    return false;
  }
  const D d;
  auto unknown = hn::IsNaN(hn::Zero(d));
  std::size_t i = 0;
  for (; i + kWidth <= lanes; i += kWidth) {
    const auto x = near_results(what, sums, squares, i, count, ddof);
    unknown = hn::Or(unknown, hn::IsNaN(x));
    hn::StoreU(x, d, to + i);
  }
  if (i == lanes) return hn::AllFalse(d, unknown);
  // Fewer than a vector's.
  double copy[8][kWidth] = {}, results[kWidth];
  const auto copied = [&](const Terms& terms, double(*rows)[kWidth]) {
    if (terms.s == nullptr) return Terms{};
    const double* const from[] = {terms.s, terms.e, terms.f, terms.lost};
    for (std::size_t k = 0; k < 4; ++k) std::copy_n(from[k] + i, lanes - i, rows[k]);
    return Terms{rows[0], rows[1], rows[2], rows[3], nullptr};
  };
  const auto x = near_results(what, copied(sums, copy), copied(squares, copy + 4), 0, count, ddof);
  hn::StoreU(x, d, results);
  bool known = hn::AllFalse(d, unknown);
  for (std::size_t k = 0; i + k < lanes; ++k) {
    to[i + k] = results[k];
    known &= results[k] == results[k];
  }
  return known;
}

}  // namespace moments
using moments::round_moments;
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {
namespace {

SIMD_EXPORT(round_moments);

}  // namespace

bool round_moments(uint what, const Terms& sums, const Terms& squares, std::size_t lanes, double count, double ddof, double* to) {
  return SIMD_CALL(round_moments)(what, sums, squares, lanes, count, ddof, to);
}

}  // namespace samesum::groups
#endif  // HWY_ONCE
