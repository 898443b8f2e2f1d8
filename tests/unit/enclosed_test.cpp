// Norms and variances whose sums are rounded at first: the bits are those of exact sums, on any data.
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>

#include "exact/big_integer.hpp"
#include "reduce/collect.hpp"
#include "support/simd_levels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace samesum {
namespace {

constexpr std::size_t kSize = 40000;  // some blocks, and a rest

// Data by name, as doubles; floats are these rounded.
std::vector<std::pair<std::string, std::vector<double>>> kinds() {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<std::pair<std::string, std::vector<double>>> all;
  const auto add = [&](const char* name, const std::function<double(std::size_t)>& value) {
    std::vector<double> values(kSize);
    for (std::size_t i = 0; i < kSize; ++i) values[i] = value(i);
    all.emplace_back(name, std::move(values));
  };
  add("uniform", [&](std::size_t) { return uniform(random); });
  add("normal", [&](std::size_t) { return normal(random); });
  add("lognormal", [&](std::size_t) { return std::exp(3 * normal(random)); });
  add("zeros", [](std::size_t) { return 0.0; });
  add("negative zeros", [](std::size_t) { return -0.0; });
  add("ones", [](std::size_t) { return 1.0; });
  add("alike", [](std::size_t) { return 0.1; });
  add("of both signs", [](std::size_t i) { return i % 2 == 0 ? 0.1 : -0.1; });
  add("far from zero", [&](std::size_t) { return 1e8 + uniform(random); });
  add("a tie", [](std::size_t i) { return i == 77 || i == 20077 ? 0x1p26 : i == 30077 ? 1.0 : 0.0; });  // squares: 2^53 + 1
  add("above a tie", [](std::size_t i) { return i == 77 || i == 20077 ? 0x1p26 : i == 30077 ? 1.0 : i == 40 ? 0x1p-60 : 0.0; });
  add("above a tie by the least", [](std::size_t i) {
    return i == 77 || i == 20077 ? 0x1p26 : i == 30077 ? 1.0 : i == 40 ? 0x1p-149 : 0.0;
  });
  add("growing", [](std::size_t i) { return std::ldexp(1.1, static_cast<int>(i / 200) - 100); });
  add("falling", [](std::size_t i) { return std::ldexp(1.1, 100 - static_cast<int>(i / 200)); });
  add("small", [&](std::size_t) { return 0x1p-140 * uniform(random); });
  add("tiny", [&](std::size_t) { return 0x1p-1040 * uniform(random); });
  add("huge", [&](std::size_t) { return 0x1p127 * uniform(random); });
  add("beyond", [&](std::size_t) { return 0x1p1000 * uniform(random); });
  add("an outlier", [&](std::size_t i) { return i == 12345 ? 1e30 : uniform(random); });
  add("a NaN", [&](std::size_t i) { return i == 12345 ? std::nan("") : uniform(random); });
  add("an infinity", [&](std::size_t i) { return i == 12345 ? std::numeric_limits<double>::infinity() : uniform(random); });
  add("random bits", [&](std::size_t) {
    for (;;) {
      if (const auto x = std::bit_cast<double>(random()); std::isfinite(x)) return x;
    }
  });
  add("random bits of floats", [&](std::size_t) {
    for (;;) {
      if (const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random())); std::isfinite(x)) return double{x};
    }
  });
  return all;
}

std::string outcome(const std::function<double()>& of) {
  try {
    return std::to_string(std::bit_cast<std::uint64_t>(of()));
  } catch (const std::exception& error) {
    return error.what();
  }
}

template <class T>
void expect_alike(const std::string& name, const std::vector<double>& values) {
  const std::vector<T> numbers(values.begin(), values.end());
  for (const std::uint32_t threads : {1u, 2u}) {
    for (const std::size_t first : {0u, 1u}) {
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        const Array data(numbers.data() + first, numbers.size() - first, dtype_of<T>());
        Options options{.device = Device::open("cpu")};
        options.tuning.threads = threads;
        options.nan = nan;
        const Statistics exact = collect(data, {false, true, true, false}, options);
        const std::string what = name + ", " + std::to_string(sizeof(T)) + " bytes, " + std::to_string(threads) + " threads";
        EXPECT_EQ(outcome([&] { return norm(data, options); }), outcome([&] { return exact.norm(nan); })) << what;
        EXPECT_EQ(outcome([&] { return squared_norm(data, options); }), outcome([&] { return exact.squared_norm(nan); })) << what;
        EXPECT_EQ(outcome([&] { return variance(data, 1, options); }), outcome([&] { return exact.variance(1, nan); })) << what;
        EXPECT_EQ(outcome([&] { return standard_deviation(data, 0, options); }), outcome([&] { return exact.standard_deviation(0, nan); }))
            << what;
      }
    }
  }
}

TEST(Enclosed, NormsAndVariancesHaveTheBitsOfExactSumsInEveryInstructionSet) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    for (const auto& [name, values] : kinds()) {
      expect_alike<double>(name, values);
      expect_alike<float>(name, values);
    }
    simd::restrict_to(best);
  }
}

void expect_bounds(bool encloses) {
  for (const auto& [name, values] : kinds()) {
    const View data(values.data(), values.size(), DType::float64);
    statistics::Slack slack;
    statistics::CollectOptions options{.fields = {false, true, true, false}, .threads = 1};
    const Statistics::Contents exact = statistics::collect_cpu(data, options).contents();
    options.slack = &slack;
    const Statistics::Contents rounded = statistics::collect_cpu(data, options).contents();
    if (encloses && (name == "uniform" || name == "lognormal" || name == "an outlier" || name == "beyond" || name == "random bits")) {
      EXPECT_GT(slack.squares.number, 0) << name;
    }
    if (exact.squares.round(NanPolicy::skip) == 0) continue;
    const int exponent = slack.squares.exponent;  // which is that of the unit in what follows
    const double whole = exact::round_quotient<double>(exact::BigInteger::from_digits(exact.squares.canonical_digits()), 1,
                                                       -ProductAccumulator::kUnit - exponent);
    // Twice the lanes add up half as many numbers each, and round their sums half as often: a quarter of the slack.
    const int bits = simd::level() == simd::Level::avx512 ? 83 : simd::level() == simd::Level::avx2 ? 81 : 79;
    EXPECT_LE(slack.squares.number, std::ldexp(whole * kSize, -bits)) << name;
    // Exact minus rounded.
    const auto difference = [](const auto& one, const auto& other) {
      const auto digits = one.canonical_digits();
      const auto less = other.canonical_digits();
      return exact::BigInteger::from_digits(digits) - exact::BigInteger::from_digits(less);
    };
    const double squares =
        exact::round_quotient<double>(difference(exact.squares, rounded.squares), 1, -ProductAccumulator::kUnit - exponent);
    const double sum = exact::round_quotient<double>(difference(exact.sum, rounded.sum), 1, -1074);
    EXPECT_LE(std::abs(squares), slack.squares.number) << name;
    EXPECT_LE(std::abs(sum), slack.sum) << name;
    EXPECT_EQ(exact.squares.nan_count(), rounded.squares.nan_count());
    EXPECT_EQ(exact.squares.count(), rounded.squares.count());
    EXPECT_EQ(exact.sum.count(), rounded.sum.count());
  }
}

TEST(Enclosed, TheSlackIsABoundInEveryInstructionSet) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    expect_bounds(level == best);
    simd::restrict_to(best);
  }
}

TEST(Enclosed, ProgressIsTold) {
  const std::vector<double> values = kinds()[0].second;
  std::uint64_t done = 0;
  Options options{.device = Device::open("cpu")};
  options.progress = [&](const Progress& progress) { done = progress.done; };
  EXPECT_EQ(norm(values, options), norm(values));
  EXPECT_EQ(done, 8 * kSize);
}

}  // namespace
}  // namespace samesum
