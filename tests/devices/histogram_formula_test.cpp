// Bins by a formula, on every device, against a plain loop.
#include "support/devices.hpp"

#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/image.hpp>
#include <samesum/plan.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

// The number of a sample's bin; NaN for no number.
template <class T>
using BinOf = std::function<double(T)>;

template <class T>
std::vector<std::uint64_t> plain(std::span<const T> samples, std::uint64_t count, const BinOf<T>& bin_of) {
  std::vector<std::uint64_t> slots(count + 3);
  for (const T sample : samples) {
    const double bin = bin_of(sample);
    const std::uint64_t slot = std::isnan(bin)                     ? count + 2
                               : bin < 0                           ? 0
                               : bin >= static_cast<double>(count) ? count + 1
                                                                   : static_cast<std::uint64_t>(bin) + 1;
    ++slots[slot];
  }
  return slots;
}

template <class T>
std::vector<T> samples(std::uint64_t count) {
  std::mt19937_64 random(sizeof(T));
  std::vector<T> values;
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t bits = random() >> random() % 64;
    if constexpr (std::is_integral_v<T>) {
      values.push_back(static_cast<T>(bits));
    } else {
      values.push_back(static_cast<T>(static_cast<double>(static_cast<std::int64_t>(random())) * std::exp2(-62)));
      if (k % 97 == 0) values.back() = std::numeric_limits<T>::quiet_NaN();
      if (k % 89 == 0) values.back() = k % 2 == 0 ? std::numeric_limits<T>::infinity() : -0.0f;
      if (k % 83 == 0) values.back() = static_cast<T>(k % 8) / 4 - 1;
    }
  }
  return values;
}

template <class T>
void check(const char* formula, std::uint64_t count, const BinOf<T>& bin_of, const std::vector<FormulaParameter>& parameters = {}) {
  const Bins bins = Bins::by_formula(Formula(formula), count, parameters);
  const auto all = samples<T>(5003);
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(fmt::format("{}: {} of {}", device.info().selector, formula, name_of(dtype_of<T>())));
    for (const std::size_t size : {0, 1, 511, 513, 5003}) {
      const std::span<const T> part(all.data(), size);
      EXPECT_EQ(histogram(part, bins, test::on(device, {})), Histogram(bins, plain<T>(part, count, bin_of)));
    }
    const Histogram right(bins, plain<T>(all, count, bin_of));
    Buffer there(device, all.size() * sizeof(T));
    there.write(all.data(), all.size() * sizeof(T));
    EXPECT_EQ(histogram(Array(there, all.size(), dtype_of<T>()), bins, test::on(device, {})), right);
    // Every third one, backwards, as two axes.
    std::vector<T> third;
    for (std::size_t k = 0; k < 1600; ++k) third.push_back(all[5002 - 3 * k]);
    const std::vector<std::uint64_t> shape = {40, 40};
    const auto step = -3 * static_cast<std::int64_t>(sizeof(T));
    const std::vector<std::int64_t> strides = {40 * step, step};
    EXPECT_EQ(histogram(Array(all.data() + 5002, shape, dtype_of<T>(), strides), bins, test::on(device, {})),
              Histogram(bins, plain<T>(third, count, bin_of)));
  }
}

TEST(HistogramFormula, Integers) {
  const auto leading_zeros = [](auto x) {
    return static_cast<double>(std::countl_zero(static_cast<std::uint64_t>(static_cast<std::int64_t>(x))));
  };
  check<std::int8_t>("clz(x)", 64, leading_zeros);
  check<std::int16_t>("clz(x)", 65, leading_zeros);
  check<std::uint32_t>("clz(x) - 32", 33, [&](std::uint32_t x) { return leading_zeros(x) - 32; });
  check<std::int64_t>("clz(x)", 20, leading_zeros);
  check<std::uint64_t>("popcount(x)", 65, [](std::uint64_t x) { return std::popcount(x); });
  check<std::uint8_t>("(x - 97)/4", 7, [](std::uint8_t x) { return (x - 97) / 4; });
  check<std::int32_t>("x % m", 10, [](std::int32_t x) { return x % 13; }, {{"m", 13}});
  check<std::uint16_t>("x & 1 == 0 ? x >> 12 : -1", 16, [](std::uint16_t x) { return x % 2 == 0 ? x >> 12 : -1; });
}

TEST(HistogramFormula, FloatingPoint) {
  check<float>("x*4 + 2", 6, [](float x) { return static_cast<double>(x * 4 + 2); });
  check<double>("x < 0 ? nan : sqrt(x)*k", 3, [](double x) { return x < 0 ? NAN : std::sqrt(x) * 2; }, {{"k", 2}});
  check<float>("x < 0.5", 2, [](float x) { return x < 0.5f ? 1 : 0; });
}

TEST(HistogramFormula, HalvesByTheTableOfTheirValues) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::uint16_t>(k);
  const Bins bins = Bins::by_formula(Formula("x"), 5);
  for (const Device& device : test::devices()) {
    const Histogram found = histogram(Array(all.data(), all.size(), DType::bfloat16), bins, test::on(device, {}));
    // 2^7 numbers from each power of two to the next: 0 … 1, 1 … 2, 2 … 3 and 3 … 4, 4 … 5.
    EXPECT_EQ(std::vector(found.counts().begin(), found.counts().end()), (std::vector<std::uint64_t>{127 * 128 + 1, 128, 64, 64, 32}))
        << device.info().selector;
    EXPECT_EQ(found.nan_count(), 2 * 127u);
    EXPECT_EQ(found.under(), 255u * 128);
  }
}

TEST(HistogramFormula, Images) {
  const auto pixels = std::make_shared<std::vector<std::uint16_t>>();
  for (unsigned k = 0; k < 3 * 60; ++k) pixels->push_back(static_cast<std::uint16_t>(k * 977));
  const Bins bins = Bins::by_formula(Formula("x/1000 - 3"), 40);
  for (const Device& device : test::devices()) {
    for (const DType type : {DType::uint8, DType::uint16}) {
      const Image image{10, 6, 3, type, std::shared_ptr<const void>(pixels, pixels->data()), ""};
      const std::vector<ImagePart> parts = histogram(image, bins, {.rows = 2}, test::on(device, {}));
      ASSERT_EQ(parts.size(), 2u);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        std::vector<std::int32_t> of_channel;
        for (std::size_t k = channel; k < 90; k += 3) {
          of_channel.push_back(type == DType::uint16 ? (*pixels)[k] : reinterpret_cast<const std::uint8_t*>(pixels->data())[k]);
        }
        EXPECT_EQ(parts[0].channels[channel],
                  Histogram(bins, plain<std::int32_t>(of_channel, 40, [](std::int32_t x) { return x / 1000 - 3; })));
      }
    }
  }
}

template <class Action>
void expect_error(ErrorKind kind, const std::string& words, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "no error: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(HistogramFormula, OperationsThatFail) {
  const Bins bins = Bins::by_formula(Formula("100/x"), 101);
  const std::vector<std::int16_t> small = {1, 2, 3, -7}, zero = {1, 2, 0};
  const std::vector<std::int32_t> large = {1, 2, 3, 0, 5, 0};
  for (const Device& device : test::devices()) {
    const auto on = test::on(device, {});
    EXPECT_EQ(histogram(std::span<const std::int16_t>(small), bins, on).inside(), 3u);
    expect_error(ErrorKind::no_answer, "division by zero at the sample 0 of the formula 100/x",
                 [&] { histogram(std::span<const std::int16_t>(zero), bins, on); });
    expect_error(ErrorKind::no_answer, "division by zero at index 3 of the formula 100/x",
                 [&] { histogram(std::span<const std::int32_t>(large), bins, on); });
  }
}

TEST(HistogramFormula, Plans) {
  const Bins bins = Bins::by_formula(Formula("x % 5"), 5), failing = Bins::by_formula(Formula("100/x"), 5);
  const std::vector<std::uint8_t> data = {1, 2, 3, 4, 5, 6, 7};
  for (const Device& device : test::devices()) {
    Buffer there(device, 16);
    there.write(data.data(), data.size());
    for (const Bins* some : {&bins, &failing}) {
      Plan plan(device, *some, DType::uint8, data.size());
      plan.enqueue(Array(there, data.size(), DType::uint8));
      EXPECT_EQ(std::get<Histogram>(plan.result()), histogram(std::span<const std::uint8_t>(data), *some)) << device.info().selector;
    }
    if (!device.info().has(Capability::kernels)) continue;
    expect_error(ErrorKind::usage, "samples of 8 and 16 bits, not for int32", [&] { Plan(device, bins, DType::int32, 10); });
  }
}

TEST(HistogramFormula, Values) {
  const Bins bins = Bins::by_formula(Formula("x*h"), 3, {{"h", 2}});
  EXPECT_EQ(bins.kind(), "formula");
  EXPECT_EQ(std::vector<double>(bins.edges().begin(), bins.edges().end()), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(bins, Bins::by_formula(Formula(" x * h"), 3, {{"h", 2}}));
  EXPECT_NE(bins, Bins::by_formula(Formula("x*h"), 3, {{"h", 3}}));
  EXPECT_NE(bins, Bins::by_formula(Formula("x*h", FormulaMath::native), 3, {{"h", 2}}));
  EXPECT_NE(bins, Bins::by_formula(Formula("x+h"), 3, {{"h", 2}}));
  EXPECT_NE(bins, Bins::by_formula(Formula("x*h"), 4, {{"h", 2}}));
  EXPECT_NE(bins, Bins::between({0, 1, 2, 3}));
  EXPECT_EQ(Histogram::deserialize(Histogram(bins).serialize()).bins(), Bins::between({0, 1, 2, 3}));
}

TEST(HistogramFormula, Refusals) {
  const std::vector<float> data(10);
  const std::vector<std::uint8_t> bytes(10);
  const auto count = [&](const char* formula, auto values) {
    histogram(std::span<const typename decltype(values)::value_type>(values), Bins::by_formula(Formula(formula), 3));
  };
  expect_error(ErrorKind::usage, "takes integers, not float32", [&] { count("clz(x)", data); });
  expect_error(ErrorKind::usage, "no input or parameter has the name 'y'; there are x", [&] { count("y", data); });
  expect_error(ErrorKind::usage, "no input or parameter has the name 'y'; there are x", [&] { count("y", bytes); });
  expect_error(ErrorKind::usage, "gives 2 numbers", [&] { count("(x, x)", data); });
  expect_error(ErrorKind::usage, "gives 2 numbers", [&] { count("(x, x)", bytes); });
  expect_error(ErrorKind::usage, "not on its index i", [&] { count("i", data); });
  expect_error(ErrorKind::usage, "there can be 1 to", [] { Bins::by_formula(Formula("x"), 0); });
  expect_error(ErrorKind::usage, "there can be 1 to", [] { Bins::by_formula(Formula("x"), Bins::kMax); });
  EXPECT_EQ(Bins::by_formula(Formula("x*i"), 2, {{"i", 1}}).count(), 2u);
}

}  // namespace
}  // namespace samesum
