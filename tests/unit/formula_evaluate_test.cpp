// Every operator and function of formulas on the CPU, against MPFR and integers of 128 bits; arrays of any shape; integer errors.
#include "formula/cpu/evaluate.hpp"
#include "selftest/cases.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

__extension__ using Wide = __int128;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
BitsOf<T> bits(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}

// Numbers on which careless arithmetic goes wrong, and random bit patterns.
template <class T>
std::vector<T> ugly_floats(std::size_t random_ones) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{Limits::quiet_NaN(),
                        Limits::infinity(),
                        T(0),
                        T(-0.0),
                        Limits::denorm_min(),
                        Limits::min(),
                        Limits::max(),
                        T(1),
                        T(0.5),
                        T(1.5),
                        T(2.5),
                        T(3.25),
                        T(100),
                        T(0x1p63),
                        T(0x1p64),
                        T(1e-3),
                        Limits::epsilon(),
                        T(3),
                        std::nextafter(T(1), T(0))};
  for (std::size_t k = 1, n = values.size(); k < n; ++k) values.push_back(-values[k]);
  hard::Random random(7);
  for (std::size_t k = 0; k < random_ones; ++k) {
    values.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(random.bits())));
    values.push_back(static_cast<T>(static_cast<std::int64_t>(random.bits(20)) - (1 << 19)) / T(1024));
  }
  return values;
}

// All pairs.
template <class T>
void pairs_of(const std::vector<T>& values, std::vector<T>& x, std::vector<T>& y) {
  for (const T a : values) {
    for (const T b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
}

class Real {
 public:
  explicit Real(int precision = 2400) { mpfr_init2(value_, precision); }
  explicit Real(double value, int precision = 2400) : Real(precision) { mpfr_set_d(value_, value, MPFR_RNDN); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }
  template <class T>
  T rounded() const {
    if constexpr (sizeof(T) == 4) {
      return mpfr_get_flt(value_, MPFR_RNDN);
    } else {
      return mpfr_get_d(value_, MPFR_RNDN);
    }
  }

 private:
  mpfr_t value_;
};

using Exact = std::function<void(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y)>;

template <class T>
void expect_rounded(std::string_view text, const std::vector<T>& x, const std::vector<T>& y, const Exact& exact, int precision = 2400) {
  const std::vector<T> found = evaluate<T>(Formula(text), {{"x", x}, {"y", y}});
  ASSERT_EQ(found.size(), x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    Real result(precision), a(x[k]), b(y[k]);
    exact(result.get(), a.get(), b.get());
    T expected = result.rounded<T>();
    if (std::isnan(expected))
      expected = std::bit_cast<T>(sizeof(T) == 4 ? static_cast<BitsOf<T>>(0x7fc00000u) : static_cast<BitsOf<T>>(0x7ff8000000000000u));
    ASSERT_EQ(bits(found[k]), bits(expected)) << text << " of " << x[k] << ", " << y[k] << ": " << found[k] << ", not " << expected;
  }
}

template <class T>
void check_exact_operations() {
  std::vector<T> x, y;
  pairs_of(ugly_floats<T>(12), x, y);
  const mpfr_rnd_t n = MPFR_RNDN;
  expect_rounded<T>("x + y", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_add(r, a, b, n); });
  expect_rounded<T>("x - y", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_sub(r, a, b, n); });
  expect_rounded<T>("x*y", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_mul(r, a, b, n); });
  expect_rounded<T>("x/y", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_div(r, a, b, n); });
  expect_rounded<T>("x % y", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_fmod(r, a, b, n); });
  expect_rounded<T>(
      "fma(x, y, x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_fma(r, a, b, a, n); }, 4800);
  // Of a difference that is squared, each operation is rounded by itself.
  const auto of_type = [=](mpfr_ptr r) { mpfr_set_d(r, sizeof(T) == 4 ? mpfr_get_flt(r, n) : mpfr_get_d(r, n), n); };
  const auto difference = [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) {
    mpfr_sub(r, a, b, n);
    of_type(r);
  };
  const auto square = [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) {
    difference(r, a, b);
    mpfr_sqr(r, r, n);
  };
  expect_rounded<T>("(x - y)*(x - y)", x, y, square);
  expect_rounded<T>("let d = x - y; d*d - d", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) {
    Real d;
    difference(d.get(), a, b);
    square(r, a, b);
    of_type(r);
    mpfr_sub(r, r, d.get(), n);
  });
  expect_rounded<T>(
      "fma(x - y, x - y, y)", x, y,
      [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) {
        difference(r, a, b);
        mpfr_fma(r, r, r, b, n);
      },
      4800);
  expect_rounded<T>("sqrt(x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_sqrt(r, a, n); });
  expect_rounded<T>("-x", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_neg(r, a, n); });
  expect_rounded<T>("abs(x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_abs(r, a, n); });
  expect_rounded<T>("floor(x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_rint_floor(r, a, n); });
  expect_rounded<T>("ceil(x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_rint_ceil(r, a, n); });
  expect_rounded<T>("trunc(x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_rint_trunc(r, a, n); });
  expect_rounded<T>("round(x)", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr) { mpfr_rint_roundeven(r, a, n); });
  const auto nan_or = [](auto&& other) {
    return [other](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_nan_p(a) != 0 || mpfr_nan_p(b) != 0 ? mpfr_set_nan(r) : other(r, a, b); };
  };
  const auto less = [](mpfr_ptr a, mpfr_ptr b) {
    return mpfr_less_p(a, b) != 0 || (mpfr_equal_p(a, b) != 0 && mpfr_signbit(a) > mpfr_signbit(b));
  };
  expect_rounded<T>("min(x, y)", x, y, nan_or([=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_set(r, less(a, b) ? a : b, n); }));
  expect_rounded<T>("max(x, y)", x, y, nan_or([=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_set(r, less(a, b) ? b : a, n); }));
  expect_rounded<T>("x > y ? x : y", x, y, [=](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b) { mpfr_set(r, mpfr_greater_p(a, b) != 0 ? a : b, n); });
}

TEST(FormulaEvaluate, RoundsOnceFloat32) { check_exact_operations<float>(); }
TEST(FormulaEvaluate, RoundsOnceFloat64) { check_exact_operations<double>(); }

template <class T>
void check_comparisons() {
  std::vector<T> x, y;
  pairs_of(ugly_floats<T>(3), x, y);
  const auto check = [&](std::string_view text, auto&& expected) {
    const std::vector<std::uint8_t> found = evaluate<std::uint8_t>(Formula(text), {{"x", x}, {"y", y}});
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_EQ(found[k], expected(x[k], y[k]) ? 1 : 0) << text << " of " << x[k] << ", " << y[k];
  };
  check("x < y", [](T a, T b) { return a < b; });
  check("x <= y", [](T a, T b) { return a <= b; });
  check("x > y", [](T a, T b) { return a > b; });
  check("x >= y", [](T a, T b) { return a >= b; });
  check("x == y", [](T a, T b) { return a == b; });
  check("x != y", [](T a, T b) { return a != b; });
  check("isnan(x)", [](T a, T) { return std::isnan(a); });
  check("!(x < y) && (x == x || y > 0)", [](T a, T b) { return !(a < b) && (a == a || b > 0); });
  check("select(x < y, y == y, isnan(y))", [](T a, T b) { return a < b ? b == b : std::isnan(b); });
}

TEST(FormulaEvaluate, Compares) {
  check_comparisons<float>();
  check_comparisons<double>();
}

// How many units in the last place a value is off.
template <class T>
double error_in_ulp(T found, Real& exact) {
  const T nearest = exact.rounded<T>();
  if (std::isnan(nearest) || std::isnan(found)) return std::isnan(nearest) && std::isnan(found) ? 0 : HUGE_VAL;
  if (nearest == found) return nearest == 0 && std::signbit(nearest) != std::signbit(found) ? HUGE_VAL : 0;
  if (std::isinf(nearest) || std::isinf(found)) {
    // The greatest finite number may stand for what is just above it.
    return std::abs(std::isinf(nearest) ? found : nearest) == std::numeric_limits<T>::max() && std::signbit(found) == std::signbit(nearest)
               ? 1
               : HUGE_VAL;
  }
  const T next = std::nextafter(std::abs(nearest), std::numeric_limits<T>::infinity());
  Real difference(400), unit(400), value(static_cast<double>(found), 400);
  mpfr_sub(difference.get(), exact.get(), value.get(), MPFR_RNDN);
  mpfr_set_d(unit.get(),
             static_cast<double>(std::isinf(next) ? std::abs(nearest) - std::nextafter(std::abs(nearest), T(0)) : next - std::abs(nearest)),
             MPFR_RNDN);
  mpfr_div(difference.get(), difference.get(), unit.get(), MPFR_RNDN);
  return std::abs(mpfr_get_d(difference.get(), MPFR_RNDN));
}

// Numbers between which functions are computed in different ways, and where they leave the range.
template <class T>
std::vector<T> numbers_for_functions() {
  std::vector<T> x = ugly_floats<T>(1500);
  for (int k = 1; k < 2000; ++k) x.push_back(static_cast<T>(k * 1.5707963267948966));  // near multiples of a quarter turn
  for (const double edge : {0.0,
                            0x1p-54,
                            0x1p-25,
                            0.34657,
                            0.4142135623730951,
                            0.5,
                            0.7071067811865476,
                            0.78,
                            0.7853981633974483,
                            1.0,
                            1.4142135623730951,
                            2.414213562373095,
                            9.0,
                            10.0,
                            10.25,
                            20.0,
                            27.5,
                            38.0,
                            88.7228,
                            87.3365,
                            89.4160,
                            103.97,
                            126.0,
                            127.0,
                            128.0,
                            149.0,
                            150.0,
                            709.7827,
                            708.3964,
                            710.4758,
                            745.1332,
                            1022.0,
                            1023.0,
                            1024.0,
                            1074.0,
                            1075.0,
                            1500.0,
                            200000.0}) {
    for (const double step : {0.0, 0x1p-60, 0x1p-52, 0x1p-30, 0x1p-24, 0x1p-22, 0x1p-8}) {
      for (const double sign : {1.0, -1.0}) {
        x.push_back(static_cast<T>(sign * edge * (1 + step)));
        x.push_back(static_cast<T>(sign * (edge * (1 - step) - step * 0x1p-20)));
      }
    }
  }
  // The numbers that are nearest of all to a multiple of a quarter turn.
  for (const double value : {0x1.8ac5bd4a4d5e4p+849, 6381956970095103.0 * 0x1p797, 16367173.0 * 0x1p72}) x.push_back(static_cast<T>(value));
  // Where roundings of asin, tan, expm1 and erfc add up.
  for (const double value :
       {0x1.aed01cp-1, 0x1.ac99d8cdcafefp-1, 0x1.f66352p+1, 0x1.58534ap+75, 0x1.89cfbc157e9fap-2, 0x1.d440c1e788e03p+1}) {
    x.push_back(static_cast<T>(value));
  }
  return x;
}

// docs/formulas.md states these bounds.
template <class T>
void check_bounds() {
  struct Row {
    std::string_view text;
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
    double bound;
  };
  const Row kRows[] = {{"exp(x)", mpfr_exp, 1},     {"exp2(x)", mpfr_exp2, 1}, {"expm1(x)", mpfr_expm1, 2}, {"log(x)", mpfr_log, 1},
                       {"log1p(x)", mpfr_log1p, 2}, {"log2(x)", mpfr_log2, 1}, {"log10(x)", mpfr_log10, 1}, {"sin(x)", mpfr_sin, 2},
                       {"cos(x)", mpfr_cos, 2},     {"tan(x)", mpfr_tan, 4},   {"asin(x)", mpfr_asin, 2},   {"acos(x)", mpfr_acos, 2},
                       {"atan(x)", mpfr_atan, 2},   {"sinh(x)", mpfr_sinh, 3}, {"cosh(x)", mpfr_cosh, 2},   {"tanh(x)", mpfr_tanh, 3},
                       {"erf(x)", mpfr_erf, 2},     {"erfc(x)", mpfr_erfc, 5}, {"cbrt(x)", mpfr_cbrt, 1}};
  const std::vector<T> x = numbers_for_functions<T>();
  for (const Row& row : kRows) {
    const std::vector<T> found = evaluate<T>(Formula(row.text), {{"x", x}});
    for (std::size_t k = 0; k < x.size(); ++k) {
      Real exact(400), of(x[k], 64);
      row.exact(exact.get(), of.get(), MPFR_RNDN);
      ASSERT_LE(error_in_ulp(found[k], exact), row.bound) << row.text << " of " << x[k];
    }
    const std::vector<T> fixed = evaluate<T>(Formula(row.text, FormulaMath::fixed), {{"x", x}});
    EXPECT_EQ(std::memcmp(found.data(), fixed.data(), x.size() * sizeof(T)), 0) << row.text;
  }
  struct Row2 {
    std::string_view text;
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
    double bound;
  };
  const Row2 kRows2[] = {
      {"atan2(x, y)", mpfr_atan2, 3}, {"pow(x, y)", mpfr_pow, 1}, {"x^(y*1)", mpfr_pow, 1}, {"hypot(x, y)", mpfr_hypot, 2}};
  std::vector<T> a, b;
  pairs_of(ugly_floats<T>(15), a, b);
  hard::Random random(4);
  for (int k = 0; k < 20000; ++k) {  // powers of up to the whole range, of bases far from 1 and near it; small whole numbers
    const double u = static_cast<double>(random.bits(53)) * 0x1p-53, v = static_cast<double>(random.bits(53)) * 0x1p-52 - 1;
    const double most = sizeof(T) == 4 ? 150 : 1080;
    const double base = k % 3 == 0 ? std::exp2(v * most * 0.9) : 1 + std::exp2(-1 - u * (sizeof(T) == 4 ? 22 : 51)) * (k % 2 == 0 ? 1 : -1);
    a.push_back(static_cast<T>(k % 5 == 0 ? static_cast<double>(random.below(41)) - 20 : base));
    b.push_back(static_cast<T>(k % 5 == 0 ? static_cast<double>(random.below(41)) - 20 : most * v / std::log2(base)));
  }
  for (const Row2& row : kRows2) {
    const std::vector<T> found = evaluate<T>(Formula(row.text), {{"x", a}, {"y", b}});
    for (std::size_t k = 0; k < a.size(); ++k) {
      Real exact(400), p(a[k], 64), q(b[k], 64);
      row.exact(exact.get(), p.get(), q.get(), MPFR_RNDN);
      ASSERT_LE(error_in_ulp(found[k], exact), row.bound) << row.text << " of " << a[k] << ", " << b[k];
    }
  }
}

TEST(FormulaEvaluate, KeepsItsBoundsFloat32) { check_bounds<float>(); }
TEST(FormulaEvaluate, KeepsItsBoundsFloat64) { check_bounds<double>(); }

// What users expect to be exact, though the bounds do not promise it.
template <class T>
void check_exact_values() {
  std::vector<T> whole;
  for (int k = -(sizeof(T) == 4 ? 149 : 1074); k < (sizeof(T) == 4 ? 128 : 1024); ++k) whole.push_back(static_cast<T>(k));
  const std::vector<T> powers = evaluate<T>(Formula("exp2(x)"), {{"x", whole}});
  const std::vector<T> back = evaluate<T>(Formula("log2(x)"), {{"x", powers}});
  for (std::size_t k = 0; k < whole.size(); ++k) {
    ASSERT_EQ(powers[k], std::ldexp(T(1), static_cast<int>(whole[k])));
    ASSERT_EQ(back[k], whole[k]);
  }
  std::vector<T> roots, cubes, tens, exponents;
  for (int k = -200; k <= 200; ++k) {
    roots.push_back(static_cast<T>(k));
    cubes.push_back(static_cast<T>(k * k * k));
  }
  EXPECT_EQ(evaluate<T>(Formula("cbrt(x)"), {{"x", cubes}}), roots);
  EXPECT_EQ(evaluate<T>(Formula("pow(x, 3)"), {{"x", roots}}), cubes);
  T ten = 1;
  for (int k = 0; k <= (sizeof(T) == 4 ? 10 : 22); ++k, ten *= 10) {  // 10^k is a number of the type
    tens.push_back(ten);
    exponents.push_back(static_cast<T>(k));
  }
  EXPECT_EQ(evaluate<T>(Formula("log10(x)"), {{"x", tens}}), exponents);
  EXPECT_EQ(evaluate<T>(Formula("pow(10, x)"), {{"x", exponents}}), tens);
}
TEST(FormulaEvaluate, GivesWholeNumbersExactly) {
  check_exact_values<float>();
  check_exact_values<double>();
}

template <class T>
std::vector<T> ugly_integers() {
  std::vector<T> values;
  for (const std::int64_t small : {0, 1, 2, 3, 5, 7, 12, 62, 63, 64, 65, 1000003}) {
    values.push_back(static_cast<T>(small));
    values.push_back(static_cast<T>(-small));
  }
  for (const int bit : {31, 32, 62, 63}) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power, power - 1, power + 1, 0 - power}) values.push_back(static_cast<T>(value));
  }
  hard::Random random(3);
  for (int k = 0; k < 12; ++k) values.push_back(static_cast<T>(random.bits(1 + static_cast<int>(random.below(64)))));
  return values;
}

// The value, or the fault of the operation alone.
struct Answer {
  Wide value = 0;
  std::string_view fault;
};

Wide magnitude(Wide a) { return a < 0 ? -a : a; }
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
void check_integers() {
  constexpr Wide kLeast = std::numeric_limits<T>::min(), kGreatest = std::numeric_limits<T>::max();
  const auto fits = [](Wide value) { return value < kLeast || value > kGreatest ? Answer{0, "overflow"} : Answer{value, {}}; };
  using Expected = std::function<Answer(Wide, Wide)>;
  const auto as_t = [](Wide value) { return Answer{static_cast<Wide>(static_cast<T>(value)), {}}; };
  const std::pair<std::string_view, Expected> kTable[] = {
      {"x + y", [=](Wide a, Wide b) { return fits(a + b); }},
      {"x - y", [=](Wide a, Wide b) { return fits(a - b); }},
      {"x*y",
       [=](Wide a, Wide b) {
         Wide product = 0;
         return __builtin_mul_overflow(a, b, &product) ? Answer{0, "overflow"} : fits(product);
       }},
      {"x/y",
       [=](Wide a, Wide b) {
         return b == 0 ? Answer{0, "division by zero"} : fits(a / b);
       }},
      {"x % y",
       [=](Wide a, Wide b) {
         return b == 0 ? Answer{0, "division by zero"} : fits(a % b);
       }},
      {"-x", [=](Wide a, Wide) { return fits(-a); }},
      {"abs(x)", [=](Wide a, Wide) { return fits(magnitude(a)); }},
      {"~x", [=](Wide a, Wide) { return as_t(~a); }},
      {"x & y", [=](Wide a, Wide b) { return as_t(a & b); }},
      {"x | y", [=](Wide a, Wide b) { return as_t(a | b); }},
      {"xor(x, y)", [=](Wide a, Wide b) { return as_t(a ^ b); }},
      {"x << y",
       [=](Wide a, Wide b) {
         return b < 0 || b > 63 ? Answer{0, "shift out of range"} : as_t(static_cast<Wide>(static_cast<UnsignedWide>(a) << b));
       }},
      {"x >> y",
       [=](Wide a, Wide b) {
         return b < 0 || b > 63 ? Answer{0, "shift out of range"} : as_t(a >> b);
       }},
      {"min(x, y)", [=](Wide a, Wide b) { return as_t(std::min(a, b)); }},
      {"max(x, y)", [=](Wide a, Wide b) { return as_t(std::max(a, b)); }},
      {"gcd(x, y)",
       [=](Wide a, Wide b) {
         return fits(Wide{std::gcd(static_cast<std::uint64_t>(magnitude(a)), static_cast<std::uint64_t>(magnitude(b)))});
       }},
      {"popcount(x)", [=](Wide a, Wide) { return as_t(std::popcount(static_cast<std::uint64_t>(a))); }},
      {"clz(x)", [=](Wide a, Wide) { return as_t(std::countl_zero(static_cast<std::uint64_t>(a))); }},
      {"floor(ceil(round(trunc(x))))", [=](Wide a, Wide) { return as_t(a); }},
      {"mulmod(x, y, 1000003)",
       [=](Wide a, Wide b) {
         constexpr Wide m = 1000003;
         return as_t((a % m + m) % m * ((b % m + m) % m) % m);
       }},
      // Small integers, and divisors in the text, have instructions of their own.
      {"x % 1000003", [=](Wide a, Wide) { return as_t(a % 1000003); }},
      {"x/1000003", [=](Wide a, Wide) { return as_t(a / 1000003); }},
      {"x/1 + x % 1", [=](Wide a, Wide) { return as_t(a); }},
      {"x/4611686018427387905", [=](Wide a, Wide) { return as_t(a / 4611686018427387905); }},
      {"x % 9223372036854775807", [=](Wide a, Wide) { return as_t(a % 9223372036854775807); }},
      {"(x % 2251799813685248) % 1000003", [=](Wide a, Wide) { return as_t(a % (Wide{1} << 51) % 1000003); }},
      {"(x % 2251799813685248)/1000003", [=](Wide a, Wide) { return as_t(a % (Wide{1} << 51) / 1000003); }},
      {"(x % 2305843009213693952) % 1073741823", [=](Wide a, Wide) { return as_t(a % (Wide{1} << 61) % 1073741823); }},
      {"(x % 2305843009213693952)/1073741823", [=](Wide a, Wide) { return as_t(a % (Wide{1} << 61) / 1073741823); }},
      {"(x % 8589934592)/3 + (y % 8589934592) % 3",
       [=](Wide a, Wide b) { return as_t(a % (Wide{1} << 33) / 3 + b % (Wide{1} << 33) % 3); }},
      {"(x % 2147483648)*(y % 2147483648)", [=](Wide a, Wide b) { return as_t(a % (Wide{1} << 31) * (b % (Wide{1} << 31))); }},
      {"gcd(x % 4294967296, y % 4294967296)",
       [=](Wide a, Wide b) {
         return as_t(Wide{std::gcd(static_cast<std::uint64_t>(magnitude(a % (Wide{1} << 32))),
                                   static_cast<std::uint64_t>(magnitude(b % (Wide{1} << 32))))});
       }},
      {"mulmod(x % 65536, y, 1000003)",
       [=](Wide a, Wide b) {
         constexpr Wide m = 1000003;
         return as_t((a % 65536 % m + m) % m * ((b % m + m) % m) % m);
       }},
      {"mulmod(x % 65536, y % 1000000000, 1000003)",
       [=](Wide a, Wide b) {
         constexpr Wide m = 1000003;
         return as_t((a % 65536 % m + m) % m * ((b % 1000000000 % m + m) % m) % m);
       }},
      {"mulmod(x, y, 9223372036854775783)",
       [=](Wide a, Wide b) {
         constexpr Wide m = 9223372036854775783;
         return as_t(static_cast<Wide>(static_cast<UnsignedWide>((a % m + m) % m) * static_cast<UnsignedWide>((b % m + m) % m) %
                                       static_cast<UnsignedWide>(m)));
       }},
      {"mulmod(x, x, y)",
       [=](Wide a, Wide b) {
         if (b < 1) return Answer{0, "a modulus that is not positive"};
         const auto rest = static_cast<UnsignedWide>((a % b + b) % b);
         return as_t(static_cast<Wide>(rest * rest % static_cast<UnsignedWide>(b)));
       }},
      {"x^3",
       [=](Wide a, Wide) {
         const Answer square = fits(magnitude(a) < Wide{1} << 62 ? a * a : Wide{1} << 126);
         if (!square.fault.empty()) return square;
         Wide cube = 0;
         return __builtin_mul_overflow(square.value, a, &cube) ? Answer{0, "overflow"} : fits(cube);
       }},
      {"x == y ? 1 : 0", [=](Wide a, Wide b) { return as_t(a == b ? 1 : 0); }},
      {"(x < y) + 2*(x <= y) + 4*(x != y)", [=](Wide a, Wide b) { return as_t((a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a != b ? 4 : 0)); }},
  };
  std::vector<T> x, y;
  pairs_of(ugly_integers<T>(), x, y);
  for (const auto& [text, expected] : kTable) {
    const Formula formula(text);
    // Where no element fails all of them at once, behind a condition; each that does alone.
    std::vector<T> good_x, good_y, values;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Answer answer = expected(x[k], y[k]);
      if (answer.fault.empty()) {
        good_x.push_back(x[k]);
        good_y.push_back(y[k]);
        values.push_back(static_cast<T>(answer.value));
        continue;
      }
      if (k % 7 != 0) continue;
      try {
        const std::vector<double> found =
            evaluate<double>(formula, {{"x", Array(&x[k], 1, dtype_of<T>())}, {"y", Array(&y[k], 1, dtype_of<T>())}});
        FAIL() << text << " of " << +x[k] << ", " << +y[k] << ": " << found[0];
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::no_answer) << error.what();
        ASSERT_TRUE(std::string_view(error.what()).starts_with(answer.fault)) << error.what();
      }
    }
    std::vector<T> found(values.size());
    if (formula.describe({{"x", x}, {"y", y}}).results[0] == DType::int64 && !std::is_signed_v<T>) {
      const std::vector<std::int64_t> of_numbers = evaluate<std::int64_t>(formula, {{"x", good_x}, {"y", good_y}});
      std::transform(of_numbers.begin(), of_numbers.end(), found.begin(), [](std::int64_t value) { return static_cast<T>(value); });
    } else {
      found = evaluate<T>(formula, {{"x", good_x}, {"y", good_y}});
    }
    for (std::size_t k = 0; k < values.size(); ++k) ASSERT_EQ(found[k], values[k]) << text << " of " << good_x[k] << ", " << good_y[k];
  }
}

TEST(FormulaEvaluate, IntegersAreExactOrFail) {
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
}

TEST(FormulaEvaluate, Converts) {
  const std::vector<double> x = ugly_floats<double>(200);
  for (const double value : x) {
    const std::vector<double> one{value};
    const bool fits = value >= -0x1p63 && value < 0x1p63;
    const auto convert = [&](std::string_view text) -> std::optional<double> {
      try {
        return evaluate<double>(Formula(text), {{"x", one}})[0];
      } catch (const Error& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with("a conversion to an integer that does not fit at index 0")) << error.what();
        return std::nullopt;
      }
    };
    EXPECT_EQ(convert("int64(x)"), fits ? std::optional(std::trunc(value) + 0.0) : std::nullopt) << value;
    EXPECT_EQ(convert("uint64(x)"), value > -1 && value < 0x1p64 ? std::optional(std::abs(std::trunc(value))) : std::nullopt) << value;
    if (std::isnan(value)) continue;
    EXPECT_EQ(evaluate<float>(Formula("float32(x)"), {{"x", one}})[0], static_cast<float>(value));
  }
  const std::vector<std::int64_t> n = ugly_integers<std::int64_t>();
  const std::vector<float> floats = evaluate<float>(Formula("float32(x)"), {{"x", n}});
  const std::vector<double> doubles = evaluate<double>(Formula("float64(x)"), {{"x", n}});
  for (std::size_t k = 0; k < n.size(); ++k) {
    mpz_t big;
    mpz_init_set_si(big, n[k]);
    Real exact(80);
    mpfr_set_z(exact.get(), big, MPFR_RNDN);
    mpz_clear(big);
    EXPECT_EQ(floats[k], exact.rounded<float>());
    EXPECT_EQ(doubles[k], exact.rounded<double>());
  }
}

TEST(FormulaEvaluate, NumbersInTheTextAreRoundedOnce) {
  const std::vector<float> x{1};
  // Halfway between two floats but for its last digits: by way of a double it would go the other way.
  EXPECT_EQ(evaluate<float>(Formula("x*1.00000005960464477539062500000000000001"), {{"x", x}})[0], 0x1.000002p0f);
  EXPECT_EQ(evaluate<float>(Formula("x*(1/3)"), {{"x", x}})[0], 1.0f / 3.0f);
  EXPECT_EQ(evaluate<float>(Formula("x*0x1.8p-3 + 0x10"), {{"x", x}})[0], 16.1875f);
  EXPECT_EQ(evaluate<double>(Formula("1/2 + 1.0/2"), {})[0], 1);
  EXPECT_EQ(evaluate<std::int64_t>(Formula("-9223372036854775808"), {})[0], std::numeric_limits<std::int64_t>::min());
}

TEST(FormulaEvaluate, QuotientsByPowersOfTwo) {
  const auto check = [&](const auto& x, const std::string& divisor, auto value) {
    using Float = decltype(value);
    const std::vector<Float> quotients = evaluate<Float>(Formula("x/" + divisor), {{"x", x}}),
                             sums = evaluate<Float>(Formula("x/" + divisor + " - inf"), {{"x", x}});
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Float expected = x[k] / value, sum = expected - std::numeric_limits<Float>::infinity();
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(quotients[k]) : bits(quotients[k]) == bits(expected)) << x[k] << " / " << divisor;
      ASSERT_TRUE(std::isnan(sum) ? std::isnan(sums[k]) : bits(sums[k]) == bits(sum)) << x[k] << " / " << divisor << " - inf";
    }
  };
  const std::vector<double> x = ugly_floats<double>(200);
  check(x, "-0.25", -0.25);
  check(x, "0x1p1022", 0x1p1022);
  check(x, "0x1p-1022", 0x1p-1022);
  check(x, "0x1p1023", 0x1p1023);  // whose reciprocal is denormal
  check(x, "0x1p-1074", 0x1p-1074);
  std::vector<float> y = ugly_floats<float>(200);
  y.insert(y.end(), {3e38f, -3e38f, 0x1p-149f, -0x1p-149f});
  check(y, "-0.25", -0.25f);
  check(y, "1024", 1024.0f);
  check(y, "0x1p126", 0x1p126f);
  check(y, "0x1p-126", 0x1p-126f);
  check(y, "0x1p-149", 0x1p-149f);
}

TEST(FormulaEvaluate, PowersAreTheStatedChains) {
  const std::vector<double> x = ugly_floats<double>(50);
  const auto check = [&](std::string_view text, auto&& chain) {
    const std::vector<double> found = evaluate<double>(Formula(text), {{"x", x}});
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double expected = chain(x[k]);
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(found[k]) : bits(found[k]) == bits(expected)) << text << " of " << x[k];
    }
  };
  check("x^2", [](double a) { return a * a; });
  check("x^3", [](double a) { return a * a * a; });
  check("x^5", [](double a) { return (a * a) * (a * a) * a; });
  check("x^6", [](double a) { return (a * a * a) * (a * a * a); });
  check("x^1", [](double a) { return a; });
  check("x^0", [](double) { return 1.0; });
  check("x^-3", [](double a) { return 1 / (a * a * a); });
  check("-x^2", [](double a) { return -(a * a); });
  check("rsqrt(x)", [](double a) { return 1 / std::sqrt(a); });
  check("sign(x)", [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; });
}

TEST(FormulaEvaluate, SignsOfIntegers) {
  const std::vector<std::int64_t> x = {5, 0, -7, std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(evaluate<std::int64_t>(Formula("sign(x)"), {{"x", x}}), (std::vector<std::int64_t>{1, 0, -1, -1}));
  const std::vector<std::uint64_t> u = {~std::uint64_t{0}, 0, 1};
  EXPECT_EQ(evaluate<std::uint64_t>(Formula("sign(u)"), {{"u", u}}), (std::vector<std::uint64_t>{1, 0, 1}));
}

TEST(FormulaEvaluate, OnlyWhatIsWantedFails) {
  std::vector<std::int64_t> x(3000), y(3000);
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = static_cast<std::int64_t>(k % 3);
    y[k] = k % 2 == 0 ? std::numeric_limits<std::int64_t>::max() : 5;
  }
  const auto found = evaluate<std::int64_t>(Formula("x != 0 ? 10/x + x : (y > 5 ? -1 : y + 1)"), {{"x", x}, {"y", y}});
  const auto both = evaluate<std::uint8_t>(Formula("x != 0 && 10/x > 5 || x == 0 || y + 1 > 0 || x == 2"),
                                           {{"x", x}, {"y", std::vector<std::int64_t>(3000, 1)}});
  for (std::size_t k = 0; k < x.size(); ++k) {
    ASSERT_EQ(found[k], x[k] != 0 ? 10 / x[k] + x[k] : y[k] > 5 ? -1 : y[k] + 1);
    ASSERT_EQ(both[k], 1);
  }
  const auto message = [&](std::string_view text) -> std::string {
    try {
      evaluate<std::int64_t>(Formula(text), {{"x", x}, {"y", y}});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("int64((12/x - 0.5)^2)").substr(0, 26), "division by zero at index ");
  EXPECT_EQ(message("x == 0 ? 1 : int64((12/x - 0.5)^2)"), "");
  x[1700] = 7;
  x[1701] = 8;
  EXPECT_EQ(message("x > 6 ? 1/(x - x) : x"), "division by zero at index 1700 of the formula x > 6 ? 1/(x - x) : x");
  EXPECT_EQ(message("x > 7 ? y + y : x"), "");
  y[1701] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(message("x > 7 ? y + y : x"), "overflow at index 1701 of the formula x > 7 ? y + y : x");
  EXPECT_EQ(message("(x > 7 && y + y > 0) ? 1 : 0").substr(0, 22), "overflow at index 1701");
  EXPECT_EQ(message("(x < 8 || y + y > 0) ? 1 : 0").substr(0, 22), "overflow at index 1701");
  EXPECT_EQ(message("x > 7 ? 1 << (y/y + 63) : x").substr(0, 32), "shift out of range at index 1701");
}

TEST(FormulaEvaluate, TakesArraysOfAnyShape) {
  std::vector<float> data(60);
  std::iota(data.begin(), data.end(), 0.0f);
  const Array matrix(data.data(), {6, 10}, DType::float32);
  const std::vector<double> row{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<std::int16_t> column{10, 20, 30, 40, 50, 60};
  const Array as_column(column.data(), {6, 1}, DType::int16);
  const auto found = evaluate<double>(Formula("1000*x + 10*r + c + i*0"), {{"x", matrix}, {"r", row}, {"c", as_column}});
  const auto turned = evaluate<double>(Formula("x"), {{"x", matrix.transposed()}});
  const auto part = evaluate<double>(Formula("x + i"), {{"x", matrix.slice(0, 5, 3, -2).slice(1, 9, 4, -2)}});
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_EQ(found[10 * i + j], 1000.0 * data[10 * i + j] + 10.0 * row[j] + column[i]);
      EXPECT_EQ(turned[6 * j + i], data[10 * i + j]);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(part[4 * i + j], data[10 * (5 - 2 * i) + 9 - 2 * j] + static_cast<double>(4 * i + j));
  }
  EXPECT_EQ(evaluate<double>(Formula("x + 1"), {{"x", Array(data.data(), std::uint64_t{0}, DType::float32)}}).size(), 0u);
  EXPECT_EQ(evaluate<double>(Formula("1 + 1"), {})[0], 2);
  EXPECT_THROW(evaluate<double>(Formula("x + y"), {{"x", row}, {"y", column}}), Error);
  EXPECT_THROW(evaluate<float>(Formula("x"), {{"x", row}}), Error);
  EXPECT_THROW(evaluate<float>(Formula("(x, x)"), {{"x", row}}), Error);
  // Unaligned elements.
  std::vector<unsigned char> bytes(1 + 8 * 10);
  std::memcpy(bytes.data() + 1, row.data(), 80);
  EXPECT_EQ(evaluate<double>(Formula("x*2"), {{"x", Array(bytes.data() + 1, 10, DType::float64)}})[9], 18);
}

TEST(FormulaEvaluate, TakesAllTypes) {
  for (const DType type : kDTypes) {
    alignas(8) unsigned char bytes[16 * 8];
    hard::Random random(11);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.bits(8));
    const Array array(bytes, 16, type);
    const auto found = evaluate<double>(Formula("x"), {{"x", array}});
    for (std::size_t k = 0; k < 16; ++k) {
      double expected = 0;
      const unsigned char* const at = bytes + k * size_of(type);
      const auto read = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return value;
      };
      switch (type) {
        case DType::int8:
          expected = read(std::int8_t{});
          break;
        case DType::uint8:
          expected = read(std::uint8_t{});
          break;
        case DType::int16:
          expected = read(std::int16_t{});
          break;
        case DType::uint16:
          expected = read(std::uint16_t{});
          break;
        case DType::int32:
          expected = read(std::int32_t{});
          break;
        case DType::uint32:
          expected = read(std::uint32_t{});
          break;
        case DType::int64:
          expected = static_cast<double>(read(std::int64_t{}));
          break;
        case DType::uint64:
          expected = static_cast<double>(read(std::uint64_t{}));
          break;
        case DType::float16: {
          const std::uint16_t half = read(std::uint16_t{});
          const int exponent = half >> 10 & 31, fraction = half & 1023;
          expected = exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                    : std::ldexp(exponent == 0 ? fraction : 1024 + fraction, std::max(exponent, 1) - 25);
          if ((half & 0x8000) != 0) expected = -expected;
          break;
        }
        case DType::bfloat16:
          expected = std::bit_cast<float>(std::uint32_t{read(std::uint16_t{})} << 16);
          break;
        case DType::float32:
          expected = read(0.0f);
          break;
        case DType::float64:
          expected = read(0.0);
          break;
      }
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found[k])) << name_of(type);
      } else {
        EXPECT_EQ(bits(found[k]), bits(expected)) << name_of(type);
      }
    }
  }
}

TEST(FormulaEvaluate, TuplesAndVectors) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, b{7, 8, 10, 1, 1, 2};
  const Array va(a.data(), {2, 3}, DType::float64), vb(b.data(), {2, 3}, DType::float64);
  EXPECT_EQ(evaluate<double>(Formula("dot(a, b)"), {{"a", va, true}, {"b", vb, true}}), (std::vector<double>{53, 21}));
  EXPECT_EQ(evaluate<double>(Formula("sqdist(a, b)"), {{"a", va, true}, {"b", vb, true}}),
            (std::vector<double>{36 + 36 + 49, 9 + 16 + 16}));
  EXPECT_EQ(evaluate<double>(Formula("a[2] - b[0]"), {{"a", va, true}, {"b", vb, true}}), (std::vector<double>{-4, 5}));
  std::vector<double> x(2), y(2), z(2);
  map(Formula("let d = b - a; d*(1/dot(d, d))"), {{"a", va, true}, {"b", vb, true}}, {}, {x, y, z});
  EXPECT_EQ(y, (std::vector<double>{6 * (1.0 / 121), -4 * (1.0 / 41)}));
  std::vector<float> product(2);
  std::vector<std::int64_t> index(2);
  const std::vector<float> f{2.5f, -1.5f};
  map(Formula("x > h ? (x*x, i) : (0, -1)"), {{"x", f}}, {{"h", 0.0}}, {product, index});
  EXPECT_EQ(product, (std::vector<float>{6.25f, 0}));
  EXPECT_EQ(index, (std::vector<std::int64_t>{0, -1}));
  EXPECT_THROW(map(Formula("(x, x)"), {{"x", f}}, {}, {product}), Error);
  EXPECT_THROW(map(Formula("(x, x)"), {{"x", f}}, {}, {product, index}), Error);
}

TEST(FormulaEvaluate, ParametersChange) {
  const std::vector<float> x{1, 2, 3};
  const Formula formula("w*(x - m)^2");
  EXPECT_EQ(evaluate<float>(formula, {{"x", x}}, {{"w", 2.0}, {"m", 1}}), (std::vector<float>{0, 2, 8}));
  EXPECT_EQ(evaluate<float>(formula, {{"x", x}}, {{"w", 0.1}, {"m", 0}})[0], 0.1f);
  const std::vector<std::uint64_t> n{5};
  EXPECT_THROW(evaluate<std::uint64_t>(Formula("n + k"), {{"n", n}}, {{"k", -1}}), Error);
  EXPECT_EQ(evaluate<std::uint64_t>(Formula("n + k"), {{"n", n}}, {{"k", ~std::uint64_t{0} - 5}})[0], ~std::uint64_t{0});
}

// Blocks, threads and every instruction set give the bits that one position after the other gives.
TEST(FormulaEvaluate, SameBitsInBlocks) {
  hard::Random random(5);
  std::vector<float> x(300001);
  std::vector<std::int32_t> n(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    n[k] = static_cast<std::int32_t>(random.bits());
  }
  const Formula formula(
      "let a = x*x + 1.5; let b = min(a, x - 3) % 7; select(n % 3 == 0, sqrt(abs(b))/3, fma(a, b, float32(n >> 3 & 255)))");
  const auto all = evaluate<float>(formula, {{"x", x}, {"n", n}});
  for (std::size_t k = 0; k < x.size(); k += 997) {
    ASSERT_EQ(bits(evaluate<float>(formula, {{"x", Array(&x[k], 1, DType::float32)}, {"n", Array(&n[k], 1, DType::int32)}})[0]),
              bits(all[k]))
        << k;
  }
}

}  // namespace
}  // namespace samesum
