// Formulas that kernels and the CPU's loops evaluate where they would load an element: the same bits as of the values, written to an array
// first.
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"

#include <samesum/error.hpp>
#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace samesum {
namespace {

// Ugly numbers: cancellation, denormals, zeros of both signs, and now and then what is no finite number.
template <class T>
std::vector<T> numbers(std::size_t size, bool finite) {
  hard::Random random(size + sizeof(T));
  std::vector<T> x(size);
  for (std::size_t k = 0; k < size; ++k) {
    const auto fraction = static_cast<T>(static_cast<double>(random.bits() >> 11) * 0x1p-53 - 0.5);
    x[k] = std::ldexp(fraction, static_cast<int>(random.below(60)) - 30);
    if (k % 11 == 3) x[k] = k % 2 == 0 ? T(0) : -T(0);
    if (k % 17 == 5) x[k] = std::numeric_limits<T>::denorm_min() * static_cast<T>(random.below(1000));
    if (!finite && k % 1009 == 700) x[k] = std::numeric_limits<T>::infinity();
  }
  return x;
}
template <class T>
std::vector<T> integers(std::size_t size) {
  hard::Random random(size);
  std::vector<T> x(size);
  for (T& value : x) value = static_cast<T>(random.bits());
  return x;
}

// A copy on a device that begins at byte `offset` of its memory.
template <class T>
Array on(const Device& device, const std::vector<T>& values, std::uint64_t offset) {
  const Buffer buffer(device, values.size() * sizeof(T) + offset + 16);
  buffer.write(values.data(), values.size() * sizeof(T), offset);
  return Array(buffer, values.size(), Array(values).type(), offset);
}

bool same_bits(const Value& a, const Value& b) {
  const double one = a.as_double(), other = b.as_double();
  return a.type == b.type && std::memcmp(&one, &other, sizeof one) == 0;
}

// All digits of the product, or why there are none.
std::string digits(const Array& values, const std::unique_ptr<Source>& source, const Options& options) {
  try {
    Product factors(options, values.type());
    if (source) factors.append(*source);
    if (!source) factors.append(values);
    return factors.digits();
  } catch (const Error& error) {
    return error.what();
  }
}

void check_digits(const char* text, const std::vector<FormulaInput>& host, const std::vector<FormulaInput>& there, const Device& device) {
  SCOPED_TRACE(device.info().selector + ", " + text);
  const Formula formula(text);
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape_of(host)) size *= extent;
  std::vector<std::uint64_t> room(size);
  const Array values(room.data(), size, formula.describe(host, {}).results[0]);
  map(formula, host, {}, {values.reshaped(shape_of(host))});
  const Options options{.device = device};
  EXPECT_EQ(digits(values, map(formula, there), options), digits(values, nullptr, {}));
}

// quantiles_of(q, options) against the quantiles of `values`; where some are NaN, with them and without.
template <class QuantilesOf>
void check_quantiles(const QuantilesOf& quantiles_of, const Array& values, const Device& device) {
  const std::vector<double> q{0, 0.001, 0.25, 0.5, 0.77, 0.999, 1};
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    const Quantiles expected = quantiles(values, q, {}, {.nan = nan}), found = quantiles_of(q, Options{.nan = nan, .device = device});
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(found.nan_count, expected.nan_count);
    for (std::size_t k = 0; k < q.size(); ++k) EXPECT_TRUE(same_bits(found.values[k], expected.values[k])) << q[k];
  }
}

void check(const char* text, const std::vector<FormulaInput>& host, const std::vector<FormulaInput>& there, const Device& device) {
  SCOPED_TRACE(device.info().selector + ", " + text);
  const Formula formula(text);
  const std::vector<FormulaParameter> parameters{{"h", 3.25}};
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape_of(host)) size *= extent;
  std::vector<double> room(size);
  const Array values(room.data(), size, formula.describe(host, parameters).results[0]);
  map(formula, host, parameters, {values.reshaped(shape_of(host))});
  const Accumulator total = accumulate(values);
  const Fields all{true, true, true, true}, moments{false, true, true, false}, ends{true, false, false, false};
  EXPECT_EQ(accumulate(*map(formula, there, parameters)), total);
  EXPECT_EQ(collect(*map(formula, there, parameters), all), collect(values, all));
  // Edges at which no value's slot is doubtful, and some at values that occur.
  std::vector<double> few{-1e9, -1, 0, 0x1p-40, 1, 1e9}, many;
  for (int k = -3000; k < 3000; ++k) many.push_back(k / 64.0);
  const Bins even = Bins::even(-50, 50, 100);
  for (const Bins& bins : {even, Bins::between(few), Bins::between(many)}) {
    const Histogram counted = histogram(values, bins);
    EXPECT_EQ(histogram(*map(formula, there, parameters), bins), counted);
    if (device.info().has(Capability::kernels)) continue;
    EXPECT_EQ(histogram(*map(formula, host, parameters), bins, {.device = device}), counted);
  }
  const auto open = [&] { return map(formula, there, parameters); };
  check_quantiles([&](const auto& q, const Options& options) { return quantiles(open, q, {}, options); }, values, device);
  if (is_integer(values.type())) {
    check_digits(text, host, there, device);
  } else {
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
      Options options;
      options.device = device;
      options.nan = nan;
      const Value multiplied = product(values, Options{.nan = nan});
      EXPECT_TRUE(same_bits(product(*map(formula, there, parameters), options), multiplied));
      // Behind other elements, so that tiles begin within the formula's values.
      Product behind(options, values.type()), expected(Options{.nan = nan}, values.type());
      const std::vector<double> doubles(5, 1.25);
      const std::vector<float> floats(5, 1.25f);
      const Array first = values.type() == DType::float64 ? Array(doubles) : Array(floats);
      behind.append(first);
      expected.append(first);
      expected.append(values);
      const auto source = map(formula, there, parameters);
      behind.append(*source);
      EXPECT_TRUE(same_bits(behind.value(), expected.value()));
    }
  }
  if (device.info().has(Capability::kernels)) return;
  EXPECT_EQ(accumulate(*map(formula, host, parameters), {.device = device}), total);
  EXPECT_EQ(collect(*map(formula, host, parameters), moments), collect(values, moments));
  EXPECT_EQ(collect(*map(formula, host, parameters), ends), collect(values, ends));
}

TEST(TermsTest, TypesAndPlaces) {
  constexpr std::size_t kSize = 70001;
  const std::vector<float> x = numbers<float>(kSize, false), y = numbers<float>(kSize + 1, true);
  const std::vector<double> z = numbers<double>(kSize, true);
  const std::vector<std::int8_t> c = integers<std::int8_t>(kSize);
  const std::vector<std::uint16_t> u = integers<std::uint16_t>(kSize);
  std::vector<std::int64_t> k = integers<std::int64_t>(kSize);
  for (std::int64_t& value : k) value >>= 20;
  const Array last(y.data() + 1, kSize, DType::float32);
  const std::vector<FormulaInput> host{{"x", x}, {"y", last}, {"z", z}, {"c", c}, {"u", u}, {"k", k}};
  for (const Device& device : test::devices()) {
    // y is misaligned by one element more than x; c has its own misalignment.
    const std::vector<FormulaInput> there{{"x", on(device, x, 4)}, {"y", on(device, y, 0).part(1, kSize)},
                                          {"z", on(device, z, 8)}, {"c", on(device, c, 3)},
                                          {"u", on(device, u, 2)}, {"k", on(device, k, 0)}};
    for (const char* text : {"(x - h)*y", "z*x + i", "u*u - c*k", "x > y"}) check(text, host, there, device);
    // Products of 64 bits, of many, of a few more than 64 with zeros and without.
    for (const char* text : {"i % 4099 == 7 ? u | 1 : k < 0 ? -1 : 1", "uint64(i % 50 == 0 ? (u | 1) + 65536 : 1)",
                             "c == 0 && i > 69000 ? 0 : 3", "i < 40 || i == 70000 ? 3 : (k & 2) - 1", "i < 41 || i == 70000 ? -3 : 1"}) {
      check_digits(text, host, there, device);
    }
  }
}

TEST(TermsTest, StridesAndBroadcasts) {
  constexpr std::uint64_t kRows = 301, kColumns = 47;
  const std::vector<float> x = numbers<float>(kRows * kColumns * 2, false);
  const std::vector<double> row = numbers<double>(kColumns, true), column = numbers<double>(kRows, true);
  for (const Device& device : test::devices()) {
    const auto inputs = [&](const Array& all, const Array& of_row, const Array& of_column) {
      const Array matrix = all.reshaped({kRows, kColumns, 2}).at(2, 1);
      return std::vector<FormulaInput>{
          {"x", matrix}, {"r", of_row}, {"q", of_column.reshaped({kRows, 1})}, {"t", matrix.slice(1, kColumns - 1, kColumns, -1)}};
    };
    const std::vector<FormulaInput> host = inputs(x, row, column);
    const std::vector<FormulaInput> there = inputs(on(device, x, 4), on(device, row, 0), on(device, column, 8));
    check("x*r*t + q*i", host, there, device);
    const auto turned = [](const std::vector<FormulaInput>& from) {
      return std::vector<FormulaInput>{{"x", from[0].array.transposed()}, {"y", from[3].array.transposed()}};
    };
    check("x*y + i", turned(host), turned(there), device);
  }
}

// Sizes around blocks, tiles and groups, and factors whose product is neither 0 nor infinite.
TEST(TermsTest, SizesOfProductsAndHistograms) {
  hard::Random random(5);
  for (const std::uint64_t size : {1u, 3u, 1023u, 1025u, 4096u, 8193u, 300001u}) {
    std::vector<float> x(size), y(size);
    for (float& value : x) value = 1 + static_cast<float>(random.below(1 << 20)) * 0x1p-40f * (random.bits() % 2 == 0 ? 1.0f : -1.0f);
    for (float& value : y) value = random.bits() % 2 == 0 ? 1.5f : 1 / 1.5f;
    if (size > 5) x[5] = std::numeric_limits<float>::quiet_NaN();
    for (const Device& device : test::devices()) {
      const Array a = on(device, x, 4), b = on(device, y, 8);
      check("x*y", {{"x", x}, {"y", y}}, {{"x", a}, {"y", b}}, device);
      check("y > 1 ? x : 1/x", {{"x", x}, {"y", y}}, {{"x", a}, {"y", b}}, device);
    }
  }
}

// More values than are sorted at once: of many kinds of digits, and nearly all equal.
TEST(TermsTest, QuantilesOfMany) {
  constexpr std::size_t kSize = (std::size_t{3} << 19) + 3001;  // three of four columns are many, too
  const std::vector<float> x = numbers<float>(kSize + 1, false);
  const std::vector<double> z = numbers<double>(kSize, false);
  const std::vector<std::int16_t> n = integers<std::int16_t>(kSize);
  const std::vector<std::uint64_t> w = integers<std::uint64_t>(kSize);
  const std::vector<FormulaParameter> parameters{{"h", 3.25}};
  for (const Device& device : test::devices()) {
    const std::vector<FormulaInput> host{{"x", Array(x).part(1, kSize)}, {"z", z}, {"n", n}, {"w", w}};
    const std::vector<FormulaInput> there{
        {"x", on(device, x, 8).part(1, kSize)}, {"z", on(device, z, 8)}, {"n", on(device, n, 2)}, {"w", on(device, w, 0)}};
    for (const char* text : {"x*h", "z - x", "n*n - i", "w", "x > z", "i % 1000 == 7 ? x/x : 1/h", "i < 5 ? z : n"}) {
      SCOPED_TRACE(device.info().selector + ", " + text);
      const Formula formula(text);
      std::vector<double> room(kSize);
      const Array values(room.data(), kSize, formula.describe(host, parameters).results[0]);
      map(formula, host, parameters, {values});
      const auto open = [&] { return map(formula, there, parameters); };
      check_quantiles([&](const auto& q, const Options& options) { return quantiles(open, q, {}, options); }, values, device);
    }
    // Arrays themselves: as they lie, backwards, and columns of a matrix.
    const auto layouts = [](const Array& all) {
      return std::vector{all, all.slice(0, kSize - 1, kSize, -1), all.part(0, kSize - 1).reshaped({(kSize - 1) / 4, 4}).slice(1, 0, 3)};
    };
    const auto compare = [&](const Array& copy, const Array& values) {
      const std::vector<Array> expected = layouts(values), found = layouts(copy);
      for (std::size_t k = 0; k < found.size(); ++k) {
        SCOPED_TRACE(device.info().selector + ", layout " + std::to_string(k));
        check_quantiles([&](const auto& q, const Options& options) { return quantiles(found[k], q, {}, options); }, expected[k], device);
      }
    };
    compare(on(device, x, 4), x);
    compare(on(device, z, 8), z);
    compare(on(device, n, 2), n);
    compare(on(device, w, 0), w);
  }
}

TEST(TermsTest, FailuresNameTheElement) {
  std::vector<std::int32_t> n(200 * 300, 3);
  n[150 * 300 + 7] = n[199 * 300] = 0;
  const Array matrix(n.data(), {200, 300}, DType::int32);
  for (const Device& device : test::devices()) {
    const Array there = on(device, n, 4).reshaped({200, 300});
    for (const Array& data : {there, there.transposed().transposed(), matrix}) {
      try {
        accumulate(*map("12/n", {{"n", data}}), {.device = device});
        ADD_FAILURE() << device.info().selector;
      } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("division by zero"), std::string::npos) << what;
        EXPECT_NE(what.find("150"), std::string::npos) << what;
      }
      try {
        histogram(*map("12/n", {{"n", data}}), Bins::even(0, 10, 10), {.device = device});
        ADD_FAILURE() << device.info().selector;
      } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("division by zero"), std::string::npos) << what;
        EXPECT_NE(what.find("150"), std::string::npos) << what;
      }
    }
    EXPECT_THROW(product(*map("12/n", {{"n", there}})), Error);
    EXPECT_EQ(accumulate(*map("n == 0 ? 0 : 12/n", {{"n", there}})).to_int64(), (200 * 300 - 2) * 4);
  }
}

}  // namespace
}  // namespace samesum
