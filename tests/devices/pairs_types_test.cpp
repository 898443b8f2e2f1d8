// Pairs of integers, exact or refused, and of 16-bit floats, which have the bits of the same numbers as float32.
#include "support/devices.hpp"
#include "support/same_bits.hpp"

#include <samesum/buffer.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::expect_error;
using test::expect_same_bits;

__extension__ using Wide = __int128;

// All values of the type, its ends among them; `small`: of at most ten bits.
template <class Int>
std::vector<Int> integers(std::uint64_t count, unsigned seed, bool small) {
  std::mt19937_64 random(seed);
  std::vector<Int> values;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<Int>(random());
    values.push_back(small         ? static_cast<Int>(bits % 1000)
                     : i % 50 == 0 ? std::numeric_limits<Int>::min()
                     : i % 50 == 1 ? std::numeric_limits<Int>::max()
                                   : bits);
  }
  return values;
}

template <class Int>
constexpr DType kComputed = dtype_of<Int>() == DType::uint64 ? DType::uint64 : DType::int64;

template <class Result, class Int>
void check_reductions(const std::vector<Int>& a, const std::vector<Int>& b, std::uint64_t y_count, PairsProblem problem, const auto& f) {
  std::vector<Result> sums, least, greatest;
  std::vector<std::int64_t> first_least, first_greatest;
  for (const Int x : a) {
    Wide sum = 0;
    std::vector<Result> values;
    for (std::uint64_t y = 0; y < y_count; ++y) {
      values.push_back(static_cast<Result>(f(static_cast<Result>(x), static_cast<Result>(b[y]))));
      sum += values.back();
    }
    sums.push_back(static_cast<Result>(sum));
    const auto low = std::min_element(values.begin(), values.end()), high = std::max_element(values.begin(), values.end());
    least.push_back(*low);
    greatest.push_back(*high);
    first_least.push_back(low - values.begin());
    first_greatest.push_back(high - values.begin());
  }
  for (const Device& device : test::devices()) {
    const Array some(b.data(), y_count, dtype_of<Int>());
    const auto expect = [&](PairReduction reduction, const Array& right) {
      problem.reduction = reduction;
      expect_same_bits(array_of(pairs(a, some, problem, test::on(device, {}))), right,
                       fmt::format("{}, {} of {}, {} y", device.info().selector, name_of(reduction), name_of(dtype_of<Int>()), y_count));
    };
    expect(PairReduction::sum, Array(sums));
    expect(PairReduction::min, Array(least));
    expect(PairReduction::max, Array(greatest));
    expect(PairReduction::argmin, Array(first_least));
    expect(PairReduction::argmax, Array(first_greatest));
  }
}

template <class Int>
void check_integers() {
  using Result = std::conditional_t<kComputed<Int> == DType::uint64, std::uint64_t, std::int64_t>;
  const auto a = integers<Int>(7, 1, true), b = integers<Int>(4099, 2, true);
  for (const std::uint64_t y_count : {1, 9, 4099}) {
    check_reductions<Result>(a, b, y_count, {}, [](Result x, Result y) { return x * y; });
    // Of all numbers there are: what they have in common, which no type is too small for.
    check_reductions<Result>(integers<Int>(5, 3, false), integers<Int>(4099, 4, false), y_count,
                             {.formula = Formula("(a[0] & b[0]) % 1000")}, [](Result x, Result y) { return (x & y) % 1000; });
  }
}

TEST(PairsTypes, IntegersOfEveryType) {
  check_integers<std::int8_t>();
  check_integers<std::uint8_t>();
  check_integers<std::int16_t>();
  check_integers<std::uint16_t>();
  check_integers<std::int32_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
}

// 64 bits hold the sum, and nothing need hold what is there on the way.
TEST(PairsTypes, SumsAndProductsOfSixtyFourBits) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max(), kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t kAll = ~std::uint64_t{0}, kHalf = std::uint64_t{1} << 63;
  using Signed = std::vector<std::int64_t>;
  using Unsigned = std::vector<std::uint64_t>;
  const PairsProblem sum{.formula = Formula("a[0]*0 + b[0]")};
  PairsProblem product = sum;
  product.reduction = PairReduction::product;
  for (const Device& device : test::devices()) {
    const Options how = test::on(device, {});
    const auto of = [&](const Signed& b, const PairsProblem& problem) { return std::get<Signed>(pairs(Signed{1}, b, problem, how))[0]; };
    const auto of_unsigned = [&](const Unsigned& b, const PairsProblem& problem) {
      return std::get<Unsigned>(pairs(Unsigned{1}, b, problem, how))[0];
    };
    const auto too_large = [&](const auto& b, const PairsProblem& problem, const std::string& words) {
      std::decay_t<decltype(b)> one{1};
      expect_error(ErrorKind::no_answer, words, [&] { pairs(one, b, problem, how); });
    };
    SCOPED_TRACE(device.info().selector);
    EXPECT_EQ(of({kMax, kMax, kLeast, kLeast, 1}, sum), -1);
    EXPECT_EQ(of({kMax, 1, -1}, sum), kMax);
    EXPECT_EQ(of({kLeast, kMax, -kMax}, sum), kLeast);
    EXPECT_EQ(of({}, sum), 0);
    too_large(Signed{kMax, 1}, sum, "the sum of x = 0 does not fit into int64");
    too_large(Signed{kLeast, -1}, sum, "the sum of x = 0 does not fit into int64");
    EXPECT_EQ(of_unsigned({kHalf, kHalf - 1}, sum), kAll);
    too_large(Unsigned{kHalf, kHalf}, sum, "the sum of x = 0 does not fit into uint64");
    EXPECT_EQ(of({kLeast}, product), kLeast);
    EXPECT_EQ(of({kLeast, 1, 1}, product), kLeast);
    EXPECT_EQ(of({1 << 30, -1, 1 << 30, 8}, product), kLeast);
    EXPECT_EQ(of({kMax, -1}, product), -kMax);
    EXPECT_EQ(of({-3, 5, -7}, product), 105);
    EXPECT_EQ(of({kMax, kMax, 0, -1, kLeast}, product), 0);
    EXPECT_EQ(of({}, product), 1);
    too_large(Signed{kLeast, -1}, product, "the product of x = 0 does not fit into int64");
    too_large(Signed{1 << 30, 1 << 30, 8}, product, "the product of x = 0 does not fit into int64");
    too_large(Signed{kMax, kMax, 1}, product, "the product of x = 0 does not fit into int64");
    EXPECT_EQ(of_unsigned({kHalf, 1}, product), kHalf);
    EXPECT_EQ(of_unsigned({kAll, kAll, 0}, product), 0u);
    too_large(Unsigned{kHalf, 2}, product, "the product of x = 0 does not fit into uint64");
  }
}

TEST(PairsTypes, IntegersOfNamedFunctions) {
  const std::vector<std::int32_t> a = {3, -4, 2000000000, 7}, b = {-5, 6, 2000000000, 8, 1, -2}, w = {1, -2, 3};
  for (const Device& device : test::devices()) {
    const auto of = [&](PairsProblem problem) {
      problem.components = 2;
      return pairs(a, b, problem, test::on(device, {}));
    };
    EXPECT_EQ(of({.f = PairFunction::product}),
              PairsResult(std::vector<std::int64_t>{6000000000 - 39 + 11 - 32 + 0,
                                                    -10000000000 + 42 + 4000000000000000000 + 56 + 2000000000 - 14}));
    EXPECT_EQ(of({.f = PairFunction::absdiff, .reduction = PairReduction::min}), PairsResult(std::vector<std::int64_t>{4, 1}));
    EXPECT_EQ(of({.f = PairFunction::sqdist, .reduction = PairReduction::argmin}), PairsResult(std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(of({.f = PairFunction::difference, .weights = Array(w)}), PairsResult(std::vector<std::int64_t>{4000000016, 8000000032}));
  }
}

TEST(PairsTypes, FormulasOfIntegersKeepTheirTypes) {
  const std::vector<std::int16_t> a = {1, 5}, b = {2, 4, 6};
  for (const Device& device : test::devices()) {
    const auto of = [&](const PairsProblem& problem) { return pairs(a, b, problem, test::on(device, {})); };
    EXPECT_EQ(of({.formula = Formula("a[0] < b[0]")}), PairsResult(std::vector<std::int64_t>{3, 1}));
    EXPECT_EQ(of({.formula = Formula("b[0]/2.0")}), PairsResult(std::vector<double>{6, 6}));
    EXPECT_EQ(of({.reduction = PairReduction::argmax, .formula = Formula("1.0/(a[0] - b[0])")}),
              PairsResult(std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(of({.formula = Formula("(uint64(a[0]), uint64(b[0]))")}), PairsResult(std::vector<std::uint64_t>{3, 12, 15, 12}));
    EXPECT_EQ(of({.combine = Operator(Formula("gcd(a, b)"))}), PairsResult(std::vector<std::int64_t>{2, 10}));
    expect_error(ErrorKind::no_answer, "division by zero in f of x = 1 and y = 1",
                 [&] { of({.formula = Formula("a[0]/(b[0] - a[0] + 1)")}); });
  }
  const auto refused = [&](const PairsProblem& problem, const std::string& words) {
    expect_error(ErrorKind::usage, words, [&] { pairs(a, b, problem); });
  };
  refused({.f = PairFunction::gaussian}, "gaussian of integers is no integer");
  refused({.reduction = PairReduction::logsumexp}, "floating-point numbers");
  refused({.accuracy = PairAccuracy::exact, .formula = Formula("b[0]/2.0")}, "exact sums of a formula");
}

// Plans take what cannot fail.
TEST(PairsTypes, PlansOfIntegers) {
  const std::vector<std::int16_t> a = {3, -4, 20000, 7}, b = {-5, 6, 20000, 8, 1, -2};
  const PairsProblem nearest{.f = PairFunction::sqdist, .reduction = PairReduction::argmin, .components = 2};
  for (const Device& device : test::devices()) {
    Plan plan(device, nearest, DType::int16, 8);
    const Buffer at_a(device, 16), at_b(device, 16), c(device, 16);
    at_a.write(a.data(), 8, 2);
    at_b.write(b.data(), 12, 4);
    plan.enqueue({at_a, 4, DType::int16, 2}, {at_b, 6, DType::int16, 4}, c);
    std::vector<std::int64_t> found(2);
    c.read(found.data(), 16);
    EXPECT_EQ(found, (std::vector<std::int64_t>{2, 1})) << device.info().selector;
    expect_error(ErrorKind::usage, "no way to say", [&] { Plan(device, PairsProblem(), DType::int32, 8); });
  }
}

// Patterns of 16 bits, the special ones among them, and the same numbers as float32.
struct Halves {
  std::vector<std::uint16_t> bits;
  std::vector<float> numbers;
};
Halves halves(DType type, std::uint64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Halves result;
  for (std::uint64_t i = 0; i < count; ++i) {
    // About 1, or any.
    const std::uint32_t one = type == DType::float16 ? 0x3c00 : 0x3f80;
    result.bits.push_back(static_cast<std::uint16_t>(i % 20 == 0 ? random() : one + random() % 256 + random() % 2 * 0x8000));
  }
  result.numbers = evaluate<float>(Formula("x"), {{"x", Array(result.bits.data(), count, type)}});
  return result;
}

TEST(PairsTypes, HalvesHaveTheBitsOfFloat32) {
  constexpr std::uint64_t kX = 40, kY = 700;
  for (const DType type : {DType::float16, DType::bfloat16}) {
    const Halves a = halves(type, 2 * kX, 1), b = halves(type, 2 * kY, 2), w = halves(type, kY, 3);
    const std::vector<PairsProblem> problems = {
        {.f = PairFunction::sqdist, .accuracy = PairAccuracy::exact, .components = 2},
        {.f = PairFunction::sqdist, .reduction = PairReduction::argmin, .components = 2},
        {.f = PairFunction::invdist, .reduction = PairReduction::max, .components = 2, .softening = 0.5},
        {.reduction = PairReduction::product, .components = 2},
        {.f = PairFunction::absdiff, .reduction = PairReduction::smallest, .components = 2, .k = 9},
        {.components = 2, .formula = Formula("(a[0]*b[0], w)")},
        {.reduction = PairReduction::logsumexp, .components = 2, .formula = Formula("w*dot(a, b)")}};
    for (const Device& device : test::devices()) {
      for (PairsProblem problem : problems) {
        const bool weighted = problem.formula.has_value();
        PairsProblem of_half = problem;
        if (weighted) {
          problem.weights = Array(w.numbers);
          of_half.weights = Array(w.bits.data(), kY, type);
        }
        const std::string what = fmt::format("{}, {} of {}", device.info().selector, name_of(problem.reduction), name_of(type));
        const PairsResult expected = pairs(a.numbers, b.numbers, problem, {.device = Device::open("cpu")});
        const Array c = array_of(expected);
        expect_same_bits(
            array_of(pairs(Array(a.bits.data(), 2 * kX, type), Array(b.bits.data(), 2 * kY, type), of_half, test::on(device, {}))), c,
            what);
        Plan plan(device, of_half, type, 2 * kX);
        const Buffer at_a(device, 4 * kX + 2), at_b(device, 4 * kY + 6), at_c(device, c.bytes());
        at_a.write(a.bits.data(), 4 * kX, 2);
        at_b.write(b.bits.data(), 4 * kY, 6);
        plan.enqueue({at_a, 2 * kX, type, 2}, {at_b, 2 * kY, type, 6}, at_c);
        std::vector<std::byte> found(c.bytes());
        at_c.read(found.data(), found.size());
        expect_same_bits(Array(found.data(), c.size(), c.type()), c, "plan, " + what);
      }
    }
  }
}

}  // namespace
}  // namespace samesum
