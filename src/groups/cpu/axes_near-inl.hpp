// near_moment.h for a vector of results at once. Included once for each instruction set.
#if defined(SAMESUM_AXES_CPU_NEAR) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_AXES_CPU_NEAR
#undef SAMESUM_AXES_CPU_NEAR
#else
#define SAMESUM_AXES_CPU_NEAR
#endif

#include "groups/expansion.hpp"

#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
namespace near {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;

struct Lanes {
  hn::Vec<D> v;

  Lanes() = default;
  HWY_INLINE Lanes(hn::Vec<D> vector) : v(vector) {}
  HWY_INLINE explicit Lanes(double x) : v(hn::Set(D(), x)) {}
};
HWY_INLINE Lanes operator+(Lanes a, Lanes b) { return hn::Add(a.v, b.v); }
HWY_INLINE Lanes operator-(Lanes a, Lanes b) { return hn::Sub(a.v, b.v); }
HWY_INLINE Lanes operator*(Lanes a, Lanes b) { return hn::Mul(a.v, b.v); }
HWY_INLINE Lanes operator/(Lanes a, Lanes b) { return hn::Div(a.v, b.v); }
HWY_INLINE Lanes operator-(Lanes a) { return hn::Neg(a.v); }
HWY_INLINE Lanes fma(Lanes a, Lanes b, Lanes c) { return hn::MulAdd(a.v, b.v, c.v); }
HWY_INLINE Lanes sqrt(Lanes x) { return hn::Sqrt(x.v); }
HWY_INLINE Lanes magnitude_of_real(Lanes x) { return hn::Abs(x.v); }
HWY_INLINE Lanes where_zero(Lanes x, Lanes a, Lanes b) { return hn::IfThenElse(hn::Eq(x.v, hn::Zero(D())), a.v, b.v); }
HWY_INLINE Lanes error_of_sum(Lanes a, Lanes b, Lanes sum) {
  const Lanes of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}
HWY_INLINE double fma(double a, double b, double c) { return std::fma(a, b, c); }

#undef FN
#define FN HWY_INLINE
#define REAL Lanes
#include "groups/near_moment.h"
#undef REAL
#undef FN
#define FN inline

// As is_certain().
HWY_INLINE hn::Mask<D> are_certain(const TWO_TERMS& x) {
  const Lanes more = x.high + (x.low + x.lost), less = x.high + (x.low - x.lost);
  return hn::And(hn::Eq(more.v, x.high.v), hn::Eq(less.v, x.high.v));
}

// Whether moments are found here: all of them need the error of a product.
HWY_INLINE constexpr bool finds(uint what) { return HWY_NATIVE_FMA || what == OF_SUM || what == OF_SQUARED_NORM; }

}  // namespace near
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
