// Formulas of pairs that are functions with names, or have their values: they take their loops and kernels.
#include "support/devices.hpp"
#include "support/pairs_values.hpp"

#include <samesum/pairs.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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

// On the CPU a formula that is a named function, operation by operation, takes its loops: also the sums that round are the same.
template <class Real>
void check_loops_of_names() {
  constexpr std::uint64_t kX = 29, kY = 4500;
  const auto a = normal<Real>(kX * 3, 21), b = normal<Real>(kY * 3, 22), w = normal<Real>(kY, 23);
  struct Row {
    PairFunction f;
    std::uint64_t components;
    const char* text;
  };
  constexpr Row kRows[] = {{PairFunction::product, 1, "a*b"},         {PairFunction::product, 3, "dot(a, b)"},
                           {PairFunction::sqdist, 1, "(a - b)^2"},    {PairFunction::sqdist, 1, "let d = a - b; d*d"},
                           {PairFunction::sqdist, 3, "sqdist(a, b)"}, {PairFunction::difference, 1, "a - b"},
                           {PairFunction::absdiff, 1, "abs(a - b)"}};
  for (const Row& row : kRows) {
    for (const PairAccuracy accuracy : {PairAccuracy::fast, PairAccuracy::compensated}) {
      SCOPED_TRACE(fmt::format("{}, D={}, {}", row.text, row.components, name_of(accuracy)));
      const Array x(a.data(), kX * row.components, dtype_of<Real>()), y(b.data(), kY * row.components, dtype_of<Real>());
      const Options cpu{.device = Device::open("cpu")};
      PairsProblem named{.f = row.f, .accuracy = accuracy, .components = row.components}, formula = named;
      formula.formula = Formula(row.text);
      EXPECT_EQ(bits_of<Real>(pairs(x, y, formula, cpu)), bits_of<Real>(pairs(x, y, named, cpu)));
      named.weights = array(w);
      const auto right = bits_of<Real>(pairs(x, y, named, cpu));
      // w*(let …) is no formula.
      const std::string text(row.text);
      const auto with = [&](const char* name) {
        return Formula(text.starts_with("let") ? fmt::format("let d = a - b; {}*(d*d)", name) : fmt::format("{}*({})", name, text));
      };
      formula.formula = with("w");
      formula.weights = array(w);
      EXPECT_EQ(bits_of<Real>(pairs(x, y, formula, cpu)), right);
      formula.formula = with("mass");
      formula.weights.reset();
      formula.of_y = {{"mass", array(w)}};
      EXPECT_EQ(bits_of<Real>(pairs(x, y, formula, cpu)), right);
    }
  }
}
TEST(PairsNamed, TakesTheLoopsOfNamedFunctions) {
  check_loops_of_names<float>();
  check_loops_of_names<double>();
}

// In fast sums a formula with the value of gaussian or invdist takes these, however it is written, and others take themselves.
template <class Real>
void check_approximations(const Device& device) {
  constexpr std::uint64_t kX = 19, kY = 1500;
  const auto a = normal<Real>(kX * 3, 41), b = normal<Real>(kY * 3, 42), w = normal<Real>(kY, 43);
  const PairsProblem gaussian{.f = PairFunction::gaussian, .components = 3, .h = 0.5},
      invdist{.f = PairFunction::invdist, .components = 3, .softening = 0.25};
  const auto sums = [&](const PairsProblem& problem) { return bits_of<Real>(pairs(array(a), array(b), problem, test::on(device, {}))); };
  const auto by = [](PairsProblem problem, const char* text, std::vector<FormulaParameter> parameters = {}) {
    problem.formula = Formula(text);
    problem.parameters = std::move(parameters);
    return problem;
  };
  const auto gaussians = sums(gaussian);
  EXPECT_EQ(sums(by(gaussian, "exp(-sqdist(a, b)/h)", {{"h", 0.5}})), gaussians);
  EXPECT_EQ(sums(by(gaussian, "exp(-2*sqdist(a, b))")), gaussians);
  EXPECT_EQ(sums(by(gaussian, "exp(sqdist(a, b)*-c)", {{"c", 2.0}})), gaussians);
  EXPECT_EQ(sums(by(gaussian, "exp(-(sqdist(a, b)/(2*s*s)))", {{"s", 0.5}})), gaussians);
  EXPECT_EQ(sums(by(gaussian, "let d = a - b; exp(-(fma(d[2], d[2], fma(d[1], d[1], d[0]*d[0])))/h)", {{"h", 0.5}})), gaussians);
  const auto inverses = sums(invdist);
  EXPECT_EQ(sums(by(invdist, "1/sqrt(sqdist(a, b) + s*s)", {{"s", 0.25}})), inverses);
  EXPECT_EQ(sums(by(invdist, "rsqrt(e + sqdist(a, b))", {{"e", 0.0625}})), inverses);
  PairsProblem weighted = gaussian;
  weighted.weights = array(w);
  EXPECT_EQ(sums(by(weighted, "w*exp(-sqdist(a, b)/h)", {{"h", 0.5}})), sums(weighted));
  PairsProblem with_masses = by(invdist, "1/sqrt(sqdist(a, b) + 0.0625)*m");
  with_masses.of_y = {{"m", array(w)}};
  weighted.f = PairFunction::invdist;
  weighted.softening = 0.25;
  EXPECT_EQ(sums(with_masses), sums(weighted));
  // Near misses.
  const auto check = [&](PairsProblem problem, const auto& f) {
    const std::vector<Real> found = std::get<std::vector<Real>>(pairs(array(a), array(b), problem, test::on(device, {})));
    for (std::uint64_t x = 0; x < kX; ++x) {
      double sum = 0, magnitude = 0;
      for (std::uint64_t y = 0; y < kY; ++y) {
        double s = 0;
        for (int d = 0; d < 3; ++d) s += std::pow(static_cast<double>(a[3 * x + d]) - b[3 * y + d], 2);
        const double value = f(s, y);
        sum += value;
        magnitude += std::abs(value);
      }
      EXPECT_NEAR(found[x], sum, 1e-4 * magnitude) << problem.formula->to_string() << ", x = " << x;
    }
  };
  const auto of_s = [](auto f) { return [f](double s, std::uint64_t) { return f(s); }; };
  check(by(gaussian, "exp(sqdist(a, b)/64)"), of_s([](double s) { return std::exp(s / 64); }));
  check(by(gaussian, "exp(-sqdist(a, b)/h)*c", {{"h", 4.0}, {"c", 3.0}}), of_s([](double s) { return 3 * std::exp(-s / 4); }));
  check(by(gaussian, "exp(-(sqdist(a, b) + 1))"), of_s([](double s) { return std::exp(-(s + 1)); }));
  check(by(gaussian, "exp(-2/(sqdist(a, b) + 1))"), of_s([](double s) { return std::exp(-2 / (s + 1)); }));
  check(by(invdist, "2/sqrt(sqdist(a, b) + 1)"), of_s([](double s) { return 2 / std::sqrt(s + 1); }));
  check(by(invdist, "1/sqrt(2*sqdist(a, b) + 1)"), of_s([](double s) { return 1 / std::sqrt(2 * s + 1); }));
  PairsProblem of_square = by(gaussian, "m*m*exp(-sqdist(a, b)/4)");
  of_square.of_y = {{"m", array(w)}};
  check(of_square, [&](double s, std::uint64_t y) { return static_cast<double>(w[y]) * w[y] * std::exp(-s / 4); });
}
TEST(PairsNamed, FastSumsTakeGaussianAndInverseDistance) {
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    check_approximations<float>(device);
    if (!device.info().has(Capability::kernels) || device.info().has(Capability::fp64)) check_approximations<double>(device);
  }
}

// A number that is made of 2^60 uses of a parameter is found in one step for each operation.
TEST(PairsNamed, NumbersThatAreUsedOftenTakeNoTime) {
  std::string text = "let c0 = h*0; ";
  for (int k = 0; k < 60; ++k) text += fmt::format("let c{} = c{} + c{}; ", k + 1, k, k);
  const auto a = normal<double>(9, 46), b = normal<double>(30, 47);
  PairsProblem problem{.formula = Formula(text + "exp(-sqdist(a, b)*(1 + c60))")};
  problem.parameters = {{"h", 0.5}};
  const Options cpu{.device = Device::open("cpu")};
  const auto found = std::get<std::vector<double>>(pairs(array(a), array(b), problem, cpu));
  for (std::size_t x = 0; x < a.size(); ++x) {
    double sum = 0;
    for (const double y : b) sum += std::exp(-(a[x] - y) * (a[x] - y));
    EXPECT_NEAR(found[x], sum, 1e-13 * sum);
  }
}

// A minimum has a formula's own bits.
TEST(PairsNamed, OtherReductionsKeepTheFormula) {
  const auto a = normal<float>(9, 44), b = normal<float>(300, 45);
  const PairsProblem problem{.reduction = PairReduction::max, .formula = Formula("1/sqrt((a - b)^2 + 0.1)")};
  for (const Device& device : test::devices()) {
    const auto found = bits_of<float>(pairs(array(a), array(b), problem, test::on(device, {})));
    for (std::size_t x = 0; x < a.size(); ++x) {
      float greatest = 0;
      for (const float y : b) {
        const float d = once(a[x] - y);
        greatest = std::max(greatest, once(1 / once(std::sqrt(once(once(d * d) + 0.1f)))));
      }
      EXPECT_EQ(found[x], std::bit_cast<Bits<float>>(greatest)) << device.info().selector << ", x = " << x;
    }
  }
}

}  // namespace
}  // namespace samesum
