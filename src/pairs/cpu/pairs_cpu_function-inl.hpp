// f for vectors: the same operations as in function.h for kernels. Included once for each instruction set.

#include "pairs/problem.hpp"

#include <hwy/highway.h>

#include <cmath>

#if defined(SAMESUM_PAIRS_FUNCTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_PAIRS_FUNCTION_INL
#undef SAMESUM_PAIRS_FUNCTION_INL
#else
#define SAMESUM_PAIRS_FUNCTION_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace samesum::all_pairs {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Real>
using Tag = hn::ScalableTag<Real>;

constexpr bool is_additive(PairFunction f) { return f != PairFunction::gaussian && f != PairFunction::invdist; }

// Without an instruction for it, a fused multiply-add takes a library's call for each lane, which to inline into loops gains nothing.
#if HWY_NATIVE_FMA
#define SAMESUM_WITH_FMA HWY_INLINE
#else
#define SAMESUM_WITH_FMA HWY_NOINLINE
#endif

// a b + c, rounded once on every instruction set.
template <class V>
SAMESUM_WITH_FMA V fused(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const hn::DFromV<V> d;
  using Real = hn::TFromD<decltype(d)>;
  HWY_ALIGN Real x[HWY_MAX_BYTES / sizeof(Real)], y[HWY_MAX_BYTES / sizeof(Real)], z[HWY_MAX_BYTES / sizeof(Real)];
  hn::StoreU(a, d, x);
  hn::StoreU(b, d, y);
  hn::StoreU(c, d, z);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::LoadU(d, z);
#endif
}

// exp(t) for t <= 0: t = j ln 2 + r, a polynomial in r, and two powers of two, of which only the second may round.
template <class Real>
struct Exponential;
template <>
struct Exponential<float> {
  static constexpr int kMantissa = 23, kBias = 127, kDegree = 7;
  static constexpr float kLowest = -110.0f, kMagic = 0x1.8p23f, kSplit = -100.0f;
  static constexpr float kLog2e = 0x1.715476p+0f, kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
};
template <>
struct Exponential<double> {
  static constexpr int kMantissa = 52, kBias = 1023, kDegree = 13;
  static constexpr double kLowest = -760.0, kMagic = 0x1.8p52, kSplit = -1000.0;
  static constexpr double kLog2e = 0x1.71547652b82fep+0, kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
};
// 1/k!, rounded to double, and from there to float.
constexpr double kInverseFactorial[] = {1.0,
                                        1.0,
                                        0x1p-1,
                                        0x1.5555555555555p-3,
                                        0x1.5555555555555p-5,
                                        0x1.1111111111111p-7,
                                        0x1.6c16c16c16c17p-10,
                                        0x1.a01a01a01a01ap-13,
                                        0x1.a01a01a01a01ap-16,
                                        0x1.71de3a556c734p-19,
                                        0x1.27e4fb7789f5cp-22,
                                        0x1.ae64567f544e4p-26,
                                        0x1.1eed8eff8d898p-29,
                                        0x1.6124613a86d09p-33};

template <class V>
SAMESUM_WITH_FMA V exponential(V t) {
  const hn::DFromV<V> d;
  using Real = hn::TFromD<decltype(d)>;
  using E = Exponential<Real>;
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<Real>(value)); };
  const auto power_of_two = [d](V exponent) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    return hn::BitCast(d, hn::ShiftLeft<E::kMantissa>(hn::BitCast(di, hn::Add(exponent, hn::Set(d, E::kMagic + E::kBias)))));
  };
  t = hn::IfThenElse(hn::Lt(t, set(E::kLowest)), set(E::kLowest), t);
  const V j = hn::Sub(fused(t, set(E::kLog2e), set(E::kMagic)), set(E::kMagic));
  const V r = fused(j, set(-E::kLn2Low), fused(j, set(-E::kLn2High), t));
  V p = set(kInverseFactorial[E::kDegree]);
  for (int k = E::kDegree - 1; k >= 0; --k) p = fused(p, r, set(kInverseFactorial[k]));
  const V first = hn::IfThenElse(hn::Lt(j, set(E::kSplit)), set(E::kSplit), j);
  return hn::Mul(hn::Mul(p, power_of_two(first)), power_of_two(hn::Sub(j, first)));
}

#undef SAMESUM_WITH_FMA

template <PairFunction f, class Real>
class Function {
 public:
  Function(Real factor, Real softening) : factor_(factor), softening_(softening) {}

  template <class V>
  HWY_INLINE V first(V a, V b) const {
    const hn::DFromV<V> d;
    if constexpr (f == PairFunction::product) return hn::Mul(a, b);
    const V difference = hn::Sub(a, b);
    if constexpr (f == PairFunction::difference) return difference;
    if constexpr (f == PairFunction::absdiff) return hn::Abs(difference);
    if constexpr (f == PairFunction::invdist) return fused(difference, difference, hn::Set(d, softening_));
    return hn::Mul(difference, difference);
  }

  // kOnce: each fma must be rounded once. Otherwise it may be two operations, on instruction sets without fma.
  template <bool kOnce, class V>
  HWY_INLINE V next(V s, V a, V b) const {
    const auto multiply_add = [](V x, V y, V z) HWY_ATTR {
      if constexpr (kOnce) return fused(x, y, z);
      return hn::MulAdd(x, y, z);
    };
    if constexpr (f == PairFunction::product) return multiply_add(a, b, s);
    const V difference = hn::Sub(a, b);
    if constexpr (f == PairFunction::difference) return hn::Add(s, difference);
    if constexpr (f == PairFunction::absdiff) return hn::Add(s, hn::Abs(difference));
    return multiply_add(difference, difference, s);
  }

  template <class V>
  HWY_INLINE V finish(V s) const {
    const hn::DFromV<V> d;
    if constexpr (f == PairFunction::gaussian) return exponential(hn::Mul(s, hn::Set(d, factor_)));
    if constexpr (f == PairFunction::invdist) return hn::Div(hn::Set(d, Real{1}), hn::Sqrt(s));
    return s;
  }

 private:
  Real factor_, softening_;
};

}  // namespace HWY_NAMESPACE
}  // namespace samesum::all_pairs
HWY_AFTER_NAMESPACE();

#endif
