// Pairs of complex numbers, on every device: as vectors of two components, and as arrays of complex numbers.
#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/pairs_values.hpp"

#include <samesum/complex.hpp>
#include <samesum/error.hpp>
#include <samesum/operator.hpp>
#include <samesum/pairs.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace samesum {
namespace {

using test::array;
using test::Bits;
using test::bits_of;
using test::normal;
using test::once;

// Complex numbers are vectors of two components, of which complex() makes numbers: exact sums of products, of both parts.
TEST(PairsComplex, ComplexNumbersOfTwoComponents) {
  constexpr std::size_t kX = 5, kY = 700;
  auto a = normal<float>(2 * kX, 27), b = normal<float>(2 * kY, 28);
  b[6] = 1e30f;  // so that parts cancel
  b[8] = -1e30f;
  const PairsProblem problem{
      .accuracy = PairAccuracy::exact, .components = 2, .formula = Formula("complex(a[0], a[1])*conj(complex(b[0], b[1]))")};
  for (const Device& device : test::devices()) {
    const std::vector<Bits<float>> found = bits_of<float>(pairs(array(a), array(b), problem, test::on(device, {})));
    ASSERT_EQ(found.size(), 2 * kX);
    for (std::size_t x = 0; x < kX; ++x) {
      std::vector<float> real, imaginary;
      for (std::size_t y = 0; y < kY; ++y) {
        const float p = a[2 * x], q = a[2 * x + 1], r = b[2 * y], s = -b[2 * y + 1];
        real.push_back(once(once(p * r) - once(q * s)));
        imaginary.push_back(once(once(p * s) + once(q * r)));
      }
      const auto sum = [](const std::vector<float>& of) {
        return static_cast<Bits<float>>(test::mpfr_oracle(std::span<const float>(of), NanPolicy::propagate).float32);
      };
      EXPECT_EQ(found[2 * x], sum(real)) << device.info().selector << ", x = " << x;
      EXPECT_EQ(found[2 * x + 1], sum(imaginary)) << device.info().selector << ", x = " << x;
    }
  }
}

Operator with_finish(Formula combine, Formula finish) {
  Operator op(std::move(combine));
  op.finish = std::move(finish);
  return op;
}

// Arrays of complex numbers: what vectors of two components give through complex(), and what has no meaning for complex numbers.
TEST(PairsComplex, ComplexArrays) {
  constexpr std::size_t kX = 5, kY = 300;
  std::vector<std::complex<double>> a, b, q;
  const auto parts = normal<double>(2 * (kX + 2 * kY), 31);
  for (std::size_t i = 0; i < kX + 2 * kY; ++i) (i < kX ? a : i < kX + kY ? b : q).emplace_back(parts[2 * i], parts[2 * i + 1]);
  const auto values = [&](const PairsProblem& problem, const Device& device) {
    return bits_of<double>(pairs(ComplexArray(a), ComplexArray(b), problem, test::on(device, {})));
  };
  const auto by_components = [&](const PairsProblem& problem, const Device& device) {
    PairsProblem of_vectors = problem;
    of_vectors.components = 2;
    return bits_of<double>(pairs(ComplexArray(a).parts(), ComplexArray(b).parts(), of_vectors, test::on(device, {})));
  };
  const auto flat = [](std::complex<double> z) {
    return std::vector{std::bit_cast<Bits<double>>(z.real()), std::bit_cast<Bits<double>>(z.imag())};
  };
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels) || device.info().has(Capability::fp64)) {
      SCOPED_TRACE(device.info().selector);
      const std::string z = "let z = complex(a[0], a[1]); let u = complex(b[0], b[1]); ";
      for (const PairAccuracy accuracy : {PairAccuracy::fast, PairAccuracy::compensated, PairAccuracy::exact}) {
        const auto sums = by_components({.accuracy = accuracy, .formula = Formula(z + "z*u")}, device);
        EXPECT_EQ(sums.size(), 2 * kX);
        EXPECT_EQ(values({.accuracy = accuracy}, device), sums);
        EXPECT_EQ(values({.accuracy = accuracy, .formula = Formula("a*b")}, device), sums);
      }
      EXPECT_EQ(values({.f = PairFunction::difference, .accuracy = PairAccuracy::exact}, device),
                by_components({.accuracy = PairAccuracy::exact, .formula = Formula("a - b")}, device));
      EXPECT_EQ(values({.f = PairFunction::sqdist, .reduction = PairReduction::min}, device),
                by_components({.reduction = PairReduction::min, .formula = Formula(z + "abs2(z - u)")}, device));
      // An input of y, and a real one beside it.
      EXPECT_EQ(values({.accuracy = PairAccuracy::exact,
                        .weights = array(parts).part(0, kY),
                        .formula = Formula("w*a*q"),
                        .of_y = {{"q", ComplexArray(q)}}},
                       device),
                by_components({.accuracy = PairAccuracy::exact,
                               .weights = array(parts).part(0, kY),
                               .formula = Formula("let z = w*complex(a[0], a[1])*complex(v[0], v[1]); z"),
                               .of_y = {{"v", ComplexArray(q).parts(), true}}},
                              device));
      // Products and operators, by the tree over y that product() and reduce() have.
      const auto products = values({.reduction = PairReduction::product, .formula = Formula("a/b")}, device);
      const auto ends = values({.formula = Formula("b - a"), .combine = Operator(Formula("conj(a)*b + a"))}, device);
      const auto sizes = values({.formula = Formula("a*b"), .combine = with_finish(Formula("a + b"), Formula("abs2(a)"))}, device);
      for (std::size_t x = 0; x < kX; ++x) {
        const FormulaInput all("b", ComplexArray(b));
        const std::vector<FormulaParameter> of_x = {{"re", a[x].real()}, {"im", a[x].imag()}};
        const auto reduced = [&](const char* f, const Operator& op) { return reduce(Formula(f), {all}, of_x, op); };
        const auto bits = [&](const std::vector<Value>& found) { return flat({found.at(0).as_double(), found.at(1).as_double()}); };
        const auto at_x = [&](const std::vector<Bits<double>>& of) { return std::vector(of.begin() + 2 * x, of.begin() + 2 * x + 2); };
        EXPECT_EQ(at_x(products), bits(reduced("complex(re, im)/b", Operator(Formula("a*b")))));
        EXPECT_EQ(at_x(ends), bits(reduced("b - complex(re, im)", Operator(Formula("conj(a)*b + a")))));
        EXPECT_EQ(sizes.at(x), std::bit_cast<Bits<double>>(
                                   reduced("complex(re, im)*b", with_finish(Formula("a + b"), Formula("abs2(a)"))).at(0).as_double()));
      }
    }
  }
  const Device cpu = Device::open("cpu");
  const Array x = ComplexArray(a).parts(), y = ComplexArray(b).parts();
  const auto gives_complex = [&](PairsProblem problem) {
    problem.components = 2;
    problem.complex = true;
    return pairs_give_complex(x, y, problem);
  };
  EXPECT_TRUE(gives_complex({}));
  EXPECT_TRUE(gives_complex({.accuracy = PairAccuracy::exact}));
  EXPECT_TRUE(gives_complex({.reduction = PairReduction::product}));
  EXPECT_TRUE(gives_complex({.formula = Formula("abs2(a - b)"), .combine = with_finish(Formula("a + b"), Formula("complex(a, 1)"))}));
  EXPECT_FALSE(gives_complex({.f = PairFunction::sqdist}));
  EXPECT_FALSE(gives_complex({.combine = with_finish(Formula("a*b"), Formula("abs2(a)"))}));
  EXPECT_FALSE(pairs_give_complex(x, y, {.components = 2, .formula = Formula("(a[0], b[1])")}));
  for (const PairReduction reduction : {PairReduction::min, PairReduction::argmax, PairReduction::logsumexp})
    EXPECT_THROW(values({.reduction = reduction}, cpu), Error) << name_of(reduction);
  EXPECT_THROW(values({.f = PairFunction::gaussian}, cpu), Error);
  EXPECT_THROW(values({.reduction = PairReduction::argsmallest}, cpu), Error);
  EXPECT_THROW(pairs(x, y, {.components = 1, .complex = true}, test::on(cpu, {})), Error);
}

}  // namespace
}  // namespace samesum
