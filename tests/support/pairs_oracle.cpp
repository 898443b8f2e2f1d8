#include "support/pairs_oracle.hpp"

#include <mpfr.h>

#include <cmath>

namespace samesum::test {
namespace {

class Real256 {
 public:
  explicit Real256(double value = 0) {
    mpfr_init2(value_, 2400);  // enough for exact sums of products of doubles
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  ~Real256() { mpfr_clear(value_); }
  Real256(const Real256&) = delete;
  Real256& operator=(const Real256&) = delete;
  mpfr_ptr get() { return value_; }
  double to_double() { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

}  // namespace

template <class Real>
TruePairs true_pairs(PairFunction f, double h, double softening, const Real* a, const Real* b, const Real* weights, std::uint64_t y_count,
                     std::uint64_t components) {
  Real256 total, magnitude, argument, value, size, term;
  for (std::uint64_t y = 0; y < y_count; ++y) {
    mpfr_set_d(value.get(), f == PairFunction::invdist ? softening : 0, MPFR_RNDN);
    mpfr_sqr(value.get(), value.get(), MPFR_RNDN);
    mpfr_set_zero(size.get(), 1);
    for (std::uint64_t d = 0; d < components; ++d) {
      mpfr_set_d(term.get(), a[d], MPFR_RNDN);
      const double other = b[y * components + d];
      if (f == PairFunction::product) {
        mpfr_mul_d(term.get(), term.get(), other, MPFR_RNDN);
      } else {
        mpfr_sub_d(term.get(), term.get(), other, MPFR_RNDN);
      }
      if (f == PairFunction::absdiff) mpfr_abs(term.get(), term.get(), MPFR_RNDN);
      if (f >= PairFunction::sqdist) mpfr_sqr(term.get(), term.get(), MPFR_RNDN);
      mpfr_add(value.get(), value.get(), term.get(), MPFR_RNDN);
      mpfr_abs(term.get(), term.get(), MPFR_RNDN);
      mpfr_add(size.get(), size.get(), term.get(), MPFR_RNDN);
    }
    const double w = weights != nullptr ? static_cast<double>(weights[y]) : 1.0;
    if (f == PairFunction::gaussian) {
      mpfr_prec_round(value.get(), 200, MPFR_RNDN);
      mpfr_div_d(value.get(), value.get(), -h, MPFR_RNDN);
      mpfr_set(term.get(), value.get(), MPFR_RNDN);
      mpfr_exp(value.get(), value.get(), MPFR_RNDN);
      mpfr_mul(term.get(), term.get(), value.get(), MPFR_RNDN);
      mpfr_mul_d(term.get(), term.get(), -std::abs(w), MPFR_RNDN);
      mpfr_add(argument.get(), argument.get(), term.get(), MPFR_RNDN);
    }
    if (f == PairFunction::invdist) {
      mpfr_prec_round(value.get(), 200, MPFR_RNDN);
      mpfr_rec_sqrt(value.get(), value.get(), MPFR_RNDN);
    }
    if (f >= PairFunction::gaussian) mpfr_set(size.get(), value.get(), MPFR_RNDN);
    mpfr_mul_d(value.get(), value.get(), w, MPFR_RNDN);
    mpfr_mul_d(size.get(), size.get(), std::abs(w), MPFR_RNDN);
    mpfr_add(total.get(), total.get(), value.get(), MPFR_RNDN);
    mpfr_add(magnitude.get(), magnitude.get(), size.get(), MPFR_RNDN);
    mpfr_set_prec(value.get(), 2400);
  }
  return {total.to_double(), magnitude.to_double(), argument.to_double()};
}
template TruePairs true_pairs<float>(PairFunction, double, double, const float*, const float*, const float*, std::uint64_t, std::uint64_t);
template TruePairs true_pairs<double>(PairFunction, double, double, const double*, const double*, const double*, std::uint64_t,
                                      std::uint64_t);

template <class Real>
Real stepwise_value(PairFunction f, double h, double softening, const Real* a, const Real* b, std::uint64_t components) {
  volatile Real s = f == PairFunction::invdist ? static_cast<Real>(softening * softening) : Real{0};  // keeps all operations
  for (std::uint64_t i = 0; i < components; ++i) {
    volatile Real difference = a[i] - b[i];
    const Real d = difference;
    const Real before = s;
    const bool first = i == 0;
    if (f == PairFunction::product) {
      s = first ? a[i] * b[i] : std::fma(a[i], b[i], before);
    } else if (f == PairFunction::difference) {
      s = first ? d : before + d;
    } else if (f == PairFunction::absdiff) {
      s = first ? std::abs(d) : before + std::abs(d);
    } else {
      s = std::fma(d, d, before);
    }
  }
  const Real sum = s;
  if (f == PairFunction::gaussian) return sum * static_cast<Real>(-1 / h);
  if (f == PairFunction::invdist) {
    volatile Real root = std::sqrt(sum);
    return Real{1} / root;
  }
  return sum;
}
template float stepwise_value<float>(PairFunction, double, double, const float*, const float*, std::uint64_t);
template double stepwise_value<double>(PairFunction, double, double, const double*, const double*, std::uint64_t);

double error_of_exp(double t, double value, bool single) {
  mpfr_t right;
  mpfr_init2(right, 200);
  mpfr_set_d(right, t, MPFR_RNDN);
  mpfr_exp(right, right, MPFR_RNDN);
  const double nearest = mpfr_get_d(right, MPFR_RNDN);
  mpfr_sub_d(right, right, value, MPFR_RNDN);
  const double error = std::abs(mpfr_get_d(right, MPFR_RNDN));
  mpfr_clear(right);
  const int exponent = nearest > 0 ? std::ilogb(nearest) : -1074;
  const int lowest = single ? -149 : -1074;
  return error / std::ldexp(1.0, std::max(exponent - (single ? 23 : 52), lowest));
}

}  // namespace samesum::test
