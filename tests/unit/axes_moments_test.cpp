// Means, variances and norms along axes on the CPU, in every instruction set: of rows and columns of a few elements, whose results often
// lie in the middle between two numbers, or have no rounding error at all. The bits of each line's moment alone.
#include "selftest/cases.hpp"
#include "support/simd_levels.hpp"

#include <samesum/axes.hpp>
#include <samesum/reduce.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace samesum {
namespace {

const Options& on_cpu() {
  static const Options options{.device = Device::open("cpu"), .tuning = {.threads = 1}};
  return options;
}

struct Moment {
  AxisReduction what;
  std::uint64_t ddof;
  std::function<double(const Array&)> alone;
};
const std::vector<Moment>& moments() {
  static const std::vector<Moment> all = {
      {AxisReduction::mean, 0, [](const Array& x) { return mean(x, on_cpu()); }},
      {AxisReduction::variance, 0, [](const Array& x) { return variance(x, 0, on_cpu()); }},
      {AxisReduction::standard_deviation, 0, [](const Array& x) { return standard_deviation(x, 0, on_cpu()); }},
      {AxisReduction::variance, 1, [](const Array& x) { return variance(x, 1, on_cpu()); }},
      {AxisReduction::standard_deviation, 1, [](const Array& x) { return standard_deviation(x, 1, on_cpu()); }},
      {AxisReduction::variance, 7, [](const Array& x) { return variance(x, 7, on_cpu()); }},
      {AxisReduction::standard_deviation, 7, [](const Array& x) { return standard_deviation(x, 7, on_cpu()); }},
      {AxisReduction::squared_norm, 0, [](const Array& x) { return squared_norm(x, on_cpu()); }},
      {AxisReduction::norm, 0, [](const Array& x) { return norm(x, on_cpu()); }},
  };
  return all;
}

// Numbers of a kind, of which moments are rounded in all ways.
double number(hard::Random& random, int kind, double common) {
  const auto integer = [&](int bits) { return static_cast<double>(static_cast<std::int64_t>(random.bits()) >> (64 - bits)); };
  switch (kind) {
    case 0:
      return integer(24) * 0x1p-20;
    case 1:
      return integer(53) * 0x1p-50;
    case 2:
      return integer(7);
    case 3:
      return common;
    case 4:
      return common + integer(4) * 0x1p-23;
    default:
      return std::ldexp(integer(24), static_cast<int>(random.below(60)) - 30);
  }
}

template <class Element>
void check_all() {
  hard::Random random(5);
  for (const std::uint64_t count : {1u, 2u, 3u, 4u, 5u, 8u, 10u, 16u, 31u, 100u}) {
    constexpr std::uint64_t kLanes = 45;
    for (int kind = 0; kind < 6; ++kind) {
      SCOPED_TRACE(std::to_string(count) + " elements, kind " + std::to_string(kind));
      std::vector<Element> x(kLanes * count);
      for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
        const double common = number(random, 0, 0);
        for (std::uint64_t i = 0; i < count; ++i) x[lane * count + i] = static_cast<Element>(number(random, kind, common));
      }
      const Array rows(x.data(), {kLanes, count}, dtype_of<Element>());
      std::vector<Element> transposed(x.size());
      for (std::uint64_t i = 0; i < x.size(); ++i) transposed[i % count * kLanes + i / count] = x[i];
      const Array columns(transposed.data(), {count, kLanes}, dtype_of<Element>());
      for (const Moment& moment : moments()) {
        SCOPED_TRACE(std::string(name_of(moment.what)) + ", ddof " + std::to_string(moment.ddof));
        if (count <= moment.ddof) {
          EXPECT_THROW(axis_reduction(rows, moment.what, Axes{1}.with_ddof(moment.ddof), on_cpu()), Error);
          continue;
        }
        std::vector<double> expected;
        for (std::uint64_t lane = 0; lane < kLanes; ++lane) expected.push_back(moment.alone(rows.at(0, lane)));
        const simd::Level best = simd::detect();
        for (const simd::Level level : test::simd_levels()) {
          SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
          simd::restrict_to(level);
          const Values of_rows = axis_reduction(rows, moment.what, Axes{1}.with_ddof(moment.ddof), on_cpu());
          const Values of_columns = axis_reduction(columns, moment.what, Axes{0}.with_ddof(moment.ddof), on_cpu());
          simd::restrict_to(best);
          for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
            const auto bits = std::bit_cast<std::uint64_t>(expected[lane]);
            ASSERT_EQ(std::bit_cast<std::uint64_t>(of_rows.as<double>()[lane]), bits) << "row " << lane;
            ASSERT_EQ(std::bit_cast<std::uint64_t>(of_columns.as<double>()[lane]), bits) << "column " << lane;
          }
        }
      }
    }
  }
}

// Results in the middle between two numbers, and beside it by so little that only exact arithmetic tells: of (-x, x, -y, y, -t, t) by ddof
// 4 the variance is x^2 + y^2 + t^2. d^2 is odd and has 54 bits, as 5k has; (3k)^2 + (4k)^2 is (5k)^2.
TEST(AxesMoments, BesideTheMiddleWithDdof) {
  hard::Random random(7);
  constexpr std::uint64_t kLanes = 200;
  struct Case {
    AxisReduction what;
    std::vector<double> x, expected;
  };
  Case cases[] = {{AxisReduction::variance, {}, {}}, {AxisReduction::standard_deviation, {}, {}}};
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    const auto d = static_cast<std::int64_t>(95'000'001 + 2 * random.below(19'000'000));
    const auto k = static_cast<std::int64_t>((std::uint64_t{1} << 53) / 5 + 1 + random.below(std::uint64_t{1} << 50)) | 1;
    const double t = lane % 3 == 0 ? 0 : std::ldexp(1.0, -static_cast<int>(random.below(60)));
    const auto put = [&](Case& to, std::int64_t x, std::int64_t y, std::int64_t middle) {
      for (const double each : {static_cast<double>(x), static_cast<double>(y), t}) to.x.insert(to.x.end(), {-each, each});
      to.expected.push_back(static_cast<double>(t == 0 ? middle : middle + 1));  // which the conversion rounds to even
    };
    put(cases[0], d, 0, d * d);
    put(cases[1], 3 * k, 4 * k, 5 * k);
  }
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    for (const Case& each : cases) {
      SCOPED_TRACE(std::string(name_of(each.what)));
      const Array rows(each.x.data(), {kLanes, 6}, DType::float64);
      simd::restrict_to(level);
      const Values found = axis_reduction(rows, each.what, Axes{1}.with_ddof(4), on_cpu());
      simd::restrict_to(best);
      for (std::uint64_t lane = 0; lane < kLanes; ++lane) ASSERT_EQ(found.as<double>()[lane], each.expected[lane]) << lane;
    }
  }
}

TEST(AxesMoments, OfFloats) { check_all<float>(); }
TEST(AxesMoments, OfDoubles) { check_all<double>(); }
TEST(AxesMoments, OfIntegers) { check_all<std::int32_t>(); }
TEST(AxesMoments, OfLongIntegers) { check_all<std::int64_t>(); }

}  // namespace
}  // namespace samesum
