// Statistics, extremes and dot products: every hard case on every device, against plain loops, GMP's integers and MPFR's roots.
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include "core/visit.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/nist.hpp"
#include "support/oracle.hpp"

#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace samesum {
namespace {

using hard::Case;

constexpr NanPolicy kPolicies[] = {NanPolicy::propagate, NanPolicy::skip};
constexpr Fields kAll{true, true, true, true};

using test::devices;
using test::on;

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Calls body(element as a double or a 64-bit integer, index) for all elements.
template <class Body>
void for_each_element(Array data, const Body& body) {
  core::visit(data.type(), [&](auto element) {
    using Element = decltype(element);
    for (std::uint64_t i = 0; i < data.size(); ++i) {
      std::memcpy(&element, static_cast<const std::byte*>(data.data()) + i * sizeof element, sizeof element);
      if constexpr (!std::is_integral_v<Element>) {
        body(std::is_same_v<Element, double> ? static_cast<double>(element) : double{static_cast<float>(element)}, i);
      } else if constexpr (std::is_signed_v<Element>) {
        body(std::int64_t{element}, i);
      } else {
        body(std::uint64_t{element}, i);
      }
    }
  });
}

template <class Number>
bool precedes(Number a, Number b) {
  if constexpr (std::is_same_v<Number, double>) {
    if (a == b) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

template <class Number>
bool not_a_number(Number x) {
  return x != x;
}

// Element by element, using only the accumulators' additions.
Statistics::Contents reference_of(Array data) {
  Statistics::Contents all;
  all.fields = kAll;
  for_each_element(data, [&](auto x, std::uint64_t i) {
    using Number = decltype(x);
    ++all.count;
    all.sum.add(x);
    all.squares.add(x, x);
    if (x != Number{0}) ++all.nonzeros;
    if (not_a_number(x)) {
      ++all.nan_count;
      if (!all.first_nan) all.first_nan = i;
      return;
    }
    const Extremum here{{x, data.type()}, i};
    if (!all.min || precedes(x, std::get<Number>(all.min->value.number))) all.min = here;
    if (!all.max || precedes(std::get<Number>(all.max->value.number), x)) all.max = here;
  });
  return all;
}

// Exact rationals, rounded once by MPFR.
class Rational {
 public:
  Rational() { mpq_init(value_); }
  ~Rational() { mpq_clear(value_); }
  Rational(const Rational&) = delete;
  Rational& operator=(const Rational&) = delete;
  mpq_ptr get() { return value_; }
  void add_product(double a, double b) {
    Rational x, y;
    mpq_set_d(x.get(), a);
    mpq_set_d(y.get(), b);
    mpq_mul(x.get(), x.get(), y.get());
    mpq_add(value_, value_, x.get());
  }
  template <class Real = double>
  Real rounded(bool root) {
    using Limits = std::numeric_limits<Real>;
    mpfr_t exact, result;  // enough bits for any of these numbers, and for its root to be on the right side of a tie
    mpfr_init2(exact, 12000);
    mpfr_init2(result, Limits::digits);
    mpfr_set_q(exact, value_, MPFR_RNDZ);
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    if (root) mpfr_sqrt(exact, exact, MPFR_RNDZ);
    mpfr_set_emin(Limits::min_exponent - Limits::digits + 1);
    mpfr_set_emax(Limits::max_exponent);
    int ternary = mpfr_set(result, exact, MPFR_RNDN);
    ternary = mpfr_check_range(result, ternary, MPFR_RNDN);
    mpfr_subnormalize(result, ternary, MPFR_RNDN);
    const auto rounded = static_cast<Real>(mpfr_get_d(result, MPFR_RNDN));
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clears(exact, result, nullptr);
    return rounded;
  }

 private:
  mpq_t value_;
};

template <class Real>
struct Moments {
  Real mean = 0, variance = 0, deviation = 0, squared_norm = 0, norm = 0;
};

// Only finite floats; NaNs are left out.
template <class Real>
Moments<Real> moments_of(Array data, unsigned long ddof) {
  Rational first, second, n, numerator, denominator;
  unsigned long count = 0;
  for_each_element(data, [&](auto x, std::uint64_t) {
    if (not_a_number(x)) return;
    ++count;
    first.add_product(static_cast<double>(x), 1);
    second.add_product(static_cast<double>(x), static_cast<double>(x));
  });
  Moments<Real> moments;
  moments.squared_norm = second.rounded<Real>(false);
  moments.norm = second.rounded<Real>(true);
  mpq_set_ui(n.get(), count, 1);
  mpq_mul(numerator.get(), second.get(), n.get());
  mpq_mul(denominator.get(), first.get(), first.get());
  mpq_sub(numerator.get(), numerator.get(), denominator.get());
  mpq_set_ui(denominator.get(), count - ddof, 1);
  mpq_mul(denominator.get(), denominator.get(), n.get());
  mpq_div(first.get(), first.get(), n.get());
  moments.mean = first.rounded<Real>(false);
  mpq_div(numerator.get(), numerator.get(), denominator.get());
  moments.variance = numerator.rounded<Real>(false);
  moments.deviation = numerator.rounded<Real>(true);
  return moments;
}

// Two group sizes for one type that shares its code with the others, as each is a compilation.
std::vector<Tuning> options_for(const Device& device, DType type, std::uint64_t length) {
  Tuning options;
  std::vector<Tuning> all{options};
  if (!device.info().has(Capability::kernels)) {
    options.threads = 3;
    all.push_back(options);
  } else if (type == DType::float32 && length <= 70000) {
    options.group_size = 33;
    options.groups = 2;
    all.push_back(options);
  }
  return all;
}

class HardStatistics : public testing::TestWithParam<std::tuple<DType, Case>> {};

TEST_P(HardStatistics, AreTheSameEverywhere) {
  const auto& [type, hard_case] = GetParam();
  for (const std::uint64_t length : {0, 1, 2, 5, 31, 257, 1025, 4999, 70001}) {
    const auto data = hard::make(hard_case, type, length, length == 1025 ? 3 : length % 3 * size_of(type));  // one at an odd offset
    const Statistics::Contents reference = reference_of(data.view());
    for (const Device& device : devices()) {
      for (const Tuning& tuning : options_for(device, type, length)) {
        const Statistics found = collect(data.view(), kAll, {.device = device, .tuning = tuning});
        const auto& contents = found.contents();
        ASSERT_EQ(contents.count, reference.count);
        ASSERT_EQ(contents.nan_count, reference.nan_count) << device.info().selector << ", " << length;
        ASSERT_EQ(contents.nonzeros, reference.nonzeros) << device.info().selector << ", " << length;
        ASSERT_EQ(contents.first_nan, reference.first_nan) << device.info().selector << ", " << length;
        for (const auto& [one, other] : {std::pair(contents.min, reference.min), std::pair(contents.max, reference.max)}) {
          ASSERT_EQ(one.has_value(), other.has_value()) << device.info().selector << ", " << length;
          if (!one) continue;
          ASSERT_EQ(one->index, other->index) << device.info().selector << ", " << length;
          ASSERT_EQ(bits(one->value.as_double()), bits(other->value.as_double())) << device.info().selector << ", " << length;
        }
        ASSERT_EQ(contents.sum, reference.sum) << device.info().selector << ", " << length;
        ASSERT_EQ(contents.squares, reference.squares) << device.info().selector << ", " << length;
      }
    }
  }
}

TEST_P(HardStatistics, AreRoundedOnce) {
  const auto& [type, hard_case] = GetParam();
  for (const std::uint64_t length : {1, 2, 3, 17, 300}) {
    const auto data = hard::make(hard_case, type, length);
    const Statistics all(reference_of(data.view()));
    const auto& contents = all.contents();
    if (contents.squares.infinities() != 0) {
      EXPECT_TRUE(std::isnan(all.variance(0, NanPolicy::skip)));
      EXPECT_EQ(all.norm(NanPolicy::skip), std::numeric_limits<double>::infinity());
      continue;
    }
    if (contents.nan_count != 0) {
      for (const double value : {all.mean(), all.variance(), all.standard_deviation(), all.squared_norm(), all.norm()}) {
        EXPECT_EQ(bits(value), 0x7ff8000000000000u);
      }
      for (const float value : {all.mean_to_float(), all.variance_to_float(), all.standard_deviation_to_float(),
                                all.squared_norm_to_float(), all.norm_to_float()}) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(value), 0x7fc00000u);
      }
    }
    const std::uint64_t used = contents.count - contents.nan_count;
    if (used == 0) {
      EXPECT_THROW(all.mean(NanPolicy::skip), Error);
      continue;
    }
    for (const unsigned long ddof : {0, 1}) {
      if (used <= ddof) {
        EXPECT_THROW(all.variance(ddof, NanPolicy::skip), Error);
        continue;
      }
      const auto expected = moments_of<double>(data.view(), ddof);
      const double mean = all.mean(NanPolicy::skip);
      EXPECT_EQ(mean, expected.mean) << length;
      if (mean == 0) {
        EXPECT_EQ(std::signbit(mean), std::signbit(expected.mean) || std::signbit(contents.sum.round(NanPolicy::skip))) << length;
      }
      EXPECT_EQ(bits(all.variance(ddof, NanPolicy::skip)), bits(expected.variance)) << length;
      EXPECT_EQ(bits(all.standard_deviation(ddof, NanPolicy::skip)), bits(expected.deviation)) << length;
      EXPECT_EQ(bits(all.squared_norm(NanPolicy::skip)), bits(expected.squared_norm)) << length;
      EXPECT_EQ(bits(all.norm(NanPolicy::skip)), bits(expected.norm)) << length;
      const auto single = moments_of<float>(data.view(), ddof);
      EXPECT_EQ(all.mean_to_float(NanPolicy::skip), single.mean) << length;
      EXPECT_EQ(bits(all.variance_to_float(ddof, NanPolicy::skip)), bits(single.variance)) << length;
      EXPECT_EQ(bits(all.standard_deviation_to_float(ddof, NanPolicy::skip)), bits(single.deviation)) << length;
      EXPECT_EQ(bits(all.squared_norm_to_float(NanPolicy::skip)), bits(single.squared_norm)) << length;
      EXPECT_EQ(bits(all.norm_to_float(NanPolicy::skip)), bits(single.norm)) << length;
    }
  }
}

// Exact values next to the midpoint of two floats, which their doubles round to: rounding twice gives the wrong float.
TEST(Statistics, FloatsAreRoundedOnceToo) {
  const double tie = 1 + 0x1p-24, least = 0x1p-40;
  const auto of = [](const std::vector<double>& values) { return Statistics(reference_of(Array(std::span<const double>(values)))); };
  const float right = 1 + 0x1p-23f;
  const auto expect = [&](float found, double twice, const char* what, float wrong = 1) {
    EXPECT_EQ(found, right) << what;
    EXPECT_EQ(static_cast<float>(twice), wrong) << what;
  };
  const Statistics above = of({2 * tie, 0x1p-70}), below = of({2 * (1 + 3 * 0x1p-24), -0x1p-70});
  expect(above.mean_to_float(), above.mean(), "mean");
  expect(below.mean_to_float(), below.mean(), "mean", 1 + 0x1p-22f);
  const Statistics squares = of({1, 0x1p-12, least}), root = of({tie, least});
  expect(squares.squared_norm_to_float(), squares.squared_norm(), "squared norm");
  expect(root.norm_to_float(), root.norm(), "norm");
  const Statistics variance = of({1, -1, 0x1p-12, -0x1p-12, least, -least}), deviation = of({tie, -tie, least, -least});
  expect(variance.variance_to_float(4), variance.variance(4), "variance");
  expect(deviation.standard_deviation_to_float(2), deviation.standard_deviation(2), "deviation");
  ProductAccumulator dot;
  dot.add(tie, 1);
  dot.add(least, least);
  expect(dot.round_to_float(), dot.round(), "dot");
  // The ends of float's range: to the least float or zero, to the greatest or infinity.
  EXPECT_EQ(of({0x1p-149, 0x1p-1074}).mean_to_float(), 0x1p-149f);
  EXPECT_EQ(of({0x1p-149, 0}).mean_to_float(), 0.0f);
  EXPECT_EQ(of({-0x1p-149, -0x1p-149, 0, 0}).mean_to_float(), -0.0f);
  EXPECT_EQ(of({0x1.ffffffp127, 0x1.fffffefffffffp127}).mean_to_float(), 0x1.fffffep127f);
  EXPECT_EQ(of({0x1.ffffffp127, 0x1.ffffffp127}).mean_to_float(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(of({1e300, 1e300}).variance_to_float(), 0.0f);
}

TEST_P(HardStatistics, DotIsTheSameEverywhere) {
  const auto& [type, hard_case] = GetParam();
  for (const std::uint64_t length : {0, 1, 3, 255, 1030, 5001}) {
    const auto a = hard::make(hard_case, type, length, 3);
    const auto b = hard::make(hard::cases()[(length + 3) % hard::cases().size()], type, length);
    std::vector<double> left, right;
    for_each_element(a.view(), [&](auto x, std::uint64_t) { left.push_back(static_cast<double>(x)); });
    for_each_element(b.view(), [&](auto x, std::uint64_t) { right.push_back(static_cast<double>(x)); });
    ProductAccumulator reference;
    Rational exact;
    bool finite = true;
    for (std::uint64_t i = 0; i < length; ++i) {
      reference.add(left[i], right[i]);
      finite = finite && std::isfinite(left[i]) && std::isfinite(right[i]);
      if (finite) exact.add_product(left[i], right[i]);
    }
    if (finite) {
      EXPECT_EQ(reference.round(), exact.rounded(false)) << length;
      EXPECT_EQ(reference.round_to_float(), exact.rounded<float>(false)) << length;
    }
    for (const Device& device : devices()) {
      ASSERT_EQ(dot(a.view(), b.view(), {.device = device}), reference) << device.info().selector << ", " << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, HardStatistics,
                         testing::Combine(testing::Values(DType::float16, DType::bfloat16, DType::float32, DType::float64),
                                          testing::ValuesIn(hard::cases().begin(), hard::cases().end())),
                         [](const auto& parameter) {
                           return std::string(name_of(std::get<0>(parameter.param))) + "_" + std::string(std::get<1>(parameter.param).name);
                         });

// Integers: random ones, few different ones (ties), the least, the greatest.
class IntegerStatistics : public testing::TestWithParam<DType> {};

TEST_P(IntegerStatistics, AreRightEverywhere) {
  const DType type = GetParam();
  const int width = static_cast<int>(8 * size_of(type));
  hard::Random random(11);
  for (const std::uint64_t length : {0, 1, 2, 15, 17, 129, 1025, 4097, 66000}) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<std::uint64_t> patterns(length);
      const std::uint64_t least = is_signed(type) ? std::uint64_t{1} << (width - 1) : 0;
      for (auto& pattern : patterns) pattern = kind == 0 ? random.bits(width) : kind == 1 ? random.bits(1) : kind == 2 ? least : least - 1;
      const hard::Data data(patterns, type, kind * size_of(type));
      const Statistics::Contents reference = reference_of(data.view());
      for (const Device& device : devices()) {
        for (const Tuning& tuning : options_for(device, type, length)) {
          const Statistics found = collect(data.view(), kAll, {.device = device, .tuning = tuning});
          ASSERT_EQ(found.contents(), reference) << device.info().selector << ", " << length << ", kind " << kind;
        }
        if (kind == 0 || length > 5000) continue;
        ASSERT_EQ(dot(data.view(), data.view(), {.device = device}), reference.squares) << device.info().selector << ", " << length;
      }
    }
  }
}

TEST_P(IntegerStatistics, SquaresAreIntegers) {
  const DType type = GetParam();
  hard::Random random(5);
  std::vector<std::uint64_t> patterns(100);
  for (auto& pattern : patterns) pattern = random.bits(7);
  const hard::Data data(patterns, type);
  std::uint64_t squares = 0;
  for (const std::uint64_t x : patterns) squares += x * x;
  const Device cpu = Device::open("cpu");
  EXPECT_EQ(dot(data.view(), data.view(), {.device = cpu}).to_uint64(), squares);
  EXPECT_EQ(dot(data.view(), data.view(), {.device = cpu}).to_int64(), static_cast<std::int64_t>(squares));
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerStatistics,
                         testing::Values(DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64,
                                         DType::uint64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

// Mean and variance of integers near the ends of 64 bits, against GMP.
TEST(Moments, OfLargeIntegersAreRoundedOnce) {
  hard::Random random(3);
  std::vector<std::int64_t> values(1001);
  for (auto& value : values) value = static_cast<std::int64_t>(random.bits());
  mpz_t x, first, second;
  mpz_inits(x, first, second, nullptr);
  for (const std::int64_t value : values) {
    mpz_set_si(x, value);
    mpz_add(first, first, x);
    mpz_addmul(second, x, x);
  }
  Rational mean, variance;
  mpz_set(mpq_numref(mean.get()), first);
  mpz_set_ui(mpq_denref(mean.get()), values.size());
  mpq_canonicalize(mean.get());
  mpz_mul_ui(second, second, values.size());
  mpz_submul(second, first, first);
  mpz_set(mpq_numref(variance.get()), second);
  mpz_set_ui(mpq_denref(variance.get()), values.size() * (values.size() - 1));
  mpq_canonicalize(variance.get());
  mpz_clears(x, first, second, nullptr);
  for (const Device& device : devices()) {
    const Array view{std::span<const std::int64_t>(values)};
    EXPECT_EQ(samesum::mean(view, {.device = device}), mean.rounded(false));
    EXPECT_EQ(samesum::variance(view, 1, {.device = device}), variance.rounded(false));
    EXPECT_EQ(samesum::standard_deviation(view, 1, {.device = device}), variance.rounded(true));
  }
}

// NIST's Statistical Reference Datasets, univariate: those defined by a formula. Their certified values are those of the decimal data; the
// data as doubles differ from these by a known amount, so the expected values are those of the doubles, which agree to that amount.
TEST(Nist, NumAcc) {
  const Device cpu = Device::open("cpu");
  const auto alternating = [](double middle, double one, double other, int n) {
    std::vector<double> values{middle};
    for (int i = 0; i < n; ++i) values.push_back(i % 2 == 0 ? one : other);
    return values;
  };
  struct Set {
    std::vector<double> values;
    double mean, deviation, tolerance;
  };
  const Set sets[] = {
      {{10000001, 10000003, 10000002}, 10000002, 1, 0},
      {alternating(1.2, 1.1, 1.3, 1000), 1.2, 0.1, 1e-15},
      {alternating(1000000.2, 1000000.1, 1000000.3, 1000), 1000000.2, 0.1, 1e-8},
      {alternating(10000000.2, 10000000.1, 10000000.3, 1000), 10000000.2, 0.1, 1e-7},
  };
  for (const Set& set : sets) {
    for (const Device& device : devices()) {
      const Statistics all = collect(std::span<const double>(set.values), {}, {.device = device});
      EXPECT_DOUBLE_EQ(all.mean(), set.mean);
      EXPECT_NEAR(all.standard_deviation(1), set.deviation, set.tolerance);
      const auto exact = moments_of<double>(std::span<const double>(set.values), 1);
      EXPECT_EQ(all.mean(), exact.mean);
      EXPECT_EQ(all.standard_deviation(1), exact.deviation);
    }
  }
}

TEST(Nist, Certified) {
  for (const test::NistSet& set : test::nist_sets()) {
    for (const Device& device : devices()) {
      const Statistics all = collect(std::span<const double>(set.values), {}, {.device = device});
      EXPECT_NEAR(all.mean(), set.mean, 1e-14 * std::abs(set.mean)) << set.name;
      // All certified digits where the data are integers; otherwise the value of the data as doubles.
      const bool integers = std::ranges::all_of(set.values, [](double x) { return x == std::floor(x); });
      EXPECT_NEAR(all.standard_deviation(1), set.deviation, (integers ? 2e-15 : 1e-11) * set.deviation) << set.name;
      const auto exact = moments_of<double>(std::span<const double>(set.values), 1);
      EXPECT_EQ(all.mean(), exact.mean) << set.name;
      EXPECT_EQ(all.standard_deviation(1), exact.deviation) << set.name;
    }
  }
}

TEST(Extremes, NanPolicyDecides) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {3, nan, -0.0f, 0.0f, 7, nan, 7, -0.0f};
  for (const Device& device : devices()) {
    const Array view{std::span<const float>(values)};
    Options skip;
    skip.nan = NanPolicy::skip;
    EXPECT_EQ(bits(min(view, {.device = device}).value.as_double()), 0x7ff8000000000000u);
    EXPECT_EQ(min(view, {.device = device}).index, 1u);
    EXPECT_EQ(max(view, {.device = device}).index, 1u);
    EXPECT_EQ(bits(min(view, on(device, skip)).value.as_double()), bits(-0.0));
    EXPECT_EQ(min(view, on(device, skip)).index, 2u);
    EXPECT_EQ(max(view, on(device, skip)).index, 4u);
    EXPECT_EQ(count_nonzero(view, {.device = device}), 5u);
    EXPECT_EQ(count_nonzero(view, on(device, skip)), 3u);
    EXPECT_TRUE(any(view, {.device = device}));
    EXPECT_FALSE(all(view, {.device = device}));
    const std::vector<float> only = {nan, nan};
    EXPECT_THROW(min(std::span<const float>(only), on(device, skip)), Error);
    EXPECT_THROW(max(Array(nullptr, 0, DType::float32), {.device = device}), Error);
    EXPECT_THROW(mean(Array(nullptr, 0, DType::float32), {.device = device}), Error);
    EXPECT_FALSE(any(Array(nullptr, 0, DType::float32), {.device = device}));
    EXPECT_TRUE(all(Array(nullptr, 0, DType::float32), {.device = device}));
  }
}

TEST(Merging, OfPartsIsTheWhole) {
  const Device cpu = Device::open("cpu");
  for (const Case& hard_case : hard::cases()) {
    const auto data = hard::make(hard_case, DType::float32, 3001);
    Statistics all;
    for (std::uint64_t first = 0, wanted = 0; first < 3001; wanted = wanted * 2 + 1) {  // 0, 1, 3, 7 … elements
      const std::uint64_t count = std::min<std::uint64_t>(wanted, 3001 - first);
      all.merge(collect(data.view().part(first, count), kAll, {.device = cpu}));
      first += count;
    }
    Statistics whole = collect(data.view(), kAll, {.device = cpu});
    const auto& a = all.contents();
    const auto& b = whole.contents();
    ASSERT_EQ(a.count, b.count);
    ASSERT_EQ(a.sum, b.sum) << hard_case;
    ASSERT_EQ(a.squares, b.squares) << hard_case;
    ASSERT_EQ(a.first_nan, b.first_nan) << hard_case;
    ASSERT_EQ(a.min.has_value(), b.min.has_value());
    if (a.min) {
      ASSERT_EQ(a.min->index, b.min->index) << hard_case;
      ASSERT_EQ(a.max->index, b.max->index) << hard_case;
    }
  }
}

TEST(Merging, ComparesNumbersOfDifferentTypesExactly) {
  const Device cpu = Device::open("cpu");
  const std::vector<std::int64_t> integers = {(std::int64_t{1} << 53) + 1};
  const std::vector<double> doubles = {0x1p53};
  Statistics all = collect(std::span<const std::int64_t>(integers), {}, {.device = cpu});
  all.merge(collect(std::span<const double>(doubles), {}, {.device = cpu}));
  EXPECT_EQ(all.min().index, 1u);
  EXPECT_EQ(all.max().index, 0u);
  EXPECT_EQ(std::get<std::int64_t>(all.max().value.number), integers[0]);
}

TEST(Strides, AreTheSameAsACopy) {
  hard::Random random(4);
  std::vector<float> values(9000);
  for (auto& value : values) value = static_cast<float>(random.between(-1000, 1000));
  for (const std::int64_t step : {3, -2, 0}) {
    const std::uint64_t size = 3000;
    const float* first = step < 0 ? &values.back() : values.data();
    std::vector<float> copy;
    for (std::uint64_t i = 0; i < size; ++i) copy.push_back(first[static_cast<std::int64_t>(i) * step]);
    const Array apart(first, size, DType::float32, 4 * step), together{std::span<const float>(copy)};
    for (const Device& device : devices()) {
      EXPECT_EQ(collect(apart, kAll, {.device = device}), collect(together, kAll, {.device = device})) << step;
      EXPECT_EQ(dot(apart, together, {.device = device}), dot(together, together, {.device = device})) << step;
      if (!device.info().has(Capability::denormals)) continue;  // needed for products
      EXPECT_EQ(bits(product(apart, {.device = device}).as_double()), bits(product(together, {.device = device}).as_double())) << step;
    }
  }
}

TEST(Asking, ForWhatWasNotCollectedIsAnError) {
  const std::vector<float> values(10, 1.0f);
  const Statistics found = collect(std::span<const float>(values), {true, false, false, false}, {.device = Device::open("cpu")});
  EXPECT_THROW(found.mean(), Error);
  EXPECT_THROW(found.norm(), Error);
  EXPECT_THROW(found.nonzero_count(), Error);
  const std::vector<float> shorter(9, 1.0f);
  EXPECT_THROW(dot(std::span<const float>(values), std::span<const float>(shorter), {.device = Device::open("cpu")}), Error);
}

}  // namespace
}  // namespace samesum
