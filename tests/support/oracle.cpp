#include "support/oracle.hpp"

#include "core/visit.hpp"

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ostream>
#include <type_traits>
#include <vector>

namespace samesum::test {
namespace {

__extension__ typedef __int128 Int128;  // no standard name for it

constexpr Expected kNan{0x7ff8000000000000, 0x7fc00000, 0};
constexpr Expected kInfinity{0x7ff0000000000000, 0x7f800000, 0};
constexpr Expected kNegativeInfinity{0xfff0000000000000, 0xff800000, 0};
constexpr Expected kNegativeZero{0x8000000000000000, 0x80000000, 0};

// The finite elements except zeros, and the properties that decide results without a finite sum.
struct Scan {
  std::vector<double> finite;
  std::uint64_t nan_count = 0;
  std::uint64_t positive_infinities = 0;
  std::uint64_t negative_infinities = 0;
  std::uint64_t negative_zeros = 0;
  std::uint64_t positive_zeros = 0;
};

// Calls body with an element of an array of one axis as a number: 16-bit floats as float. Called for each, so it makes no other array.
template <class Body>
auto with_element(const Array& data, std::uint64_t i, const Body& body) {
  const void* at = static_cast<const std::byte*>(data.data()) + static_cast<std::int64_t>(i) * data.stride();
  return core::visit(data.type(), [&](auto element) {
    using Value = std::conditional_t<std::is_arithmetic_v<decltype(element)>, decltype(element), float>;
    std::memcpy(&element, at, sizeof element);
    return body(static_cast<Value>(element));  // may quiet a NaN, which stays a NaN
  });
}

// For floats.
double element(const Array& data, std::uint64_t i) {
  return with_element(data, i, [](auto value) { return static_cast<double>(value); });
}

Scan kinds_of(Array data) {
  Scan result;
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const double value = element(data, i);
    if (std::isnan(value)) {
      ++result.nan_count;
    } else if (std::isinf(value)) {
      ++(value > 0 ? result.positive_infinities : result.negative_infinities);
    } else if (value == 0) {
      ++(std::signbit(value) ? result.negative_zeros : result.positive_zeros);
    } else {
      result.finite.push_back(value);
    }
  }
  return result;
}

// The special results; `finite_sum` where none applies.
template <class FiniteSum>
Expected decide(Array data, NanPolicy nan, FiniteSum finite_sum) {
  const Scan elements = kinds_of(data);
  Expected result;
  if (elements.nan_count != 0 && nan == NanPolicy::propagate) {
    result = kNan;
  } else if (elements.positive_infinities != 0 && elements.negative_infinities != 0) {
    result = kNan;
  } else if (elements.positive_infinities != 0) {
    result = kInfinity;
  } else if (elements.negative_infinities != 0) {
    result = kNegativeInfinity;
  } else if (elements.finite.empty()) {
    if (elements.negative_zeros != 0 && elements.positive_zeros == 0) result = kNegativeZero;
  } else {
    result = finite_sum(elements.finite);
  }
  result.nan_count = elements.nan_count;
  return result;
}

// mpfr_sum, rounded once to `precision` bits within an exponent range; a sum of exactly zero is +0.
double rounded_mpfr_sum(std::vector<mpfr_ptr>& terms, mpfr_prec_t precision, mpfr_exp_t emin, mpfr_exp_t emax) {
  const mpfr_exp_t old_emin = mpfr_get_emin();
  const mpfr_exp_t old_emax = mpfr_get_emax();
  mpfr_t sum;
  mpfr_init2(sum, precision);
  int ternary = mpfr_sum(sum, terms.data(), terms.size(), MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  ternary = mpfr_check_range(sum, ternary, MPFR_RNDN);
  mpfr_subnormalize(sum, ternary, MPFR_RNDN);
  const double result = mpfr_get_d(sum, MPFR_RNDN);
  mpfr_set_emin(old_emin);
  mpfr_set_emax(old_emax);
  mpfr_clear(sum);
  return result;
}

// |sum| · 2^1074 rounded to `precision` bits, the lowest of which weighs at least 2^lowest.
double rounded_integer(mpz_srcptr sum, int precision, int lowest, double max) {
  mpz_t magnitude;
  mpz_init(magnitude);
  mpz_abs(magnitude, sum);
  const auto length = static_cast<int>(mpz_sizeinbase(magnitude, 2));
  const int drop = std::max(length - precision, lowest + 1074);
  if (drop > 0) {
    const auto tie = static_cast<mp_bitcnt_t>(drop - 1);
    const bool half = mpz_tstbit(magnitude, tie) != 0;
    const bool beyond = mpz_sgn(magnitude) != 0 && mpz_scan1(magnitude, 0) < tie;
    mpz_tdiv_q_2exp(magnitude, magnitude, static_cast<mp_bitcnt_t>(drop));
    if (half && (beyond || mpz_odd_p(magnitude))) mpz_add_ui(magnitude, magnitude, 1);
  }
  const double rounded = std::ldexp(mpz_get_d(magnitude), std::max(drop, 0) - 1074);  // exact, or beyond the range
  mpz_clear(magnitude);
  return std::copysign(rounded > max ? HUGE_VAL : rounded, mpz_sgn(sum));
}

Expected encode(double float64, double float32) {
  return {std::bit_cast<std::uint64_t>(float64), std::bit_cast<std::uint32_t>(static_cast<float>(float32)), 0};
}

Expected finite_mpfr_sum(const std::vector<double>& values) {
  constexpr mpfr_prec_t kPrecision = 53;
  std::vector<mp_limb_t> limbs(values.size());
  std::vector<mpfr_t> numbers(values.size());
  std::vector<mpfr_ptr> terms(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    mpfr_custom_init(&limbs[i], kPrecision);
    mpfr_custom_init_set(numbers[i], MPFR_ZERO_KIND, 0, kPrecision, &limbs[i]);
    mpfr_set_d(numbers[i], values[i], MPFR_RNDN);
    terms[i] = numbers[i];
  }
  return encode(rounded_mpfr_sum(terms, 53, -1073, 1024), rounded_mpfr_sum(terms, 24, -148, 128));
}

Expected finite_integer_sum(const std::vector<double>& values) {
  std::vector<Int128> bins(2048);  // mantissas by exponent
  for (const double value : values) {
    int exponent;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    const int position = exponent - 53 + 1074;  // negative for denormals, whose mantissas then end in as many zeros
    bins[std::max(position, 0)] += position < 0 ? mantissa >> -position : mantissa;
  }
  mpz_t sum;
  mpz_t part;
  mpz_inits(sum, part, nullptr);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] == 0) continue;
    const Int128 magnitude = bins[i] < 0 ? -bins[i] : bins[i];
    mpz_import(part, 1, 1, sizeof magnitude, 0, 0, &magnitude);
    mpz_mul_2exp(part, part, i);
    bins[i] < 0 ? mpz_sub(sum, sum, part) : mpz_add(sum, sum, part);
  }
  const Expected result = gmp_round(sum);
  mpz_clears(sum, part, nullptr);
  return result;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << std::bit_cast<double>(expected.float64) << " (float64 0x" << std::hex << expected.float64 << ", float32 0x"
             << expected.float32 << std::dec << ", " << expected.nan_count << " NaN)";
}

Expected gmp_round(mpz_srcptr units) {
  if (mpz_sgn(units) == 0) return {};
  return encode(rounded_integer(units, 53, -1074, 0x1.fffffffffffffp1023), rounded_integer(units, 24, -149, 0x1.fffffep127));
}

Accumulator add_each(Array data) {
  Accumulator result;
  for (std::uint64_t i = 0; i < data.size(); ++i) with_element(data, i, [&](auto value) { result.add(value); });
  return result;
}

Expected result_of(const Accumulator& accumulator, NanPolicy nan) {
  return {std::bit_cast<std::uint64_t>(accumulator.round(nan)), std::bit_cast<std::uint32_t>(accumulator.round_to_float(nan)),
          accumulator.nan_count()};
}

Expected mpfr_oracle(Array data, NanPolicy nan) { return decide(data, nan, finite_mpfr_sum); }
Expected gmp_oracle(Array data, NanPolicy nan) { return decide(data, nan, finite_integer_sum); }

}  // namespace samesum::test
