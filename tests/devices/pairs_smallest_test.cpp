// The k smallest of pairs, on every device: values and indices as a stable sort of all values has them.
#include "support/devices.hpp"
#include "support/same_bits.hpp"

#include <samesum/buffer.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::expect_error;
using test::expect_same_bits;

// NaN first, -0.0 before +0.0.
template <class Number>
bool before(Number p, Number q) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(p) || std::isnan(q)) return std::isnan(p) && !std::isnan(q);
    return p < q || (p == q && std::signbit(p) && !std::signbit(q));
  } else {
    return p < q;
  }
}

template <class Number, class F>
void check(const Device& device, const Array& a, const Array& b, PairsProblem problem, std::uint64_t x_count, std::uint64_t y_count,
           const F& f) {
  std::vector<Number> values, all(y_count);
  std::vector<std::int64_t> places, order(y_count);
  for (std::uint64_t x = 0; x < x_count; ++x) {
    for (std::uint64_t y = 0; y < y_count; ++y) all[y] = f(x, y);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t p, std::int64_t q) { return before(all[p], all[q]); });
    for (std::uint32_t j = 0; j < problem.k; ++j) {
      const Number value = all[order[j]];
      places.push_back(order[j]);
      values.push_back(value != value ? std::numeric_limits<Number>::quiet_NaN() : value);
    }
  }
  const std::string what = fmt::format("{}, {} of {} y", device.info().selector, problem.k, y_count);
  problem.reduction = PairReduction::smallest;
  expect_same_bits(array_of(pairs(a, b, problem, test::on(device, {}))), Array(values), what);
  problem.reduction = PairReduction::argsmallest;
  expect_same_bits(array_of(pairs(a, b, problem, test::on(device, {}))), Array(places), "indices, " + what);
}

// Few values, so that most have equals; every tenth is a special one.
template <class Real>
std::vector<Real> with_ties(std::uint64_t count, unsigned seed) {
  using Limits = std::numeric_limits<Real>;
  const Real rare[] = {Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), Real(-0.0), Real(0),
                       Limits::denorm_min(), Limits::max()};
  std::mt19937 random(seed);
  std::vector<Real> values;
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(i % 10 == 3 ? rare[random() % std::size(rare)] : static_cast<Real>(static_cast<int>(random() % 400) - 200));
  }
  return values;
}

template <class Real>
Real once(Real value) {
  volatile Real kept = value;
  return kept;
}

template <class Real>
void check_ties() {
  const auto a = with_ties<Real>(19, 1), b = with_ties<Real>(20011, 2);
  for (const Device& device : test::devices()) {
    for (const std::uint32_t k : {1, 5, 16, 17, 128}) {
      for (const std::uint64_t y_count : {1, 5, 16, 128, 129, 1025, 4097, 20011}) {
        if (k > y_count) continue;
        const std::uint64_t x_count = y_count > 2000 ? 3 : a.size();
        const Array left(a.data(), x_count, dtype_of<Real>()), right(b.data(), y_count, dtype_of<Real>());
        check<Real>(device, left, right, {.f = PairFunction::absdiff, .k = k}, x_count, y_count,
                    [&](std::uint64_t x, std::uint64_t y) { return std::abs(once(a[x] - b[y])); });
        if (k % 16 != 0) continue;
        const PairsProblem formula{.formula = Formula("a[0] < 0 ? a[0]*b[0] : b[0]"), .k = k};
        check<Real>(device, left, right, formula, x_count, y_count,
                    [&](std::uint64_t x, std::uint64_t y) { return a[x] < 0 ? once(a[x] * b[y]) : b[y]; });
      }
    }
  }
}

TEST(PairsSmallest, ValuesAndIndicesWithTies) {
  check_ties<float>();
  check_ties<double>();
}

// Each y is better than all before it, or worse: the most and the least work there is.
TEST(PairsSmallest, InOrder) {
  const std::vector<float> a = {1, -1};
  std::vector<float> b(9000);
  std::iota(b.begin(), b.end(), -4000.0f);
  for (const Device& device : test::devices()) {
    for (const std::uint32_t k : {7, 100}) {
      check<float>(device, a, b, {.f = PairFunction::product, .k = k}, 2, b.size(),
                   [&](std::uint64_t x, std::uint64_t y) { return a[x] * b[y]; });
    }
  }
}

TEST(PairsSmallest, NearestInSpace) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> a(3 * 50), b(3 * 3000), w(3000);
  for (float& value : a) value = normal(random);
  for (float& value : b) value = normal(random);
  for (float& value : w) value = std::abs(normal(random));
  const auto sqdist = [&](std::uint64_t x, std::uint64_t y) {
    float s = once((a[3 * x] - b[3 * y]));
    s = once(s * s);
    for (std::uint64_t d = 1; d < 3; ++d) {
      const float difference = once(a[3 * x + d] - b[3 * y + d]);
      s = std::fma(difference, difference, s);
    }
    return s;
  };
  for (const Device& device : test::devices()) {
    check<float>(device, a, b, {.f = PairFunction::sqdist, .components = 3, .k = 10}, 50, 3000, sqdist);
    const PairsProblem weighted{.f = PairFunction::sqdist, .components = 3, .weights = Array(w), .k = 4};
    check<float>(device, a, b, weighted, 50, 3000, [&](std::uint64_t x, std::uint64_t y) { return once(w[y] * sqdist(x, y)); });
  }
}

TEST(PairsSmallest, Integers) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> a = {0, 1}, b = {kMax, kLeast, 3, kMax, -1, kMax, kLeast};
  const std::vector<std::uint64_t> c = {0}, d = {~std::uint64_t{0}, 5, 0, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  for (const Device& device : test::devices()) {
    for (const std::uint32_t k : {1, 3, 5, 7}) {
      check<std::int64_t>(device, a, b, {.formula = Formula("b[0]"), .k = k}, 2, b.size(),
                          [&](std::uint64_t, std::uint64_t y) { return b[y]; });
      if (k > 5) continue;
      check<std::uint64_t>(device, c, d, {.formula = Formula("b[0] | a[0]"), .k = k}, 1, d.size(),
                           [&](std::uint64_t, std::uint64_t y) { return d[y]; });
    }
    const PairsProblem failing{.reduction = PairReduction::smallest, .formula = Formula("b[0] - a[0]"), .k = 2};
    expect_error(ErrorKind::no_answer, "overflow in f of x = 1 and y = 1", [&] { pairs(a, b, failing, test::on(device, {})); });
  }
}

TEST(PairsSmallest, Refusals) {
  const std::vector<float> a(6), b(6);
  for (const std::uint32_t k : {0, 7, 129}) {
    expect_error(ErrorKind::usage, "k is 1 to 128, and at most the number of y, which is 6",
                 [&] { pairs(a, b, {.reduction = PairReduction::smallest, .k = k}); });
  }
}

TEST(PairsSmallest, Plans) {
  const auto a = with_ties<float>(2 * 300, 6), b = with_ties<float>(2 * 1500, 7);
  for (const Device& device : test::devices()) {
    for (const PairReduction reduction : {PairReduction::smallest, PairReduction::argsmallest}) {
      const PairsProblem problem{.f = PairFunction::sqdist, .reduction = reduction, .components = 2, .k = 20};
      Plan plan(device, problem, DType::float32, 300);
      for (const std::uint64_t x_count : {1, 300}) {
        for (const std::uint64_t y_count : {20, 1500}) {
          const PairsResult expected = pairs(Array(a.data(), 2 * x_count, DType::float32), Array(b.data(), 2 * y_count, DType::float32),
                                             problem, {.device = Device::open("cpu")});
          const Array c = array_of(expected);
          const Buffer at_a(device, 4 * a.size()), at_b(device, 4 * b.size() + 4), at_c(device, c.bytes() + 8);
          at_a.write(a.data(), 4 * a.size());
          at_b.write(b.data(), 4 * b.size(), 4);
          plan.enqueue({at_a, 2 * x_count, DType::float32}, {at_b, 2 * y_count, DType::float32, 4}, at_c, 8);
          std::vector<std::byte> found(c.bytes());
          at_c.read(found.data(), found.size(), 8);
          expect_same_bits(Array(found.data(), c.size(), c.type()), c,
                           fmt::format("{}, {} x {}", device.info().selector, x_count, y_count));
        }
      }
      const Buffer few(device, 4 * 2 * 19), c(device, 8 * 20);
      expect_error(ErrorKind::usage, "19", [&] { plan.enqueue({few, 2, DType::float32}, {few, 38, DType::float32}, c); });
    }
  }
}

}  // namespace
}  // namespace samesum
