// Sums and means along axes of few elements each on the CPU, which are rounded without expansions: rows and columns of every length around
// a vector's, of hard data, in every instruction set. The bits of each line's sum alone.
#include "selftest/cases.hpp"
#include "support/simd_levels.hpp"

#include <samesum/axes.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace samesum {
namespace {

const Options& on_cpu() {
  static const Options options{.device = Device::open("cpu"), .tuning = {.threads = 1}};
  return options;
}

template <class Body>
void for_levels(const Body& body) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    simd::restrict_to(level);
    body();
    simd::restrict_to(best);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Of each line along `axis` of a matrix.
void check(const Array& matrix, std::size_t axis) {
  const Axes axes{static_cast<std::int64_t>(axis)};
  std::vector<std::uint64_t> expected_sums, expected_means;
  for (std::uint64_t i = 0; i < matrix.shape()[1 - axis]; ++i) {
    const Array line = matrix.at(1 - axis, i);
    expected_sums.push_back(std::bit_cast<std::uint64_t>(sum(line, on_cpu()).as_double()));
    expected_means.push_back(std::bit_cast<std::uint64_t>(mean(line, on_cpu())));
  }
  for_levels([&] {
    const Values sums = sum(matrix, axes, on_cpu()), means = mean(matrix, axes, on_cpu());
    for (std::size_t i = 0; i < expected_sums.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(sums.as<double>()[i]), expected_sums[i]) << "sum " << i;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(means.as<double>()[i]), expected_means[i]) << "mean " << i;
    }
  });
}

class AxesOfFew : public testing::TestWithParam<hard::Case> {};

TEST_P(AxesOfFew, RowsAndColumns) {
  for (const DType type : {DType::float32, DType::float64}) {
    const auto element = static_cast<std::int64_t>(size_of(type));
    for (const std::uint64_t count : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 12u, 15u, 16u, 17u, 33u, 63u, 64u, 65u, 100u, 511u, 512u, 513u}) {
      for (const std::uint64_t lanes : {1u, 3u, 8u, 21u, 70u}) {
        if (count > 100 && lanes > 21) continue;
        SCOPED_TRACE(std::string(name_of(type)) + ", " + std::to_string(count) + " elements, " + std::to_string(lanes) + " results");
        const auto c = static_cast<std::int64_t>(count), l = static_cast<std::int64_t>(lanes);
        const hard::Data data = hard::make(GetParam(), type, lanes * (count + 3), static_cast<std::size_t>(element));
        const auto* const from = static_cast<const std::byte*>(data.view().data());
        check(Array(from, {lanes, count}, type), 1);                                                            // rows, adjacent
        check(Array(from, {lanes, count}, type, Strides({(c + 3) * element, element})), 1);                     // and apart
        check(Array(from, {count, lanes}, type), 0);                                                            // columns
        check(Array(from + (l - 1) * c * element, {lanes, count}, type, Strides({-c * element, element})), 1);  // backwards
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllCases, AxesOfFew, testing::ValuesIn(hard::cases().begin(), hard::cases().end()),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });

// More results than a block has, and results that go past the caches.
TEST(AxesOfFewElements, ManyResults) {
  hard::Random random(1);
  for (const std::uint64_t count : {1u, 2u, 3u, 4u, 16u, 40u}) {
    const std::uint64_t lanes = count < 3 ? (1 << 19) + 5 : 2057;
    SCOPED_TRACE(count);
    std::vector<double> x(lanes * count);
    for (double& number : x) number = static_cast<double>(static_cast<std::int64_t>(random.bits())) * 0x1p-60;
    for (std::size_t i = 0; i < x.size(); i += 1 + random.below(3000)) x[i] = 0x1p80;  // a block with these is rounded
    const Options threads{.device = Device::open("cpu"), .tuning = {.threads = 3}};
    const Array rows(x.data(), {lanes, count}, DType::float64), columns(x.data(), {count, lanes}, DType::float64);
    const Values of_rows = sum(rows, Axes{1}, threads), of_columns = sum(columns, Axes{0}, threads);
    for (std::uint64_t i = 0; i < lanes; i += count < 3 ? 17 : 1) {
      ASSERT_EQ(of_rows.as<double>()[i], sum(rows.at(0, i), on_cpu()).as_double()) << i;
      ASSERT_EQ(of_columns.as<double>()[i], sum(columns.at(1, i), on_cpu()).as_double()) << i;
    }
  }
}

// Results that are written past the caches, to memory that begins anywhere in a cache line; in one row, and in several that do not.
TEST(AxesOfFewElements, ResultsAnywhere) {
  hard::Random random(3);
  constexpr std::uint64_t kResults = (1 << 19) + 24;
  std::vector<double> room(kResults + 16);
  for (const std::uint64_t outer : {1u, 4u, 1u << 17}) {
    const std::uint64_t inner = kResults / outer;
    std::vector<double> x(3 * outer * inner);
    for (double& number : x) number = static_cast<double>(static_cast<std::int64_t>(random.bits())) * 0x1p-60;
    x[x.size() / 2] = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < x.size(); i += 1 + random.below(30000)) x[i] = 0x1p80;
    const Options threads{.device = Device::open("cpu"), .tuning = {.threads = 2}};
    const Array columns(x.data(), {outer, 3, inner}, DType::float64), rows(x.data(), {outer, inner, 3}, DType::float64);
    for (const auto reduction : {AxisReduction::sum, AxisReduction::mean}) {
      const auto one = [&](const Array& line) {
        return reduction == AxisReduction::sum ? sum(line, on_cpu()).as_double() : mean(line, on_cpu());
      };
      for (std::size_t first = 0; first < 8; ++first) {
        SCOPED_TRACE(std::to_string(outer) + ", " + std::to_string(first));
        double* const results = room.data() + first;
        const Array to(results, {outer, inner}, DType::float64);
        axis_reduction(columns, reduction, Axes{1}, to, threads);
        const auto check_one = [&](std::uint64_t i) { ASSERT_EQ(results[i], one(columns.at(0, i / inner).at(1, i % inner))) << i; };
        for (std::uint64_t i = 0; i < outer * inner; i += 1 + random.below(700)) check_one(i);
        axis_reduction(rows, reduction, Axes{2}, to, threads);
        for (std::uint64_t i = 0; i < outer * inner; i += 1 + random.below(700)) {
          ASSERT_EQ(results[i], one(rows.at(0, i / inner).at(0, i % inner))) << i;
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A few columns of many rows, which are read as fewer rows of more columns.
TEST(AxesOfFewElements, NarrowMatrices) {
  hard::Random random(2);
  for (const std::uint64_t columns : {2u, 3u, 4u, 7u, 8u, 16u, 100u, 256u, 1000u}) {
    SCOPED_TRACE(columns);
    const std::uint64_t rows = 150000 / columns;
    std::vector<double> x(rows * columns);
    for (const bool wide : {false, true}) {
      for (double& number : x) {
        number =
            static_cast<double>(static_cast<std::int64_t>(random.bits())) * (wide ? std::ldexp(1, random.between(-300, 300)) : 0x1p-60);
      }
      std::vector<float> narrow(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) narrow[i] = static_cast<float>(wide ? std::cbrt(std::cbrt(x[i])) : x[i]);
      check(Array(x.data(), {rows, columns}, DType::float64), 0);
      check(Array(narrow.data(), {rows, columns}, DType::float32), 0);
    }
  }
}

TEST(AxesOfFewElements, SpecialNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMax = std::numeric_limits<double>::max();
  // A NaN whose upper half alone would be an infinity.
  const double nan = std::bit_cast<double>(std::uint64_t{0x7ff0000000000001});
  const std::vector<std::vector<double>> rows = {
      {nan, 1, 2},         {kInfinity, 1, 2},  {-kInfinity, nan, 1}, {kInfinity, -kInfinity, 1},   {-0.0, -0.0, -0.0},
      {-0.0, 0.0, -0.0},   {1, -1, -0.0},      {kMax, kMax, kMax},   {kMax, 0x1p970, -0x1p969},    {kMax, 0x1p969, 0x1p969},
      {kMax, -kMax, -0.0}, {kMax, 0x1p970, 0}, {0x1p-1074, -0.0, 0}, {-0x1p-1074, 0x1p-1074, -0.0}};
  for (const std::vector<double>& row : rows) {
    for (std::size_t count : {2u, 3u}) {
      std::vector<double> x;
      for (int copy = 0; copy < 9; ++copy) x.insert(x.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(count));
      SCOPED_TRACE(std::to_string(row[0]) + ", " + std::to_string(row[1]));
      check(Array(x.data(), {9, count}, DType::float64), 1);
      check(Array(x.data(), {3, 3 * count}, DType::float64), 0);
      std::vector<float> narrow(x.begin(), x.end());
      check(Array(narrow.data(), {9, count}, DType::float32), 1);
    }
  }
}

}  // namespace
}  // namespace samesum
