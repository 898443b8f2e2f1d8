// Complex numbers in formulas, against std::complex's operations one by one, and against the product of complex numbers.
#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <samesum/complex.hpp>
#include <samesum/error.hpp>
#include <samesum/formula.hpp>
#include <samesum/map_source.hpp>
#include <samesum/operator.hpp>
#include <samesum/source.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum {
namespace {

template <class T>
std::vector<std::complex<T>> ugly_numbers(std::uint64_t seed, std::size_t size) {
  hard::Random random(seed);
  const T special[] = {0,
                       -T(0),
                       1,
                       -1,
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN()};
  const auto part = [&]() -> T {
    if (random.below(4) == 0) return special[random.below(8)];
    return std::ldexp(static_cast<T>(random.between(-1000, 1000)), static_cast<int>(random.between(-30, 30)));
  };
  std::vector<std::complex<T>> z(size);
  for (auto& number : z) {
    const T real = part();
    number = {real, part()};
  }
  return z;
}

template <class T>
std::uint64_t bits(T value) {
  if (std::isnan(value)) return ~std::uint64_t{0};
  return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

// Each operation rounded in T, as docs/formulas.md has them.
template <class T>
struct Plain {
  using C = std::complex<T>;
  static C times(C a, C b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }
  static T abs2(C a) { return a.real() * a.real() + a.imag() * a.imag(); }
  static C over(C a, C b) {
    const C above = times(a, {b.real(), -b.imag()});
    return {above.real() / abs2(b), above.imag() / abs2(b)};
  }
};

template <class T>
struct Case {
  const char* text;
  std::function<std::complex<T>(std::complex<T> z, std::complex<T> w, T x)> expected;
  bool real = false;  // the result is a real number
};

template <class T>
void check_operations() {
  using P = Plain<T>;
  using C = std::complex<T>;
  const std::vector<Case<T>> cases = {
      {"z + w", [](C z, C w, T) { return C(z.real() + w.real(), z.imag() + w.imag()); }},
      {"z - w", [](C z, C w, T) { return C(z.real() - w.real(), z.imag() - w.imag()); }},
      {"z*w", [](C z, C w, T) { return P::times(z, w); }},
      {"z/w", [](C z, C w, T) { return P::over(z, w); }},
      {"z + x", [](C z, C, T x) { return C(z.real() + x, z.imag()); }},
      {"x + z", [](C z, C, T x) { return C(x + z.real(), z.imag()); }},
      {"z - x", [](C z, C, T x) { return C(z.real() - x, z.imag()); }},
      {"x - z", [](C z, C, T x) { return C(x - z.real(), -z.imag()); }},
      {"z*x", [](C z, C, T x) { return C(z.real() * x, z.imag() * x); }},
      {"x*z", [](C z, C, T x) { return C(x * z.real(), x * z.imag()); }},
      {"z/x", [](C z, C, T x) { return C(z.real() / x, z.imag() / x); }},
      {"x/z", [](C z, C, T x) { return C(x * z.real() / P::abs2(z), x * -z.imag() / P::abs2(z)); }},
      {"-z", [](C z, C, T) { return C(-z.real(), -z.imag()); }},
      {"conj(z)", [](C z, C, T) { return C(z.real(), -z.imag()); }},
      {"complex(x, -x)", [](C, C, T x) { return C(x, -x); }},
      {"z^3", [](C z, C, T) { return P::times(P::times(z, z), z); }},
      {"let r = z*z; r/2 + w", [](C z, C w, T) { return C(P::times(z, z).real() / 2 + w.real(), P::times(z, z).imag() / 2 + w.imag()); }},
      {"x > 0 ? z : w", [](C z, C w, T x) { return x > 0 ? z : w; }},
      {"x > 0 ? z : x", [](C z, C, T x) { return x > 0 ? z : C(x, 0); }},
      {"real(z)", [](C z, C, T) { return C(z.real()); }, true},
      {"imag(z)", [](C z, C, T) { return C(z.imag()); }, true},
      {"imag(x)", [](C, C, T) { return C(0); }, true},
      {"abs2(z)", [](C z, C, T) { return C(P::abs2(z)); }, true},
      {"z == w", [](C z, C w, T) { return C(z.real() == w.real() && z.imag() == w.imag() ? 1 : 0); }, true},
      {"z != x", [](C z, C, T x) { return C(z.real() != x || z.imag() != 0 ? 1 : 0); }, true},
  };
  constexpr std::size_t kSize = 700;
  const auto z = ugly_numbers<T>(1, kSize), w = ugly_numbers<T>(2, kSize);
  std::vector<T> x;
  for (const auto& number : ugly_numbers<T>(3, kSize)) x.push_back(number.real());
  for (const Case<T>& one : cases) {
    SCOPED_TRACE(one.text);
    const std::vector<FormulaInput> inputs{{"z", z}, {"w", w}, {"x", x}};
    const FormulaDescription described = Formula(one.text).describe(inputs);
    ASSERT_EQ(described.complex, !one.real);
    std::vector<C> found(kSize);
    if (one.real) {
      const std::vector<double> values = evaluate<double>(Formula(one.text), inputs);
      for (std::size_t k = 0; k < kSize; ++k) found[k] = static_cast<T>(values[k]);
    } else {
      const ComplexArray to(found);
      map(Formula(one.text), inputs, {}, {to.real(), to.imag()});
    }
    for (std::size_t k = 0; k < kSize; ++k) {
      const C expected = one.expected(z[k], w[k], x[k]);
      ASSERT_EQ(bits(found[k].real()), bits(expected.real())) << k << ": " << z[k] << w[k] << x[k] << found[k] << expected;
      ASSERT_EQ(bits(found[k].imag()), bits(expected.imag())) << k << ": " << z[k] << w[k] << x[k] << found[k] << expected;
    }
  }
}

TEST(FormulaComplex, OperationsFloat32) { check_operations<float>(); }
TEST(FormulaComplex, OperationsFloat64) { check_operations<double>(); }

TEST(FormulaComplex, FunctionsWithinTheirBounds) {
  const std::vector<std::complex<double>> z = {{0, 0}, {1, -2}, {-3, 0.5}, {0.25, 40}};
  const auto abs = evaluate<double>(Formula("abs(z)"), {{"z", z}}), arg = evaluate<double>(Formula("arg(z)"), {{"z", z}});
  std::vector<std::complex<double>> exp(z.size());
  const ComplexArray to(exp);
  map(Formula("exp(z)"), {{"z", z}}, {}, {to.real(), to.imag()});
  for (std::size_t k = 0; k < z.size(); ++k) {
    EXPECT_DOUBLE_EQ(abs[k], std::abs(z[k]));
    EXPECT_DOUBLE_EQ(arg[k], std::arg(z[k]));
    EXPECT_NEAR(exp[k].real(), std::exp(z[k]).real(), 1e-15 * std::abs(std::exp(z[k])));
    EXPECT_NEAR(exp[k].imag(), std::exp(z[k]).imag(), 1e-15 * std::abs(std::exp(z[k])));
  }
  // Of real numbers it is real.
  const std::vector<std::complex<double>> real = {{800, 0}, {HUGE_VAL, -0.0}, {-800, 0}, {1, -0.0}};
  std::vector<std::complex<double>> powers(real.size());
  const ComplexArray at(powers);
  map(Formula("exp(z)"), {{"z", real}}, {}, {at.real(), at.imag()});
  for (std::size_t k = 0; k < real.size(); ++k) {
    EXPECT_EQ(powers[k].imag(), 0);
    EXPECT_EQ(std::signbit(powers[k].imag()), std::signbit(real[k].imag()));
  }
  EXPECT_EQ(powers[0].real(), HUGE_VAL);
  // A parameter and integers take the type of the parts; float64 beside float32 is float64.
  const std::vector<std::complex<float>> f = {{1, 2}};
  EXPECT_EQ(Formula("z*h + 1").describe({{"z", f}}, {{"h", 0.5}}).results, (std::vector<DType>{DType::float32, DType::float32}));
  EXPECT_EQ(Formula("z*w").describe({{"z", f}, {"w", z}}).results, (std::vector<DType>{DType::float64, DType::float64}));
  EXPECT_EQ(Formula("complex(i, 1)").describe({{"z", f}}).results, (std::vector<DType>{DType::float64, DType::float64}));
}

TEST(FormulaComplex, SaysWhatIsWrong) {
  const std::vector<std::complex<float>> z = {{1, 2}};
  const std::vector<float> x = {1};
  const auto message = [&](const char* text) -> std::string {
    try {
      Formula(text).describe({{"z", z}, {"x", x}});
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage ? error.what() : "another kind of error";
    }
    return "no error";
  };
  const auto says = [&](const char* text, std::string_view what) {
    EXPECT_NE(message(text).find(what), std::string::npos) << text << ": " << message(text);
  };
  says("z < 1", "'<' takes no complex numbers");
  says("min(z, x)", "'min' takes no complex numbers");
  says("sqrt(z)", "'sqrt' takes no complex numbers");
  says("z[0]", "real(z)");
  says("(z, 1)", "a tuple has no complex numbers");
  says("z*(1, 2)", "do not go with tuples");
  says("z^0.5", "a whole number in the text");
  says("z ? 1 : 2", "write z != 0");
  says("complex(z, 1)", "two real numbers");
  EXPECT_THROW(map(Formula("z*z"), {{"z", z}}), Error);
}

// Sums of what a formula makes of complex numbers, and operators on them: on every device, with the bits of what is built in.
TEST(FormulaComplex, Reductions) {
  constexpr std::size_t kSize = 20001;
  std::vector<std::complex<float>> z(kSize);
  hard::Random random(5);
  for (auto& number : z) {
    const double angle = static_cast<double>(random.below(1000)) * 0.00628;
    number = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  std::vector<float> squares(kSize);
  for (std::size_t k = 0; k < kSize; ++k) squares[k] = Plain<float>::abs2(z[k]);
  const double expected = sum(squares);
  const std::complex<double> product = samesum::product(z);
  const Operator times{Formula("a*b")};
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    const Buffer buffer(device, kSize * sizeof z[0]);
    buffer.write(z.data(), kSize * sizeof z[0]);
    const ComplexArray there(Array(buffer, {kSize, 2}, DType::float32));
    for (const ComplexArray& numbers : {ComplexArray(z), there}) {
      const Options options{.device = device};
      EXPECT_EQ(accumulate(*map(Formula("abs2(z)"), {{"z", numbers}}), options).round(), expected);
      const std::vector<Value> found = reduce(Formula("z"), {{"z", numbers}}, {}, times, options);
      ASSERT_EQ(found.size(), 2u);
      EXPECT_EQ(bits(found[0].as_double()), bits(product.real()));
      EXPECT_EQ(bits(found[1].as_double()), bits(product.imag()));
    }
  }
  Operator size{Formula("a*b")};
  size.finish = Formula("abs2(a)");
  EXPECT_EQ(reduce(Formula("z"), {{"z", z}}, {}, size).size(), 1u);
  EXPECT_THROW(reduce(Formula("z"), {{"z", z}}, {}, Operator{Formula("(real(a), imag(b))")}), Error);
  EXPECT_THROW(reduce(Formula("(x, x)"), {{"x", squares}}, {}, Operator{Formula("complex(a[0], b[0])")}), Error);
}

// Chunks of a few complex numbers.
class Chunks final : public Source {
 public:
  explicit Chunks(const std::vector<std::complex<float>>& numbers) : numbers_(numbers) {}
  std::optional<Array> next() override {
    const std::uint64_t count = std::min<std::uint64_t>(7, numbers_.size() - done_);
    if (count == 0) return std::nullopt;
    done_ += count;
    return ComplexArray(std::span(numbers_).subspan(done_ - count, count)).parts();
  }
  std::string_view format() const noexcept override { return "test"; }
  std::optional<DType> type() const noexcept override { return DType::float32; }
  bool complex() const noexcept override { return true; }

 private:
  const std::vector<std::complex<float>>& numbers_;
  std::uint64_t done_ = 0;
};

TEST(FormulaComplex, Sources) {
  const auto z = ugly_numbers<float>(9, 100), w = ugly_numbers<float>(10, 100);
  std::vector<SourceInput> inputs;
  inputs.push_back({"z", std::make_unique<Chunks>(z)});
  inputs.push_back({"w", std::make_unique<Chunks>(w)});
  const auto products = map(Formula("real(z*conj(w))"), std::move(inputs));
  std::vector<float> found, expected;
  while (const std::optional<Array> chunk = products->next()) {
    const auto* const data = static_cast<const float*>(chunk->data());
    found.insert(found.end(), data, data + chunk->size());
  }
  for (std::size_t k = 0; k < z.size(); ++k) expected.push_back(Plain<float>::times(z[k], std::conj(w[k])).real());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(bits(found[k]), bits(expected[k])) << k;
}

}  // namespace
}  // namespace samesum
