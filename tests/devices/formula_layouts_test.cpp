// Arrays of every layout in formulas, operators, bins by formula, pairs by formula and complex numbers, in host memory and on devices,
// against plain loops over a contiguous copy. Values are such that all arithmetic is exact.
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/layouts.hpp"

#include <samesum/complex.hpp>
#include <samesum/pairs.hpp>
#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace samesum {
namespace {

using test::informative;
using test::kColumns;
using test::kDepth;
using test::kRows;
using test::kSize;
using test::Layout;

// Eighths of numbers up to 125.
std::vector<std::byte> elements_of(DType type) {
  hard::Random random(23);
  std::vector<std::byte> bytes(kSize * size_of(type));
  for (std::uint64_t i = 0; i < kSize; ++i) {
    const int number = random.between(-1000, 1000);
    const double wide = number / 8.0;
    const auto narrow = static_cast<float>(wide);
    const auto whole = static_cast<std::int16_t>(number);
    const void* from = type == DType::float64   ? static_cast<const void*>(&wide)
                       : type == DType::float32 ? &narrow
                                                : static_cast<const void*>(&whole);
    std::memcpy(&bytes[i * size_of(type)], from, size_of(type));
  }
  return bytes;
}

template <class T>
std::vector<double> numbers(const std::vector<std::byte>& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return {elements.begin(), elements.end()};
}
std::vector<double> values_of(const Array& array) {
  const std::vector<std::byte> bytes = test::packed(array);
  return array.type() == DType::float64   ? numbers<double>(bytes)
         : array.type() == DType::float32 ? numbers<float>(bytes)
                                          : numbers<std::int16_t>(bytes);
}

// Calls `check` for every layout and device with an array in host memory, with the same in the device's, and with its values in C order.
template <class Check>
void on_every_layout(
    DType type, const Check& check, const std::function<Array(const Array&)>& part = [](const Array& all) { return all; }) {
  const std::vector<std::byte> host = elements_of(type);
  const Array cube(host.data(), {kDepth, kRows, kColumns}, type);
  for (const Layout& layout : test::layouts()) {
    const Array array = part(layout.of(cube));
    const std::vector<double> values = values_of(array);
    for (const Device& device : test::devices()) {
      SCOPED_TRACE(std::string(name_of(type)) + ", " + layout.name + ", " + device.info().selector);
      check(array, values, device);
      const Buffer buffer(device, host.size() + 16);
      buffer.write(host.data(), host.size(), size_of(type));
      SCOPED_TRACE("in its memory");
      check(part(layout.of(Array(buffer, {kDepth, kRows, kColumns}, type, size_of(type)))), values, device);
    }
  }
}

const std::vector<DType>& types() {
  static const std::vector<DType> all = {DType::float64, DType::float32, DType::int16};
  return all;
}

// By the balanced tree over the index.
template <class Combine>
double tree(const std::vector<double>& values, std::size_t first, std::size_t count, const Combine& combine) {
  if (count == 1) return values[first];
  const std::size_t left = std::bit_ceil(count) / 2;
  return combine(tree(values, first, left, combine), tree(values, first + left, count - left, combine));
}

// Operators for which the order matters.
TEST(FormulaLayouts, OfOperators) {
  const Operator halves(Formula("a*0.5 + b"), {Value{0.0, DType::float64}}),
      whole(Formula("2*a - b"), {Value{std::int64_t{0}, DType::int64}});
  for (const DType type : {DType::float64, DType::int16}) {
    on_every_layout(type, [&](const Array& array, const std::vector<double>& values, const Device& device) {
      const auto combine = [&](double a, double b) { return type == DType::int16 ? 2 * a - b : a * 0.5 + b; };
      const double expected = values.empty() ? 0 : tree(values, 0, values.size(), combine);
      ASSERT_TRUE(values.empty() || informative(expected));
      EXPECT_EQ(reduce(array, type == DType::int16 ? whole : halves, {.device = device})[0].as_double(), expected);
    });
  }
}

TEST(FormulaLayouts, OfMapsAndTheirReductions) {
  const Formula formula("x*x - 3*x + i");
  for (const DType type : types()) {
    on_every_layout(type, [&](const Array& array, const std::vector<double>& values, const Device& device) {
      std::vector<double> expected(values.size());
      Accumulator sum;
      for (std::size_t i = 0; i < values.size(); ++i) {
        expected[i] = values[i] * values[i] - 3 * values[i] + static_cast<double>(i);
        sum.add(expected[i]);
      }
      EXPECT_EQ(sum.round(), accumulate(*map(formula, {{"x", array}}), {.device = device}).round());
      const Formula wide("float64(x*x - 3*x + i)");
      if (!array.on_device()) {
        EXPECT_EQ(evaluate<double>(wide, {{"x", array}}), expected);
        return;
      }
      const Buffer results(device, 8 * values.size() + 8);
      const std::vector<std::uint64_t> shape(array.shape().begin(), array.shape().end());
      map(wide, {{"x", array}}, {}, {Array(results, shape, DType::float64, 8)});
      std::vector<double> found(values.size());
      if (!found.empty()) results.read(found.data(), 8 * found.size(), 8);
      EXPECT_EQ(found, expected);
    });
  }
}

// Inputs of one shape whose rows in memory are of other lengths: 5 elements, 30 elements, and none.
TEST(FormulaLayouts, OfInputsWithOtherRows) {
  const std::vector<std::byte> bytes = elements_of(DType::float64);
  ASSERT_GE(kSize, 240u);
  const auto by_fives = [](const Array& all) { return all.slice(0, 0, 240).reshaped({4, 6, 10}).slice(2, 2, 5); };
  const auto by_thirties = [](const Array& all) { return all.slice(0, 0, 200).reshaped({4, 10, 5}).slice(1, 3, 6); };
  const auto by_none = [](const Array& all) { return all.slice(0, 0, 120).reshaped({5, 6, 4}).transposed(); };
  const Array host(bytes.data(), kSize, DType::float64);
  const std::vector<double> x = values_of(by_fives(host)), y = values_of(by_thirties(host)), z = values_of(by_none(host));
  Accumulator expected;
  for (std::size_t i = 0; i < x.size(); ++i) expected.add(x[i] + 1024 * y[i] - 4096 * z[i]);
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, bytes.size());
    buffer.write(bytes.data(), bytes.size());
    const Array there(buffer, kSize, DType::float64);
    std::vector<std::pair<std::string, Array>> inputs = {{"x", by_fives(there)}, {"y", by_thirties(there)}, {"z", by_none(there)}};
    std::ranges::sort(inputs, {}, &std::pair<std::string, Array>::first);
    do {  // in each order
      std::vector<FormulaInput> given;
      for (const auto& [name, array] : inputs) given.push_back({name, array});
      SCOPED_TRACE(device.info().selector + ", first " + inputs[0].first);
      EXPECT_EQ(accumulate(*map("x + 1024*y - 4096*z", given)).round(), expected.round());
    } while (std::ranges::next_permutation(inputs, {}, &std::pair<std::string, Array>::first).found);
  }
}

TEST(FormulaLayouts, OfBins) {
  const Bins bins = Bins::by_formula(Formula("int64(floor(abs(x)))"), 100);
  for (const DType type : {DType::float64, DType::float32}) {
    on_every_layout(type, [&](const Array& array, const std::vector<double>& values, const Device& device) {
      std::vector<std::uint64_t> expected(100);
      for (const double value : values) {
        if (std::abs(value) < 100) ++expected[static_cast<std::size_t>(std::abs(value))];
      }
      const Histogram found = histogram(array, bins, {.device = device});
      EXPECT_EQ(std::vector<std::uint64_t>(found.counts().begin(), found.counts().end()), expected);
    });
  }
}

TEST(FormulaLayouts, OfPairs) {
  const std::vector<double> points = {-90.0625, 3.1875, 60.5625};
  const std::vector<float> narrow(points.begin(), points.end());
  PairsProblem problem;
  problem.formula = Formula("abs(a[0] - b[0])");
  problem.reduction = PairReduction::argmin;
  for (const DType type : {DType::float64, DType::float32}) {
    on_every_layout(type, [&](const Array& array, const std::vector<double>& values, const Device& device) {
      std::vector<std::int64_t> expected(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t k = 1; k < points.size(); ++k) {
          if (std::abs(values[i] - points[k]) < std::abs(values[i] - points[static_cast<std::size_t>(expected[i])])) {
            expected[i] = static_cast<std::int64_t>(k);
          }
        }
      }
      const Array b = type == DType::float64 ? Array(points) : Array(narrow);
      EXPECT_EQ(std::get<std::vector<std::int64_t>>(pairs(array, b, problem, {.device = device})), expected);
    });
  }
}

// Parts one after the other, backwards, and as far apart as the layout has them: the last axis is cut to two.
TEST(FormulaLayouts, OfComplexNumbers) {
  for (const std::int64_t step : {1, -1}) {
    const auto part = [=](const Array& all) {
      if (all.rank() == 0 || all.shape().back() < 2) return Array(all.data(), {0, 2}, all.type());
      return all.slice(all.rank() - 1, step < 0 ? 1 : 0, 2, step);
    };
    for (const DType type : {DType::float64, DType::float32}) {
      on_every_layout(
          type,
          [&](const Array& array, const std::vector<double>& values, const Device& device) {
            double real = 0, imaginary = 0, squares = 0;
            for (std::size_t i = 0; i < values.size(); i += 2) {
              real += values[i];
              imaginary += values[i + 1];
              squares += values[i] * values[i] + values[i + 1] * values[i + 1];
            }
            EXPECT_EQ(sum(ComplexArray(array), {.device = device}), std::complex<double>(real, imaginary));
            EXPECT_EQ(squared_norm(ComplexArray(array), {.device = device}), squares);
          },
          part);
    }
  }
}

}  // namespace
}  // namespace samesum
