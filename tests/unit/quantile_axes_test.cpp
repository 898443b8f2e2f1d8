// Quantiles along axes: the bits of each list's quantiles alone. All types, lengths around what networks and selection take, layouts, NaNs,
// ties, methods, instruction sets; and what lies between two numbers, by few operations, beside exact arithmetic.
#include "quantile/between.hpp"
#include "quantile/network.hpp"
#include "support/simd_levels.hpp"

#include <samesum/by.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include "core/visit.hpp"

#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace samesum::quantile_axes {
namespace {

constexpr QuantileMethod kMethods[] = {QuantileMethod::linear, QuantileMethod::lower, QuantileMethod::higher, QuantileMethod::nearest,
                                       QuantileMethod::midpoint};

// Random bits, or numbers of a small range with many ties; some are NaNs if `nans` says so.
std::vector<std::byte> some_elements(DType type, std::size_t count, bool bits, bool nans, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count * size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    core::visit(type, [&](auto element) {
      using Element = decltype(element);
      const std::uint64_t word = random();
      if (bits) {
        std::memcpy(&element, &word, sizeof element);
        if constexpr (!std::is_integral_v<Element>) {
          using Number = std::conditional_t<std::is_same_v<Element, double>, double, float>;
          if (!std::isfinite(static_cast<Number>(element)) && random() % 4 != 0) element = Element{};
        }
      } else if constexpr (requires { element.bits; }) {
        element = Element::truncate(static_cast<float>(word % 37) - 9.5F);
      } else {
        element = static_cast<Element>(word % 37);
      }
      if constexpr (!std::is_integral_v<Element>) {
        using Number = std::conditional_t<std::is_same_v<Element, double>, double, float>;
        if (nans && random() % 7 == 0) std::memset(&element, 0xff, sizeof element);
        if (!nans && std::isnan(static_cast<Number>(element))) element = Element{};
      }
      std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
    });
  }
  return bytes;
}

// The element at an index of C order.
Value value_at(const Values& values, std::uint64_t index) {
  return core::visit(values.type(), [&](auto element) -> Value {
    using Element = decltype(element);
    std::memcpy(&element, static_cast<const std::byte*>(values.data()) + index * sizeof element, sizeof element);
    if constexpr (std::is_integral_v<Element> && std::is_signed_v<Element>) {
      return {std::int64_t{element}, values.type()};
    } else if constexpr (std::is_integral_v<Element>) {
      return {std::uint64_t{element}, values.type()};
    } else if constexpr (std::is_same_v<Element, double>) {
      return {element, values.type()};
    } else {
      return {double{static_cast<float>(element)}, values.type()};
    }
  });
}

std::string text_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value.number)) return std::to_string(std::bit_cast<std::uint64_t>(*real));
  return std::visit([](auto number) { return std::to_string(number); }, value.number);
}

// A quantile of elements alone, as the type that results along axes have.
std::string expected(const Value& alone, DType type) { return text_of(is_integer(type) ? alone : Value{alone.as_double(), type}); }

struct Asked {
  std::vector<double> q = {0.5};
  QuantileRule rule = {};
  NanPolicy nan = NanPolicy::propagate;
  std::uint32_t threads = 1;
};

// `lists`: the elements of each result, in the order of the results.
void check(const Array& data, const Axes& axes, const std::vector<Array>& lists, const Asked& asked) {
  Options options;
  options.nan = asked.nan;
  options.tuning.threads = asked.threads;
  std::string problem, found_problem;
  std::vector<std::vector<Value>> alone;
  for (const Array& list : lists) {
    try {
      alone.push_back(quantiles(list, asked.q, asked.rule, options).values);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::no_answer);
      problem = error.what();
      break;
    }
  }
  try {
    const Values found = quantiles(data, asked.q, axes, asked.rule, options);
    ASSERT_EQ(problem, "");
    ASSERT_EQ(found.size(), lists.size() * asked.q.size());
    for (std::size_t i = 0; i < asked.q.size(); ++i) {
      for (std::size_t k = 0; k < lists.size(); ++k) {
        ASSERT_EQ(text_of(value_at(found, i * lists.size() + k)), expected(alone[k][i], found.type()))
            << name_of(data.type()) << " list " << k << " of " << lists[k].size() << ", q = " << asked.q[i] << ", "
            << name_of(asked.rule.method);
      }
    }
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::no_answer);
    ASSERT_NE(problem, "") << error.what();
  }
}

std::vector<Array> lines(const Array& matrix, std::size_t axis) {
  std::vector<Array> all;
  for (std::uint64_t i = 0; i < matrix.shape()[1 - axis]; ++i) all.push_back(matrix.at(1 - axis, i));
  return all;
}

TEST(QuantileAxes, RowsAndColumnsOfEveryTypeAndLength) {
  std::uint64_t seed = 0;
  for (const DType type : kDTypes) {
    for (const std::uint64_t each : {1, 2, 3, 7, 16, 33, 128, 129, 512, 513, 1025, 2100}) {
      for (const bool bits : {false, true}) {
        for (const bool nans : {false, true}) {
          const std::uint64_t count = each > 1000 ? 3 : each > 100 ? 9 : 70;
          const auto elements = some_elements(type, count * each, bits, nans, ++seed);
          Asked asked;
          asked.rule.method = kMethods[seed % std::size(kMethods)];
          asked.rule.to_float = seed % 3 == 0;
          asked.nan = seed % 2 == 0 ? NanPolicy::skip : NanPolicy::propagate;
          if (seed % 5 != 0) asked.q = {0.9, 0, 1.0 / 3, 0.5, 0.25, 1, 0.999};
          const Array rows(elements.data(), Shape({count, each}), type), columns(elements.data(), Shape({each, count}), type);
          check(rows, Axes{1}, lines(rows, 1), asked);
          check(columns, Axes{0}, lines(columns, 0), asked);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(QuantileAxes, EveryInstructionSet) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    for (const DType type : {DType::uint8, DType::int16, DType::float32, DType::float64}) {
      const auto elements = some_elements(type, 100 * 45, true, true, 5);
      const Array rows(elements.data(), Shape({100, 45}), type);
      check(rows, Axes{1}, lines(rows, 1), {{0.1, 0.5}, {}, NanPolicy::skip, 1});
    }
    simd::restrict_to(best);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(QuantileAxes, SeveralAxesAndStrides) {
  const auto elements = some_elements(DType::float32, 6 * 5 * 7 * 4, false, true, 3);
  const Array whole(elements.data(), Shape({6, 5, 7, 4}), DType::float32);
  // Every second index of the first axis, from the last on; the third axis backwards.
  const auto* const last = elements.data() + ((5 * 5 + 0) * 7 * 4 + 6 * 4) * sizeof(float);
  const Array strided(last, Shape({3, 5, 7, 4}), DType::float32, Strides({-2 * 5 * 7 * 4 * 4, 7 * 4 * 4, -4 * 4, 4}));
  for (const Array& data : {whole, strided}) {
    std::vector<Array> lists;
    for (std::uint64_t i = 0; i < data.shape()[0]; ++i) {
      for (std::uint64_t j = 0; j < 7; ++j) lists.push_back(data.at(0, i).at(1, j));
    }
    check(data, Axes{1, 3}, lists, {{0.5, 0.2}, {}, NanPolicy::skip, 1});
    lists.clear();
    for (std::uint64_t i = 0; i < 5; ++i) lists.push_back(data.at(1, i));
    check(data, Axes{0, 2, -1}, lists, {{0.5}, {QuantileMethod::lower}, NanPolicy::skip, 1});
  }
  const Array repeated(elements.data(), Shape({3, 9}), DType::float32, Strides({0, 4}));
  check(repeated, Axes{0}, lines(repeated, 0), {});
  const Values kept = median(whole, Axes{1, 2}.kept());
  EXPECT_EQ(kept.shape(), (std::vector<std::uint64_t>{6, 1, 1, 4}));
  EXPECT_EQ(quantiles(whole, std::vector{0.5, 0.9}, Axes{0}).shape(), (std::vector<std::uint64_t>{2, 5, 7, 4}));
  EXPECT_EQ(median(whole, Axes{}).shape(),
            whole.shape().size() == 4 ? (std::vector<std::uint64_t>{6, 5, 7, 4}) : std::vector<std::uint64_t>{});
}

// Lists that samples narrow: few values, sorted ones, most equal, all but some equal; by several threads; and some of millions.
TEST(QuantileAxes, LongLists) {
  for (const std::uint64_t each : {4000, 70'000, (1 << 20) + 3}) {
    for (int kind = 0; kind < 5; ++kind) {
      const std::uint64_t count = each < 5000 ? 12 : 2;
      std::vector<double> values(count * each);
      std::mt19937_64 random(each + static_cast<std::uint64_t>(kind));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<double>(random() >> 11);
        values[i] = kind == 0     ? number
                    : kind == 1   ? static_cast<double>(i)
                    : kind == 2   ? static_cast<double>(random() % 3)
                    : kind == 3   ? 1
                    : i % 64 == 0 ? 2
                                  : number;
      }
      const Array rows(values.data(), Shape({count, each}), DType::float64), columns(values.data(), Shape({each, count}), DType::float64);
      const Asked asked = {{0, 0.001, 0.5, 0.75, 1}, {}, NanPolicy::propagate, each < 5000 ? 3u : 1u};
      check(rows, Axes{1}, lines(rows, 1), asked);
      check(columns, Axes{0}, lines(columns, 0), asked);
    }
  }
}

// Elements of each group gathered, and their quantiles alone; NaN where there are none.
void check_groups(const Array& data, const By& by, const std::vector<std::uint64_t>& group_of, const Asked& asked) {
  const std::size_t element = size_of(data.type());
  std::vector<std::vector<std::byte>> elements(by.groups());
  const auto* const from = static_cast<const std::byte*>(data.data());
  for (std::size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] >= by.groups()) continue;
    auto& to = elements[group_of[i]];
    to.insert(to.end(), from + i * element, from + (i + 1) * element);
  }
  Options options;
  options.nan = asked.nan;
  options.tuning.threads = asked.threads;
  const Values found = quantiles(data, asked.q, by, asked.rule, options);
  ASSERT_EQ(found.shape(), (std::vector<std::uint64_t>{asked.q.size(), by.groups()}));
  for (std::size_t group = 0; group < by.groups(); ++group) {
    for (std::size_t i = 0; i < asked.q.size(); ++i) {
      Value alone{std::bit_cast<double>(std::uint64_t{0x7ff8000000000000}), DType::float64};
      try {
        alone = quantile(Array(elements[group].data(), elements[group].size() / element, data.type()), asked.q[i], asked.rule, options);
      } catch (const Error&) {
      }
      ASSERT_EQ(text_of(value_at(found, i * by.groups() + group)), expected(alone, found.type()))
          << name_of(data.type()) << " group " << group << " of " << elements[group].size() / element;
    }
  }
}

TEST(QuantileAxes, Groups) {
  std::mt19937_64 random(21);
  for (const DType type : {DType::float64, DType::float32, DType::bfloat16, DType::int64, DType::uint8}) {
    for (const std::uint64_t groups : {1, 7, 100, 3000}) {
      constexpr std::uint64_t kCount = 20'000;
      const auto elements = some_elements(type, kCount, groups % 2 == 0, groups != 7, groups);
      const Array data(elements.data(), kCount, type);
      std::vector<std::uint64_t> indices(kCount), starts(groups + 1);
      for (std::uint64_t& index : indices) index = std::min(random() % groups, random() % groups);  // few large groups
      const Asked asked = {{0.5, 0.1, 1}, {}, groups == 100 ? NanPolicy::propagate : NanPolicy::skip, groups == 1 ? 1u : 3u};
      check_groups(data, by(std::span<const std::uint64_t>(indices), groups), indices, asked);
      for (std::uint64_t& start : starts) start = random() % kCount;
      std::ranges::sort(starts);
      std::vector<std::uint64_t> segment_of(kCount, groups);
      for (std::uint64_t k = 0; k < groups; ++k) {
        for (std::uint64_t i = starts[k]; i < starts[k + 1]; ++i) segment_of[i] = k;
      }
      Asked nearest = asked;
      nearest.rule.to_float = true;
      nearest.rule.method = QuantileMethod::nearest;
      check_groups(data, by_offsets(std::span<const std::uint64_t>(starts)), segment_of, nearest);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(QuantileAxes, GroupsByKey) {
  const std::vector<float> values = {5, 1, 4, 2, 3, std::nanf(""), 9};
  const std::vector<std::int32_t> keys = {7, -3, 7, -3, 7, 7, 50};
  const By groups = by(std::span<const std::int32_t>(keys));
  const Values found = median(std::span<const float>(values), groups, {.nan = NanPolicy::skip});
  EXPECT_EQ(found.type(), DType::float64);
  EXPECT_EQ((std::vector<double>(found.as<double>().begin(), found.as<double>().end())), (std::vector<double>{1.5, 4, 9}));
  const Values least = quantile(std::span<const std::int32_t>(keys), 0.5, groups, {QuantileMethod::lower});
  EXPECT_EQ(least.as<std::int32_t>()[1], 7);
  // An integer is no result of a group without elements.
  const std::vector<std::uint8_t> of_two = {0, 0, 0, 0, 0, 0, 0};
  const By with_empty = by(std::span<const std::uint8_t>(of_two), 2);
  EXPECT_TRUE(std::isnan(median(std::span<const std::int32_t>(keys), with_empty).as<double>()[1]));
  try {
    quantile(std::span<const std::int32_t>(keys), 0.5, with_empty, {QuantileMethod::lower});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no quantile of group 1, which is an integer: it has no elements");
  }
  EXPECT_THROW(median(std::span<const std::int32_t>(keys).first(3), groups), Error);
  EXPECT_THROW(median(std::span<const std::int32_t>(keys), by(std::span<const std::int32_t>(keys), 8)), Error);
  EXPECT_THROW(median(std::span<const std::int32_t>(keys), by_offsets(std::vector<int>{0, 8})), Error);
}

TEST(QuantileAxes, AGroupOfMillions) {
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 20) + 1000;
  std::vector<double> values(kCount);
  std::mt19937_64 random(4);
  for (double& value : values) value = static_cast<double>(random() % 1'000'000);
  std::vector<std::uint64_t> indices(kCount, 1);
  for (std::uint64_t i = 0; i < 999; ++i) indices[i * 1000] = i % 5 == 0 ? 0 : 2;
  check_groups(std::span<const double>(values), by(std::span<const std::uint64_t>(indices), 4), indices,
               {{0.5, 0.99}, {}, NanPolicy::propagate, 0});
}

TEST(QuantileAxes, AGroupOfMillionsOfNans) {
  std::vector<float> values((std::uint64_t{1} << 20) + 2, std::nanf(""));
  values.back() = 3;
  std::vector<std::uint8_t> indices(values.size(), 0);
  indices.back() = 1;
  const Values found = median(std::span<const float>(values), by(std::span<const std::uint8_t>(indices), 2), {.nan = NanPolicy::skip});
  EXPECT_TRUE(std::isnan(found.as<double>()[0]));
  EXPECT_EQ(found.as<double>()[1], 3);
}

TEST(QuantileAxes, ManyQuantiles) {
  std::vector<double> q;
  for (int i = 0; i <= 100; ++i) q.push_back(i / 100.0);
  for (const std::uint64_t each : {30, 700, 5000}) {
    const auto elements = some_elements(DType::float64, 20 * each, false, true, each);
    const Array rows(elements.data(), Shape({20, each}), DType::float64);
    check(rows, Axes{1}, lines(rows, 1), {q, {}, NanPolicy::skip, 2});
  }
}

TEST(QuantileAxes, WhatHasNoAnswerIsNamed) {
  const double nan = std::nan("");
  const std::vector<double> values = {1, nan, 2, nan, 3, nan};
  const Array matrix(values.data(), Shape({3, 2}), DType::float64);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { median(matrix, Axes{0}, {.nan = NanPolicy::skip}); }),
            "quantile at (1): there are no elements: all are NaN, and left out");
  EXPECT_EQ(message([&] {
              median(Array(values.data(), Shape({2, 0}), DType::float64), Axes{1});
            }),
            "quantile at (0): there are no elements");
  EXPECT_EQ(median(Array(values.data(), Shape({0, 2}), DType::float64), Axes{1}).size(), 0U);
  EXPECT_EQ(message([&] { median(matrix, Axes{2}); }), "there is no axis 2: the array has 2 axes, numbered from 0 (or from -2 to -1)");
  EXPECT_NE(message([&] { median(matrix, Axes{0}.with_ddof(1)); }).find("a quantile"), std::string::npos);
  EXPECT_NE(message([&] { quantile(matrix, 1.5, Axes{0}); }).find("from 0 to 1"), std::string::npos);
  const Values found = median(matrix, Axes{0});
  EXPECT_EQ(found.as<double>()[0], 2);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found.as<double>()[1]), 0x7ff8000000000000U);
}

// A network sorts everything if it sorts all lists of zeros and ones.
TEST(QuantileAxes, NetworksSort) {
  for (std::size_t size = 1; size <= 14; ++size) {
    for (std::uint64_t wanted = 0; wanted <= size; ++wanted) {
      const std::vector<std::uint64_t> places(wanted < size ? 1 : 0, wanted);  // of the last turn all
      const std::vector<selection::Exchange> exchanges = selection::network(size, places);
      for (std::uint32_t first = 0; first < 1u << size; first += 8) {
        std::vector<std::uint64_t> rows(size * 8);
        for (std::uint32_t lane = 0; lane < 8; ++lane) {
          for (std::size_t i = 0; i < size; ++i) rows[i * 8 + lane] = (first + lane) >> i & 1;
        }
        selection::exchange<std::uint64_t>(exchanges, rows.data());
        for (std::uint32_t lane = 0; lane < 8; ++lane) {
          const std::uint64_t zeros = size - static_cast<std::uint64_t>(std::popcount((first + lane) & ((1u << size) - 1)));
          for (std::size_t i = 0; i < size; ++i) {
            if (wanted < size && i != wanted) continue;
            ASSERT_EQ(rows[i * 8 + lane], i >= zeros) << size << " " << first + lane;
          }
        }
      }
    }
  }
}

// low + (high - low) · rest / whole by GMP, rounded to the nearest double; for results that are normal.
double between_by_gmp(double low, double high, const selection::Position& at) {
  mpq_t a, b, weight;
  mpq_inits(a, b, weight, nullptr);
  mpq_set_d(a, low);
  mpq_set_d(b, high);
  const auto set = [](mpz_ptr to, selection::Uint128 value) {
    mpz_set_ui(to, static_cast<std::uint64_t>(value >> 64));
    mpz_mul_2exp(to, to, 64);
    mpz_add_ui(to, to, static_cast<std::uint64_t>(value));
  };
  set(mpq_numref(weight), at.rest);
  set(mpq_denref(weight), at.whole);
  mpq_canonicalize(weight);
  mpq_sub(b, b, a);
  mpq_mul(b, b, weight);
  mpq_add(a, a, b);
  mpfr_t result;
  mpfr_init2(result, 53);
  mpfr_set_q(result, a, MPFR_RNDN);
  const double value = mpfr_get_d(result, MPFR_RNDN);
  mpfr_clear(result);
  mpq_clears(a, b, weight, nullptr);
  return value == 0 ? 0.0 : value;
}

TEST(QuantileAxes, BetweenByFewOperations) {
  std::mt19937_64 random(11);
  std::uint64_t decided = 0, all = 0;
  for (int turn = 0; turn < 200'000; ++turn) {
    const double q[] = {0.5, 0.25, 0.9, 0.1, 1.0 / 3, 0.123456789, 0.75, 1e-3, 0.3, 0.8413447460685429, 0.99999999999999989};
    const selection::Position at =
        selection::position(selection::fraction_of(q[random() % std::size(q)]), 2 + random() % 40, QuantileMethod::linear);
    if (at.rest == 0) continue;
    double low, high;
    const auto number = [&] { return std::bit_cast<double>((random() >> 12) | (1000 + random() % 40) << 52 | (random() % 2) << 63); };
    switch (turn % 4) {
      case 0:
        low = std::bit_cast<double>(random()), high = std::bit_cast<double>(random());
        break;
      case 1:
        low = static_cast<double>(random() % 100) / 8, high = static_cast<double>(random() % 100);
        break;
      case 2:
        low = number(), high = std::nextafter(low, std::numeric_limits<double>::infinity());
        break;
      default:
        low = number(), high = number();
    }
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    if (low > high) std::swap(low, high);
    const double by_gmp = between_by_gmp(low, high, at);
    if (low != high && (by_gmp == 0 || std::fabs(by_gmp) >= std::numeric_limits<double>::min()) && turn % 4 != 0) {
      const double exact = selection::Between(at, false)({low, DType::float64}, {high, DType::float64}).as_double();
      ASSERT_EQ(std::bit_cast<std::uint64_t>(exact), std::bit_cast<std::uint64_t>(by_gmp)) << low << " " << high;
    }
    for (const bool to_float : {false, true}) {
      const selection::Between between(at, to_float);
      const std::optional<double> quick = between.quickly(low, high);
      ++all;
      if (!quick) continue;
      ++decided;
      const double exact = between({low, DType::float64}, {high, DType::float64}).as_double();
      ASSERT_EQ(std::bit_cast<std::uint64_t>(*quick), std::bit_cast<std::uint64_t>(exact)) << low << " " << high << " " << to_float;
    }
  }
  EXPECT_GT(decided, all / 2);
}

}  // namespace
}  // namespace samesum::quantile_axes
