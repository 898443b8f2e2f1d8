// Pairs by formula, on every device: the named functions written as formulas, and others against plain loops.
#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/pairs_oracle.hpp"
#include "support/pairs_values.hpp"

#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/pairs.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum {
namespace {

using test::array;
using test::Bits;
using test::bits_of;
using test::normal;
using test::once;

// Kernels take their time to be compiled.
bool compiles(const Device& device) { return device.info().has(Capability::kernels); }

constexpr PairReduction kReductions[] = {PairReduction::sum, PairReduction::min, PairReduction::max, PairReduction::argmin,
                                         PairReduction::argmax};

// f, operation by operation as PairFunction has it.
std::string formula_of(PairFunction f, std::uint64_t components, bool weighted) {
  std::string text;
  const auto difference = [](std::uint64_t d) { return fmt::format("(a[{0}] - b[{0}])", d); };
  switch (f) {
    case PairFunction::product:
      text = "dot(a, b)";
      break;
    case PairFunction::sqdist:
      text = "sqdist(a, b)";
      break;
    case PairFunction::gaussian:
      text = "exp(-sqdist(a, b)/h)";
      break;
    case PairFunction::invdist:
      text = "s2";
      for (std::uint64_t d = 0; d < components; ++d) text = fmt::format("fma({0}, {0}, {1})", difference(d), text);
      text = fmt::format("1/sqrt({})", text);
      break;
    default:
      for (std::uint64_t d = 0; d < components; ++d) {
        text += fmt::format("{}{}{}", d == 0 ? "" : " + ", f == PairFunction::absdiff ? "abs" : "", difference(d));
      }
  }
  return weighted ? fmt::format("w*({})", text) : text;
}

PairsProblem as_formula(const PairsProblem& named) {
  PairsProblem problem = named;
  problem.formula = Formula(formula_of(named.f, named.components, named.weights.has_value()));
  if (named.f == PairFunction::gaussian) problem.parameters = {{"h", named.h}};
  if (named.f == PairFunction::invdist) problem.parameters = {{"s2", named.softening * named.softening}};
  return problem;
}

template <class Real>
void check_named(std::uint64_t components, bool weighted, bool kernels) {
  constexpr std::uint64_t kX = 37, kY = 700;
  const auto a = normal<Real>(kX * components, 1), b = normal<Real>(kY * components, 2), w = normal<Real>(kY, 3);
  const Device cpu = Device::open("cpu");
  unsigned turn = static_cast<unsigned>(sizeof(Real));
  for (const PairFunction f : {PairFunction::product, PairFunction::difference, PairFunction::absdiff, PairFunction::sqdist,
                               PairFunction::gaussian, PairFunction::invdist}) {
    PairsProblem named{.f = f, .accuracy = PairAccuracy::exact, .components = components, .h = 2.5, .softening = 0.1};
    if (weighted) named.weights = array(w);
    for (const Device& device : test::devices()) {
      if (compiles(device) != kernels) continue;
      SCOPED_TRACE(fmt::format("{}, {}, D={}, {} bytes, {}weights", device.info().selector, name_of(f), components, sizeof(Real),
                               weighted ? "" : "no "));
      for (const PairReduction reduction : kReductions) {
        named.reduction = reduction;
        if (f == PairFunction::gaussian) break;  // another exponential
        if (compiles(device) && turn++ % 4 != 0) continue;
        EXPECT_EQ(pairs(array(a), array(b), as_formula(named), test::on(device, {})), pairs(array(a), array(b), named, {.device = cpu}))
            << name_of(reduction);
      }
      named.reduction = PairReduction::sum;
      constexpr double u = sizeof(Real) == 4 ? 0x1p-24 : 0x1p-53;
      constexpr double k = kY, d = 8;
      for (const PairAccuracy accuracy : {PairAccuracy::fast, PairAccuracy::compensated}) {
        if (compiles(device) && turn++ % 2 != 0) continue;
        PairsProblem problem = as_formula(named);
        problem.accuracy = accuracy;
        const auto found = std::get<std::vector<Real>>(pairs(array(a), array(b), problem, test::on(device, {})));
        for (std::size_t x = 0; x < kX; x += 9) {
          const test::TruePairs right = test::true_pairs(f, named.h, named.softening, a.data() + x * components, b.data(),
                                                         weighted ? w.data() : nullptr, kY, components);
          const double additions = accuracy == PairAccuracy::fast ? k * u * right.magnitude
                                                                  : 2 * u * std::abs(right.value) + 4 * k * k * u * u * right.magnitude;
          const double own = (static_cast<double>(components) + d) * u * (right.magnitude + right.argument);
          EXPECT_NEAR(found[x], right.value, additions + own + k * static_cast<double>(std::numeric_limits<Real>::min()))
              << name_of(accuracy) << ", x = " << x;
        }
      }
    }
  }
}

TEST(PairsFormula, NamedFunctionsWrittenAsFormulas) {
  for (const bool kernels : {false, true}) {
    check_named<float>(3, true, kernels);
    check_named<double>(2, false, kernels);
  }
  check_named<float>(1, false, false);
  check_named<float>(4, false, false);
  check_named<double>(1, true, false);
}

// What a formula computes for x and y, and its reductions one after the other.
template <class Real>
void check_plain(const Device& device, const Array& a, const Array& b, PairsProblem problem, std::uint64_t x_count, std::uint64_t y_count,
                 const std::function<Real(std::uint64_t x, std::uint64_t y)>& f, std::initializer_list<PairReduction> compiled) {
  problem.accuracy = PairAccuracy::exact;
  const auto less = [](Real p, Real q) { return p < q || (p == q && std::signbit(p) && !std::signbit(q)); };
  for (const PairReduction reduction : kReductions) {
    if (y_count == 0 && reduction != PairReduction::sum) continue;
    if (compiles(device) && std::find(compiled.begin(), compiled.end(), reduction) == compiled.end()) continue;
    problem.reduction = reduction;
    const PairsResult result = pairs(a, b, problem, test::on(device, {}));
    SCOPED_TRACE(fmt::format("{}: {} of {}, {} y", device.info().selector, name_of(reduction), problem.formula->to_string(), y_count));
    ASSERT_EQ(array_of(result).size(), x_count);
    for (std::uint64_t x = 0; x < x_count; ++x) {
      std::vector<Real> values;
      for (std::uint64_t y = 0; y < y_count; ++y) values.push_back(f(x, y));
      const auto nan = std::find_if(values.begin(), values.end(), [](Real value) { return std::isnan(value); });
      const bool greatest = reduction == PairReduction::max || reduction == PairReduction::argmax;
      const auto best = nan != values.end() ? nan
                        : greatest          ? std::max_element(values.begin(), values.end(), less)
                                            : std::min_element(values.begin(), values.end(), less);
      if (reduction == PairReduction::argmin || reduction == PairReduction::argmax) {
        ASSERT_EQ(std::get<std::vector<std::int64_t>>(result)[x], best - values.begin()) << "x = " << x;
        continue;
      }
      Bits<Real> right = 0;
      if (reduction == PairReduction::sum) {
        const test::Expected sum = test::mpfr_oracle(std::span<const Real>(values), NanPolicy::propagate);
        right = sizeof(Real) == 4 ? static_cast<Bits<Real>>(sum.float32) : static_cast<Bits<Real>>(sum.float64);
      } else {
        right = std::bit_cast<Bits<Real>>(std::isnan(*best) ? std::numeric_limits<Real>::quiet_NaN() : *best);
      }
      ASSERT_EQ(bits_of<Real>(result)[x], right) << "x = " << x;
    }
  }
}

// What only looks like a named function.
TEST(PairsFormula, NotTheLoopsOfOthers) {
  const auto a = normal<float>(7, 24), b = normal<float>(600, 25), p = normal<float>(1200, 26);
  const Device cpu = Device::open("cpu");
  const auto check = [&](const PairsProblem& problem, const std::function<float(std::uint64_t, std::uint64_t)>& f) {
    check_plain<float>(cpu, array(a), array(b), problem, a.size(), b.size(), f, {});
  };
  check({.formula = Formula("b - a")}, [&](auto x, auto y) { return once(b[y] - a[x]); });
  check({.formula = Formula("a*a")}, [&](auto x, auto) { return once(a[x] * a[x]); });
  check({.formula = Formula("abs(a - b)*2")}, [&](auto x, auto y) { return once(once(std::abs(a[x] - b[y])) * 2); });
  check({.formula = Formula("h*(a*b)"), .parameters = {{"h", 3}}}, [&](auto x, auto y) { return once(3 * once(a[x] * b[y])); });
  const Array pairs_of(p.data(), Shape({600, 2}), DType::float32);
  for (const std::size_t d : {0u, 1u}) {
    check({.formula = Formula(d == 0 ? "p[0]*(a*b)" : "p[1]*(a*b)"), .of_y = {{"p", pairs_of, true}}},
          [&](auto x, auto y) { return once(p[2 * y + d] * once(a[x] * b[y])); });
  }
  const Array first(p.data(), 600, DType::float32);
  check({.formula = Formula("v*(a*b)"), .of_y = {{"u", first}, {"v", array(b)}}},
        [&](auto x, auto y) { return once(b[y] * once(a[x] * b[y])); });
  check({.formula = Formula("u*u*a"), .of_y = {{"u", first}}}, [&](auto x, auto y) { return once(once(p[y] * p[y]) * a[x]); });
}

template <class Real>
void check_sizes() {
  const auto a = normal<Real>(2 * 3, 4), b = normal<Real>(2 * 4100, 5), w = normal<Real>(4100, 6), p = normal<Real>(3 * 4100, 7);
  static constexpr auto kAll = {PairReduction::sum, PairReduction::min, PairReduction::max, PairReduction::argmin, PairReduction::argmax};
  const PairsProblem empty{
      .components = 2, .formula = Formula("w*max(abs(a[0] - b[0]), abs(a[1] - b[1])) + k*p[2]/m"), .parameters = {{"k", 3}, {"m", 0.1}}};
  for (const Device& device : test::devices()) {
    if (compiles(device) && sizeof(Real) == 8) continue;
    for (const std::uint64_t y_count : {0, 1, 2, 31, 33, 63, 65, 511, 512, 513, 4095, 4097}) {
      PairsProblem problem = empty;
      problem.weights = Array(w.data(), y_count, dtype_of<Real>());
      problem.of_y = {{"p", Array(p.data(), Shape({y_count, 3}), dtype_of<Real>()), true}};
      const std::uint64_t x_count = y_count % 3 + (y_count < 3 ? 0 : 1);
      check_plain<Real>(
          device, Array(a.data(), 2 * x_count, dtype_of<Real>()), Array(b.data(), 2 * y_count, dtype_of<Real>()), problem, x_count, y_count,
          [&](std::uint64_t x, std::uint64_t y) {
            const Real first = once(std::abs(a[2 * x] - b[2 * y])), second = once(std::abs(a[2 * x + 1] - b[2 * y + 1]));
            const Real product = once(w[y] * std::max(first, second));
            return once(product + once(once(Real{3} * p[3 * y + 2]) / static_cast<Real>(0.1)));
          },
          kAll);
    }
  }
}
TEST(PairsFormula, AllReductionsAtOddSizes) {
  check_sizes<float>();
  check_sizes<double>();
}

TEST(PairsFormula, SpecialValuesAndTies) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {0.0f, -0.0f, 1.0f, -1.0f, kInfinity, kNan, 1e-40f};
  std::vector<float> b(600, 3.0f);
  b[17] = b[450] = 0.0f;
  b[18] = b[449] = -0.0f;
  b[19] = b[448] = 1e38f;
  const PairsProblem problem{.formula = Formula("a[0]*b[0] - a[0]")};
  const auto f = [&](std::uint64_t x, std::uint64_t y) { return once(once(a[x] * b[y]) - a[x]); };
  PairsProblem signs{.formula = Formula("b[0] < 0.5 ? a[0]*b[0] : 0.0*a[0]")};
  const auto sign = [&](std::uint64_t x, std::uint64_t y) { return b[y] < 0.5f ? once(a[x] * b[y]) : once(0.0f * a[x]); };
  for (const Device& device : test::devices()) {
    check_plain<float>(device, array(a), array(b), problem, a.size(), b.size(), f, {PairReduction::sum, PairReduction::min});
    check_plain<float>(device, array(a), array(b), signs, a.size(), b.size(), sign, {PairReduction::min, PairReduction::argmax});
  }
}

// Values of another type become those of A and B.
TEST(PairsFormula, ConvertedValues) {
  const auto a = normal<float>(30, 8), b = normal<float>(300, 9);
  for (const Device& device : test::devices()) {
    check_plain<float>(device, array(a), array(b), {.formula = Formula("abs(a - b) < 1")}, a.size(), b.size(),
                       [&](std::uint64_t x, std::uint64_t y) { return std::abs(once(a[x] - b[y])) < 1 ? 1.0f : 0.0f; },
                       {PairReduction::sum});
    check_plain<float>(device, array(a), array(b), {.formula = Formula("float64(a)/b + h"), .parameters = {{"h", 0.1}}}, a.size(), b.size(),
                       [&](std::uint64_t x, std::uint64_t y) {
                         const double quotient = static_cast<double>(a[x]) / static_cast<double>(b[y]);
                         return static_cast<float>(once(quotient + 0.1));
                       },
                       {PairReduction::sum});
    check_plain<float>(device, array(a), array(b), {.formula = Formula("n"), .parameters = {{"n", 16777217}}}, a.size(), b.size(),
                       [&](std::uint64_t, std::uint64_t) { return 16777216.0f; }, {PairReduction::max});
  }
}

TEST(PairsFormula, FunctionsWithinTheirBounds) {
  const auto a = normal<double>(3 * 11, 10), b = normal<double>(3 * 1500, 11);
  for (const FormulaMath math : {FormulaMath::fixed, FormulaMath::native}) {
    const PairsProblem problem{.accuracy = PairAccuracy::exact,
                               .components = 3,
                               .formula = Formula("exp(-sqdist(a, b)/h)*cos(dot(a, b)) + tanh(log(1 + abs(a[0]*b[2])))", math),
                               .parameters = {{"h", 2}}};
    std::vector<Bits<double>> first;
    for (const Device& device : test::devices()) {
      const PairsResult result = pairs(array(a), array(b), problem, test::on(device, {}));
      for (std::size_t x = 0; x < 11; ++x) {
        long double sum = 0;
        for (std::size_t y = 0; y < 1500; ++y) {
          long double square = 0, dot = 0;
          for (std::size_t d = 0; d < 3; ++d) {
            const long double p = a[3 * x + d], q = b[3 * y + d];
            square += (p - q) * (p - q);
            dot += p * q;
          }
          sum += std::exp(-square / 2) * std::cos(dot) +
                 std::tanh(std::log1p(std::abs(static_cast<long double>(a[3 * x]) * static_cast<long double>(b[3 * y + 2]))));
        }
        EXPECT_NEAR(std::get<std::vector<double>>(result)[x], static_cast<double>(sum), 1500 * 64 * 0x1p-53) << device.info().selector;
      }
      if (first.empty()) first = bits_of<double>(result);
      if (math == FormulaMath::fixed) {
        EXPECT_EQ(bits_of<double>(result), first) << device.info().selector;
      }
    }
  }
}

TEST(PairsFormula, InputsOfYInAnyLayoutAndPlace) {
  const auto a = normal<float>(5, 12), b = normal<float>(40, 13), p = normal<float>(2 * 40, 14);
  const auto f = [&](std::uint64_t x, std::uint64_t y) {
    return once(once(once(a[x] * p[y]) + once(b[y] * p[40 + y])) + once(p[2 * y] * p[y]));
  };
  for (const Device& device : test::devices()) {
    PairsProblem problem{.formula = Formula("a*p[0] + b*p[1] + q*p[0]")};
    Buffer there(device, p.size() * sizeof(float));
    there.write(p.data(), p.size() * sizeof(float));
    const std::vector<std::uint64_t> columns = {40, 2};
    const std::vector<std::int64_t> by_columns = {4, 160};
    problem.of_y = {{"p", Array(p.data(), columns, DType::float32, by_columns), true},
                    {"q", Array(p.data(), Shape({40}), DType::float32, Strides({8}))}};
    check_plain<float>(device, array(a), array(b), problem, 5, 40, f, {PairReduction::sum});
    problem.of_y[0].array = Array(there, columns, DType::float32, 0, by_columns);
    check_plain<float>(device, array(a), array(b), problem, 5, 40, f, {PairReduction::sum});
  }
}

void expect_refusal(const Array& a, const Array& b, const PairsProblem& problem, const std::string& words) {
  try {
    pairs(a, b, problem);
    ADD_FAILURE() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(PairsFormula, DistancesOfUnsignedIntegers) {
  const std::vector<std::uint64_t> a = {1, 5, std::uint64_t{1} << 63, 7}, b = {3, std::uint64_t{1} << 63, 6, 7};
  for (const Device& device : test::devices()) {
    const auto of = [&](PairFunction f) {
      PairsProblem problem;
      problem.f = f;
      problem.components = 2;
      problem.reduction = PairReduction::min;
      const PairsResult found = pairs(Array(a).part(0, 2), Array(b).part(2, 2), problem, test::on(device, {}));
      return std::get<std::vector<std::uint64_t>>(found)[0];
    };
    EXPECT_EQ(of(PairFunction::absdiff), 5u + 2u);
    EXPECT_EQ(of(PairFunction::sqdist), 25u + 4u);
    PairsProblem alone;
    alone.f = PairFunction::absdiff;
    const PairsResult found = pairs(Array(a).part(0, 1), Array(b).part(0, 2), alone, test::on(device, {}));
    EXPECT_EQ(std::get<std::vector<std::uint64_t>>(found)[0], 2u + ((std::uint64_t{1} << 63) - 1));
  }
}

TEST(PairsFormula, Refusals) {
  const auto a = normal<float>(6, 1), b = normal<float>(9, 2);
  const std::vector<double> wide(3);
  const std::vector<float> two(2), three(3);
  const auto of = [](const char* text) { return PairsProblem{.components = 3, .formula = Formula(text)}; };
  expect_refusal(array(a), array(b), of("dot(a, c)"), "column 8: no input or parameter has the name 'c'; there are a, b");
  expect_refusal(array(a), array(b), of("a[3]"), "column 2: there are 3 components");
  PairsProblem nearest = of("a*b");
  nearest.reduction = PairReduction::smallest;
  expect_refusal(array(a), array(b), nearest, "takes an f that gives one number");
  expect_refusal(array(a), array(b), of("a[0]*i"), "no index i");
  expect_refusal(array(a), array(b), of("int64(a[0])"), "may fail");
  PairsProblem problem = of("a[0]*b[0]");
  problem.weights = array(three);
  expect_refusal(array(a), array(b), problem, "takes as w");
  problem.formula = Formula("w*a[0]");
  problem.weights = array(two);
  expect_refusal(array(a), array(b), problem, "'w' has an element or a vector for each y");
  problem.weights = array(wide);
  expect_refusal(array(a), array(b), problem, "'w' has an element or a vector for each y");
  problem.weights = array(three);
  problem.of_y = {{"w", array(three)}};
  expect_refusal(array(a), array(b), problem, "two inputs or parameters with the name 'w'");
  problem = of("a[0]*h");
  problem.parameters = {{"b", 1.0}, {"h", 1.0}};
  expect_refusal(array(a), array(b), problem, "two inputs or parameters with the name 'b'");
  problem.formula.reset();
  expect_refusal(array(a), array(b), problem, "those of a formula");
  problem = of("a[0]");
  problem.components = 0;
  expect_refusal(array(a), array(b), problem, "vectors have 1 to");
  const std::vector<float> many(65);
  problem.components = 65;
  expect_refusal(array(many), array(many), problem, "1 to 64");
  problem = of("a[0]");
  problem.reduction = PairReduction::argmax;
  expect_refusal(array(a), array(std::vector<float>()), problem, "B is empty");
}

}  // namespace
}  // namespace samesum
