// Formulas as sources: every reduction of a formula has the bits of the same reduction of its values, written to an array first.
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"

#include <samesum/error.hpp>
#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace samesum {
namespace {

std::vector<double> numbers(std::size_t size) {
  hard::Random random(size);
  std::vector<double> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = (static_cast<double>(random.bits() >> 11) * 0x1p-53 - 0.5) * (i % 9 == 0 ? 0x1p50 : 1.0);
  return x;
}

// Of the formula's source, opened anew each time, and of its values.
void check_all(const std::function<std::unique_ptr<Source>()>& open, const std::vector<double>& values, const Options& options) {
  const Accumulator total = accumulate(values);
  ASSERT_TRUE(test::informative(total));
  EXPECT_EQ(accumulate(*open(), options), total);
  EXPECT_EQ(collect(*open(), {true, true, true, true}, options), collect(values, {true, true, true, true}));
  const Bins bins = Bins::even(-2, 2, 17);
  EXPECT_EQ(histogram(*open(), bins, options), histogram(values, bins));
  EXPECT_EQ(product(*open(), options), product(values));
  const double q[] = {0.1, 0.5, 0.99};
  const Quantiles expected = quantiles(values, q), found = quantiles(open, q, {}, options);
  EXPECT_EQ(found.values, expected.values);
  const auto one = open(), other = open();
  EXPECT_EQ(dot(*one, *other, options), dot(values, values));
}

TEST(MapSource, EveryReductionOfAFormula) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{777}, (std::size_t{1} << 19) + 3}) {
    const std::vector<double> x = numbers(size), y = numbers(size + 1);
    std::vector<double> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = x[i] * y[i] + 0.25 * static_cast<double>(i) - 3.5;
    const auto source_of = [](const Array& a, const Array& b) {
      return [=] { return map("x*y + 0.25*i - h", {{"x", a}, {"y", b}}, {{"h", 3.5}}); };
    };
    const Array first(x.data(), size, DType::float64), second(y.data(), size, DType::float64);
    for (const Device& device : test::devices()) {
      SCOPED_TRACE(device.info().selector + ", " + std::to_string(size));
      check_all(source_of(first, second), values, {.device = device});
      const Buffer there(device, 8 * size), beside(device, 8 * size);
      there.write(x.data(), 8 * size);
      beside.write(y.data(), 8 * size);
      check_all(source_of(Array(there, size, DType::float64), Array(beside, size, DType::float64)), values, {});
    }
  }
}

// Positions are those of the arrays' common shape, in C order; sources of sources cut their chunks anywhere.
TEST(MapSource, ShapesAndSources) {
  const std::vector<double> x = numbers(60), row = numbers(5);
  const Array matrix(x.data(), {12, 5}, DType::float64), columns(row.data(), {1, 5}, DType::float64);
  std::vector<double> values(60), transposed(60);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      values[5 * i + j] = x[5 * i + j] * row[j] + static_cast<double>(5 * i + j);
      transposed[12 * j + i] = x[5 * i + j] + static_cast<double>(12 * j + i);
    }
  }
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    check_all([&] { return map("x*r + i", {{"x", matrix}, {"r", columns}}); }, values, {.device = device});
    check_all([&] { return map("x + i", {{"x", matrix.transposed()}}); }, transposed, {.device = device});
    check_all(
        [&] {
          std::vector<SourceInput> inputs;
          inputs.push_back({"x", map("a", {{"a", matrix}})});
          inputs.push_back({"r", map("r + 0*a", {{"a", matrix}, {"r", columns}})});
          return map(Formula("x*r + i"), std::move(inputs));
        },
        values, {.device = device});
  }
  const std::vector<double> none;
  EXPECT_EQ(accumulate(*map("x + 1", {{"x", none}})), accumulate(none));
  EXPECT_EQ(map("x + 1", {{"x", matrix}})->shape(), (std::vector<std::uint64_t>{12, 5}));
}

TEST(MapSource, HalfPrecision) {
  std::vector<std::uint16_t> words(3000);
  Accumulator expected;
  for (std::size_t k = 0; k < words.size(); ++k) {  // bfloat16 is the upper half of a float32
    words[k] = static_cast<std::uint16_t>(0x3c00 + k % 1024 + (k % 3 == 0 ? 0x8000 : 0));
    expected.add(2 * static_cast<double>(std::bit_cast<float>(std::uint32_t{words[k]} << 16)));
  }
  ASSERT_TRUE(test::informative(expected));
  const Array x(words.data(), words.size(), DType::bfloat16);
  for (const Device& device : test::devices()) {
    EXPECT_EQ(accumulate(*map("2*x", {{"x", x}}), {.device = device}), expected) << device.info().selector;
    const Buffer buffer(device, x.bytes());
    buffer.write(words.data(), x.bytes());
    EXPECT_EQ(accumulate(*map("2*x", {{"x", Array(buffer, words.size(), DType::bfloat16)}}), {}), expected) << device.info().selector;
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MapSource, SaysWhatIsWrong) {
  std::vector<std::int64_t> n(600000, 3);
  n[550001] = 0;
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, 8 * n.size());
    buffer.write(n.data(), 8 * n.size());
    const std::string zero = error_of([&] { accumulate(*map("12 / n", {{"n", Array(buffer, n.size(), DType::int64)}})); });
    EXPECT_NE(zero.find("division by zero at index 550001"), std::string::npos) << device.info().selector << ": " << zero;
  }
  const std::vector<double> x(4, 1.0), y(3, 1.0);
  EXPECT_NE(error_of([&] { map("(x, x)", {{"x", x}}); }).find("gives 2 numbers"), std::string::npos);
  EXPECT_NE(error_of([&] { map("x*y", {{"x", x}, {"y", y}}); }).find("'y'"), std::string::npos);
  std::vector<SourceInput> inputs;
  inputs.push_back({"x", map("a", {{"a", x}})});
  inputs.push_back({"y", map("a", {{"a", y}})});
  const auto lengths = map(Formula("x*y"), std::move(inputs));
  EXPECT_NE(error_of([&] { accumulate(*lengths); }).find("y ends after 3 numbers"), std::string::npos);
}

}  // namespace
}  // namespace samesum
