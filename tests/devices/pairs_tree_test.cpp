// Pairs reduced by the tree over y: products and log-sum-exps, operators of one's own, and several numbers for each pair. On every device
// the bits are those of reduce() and product() of the values of each x, which are computed here one by one.
#include "support/devices.hpp"
#include "support/same_bits.hpp"

#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/operator.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

using test::expect_error;
using test::expect_same_bits;

// Around what a register, a tile, a part and the CPU's blocks take.
constexpr std::uint64_t kSizes[] = {1, 2, 7, 8, 9, 255, 256, 257, 511, 513, 1025, 4095, 4096, 4097, 20011};
constexpr std::uint64_t kMaxY = 20011, kMaxX = 37;

// Numbers about 1, of both signs; `ugly`: also NaN, infinities, zeros of both signs, denormals and the greatest numbers.
template <class Real>
std::vector<Real> numbers(std::uint64_t count, unsigned seed, bool ugly = false) {
  using Limits = std::numeric_limits<Real>;
  const Real rare[] = {Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), Real(-0.0), Real(0),
                       Limits::denorm_min(), Limits::max()};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> distribution(0.5, 1.999);
  std::vector<Real> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(static_cast<Real>(random() % 2 == 0 ? distribution(random) : -distribution(random)));
  if (ugly) {
    for (std::uint64_t i = seed % 11; i < count; i += 13) values[i] = rare[i / 13 % std::size(rare)];
  }
  return values;
}

template <class Real>
Real once(Real value) {
  volatile Real kept = value;
  return kept;
}

// pairs() on every device, for 3 to 37 x and y of all sizes; `right(x, values, to)` appends what is expected of the values of f for an x,
// which `f(a, b)` gives.
template <class Real, class Result, class F, class Right>
void check(const PairsProblem& problem, bool ugly, const F& f, const Right& right) {
  const auto a = numbers<Real>(kMaxX, 1, ugly), b = numbers<Real>(kMaxY, 2, ugly);
  for (const std::uint64_t y_count : kSizes) {
    const std::uint64_t x_count = y_count > 5000 ? 3 : kMaxX;
    std::vector<Result> expected;
    for (std::uint64_t x = 0; x < x_count; ++x) {
      std::vector<Real> values;
      for (std::uint64_t y = 0; y < y_count; ++y) values.push_back(f(a[x], b[y]));
      right(values, expected);
    }
    for (const Device& device : test::devices()) {
      const PairsResult found =
          pairs(Array(a.data(), x_count, dtype_of<Real>()), Array(b.data(), y_count, dtype_of<Real>()), problem, test::on(device, {}));
      expect_same_bits(array_of(found), Array(expected), fmt::format("{}, {} y, {} bytes", device.info().selector, y_count, sizeof(Real)));
    }
  }
}

template <class Real>
void check_products(bool ugly) {
  const auto right = [](const std::vector<Real>& values, std::vector<Real>& to) {
    to.push_back(static_cast<Real>(std::get<double>(product(values, {.device = Device::open("cpu")}).number)));
  };
  const PairsProblem named{.f = PairFunction::product, .reduction = PairReduction::product};
  check<Real, Real>(
      named, ugly, [](Real a, Real b) { return once(a * b); }, right);
  PairsProblem formula = named;
  formula.formula = Formula("a[0] < 0 ? a[0] - b[0] : b[0]");
  check<Real, Real>(
      formula, ugly, [](Real a, Real b) { return a < 0 ? once(a - b) : b; }, right);
}

TEST(PairsTree, Products) {
  for (const bool ugly : {false, true}) {
    check_products<float>(ugly);
    check_products<double>(ugly);
  }
}

// Results are written where operands were: a component that is another one of an operand is not written over first.
TEST(PairsTree, ComponentsThatChangePlaces) {
  const auto a = numbers<float>(3, 1), b = numbers<float>(5000, 2);
  for (const char* const combine : {"(b[1], b[0])", "(a[1], a[0])", "(b[1] + a[0], a[1])"}) {
    Operator op{Formula(combine)};
    op.finish = Formula("a[0]*3 - a[1]");
    PairsProblem problem{.f = PairFunction::difference, .combine = op};
    problem.formula = Formula("(a[0], b[0])");
    for (const std::uint64_t y_count : {2, 4096, 5000}) {
      std::vector<float> expected;
      for (const float x : a) {
        const std::vector<FormulaInput> inputs{{"x", Array(&x, y_count, DType::float32, 0)},
                                               {"y", Array(b.data(), y_count, DType::float32)}};
        expected.push_back(static_cast<float>(reduce(Formula("(x, y)"), inputs, {}, op, {.device = Device::open("cpu")})[0].as_double()));
      }
      for (const Device& device : test::devices()) {
        const PairsResult found = pairs(a, Array(b.data(), y_count, DType::float32), problem, test::on(device, {}));
        expect_same_bits(array_of(found), Array(expected), fmt::format("{}, {}, {} y", device.info().selector, combine, y_count));
      }
    }
  }
}

// An operator that does not commute, is not associative, and has a parameter; of all its numbers C takes those of `finish`.
TEST(PairsTree, OperatorsOfOnesOwn) {
  Operator op(Formula("a*h - b/3"), {}, {{"h", 0.75}});
  const auto right = [&]<class Real>(const std::vector<Real>& values, std::vector<Real>& to) {
    to.push_back(static_cast<Real>(reduce(values, op, {.device = Device::open("cpu")})[0].as_double()));
  };
  const PairsProblem problem{.f = PairFunction::difference, .combine = op};
  for (const bool ugly : {false, true}) {
    check<float, float>(
        problem, ugly, [](float a, float b) { return once(a - b); }, right);
    check<double, double>(
        problem, ugly, [](double a, double b) { return once(a - b); }, right);
  }
}

// The greatest f and which y has it, by a number that each y is given; the counts of both, as integers.
TEST(PairsTree, OperatorsOfTuplesAndOtherTypes) {
  const auto a = numbers<float>(kMaxX, 3), b = numbers<float>(kMaxY, 4);
  std::vector<float> number(kMaxY);
  for (std::size_t y = 0; y < kMaxY; ++y) number[y] = static_cast<float>(y);
  Operator best(Formula("b[0] > a[0] ? b : a"));
  best.finish = Formula("int64(a[1])");
  Operator counts(Formula("(a[0] + b[0], a[1] + b[1])"));
  for (const std::uint64_t y_count : kSizes) {
    PairsProblem problem{.formula = Formula("(a[0]*b[0], n)"), .combine = best};
    problem.of_y = {{"n", Array(number.data(), y_count, DType::float32)}};
    const PairsProblem counted{.formula = Formula("(a[0]*b[0] > 1 ? 1 : 0, a[0] < b[0])"), .combine = counts};
    std::vector<std::int64_t> places, numbers_of_both;
    for (std::uint64_t x = 0; x < kMaxX; ++x) {
      std::int64_t place = 0, above = 0, less = 0;
      for (std::uint64_t y = 0; y < y_count; ++y) {
        if (once(a[x] * b[y]) > once(a[x] * b[static_cast<std::size_t>(place)])) place = static_cast<std::int64_t>(y);
        above += once(a[x] * b[y]) > 1;
        less += a[x] < b[y];
      }
      places.push_back(place);
      numbers_of_both.insert(numbers_of_both.end(), {above, less});
    }
    for (const Device& device : test::devices()) {
      const std::string what = fmt::format("{}, {} y", device.info().selector, y_count);
      const Array some(b.data(), y_count, DType::float32);
      expect_same_bits(array_of(pairs(a, some, problem, test::on(device, {}))), Array(places), what);
      expect_same_bits(array_of(pairs(a, some, counted, test::on(device, {}))), Array(numbers_of_both), what);
    }
  }
}

// log(sum(exp(f))) by MPFR.
template <class Real>
double true_logsumexp(const std::vector<Real>& values) {
  mpfr_t sum, term;
  mpfr_inits2(300, sum, term, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_zero(sum, 1);
  for (const Real value : values) {
    mpfr_set_d(term, value, MPFR_RNDN);
    mpfr_exp(term, term, MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_log(sum, sum, MPFR_RNDN);
  const double result = mpfr_get_d(sum, MPFR_RNDN);
  mpfr_clears(sum, term, static_cast<mpfr_ptr>(nullptr));
  return result;
}

template <class Real>
void check_logsumexp(double scale) {
  constexpr double u = sizeof(Real) == 4 ? 0x1p-24 : 0x1p-53;
  const auto a = numbers<Real>(5, 5), b = numbers<Real>(kMaxY, 6);
  const PairsProblem problem{.reduction = PairReduction::logsumexp, .formula = Formula("a[0]*b[0]*s"), .parameters = {{"s", scale}}};
  for (const std::uint64_t y_count : kSizes) {
    std::optional<PairsResult> first;
    for (const Device& device : test::devices()) {
      const std::string what = fmt::format("{}, {} y, scale {}", device.info().selector, y_count, scale);
      const PairsResult found = pairs(a, Array(b.data(), y_count, dtype_of<Real>()), problem, test::on(device, {}));
      if (!first) first = found;
      expect_same_bits(array_of(found), array_of(*first), what);
      const double levels = std::ceil(std::log2(static_cast<double>(y_count)));
      for (std::uint64_t x = 0; x < a.size(); ++x) {
        std::vector<Real> values;
        for (std::uint64_t y = 0; y < y_count; ++y) values.push_back(once(once(a[x] * b[y]) * static_cast<Real>(scale)));
        const double right = true_logsumexp(values);
        ASSERT_LE(std::abs(static_cast<double>(std::get<std::vector<Real>>(found)[x]) - right), (10 * levels + 1) * u + u * std::abs(right))
            << what << ", x = " << x;
      }
    }
  }
}

TEST(PairsTree, LogSumExpWithinItsBound) {
  for (const double scale : {1.0, 30.0, 1e4}) {
    check_logsumexp<float>(scale);
    check_logsumexp<double>(scale);
  }
}

TEST(PairsTree, LogSumExpOfSpecialValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {1, -1, 0};
  const auto of = [&](std::vector<float> b, std::vector<float> expected) {
    for (const Device& device : test::devices()) {
      const PairsProblem problem{.f = PairFunction::product, .reduction = PairReduction::logsumexp};
      expect_same_bits(array_of(pairs(a, b, problem, test::on(device, {}))), Array(expected), device.info().selector);
    }
  };
  const float log2 = std::log(2.0f);
  of({kInfinity, kInfinity, 3}, {kInfinity, -3, kNan});
  of({-kInfinity, -kInfinity}, {-kInfinity, kInfinity, kNan});
  of({1, kNan}, {kNan, kNan, kNan});
  of({3e38f, 3e38f}, {3e38f, -3e38f, log2});
  of({-kInfinity, 2}, {2, kInfinity, kNan});
  of({}, {-kInfinity, -kInfinity, -kInfinity});
}

// Forces: a vector for each pair. Each of its numbers is reduced as it is alone.
template <class Real>
void check_vectors() {
  const auto a = numbers<Real>(3 * kMaxX, 7), b = numbers<Real>(3 * kMaxY, 8), m = numbers<Real>(kMaxY, 9);
  const char* const text = "let d = b - a; let r = sqdist(a, b) + s*s; m*d/(r*sqrt(r))";
  constexpr double u = sizeof(Real) == 4 ? 0x1p-24 : 0x1p-53;
  for (const std::uint64_t y_count : {1, 9, 300, 4097}) {
    PairsProblem vector{.components = 3, .formula = Formula(text), .parameters = {{"s", 0.25}}};
    vector.of_y = {{"m", Array(m.data(), y_count, dtype_of<Real>())}};
    const Array some(b.data(), 3 * y_count, dtype_of<Real>());
    for (const PairReduction reduction : {PairReduction::sum, PairReduction::min, PairReduction::max, PairReduction::product}) {
      for (const PairAccuracy accuracy : {PairAccuracy::exact, PairAccuracy::compensated, PairAccuracy::fast}) {
        if (reduction != PairReduction::sum && accuracy != PairAccuracy::fast) continue;
        vector.reduction = reduction;
        vector.accuracy = accuracy;
        // Of each number alone; a fast and a compensated one is near the exact one.
        std::vector<Real> expected(3 * kMaxX), magnitudes(3 * kMaxX);
        for (std::uint64_t k = 0; k < 3; ++k) {
          PairsProblem one = vector;
          one.formula = Formula(fmt::format("let d = b - a; let r = sqdist(a, b) + s*s; m*d[{}]/(r*sqrt(r))", k));
          one.accuracy = PairAccuracy::exact;
          const auto right = std::get<std::vector<Real>>(pairs(a, some, one, {.device = Device::open("cpu")}));
          one.formula = Formula(fmt::format("let d = b - a; let r = sqdist(a, b) + s*s; abs(m*d[{}]/(r*sqrt(r)))", k));
          const auto size = std::get<std::vector<Real>>(pairs(a, some, one, {.device = Device::open("cpu")}));
          for (std::uint64_t x = 0; x < kMaxX; ++x) {
            expected[3 * x + k] = right[x];
            magnitudes[3 * x + k] = size[x];
          }
        }
        std::optional<PairsResult> first;
        for (const Device& device : test::devices()) {
          const std::string what = fmt::format("{}, {} y, {}, {}", device.info().selector, y_count, name_of(reduction), name_of(accuracy));
          const PairsResult found = pairs(a, some, vector, test::on(device, {}));
          if (!first) first = found;
          expect_same_bits(array_of(found), array_of(*first), what);
          if (accuracy == PairAccuracy::exact || reduction != PairReduction::sum) {
            expect_same_bits(array_of(found), Array(expected), what);
            continue;
          }
          const double k = static_cast<double>(y_count), levels = std::ceil(std::log2(k));
          for (std::uint64_t i = 0; i < expected.size(); ++i) {
            const double bound = accuracy == PairAccuracy::fast ? levels * u * magnitudes[i] * 1.01
                                                                : 2 * u * std::abs(expected[i]) + 4 * k * k * u * u * magnitudes[i];
            ASSERT_NEAR(std::get<std::vector<Real>>(found)[i], expected[i], bound + u * std::abs(expected[i])) << what << ", number " << i;
          }
        }
      }
    }
  }
}

TEST(PairsTree, Vectors) {
  check_vectors<float>();
  check_vectors<double>();
}

// Which y has the least and the greatest of each number, with ties, zeros of both signs and NaN.
TEST(PairsTree, PlacesInVectors) {
  const auto a = numbers<double>(2 * kMaxX, 12, true);
  auto b = numbers<double>(2 * kMaxY, 13, true);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 5 == 0 ? b[i] : static_cast<double>(i % 7) - 3;
  for (const PairReduction reduction : {PairReduction::argmin, PairReduction::argmax}) {
    for (const std::uint64_t y_count : {1, 9, 300, 4097}) {
      const Array some(b.data(), 2 * y_count, DType::float64);
      const PairsProblem vector{.reduction = reduction, .components = 2, .formula = Formula("(a[0]*b[0], a[1] - b[1])")};
      std::vector<std::int64_t> expected(2 * kMaxX);
      for (std::uint64_t k = 0; k < 2; ++k) {
        PairsProblem one = vector;
        one.formula = Formula(k == 0 ? "a[0]*b[0]" : "a[1] - b[1]");
        const auto right = std::get<std::vector<std::int64_t>>(pairs(a, some, one, {.device = Device::open("cpu")}));
        for (std::uint64_t x = 0; x < kMaxX; ++x) expected[2 * x + k] = right[x];
      }
      for (const Device& device : test::devices()) {
        expect_same_bits(array_of(pairs(a, some, vector, test::on(device, {}))), Array(expected),
                         fmt::format("{}, {}, {} y", device.info().selector, name_of(reduction), y_count));
      }
    }
  }
}

TEST(PairsTree, NoY) {
  const std::vector<float> a = {1, 2, 3}, none;
  Operator sum(Formula("a + b"), {{5.0, DType::float64}});
  for (const Device& device : test::devices()) {
    const auto of = [&](const PairsProblem& problem) { return pairs(a, none, problem, test::on(device, {})); };
    EXPECT_EQ(of({.reduction = PairReduction::product}), PairsResult(std::vector<float>{1, 1, 1}));
    EXPECT_EQ(of({.formula = Formula("(a[0], b[0])")}), PairsResult(std::vector<float>(6)));
    EXPECT_EQ(of({.combine = sum}), PairsResult(std::vector<float>{5, 5, 5}));
    EXPECT_EQ(pairs(none, a, {.combine = sum}, test::on(device, {})), PairsResult(std::vector<float>()));
    sum.identity.clear();
    try {
      of({.combine = sum});
      ADD_FAILURE() << "an operator without identity gave something for no y";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
    }
    sum.identity = {{5.0, DType::float64}};
  }
}

// The first pair, of many, for which an operation fails; on a device, too.
TEST(PairsTree, FailuresNameThePair) {
  std::vector<float> a(300, 1.0f), b(5000, 2.0f);
  b[4711] = 3e38f;
  a[207] = 1e10f;
  a[33] = 1e-30f;
  Operator sum(Formula("a + b"));
  for (const Device& device : test::devices()) {
    const PairsProblem failing{.formula = Formula("int64(a[0]*b[0])"), .combine = sum};
    expect_error(ErrorKind::no_answer, "a conversion to an integer that does not fit in f of x = 0 and y = 4711",
                 [&] { pairs(a, b, failing, test::on(device, {})); });
    const PairsProblem later{.formula = Formula("a[0] > 1 ? int64(1e9*b[0]*a[0]) : 1"), .combine = sum};
    expect_error(ErrorKind::no_answer, "a conversion to an integer that does not fit in f of x = 207 and y = 0",
                 [&] { pairs(a, b, later, test::on(device, {})); });
    const PairsProblem overflow{.formula = Formula("a[0] < 1 ? 9000000000000000000 : 1"), .combine = sum};
    expect_error(ErrorKind::no_answer, "x = 33: overflow in the operator a + b", [&] { pairs(a, b, overflow, test::on(device, {})); });
    Operator finished = sum;
    finished.finish = Formula("100000/(a - 5000)");
    const PairsProblem division{.formula = Formula("a[0] > 1 ? 1 : 2"), .combine = finished};
    expect_error(ErrorKind::no_answer, "division by zero in what is made of the result of x = 207",
                 [&] { pairs(a, b, division, test::on(device, {})); });
  }
}

TEST(PairsTree, Refusals) {
  const std::vector<float> a(6), b(6);
  const auto refused = [&](const PairsProblem& problem, const std::string& words) {
    expect_error(ErrorKind::usage, words, [&] { pairs(a, b, problem); });
  };
  refused({.reduction = PairReduction::argsmallest, .components = 2, .formula = Formula("a - b")}, "takes an f that gives one number");
  refused({.formula = Formula("(a[0], b[0])"), .combine = Operator(Formula("a + b + (1, 2, 3)"))}, "");
  refused({.formula = Formula("(a[0], 1)"), .combine = Operator(Formula("(a[0] + b[0], a[1] + b[1])"))}, "numbers of several types");
  refused({.reduction = PairReduction::max, .combine = Operator(Formula("a + b"))}, "takes the place of a reduction");
  refused({.formula = Formula("(int64(a[0]), 1)")}, "may fail");
  Operator two(Formula("a + b"));
  two.finish = Formula("a + b");
  refused({.combine = two}, "one operand");
}

// C in device memory, of arrays there.
TEST(PairsTree, Plans) {
  const auto a = numbers<float>(2 * 301, 10, true), b = numbers<float>(2 * 1500, 11, true);
  Operator op(Formula("a*h + b"), {}, {{"h", 0.5}});
  const std::vector<PairsProblem> problems = {
      {.f = PairFunction::sqdist, .reduction = PairReduction::product, .components = 2},
      {.reduction = PairReduction::logsumexp, .components = 2, .formula = Formula("-sqdist(a, b)*h"), .parameters = {{"h", 2}}},
      {.components = 2, .formula = Formula("(a[0] - b[1], a[1]*b[0], 1)")},
      {.components = 2, .formula = Formula("dot(a, b) < 1 ? 1 : 2"), .combine = op}};
  for (const Device& device : test::devices()) {
    for (const PairsProblem& problem : problems) {
      Plan plan(device, problem, DType::float32, 300);
      for (const std::uint64_t x_count : {1, 150, 301}) {
        for (const std::uint64_t y_count : {1, 150, 1500}) {
          const PairsResult expected = pairs(Array(a.data(), 2 * x_count, DType::float32), Array(b.data(), 2 * y_count, DType::float32),
                                             problem, {.device = Device::open("cpu")});
          const Array c = array_of(expected);
          const Buffer at_a(device, 4 * a.size() + 4), at_b(device, 4 * b.size() + 12), at_c(device, c.bytes() + 16);
          at_a.write(a.data(), 4 * a.size(), 4);
          at_b.write(b.data(), 4 * b.size(), 12);
          const Array there_a(at_a, 2 * x_count, DType::float32, 4), there_b(at_b, 2 * y_count, DType::float32, 12);
          plan.enqueue(there_a, there_b, at_c, 8);
          std::vector<std::byte> found(c.bytes());
          at_c.read(found.data(), found.size(), 8);
          const std::string what = fmt::format("{}, {} x {}", device.info().selector, x_count, y_count);
          expect_same_bits(Array(found.data(), c.size(), c.type()), c, what);
          if (x_count > 150) continue;
          plan.enqueue(there_a, there_b);
          expect_same_bits(array_of(plan.result<PairsResult>()), c, what);
        }
      }
    }
    const PairsProblem exact{.accuracy = PairAccuracy::exact, .components = 2, .formula = Formula("a - b")};
    expect_error(ErrorKind::usage, "give each of them a plan", [&] { Plan(device, exact, DType::float32, 300); });
    const PairsProblem failing{.formula = Formula("int64(a[0])"), .combine = Operator(Formula("max(a, b)"))};
    expect_error(ErrorKind::usage, "has no way to say", [&] { Plan(device, failing, DType::float32, 300); });
  }
}

}  // namespace
}  // namespace samesum
