// Results along axes straight from their elements (axes_direct.hpp). Compiled once for each instruction set of the processor family and
// chosen at run time.
//
// Elements are added up as plain doubles; doubles in two parts, which have 26 and 27 bits. If the processor's inexact flag shows that
// nothing was rounded, the sums are exact, and one addition of the two parts, or one division, rounds them once.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/cpu/axes_direct.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/float_environment.hpp"
#include "groups/cpu/axes_direct.hpp"
#include "groups/cpu/axes_near-inl.hpp"
#include "groups/cpu/axes_watched-inl.hpp"
#include "groups/expansion.hpp"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

using namespace watched;

// Results that were computed in vectors, to where they belong; past the caches if they are many. What is stored there after that, at the
// same addresses or by other threads, has to wait for hwy::FlushStream().
class Results {
 public:
  Results(double* to, bool stream) : to_(to), stream_(stream && reinterpret_cast<std::uintptr_t>(to) % (kWidth * sizeof(double)) == 0) {}

  HWY_INLINE void put(std::size_t i, V x, std::size_t lanes) {
    const D d;
    // Of NaNs there is one.
    x = hn::IfThenElse(hn::Eq(x, x), x, hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), std::uint64_t{0x7ff8} << 48)));
    if (i + kWidth > lanes) {
      double copy[kWidth];
      hn::StoreU(x, d, copy);
      std::copy_n(copy, lanes - i, to_ + i);
      return;
    }
    if (stream_) return hn::Stream(x, d, to_ + i);
    hn::StoreU(x, d, to_ + i);
  }

 private:
  double* to_;
  bool stream_;
};

// The sum of doubles of which some are infinite or NaN.
double sum_of_specials(const std::byte* from, std::uint64_t count, std::int64_t apart) {
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i, from += apart) {
    double x;
    std::memcpy(&x, from, sizeof x);
    if (!std::isfinite(x)) sum += x;
  }
  return std::isnan(sum) ? std::bit_cast<double>(std::uint64_t{0x7ff8} << 48) : sum;
}

// Some numbers, `count` at most.
template <class Real>
HWY_INLINE V load(const std::byte* from, std::size_t count) {
  const hn::Rebind<Real, D> numbers;
  const auto x = count >= kWidth ? hn::LoadU(numbers, reinterpret_cast<const Real*>(from)) : first_of(numbers, from, count);
  if constexpr (sizeof(Real) == sizeof(double)) {
    return x;
  } else {
    return hn::PromoteTo(D(), x);
  }
}

// One element each, or the sum of two, which is rounded once anyway.
template <class Real>
void sums_of_two(const FewElements& of, Results& results) {
  for (std::size_t i = 0; i < of.lanes; i += kWidth) {
    const std::size_t left = of.lanes - i;
    const std::byte* const at = of.from + i * sizeof(Real);
    if (of.count == 1) {
      results.put(i, load<Real>(at, left), of.lanes);
    } else if (of.columns) {
      results.put(i, hn::Add(load<Real>(at, left), load<Real>(at + of.apart, left)), of.lanes);
    } else {
      const std::byte* const rows = of.from + 2 * i * sizeof(Real);
      const V x[2] = {load<Real>(rows, 2 * left), load<Real>(rows + kWidth * sizeof(Real), 2 * left - std::min(2 * left, kWidth))};
      results.put(i, add_neighbours(x), of.lanes);
    }
  }
}

// Means of exact sums of two terms; the mask has those of which this is not certain.
HWY_INLINE V mean_of(V s, V e, double count, hn::Mask<D>& uncertain) {
  const near::Lanes zero(0.0);
  const near::TWO_TERMS mean = near::near_quotient(OF_MEAN, near::two_terms(s, e, zero, zero), count, 0);
  uncertain = near::finds(OF_MEAN) ? hn::Not(near::are_certain(mean)) : hn::Eq(zero.v, zero.v);
  return mean.high.v;
}

// Means of which that is not certain, one by one. False if this does not determine them.
bool decide(V& means, V s, V e, hn::Mask<D> uncertain, double count) {
  const D d;
  double all[3][kWidth], wanted[kWidth];
  hn::StoreU(means, d, all[0]);
  hn::StoreU(s, d, all[1]);
  hn::StoreU(e, d, all[2]);
  hn::StoreU(hn::IfThenElseZero(uncertain, hn::Set(d, 1.0)), d, wanted);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (wanted[i] == 0) continue;
    const ROUNDED mean = moment(OF_MEAN, {all[1][i], all[2][i], -0.0, 0}, squares_zero(), count, 0);
    if (mean.certain == 0) return false;
    all[0][i] = mean.value;
  }
  means = hn::LoadU(d, all[0]);
  return true;
}

template <class Real>
bool sums(const FewElements& of, bool mean, bool stream, double* work, double* to) {
  const bool adjacent = of.columns || of.lane_stride == static_cast<std::int64_t>(2 * sizeof(Real));
  if (of.count == 1 || (of.count == 2 && adjacent && !mean)) {
    Results results(to, stream);
    sums_of_two<Real>(of, results);
    return true;
  }
  const core::RoundingWatch watch;
  if (of.columns) {
    sum_columns<Real, false>(of.from, of.count, of.apart, std::int64_t{kTogether} * of.apart, of.lanes, work);
  } else {
    sum_rows<Real, false>(of.from, of.count, of.lanes, of.lane_stride, work);
  }
  if (watch.rounded()) return false;
  const D d;
  const V count = hn::Set(d, static_cast<double>(of.count));
  if constexpr (sizeof(Real) == sizeof(float)) {
    Results results(to, stream);
    for (std::size_t i = 0; i < of.lanes; i += kWidth) {
      const V sum = hn::LoadU(d, work + i);
      results.put(i, mean ? hn::Div(sum, count) : sum, of.lanes);
    }
  } else {
    const V zero = hn::Zero(d);
    auto special = hn::Ne(zero, zero);
    Results results(to, stream);
    for (std::size_t i = 0; i < of.lanes; i += kWidth) {
      const V upper = hn::LoadU(d, work + i), lower = hn::LoadU(d, work + kLanes + i), sum = hn::Add(upper, lower);
      const auto special_here = hn::IsNaN(lower);
      special = hn::Or(special, special_here);
      // A zero's sign is that of the upper parts.
      V result = hn::IfThenElse(hn::Eq(lower, zero), upper, sum);
      if (mean) {
        hn::Mask<D> uncertain;
        result = mean_of(upper, lower, static_cast<double>(of.count), uncertain);
        uncertain = hn::AndNot(special_here, uncertain);
        if (!hn::AllFalse(d, uncertain) && !decide(result, upper, lower, uncertain, static_cast<double>(of.count))) {
          hwy::FlushStream();
          return false;
        }
      }
      results.put(i, result, of.lanes);
    }
    if (hn::AllFalse(d, special)) return true;
    hwy::FlushStream();
    for (std::size_t i = 0; i < of.lanes; ++i) {
      if (!std::isnan(work[kLanes + i])) continue;
      to[i] = sum_of_specials(of.from + static_cast<std::int64_t>(i) * of.lane_stride, of.count, of.apart);
    }
  }
  return true;
}

bool few_elements(const FewElements& of, bool mean, bool stream, double* work, double* to) {
  return of.wide ? sums<double>(of, mean, stream, work, to) : sums<float>(of, mean, stream, work, to);
}

#else
bool few_elements(const FewElements&, bool, bool, double*, double*) { return false; }
#endif
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {

SIMD_EXPORT(few_elements);

bool FewElements::sums(bool mean, bool stream, double* work, double* to) const {
  return SIMD_CALL(few_elements)(*this, mean, stream, work, to);
}

}  // namespace samesum::groups
#endif  // HWY_ONCE
