// Operators, products and formulas along axes on every device: the bits of the same reduction of each result's elements alone.
#include "selftest/cases.hpp"
#include "support/axes.hpp"
#include "support/devices.hpp"
#include "support/same_bits.hpp"

#include <samesum/axes_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::all_axes;
using test::expect_error;
using test::groups_of;

std::uint64_t bits_of(const Value& value) {
  return value.number.index() == 0 ? std::bit_cast<std::uint64_t>(value.as_double())
                                   : std::visit([](auto number) { return static_cast<std::uint64_t>(number); }, value.number);
}

// Element i as a value.
Value value_at(const Values& values, std::uint64_t i) {
  const auto* const at = static_cast<const std::byte*>(values.data()) + i * size_of(values.type());
  const auto get = [&](auto number) {
    std::memcpy(&number, at, sizeof number);
    return number;
  };
  switch (values.type()) {
    case DType::float32:
      return {static_cast<double>(get(0.0F)), DType::float32};
    case DType::float64:
      return {get(0.0), DType::float64};
    case DType::int64:
      return {get(std::int64_t{}), DType::int64};
    case DType::uint64:
      return {get(std::uint64_t{}), DType::uint64};
    default:
      return {std::uint64_t{get(std::uint8_t{})}, DType::uint8};
  }
}

void expect_values(const std::vector<Values>& found, std::uint64_t i, const std::vector<Value>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Value value = value_at(found[k], i);
    ASSERT_EQ(value.type, expected[k].type);
    ASSERT_EQ(bits_of(value), bits_of(expected[k])) << value.as_double() << " instead of " << expected[k].as_double() << " at " << i;
  }
}

std::uint64_t size_of_shape(const std::vector<std::uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

// Sizes at which the walk changes: lanes, leaves brought together, chunks, results one by one.
const std::vector<std::vector<std::uint64_t>>& shapes() {
  static const std::vector<std::vector<std::uint64_t>> all = {
      {},        {1},       {7},       {3, 5},    {40, 3},   {3, 40},     {2, 3, 4},    {5, 1, 33}, {0, 3},    {3, 0},
      {17, 600}, {600, 17}, {2, 5000}, {5000, 2}, {300, 20}, {70, 3, 30}, {2, 2, 2, 3}, {1100, 9},  {20, 4200}};
  return all;
}

Options on_cpu(NanPolicy nan = NanPolicy::propagate) { return {.nan = nan, .device = Device::open("cpu")}; }

// The same array on every device, and in host memory with that device named.
template <class Check>
void on_all_devices(const Array& host, const Check& check) {
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    check(host, device);
    const Buffer buffer(device, std::max<std::uint64_t>(host.bytes(), 8));
    if (host.bytes() != 0) buffer.write(host.data(), host.bytes());
    check(Array(buffer, Shape(host.shape()), host.type()), device);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Of many results some are looked at.
std::size_t step_of(std::size_t results) { return results < 200 ? 1 : 1 + results / 97; }

void check_operator(const Array& host, const Operator& op) {
  for (const Axes& axes : all_axes(host.rank())) {
    SCOPED_TRACE(op.combine.to_string() + ", " + test::text_of(axes));
    const std::vector<Array> groups = groups_of(host, axes);
    const std::size_t step = step_of(groups.size());
    std::vector<std::vector<Value>> expected(groups.size());
    for (std::size_t i = 0; i < groups.size(); i += step) expected[i] = reduce(groups[i], op, on_cpu());
    on_all_devices(host, [&](const Array& data, const Device& device) {
      const std::vector<Values> found = reduce(data, op, axes, {.device = device});
      ASSERT_EQ(found[0].size(), groups.size());
      for (std::size_t i = 0; i < groups.size(); i += step) {
        expect_values(found, i, expected[i]);
        if (testing::Test::HasFatalFailure()) return;
      }
      if (groups.empty()) return;
      const std::vector<Values> kept = reduce(data, op, axes.kept(), {.device = device});
      ASSERT_EQ(kept[0].shape().size(), host.rank());
      test::expect_same_bits(kept[0].array(), found[0].array(), "kept axes");
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(AxesOperatorTest, FloatsHaveTheBitsOfEachGroupAlone) {
  const Operator ops[] = {Operator(Formula("a*3 + b"), {{1.0}}), Operator(Formula("max(a, b)"), {{-1.0}}), Operator(Formula("b"), {{2.0}})};
  std::size_t turn = 0;
  for (const DType type : {DType::float32, DType::float64, DType::float16}) {
    for (const hard::Case& hard_case : hard::cases()) {
      for (const std::vector<std::uint64_t>& shape : shapes()) {
        if (++turn % 17 != 0) continue;
        SCOPED_TRACE(std::string(hard_case.name) + ", rank " + std::to_string(shape.size()) + ", " + std::to_string(size_of_shape(shape)));
        const auto made = hard::make(hard_case, type, size_of_shape(shape));
        check_operator(Array(made.view().data(), Shape(shape), type), ops[turn / 17 % 3]);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(AxesOperatorTest, IntegersOfEachType) {
  std::size_t turn = 0;
  const Value none{std::int64_t{0}, DType::int64};
  const Operator ops[] = {Operator(Formula("gcd(a, b)"), {none}), Operator(Formula("(a*3 + b*b + 7) % 1000003"), {none}),
                          Operator(Formula("min(a, b)"), {none})};
  for (const std::vector<std::uint64_t>& shape : shapes()) {
    hard::Random random(turn);
    std::vector<std::int32_t> narrow(size_of_shape(shape));
    for (std::int32_t& number : narrow) number = random.between(0, 1000002);
    std::vector<std::uint8_t> bytes(narrow.size());
    for (std::uint8_t& number : bytes) number = static_cast<std::uint8_t>(random.bits(8));
    SCOPED_TRACE("rank " + std::to_string(shape.size()) + ", " + std::to_string(narrow.size()));
    check_operator(Array(narrow.data(), Shape(shape), DType::int32), ops[turn % 3]);
    check_operator(Array(bytes.data(), Shape(shape), DType::uint8), ops[++turn % 3]);
    if (HasFatalFailure()) return;
  }
}

TEST(AxesOperatorTest, TypesThatTheOperatorGives) {
  std::vector<std::int64_t> numbers(600 * 7);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * 37 % 100) - 50;
  check_operator(Array(numbers.data(), {600, 7}, DType::int64), Operator(Formula("sqrt(a*a + b*b)")));  // float64
  check_operator(Array(numbers.data(), {600, 7}, DType::int64), Operator(Formula("a > b")));            // bool
  check_operator(Array(numbers.data(), {600, 7}, DType::int64), Operator(Formula("a"), {}, {}));
}

TEST(AxesOperatorTest, LayoutsOfAnyStrides) {
  const Operator op(Formula("a*0.75 + b"));
  std::vector<float> numbers(9 * 40 * 50);
  hard::Random random(3);
  for (float& number : numbers) number = static_cast<float>(random.between(-1000, 1000)) / 16;
  const Array cube(numbers.data(), {9, 40, 50}, DType::float32);
  const Array layouts[] = {cube.transposed(),
                           cube.slice(0, 8, 9, -1).slice(2, 49, 25, -2),
                           cube.slice(1, 1, 13, 3),
                           cube.slice(1, 7, 60, 0),
                           cube.at(1, 3),
                           cube.slice(2, 3, 1),
                           cube.reshaped({18000}).slice(0, 17999, 18000, -1),
                           Array(numbers.data(), {20, 30, 900}, DType::float32, {4, 80, 0})};
  for (const Array& layout : layouts) {
    for (const Axes& axes : all_axes(layout.rank())) {
      SCOPED_TRACE(test::text_of(axes));
      const std::vector<Array> groups = groups_of(layout, axes);
      const std::vector<Values> found = reduce(layout, op, axes, on_cpu());
      ASSERT_EQ(found[0].size(), groups.size());
      for (std::size_t i = 0; i < groups.size(); i += step_of(groups.size())) {
        expect_values(found, i, reduce(groups[i], op, on_cpu()));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(AxesOperatorTest, IntoMemoryOfTheCallers) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  const Operator op(Formula("max(a, b)"));
  on_all_devices(Array(numbers.data(), {2, 3}, DType::float32), [&](const Array& data, const Device& device) {
    std::vector<float> to(5, -1);
    reduce(data, op, Axes{0}, {Array(to.data(), Shape{3}, DType::float32, Strides{8})}, {.device = device});
    EXPECT_EQ(to, (std::vector<float>{4, -1, 5, -1, 6}));
    const Buffer there(device, 16);
    reduce(data, op, Axes{1}, {Array(there, 2, DType::float32, 8)}, {.device = device});
    std::vector<float> back(2);
    there.read(back.data(), 8, 8);
    EXPECT_EQ(back, (std::vector<float>{3, 6}));
    expect_error(ErrorKind::usage, "of shape (3)", [&] { reduce(data, op, Axes{0}, {Array(to)}, {.device = device}); });
    expect_error(ErrorKind::usage, "2 arrays", [&] { reduce(data, op, Axes{0}, {Array(to), Array(to)}, {.device = device}); });
  });
}

TEST(AxesOperatorTest, NoElements) {
  const Array none(nullptr, {0, 3}, DType::float32);
  const std::vector<Values> ones = reduce(none, Operator(Formula("a*b"), {{1.0}}), Axes{0});
  EXPECT_EQ(std::vector<float>(ones[0].as<float>().begin(), ones[0].as<float>().end()), (std::vector<float>{1, 1, 1}));
  expect_error(ErrorKind::no_answer, "no identity", [&] { reduce(none, Operator(Formula("a*b")), Axes{0}); });
  EXPECT_EQ(reduce(none, Operator(Formula("a*b")), Axes{1})[0].size(), 0U);
  expect_error(ErrorKind::usage, "no axis 2", [&] { reduce(none, Operator(Formula("a*b")), Axes{2}); });
}

TEST(AxesOperatorTest, ErrorsNameTheResult) {
  std::vector<std::int64_t> numbers(3 * 700, 1);
  numbers[1 * 700 + 650] = numbers[2 * 700 + 650] = std::numeric_limits<std::int64_t>::max();
  numbers[2 * 700 + 5] = numbers[0 * 700 + 5] = 3;
  numbers[1 * 700 + 699] = numbers[0 * 700 + 699] = 2;
  const Operator op(Formula("a*b"));
  on_all_devices(Array(numbers.data(), {3, 700}, DType::int64), [&](const Array& data, const Device& device) {
    expect_error(ErrorKind::no_answer, "a*b at (650): overflow in the operator a*b",
                 [&] { reduce(data, op, Axes{0}, {.device = device}); });
    expect_error(ErrorKind::no_answer, "a*b at (1): overflow", [&] { reduce(data, op, Axes{1}, {.device = device}); });
  });
  Operator finish(Formula("min(a, b)"));
  finish.finish = Formula("10/(a - 1)");
  numbers[4] = 0;
  numbers[704] = -4;
  expect_error(ErrorKind::no_answer, "division by zero", [&] { reduce(Array(numbers.data(), {3, 700}, DType::int64), finish, Axes{1}); });
  expect_error(ErrorKind::usage, "takes i", [&] { reduce(numbers, Operator(Formula("a + b + i"))); });
}

// Formulas in front, of one component or several.
void check_formula(const Formula& map, const std::vector<FormulaInput>& inputs, const Operator& op) {
  const std::vector<std::uint64_t> shape = shape_of(inputs);
  const std::size_t components = map.describe(inputs).results.size();
  // The values by map(), and each result's as one-axis inputs of a formula that gives them again.
  std::vector<Values> values;
  std::vector<Array> to;
  for (const DType type : map.describe(inputs).results) values.emplace_back(type, shape);
  for (Values& one : values) to.push_back(one.array());
  samesum::map(map, inputs, {}, to);
  const Formula again(components == 1 ? "x" : map.describe(inputs).complex ? "complex(x, y)" : "(x, y)");
  for (const Axes& axes : all_axes(shape.size())) {
    SCOPED_TRACE(map.to_string() + ", " + op.combine.to_string() + ", " + test::text_of(axes));
    std::vector<std::vector<Array>> groups;
    for (const Array& array : to) groups.push_back(groups_of(array, axes));
    for (const Device& device : test::devices()) {
      SCOPED_TRACE(device.info().selector);
      const std::vector<Values> found = reduce(map, inputs, {}, op, axes, {.device = device});
      for (std::size_t i = 0; i < groups[0].size(); i += step_of(groups[0].size())) {
        std::vector<FormulaInput> alone{{"x", groups[0][i]}};
        if (components > 1) alone.emplace_back("y", groups[1][i]);
        expect_values(found, i, reduce(again, alone, {}, op, on_cpu()));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(AxesOperatorTest, FormulasInFront) {
  std::vector<float> x(3 * 50 * 20), y(20), numbers(2 * 600);
  hard::Random random(9);
  for (float& number : x) number = static_cast<float>(random.between(-1000, 1000)) / 16;
  for (float& number : y) number = static_cast<float>(random.between(-1000, 1000)) / 64;
  for (float& number : numbers) number = static_cast<float>(random.between(-10, 10)) / 8;
  const Array cube(x.data(), {3, 50, 20}, DType::float32);
  const std::vector<FormulaInput> inputs{{"x", cube}, {"y", y}};
  check_formula(Formula("x*y"), inputs, Operator(Formula("a*0.5 + b")));
  check_formula(Formula("(abs(x - y), i)"), inputs, Operator(Formula("b[0] > a[0] ? b : a")));
  check_formula(Formula("x > y"), inputs, Operator(Formula("a + b")));
  check_formula(Formula("(x, y)"), inputs, Operator(Formula("(b[1] + a[0], a[1])")));
  check_formula(Formula("(x, y)"), inputs, Operator(Formula("(b[1], b[0])")));
  check_formula(Formula("(x, y)"), inputs, Operator(Formula("(a[1], b[0])")));
  Operator finish(Formula("(a[0] + b[0], max(a[1], b[1]))"));
  finish.finish = Formula("a[0]/a[1]");
  check_formula(Formula("(x, abs(y))"), inputs, finish);
  check_formula(Formula("complex(x, y)"), inputs, Operator(Formula("a*b")));
  check_formula(Formula("i*i"), {{"x", Array(numbers.data(), {2, 600}, DType::float32)}}, Operator(Formula("gcd(a, b)")));
  const ComplexArray complex(Array(numbers.data(), {2, 300, 2}, DType::float32));
  check_formula(Formula("z"), {{"z", complex}}, Operator(Formula("a*b")));
  check_formula(Formula("dot(v, v)"), {{"v", Array(numbers.data(), {30, 10, 4}, DType::float32), true}}, Operator(Formula("max(a, b)")));
}

TEST(AxesOperatorTest, ErrorsOfFormulasNameTheElement) {
  std::vector<std::int64_t> x(40 * 30, 2);
  x[17 * 30 + 4] = x[18 * 30 + 2] = 0;
  const std::vector<FormulaInput> inputs{{"x", Array(x.data(), {40, 30}, DType::int64)}};
  for (const Device& device : test::devices()) {
    for (const std::int64_t axis : {0, 1}) {
      expect_error(ErrorKind::no_answer, "division by zero at index (17, 4) of the formula",
                   [&] { reduce(Formula("i/x"), inputs, {}, Operator(Formula("max(a, b)")), Axes{axis}, {.device = device}); });
      expect_error(ErrorKind::no_answer, "division by zero at index (17, 4) of the formula 3/x",
                   [&] { axis_reduction(Formula("3/x"), inputs, {}, AxisReduction::sum, Axes{axis}, {.device = device}); });
    }
    expect_error(ErrorKind::no_answer, "sum at (4): ", [&] {
      axis_reduction(Formula("x == 0 ? 9000000000000000000 : 4000000000000000000 - 4000000000000000000*(i % 30 < 4 ? 1 : 0)"), inputs, {},
                     AxisReduction::sum, Axes{0}, {.device = device});
    });
    expect_error(ErrorKind::usage, "2 numbers",
                 [&] { axis_reduction(Formula("(x, x)"), inputs, {}, AxisReduction::sum, Axes{0}, {.device = device}); });
  }
}

TEST(AxesOperatorTest, ProductsHaveTheBitsOfEachGroupAlone) {
  std::size_t turn = 0;
  for (const DType type : kDTypes) {
    for (const hard::Case& hard_case : hard::cases()) {
      if (is_integer(type) && hard_case.name != "random_bits") continue;
      for (const std::vector<std::uint64_t>& shape : shapes()) {
        if (!is_integer(type) && ++turn % 23 != 0) continue;
        const std::uint64_t size = size_of_shape(shape);
        auto made = hard::make(hard_case, type, size);
        const Array host(made.view().data(), Shape(shape), type);
        if (is_integer(type)) {  // products that fit, or do for a 0 behind numbers that do not
          auto* const bytes = static_cast<std::byte*>(const_cast<void*>(made.view().data()));
          const std::size_t each = size_of(type);
          for (std::uint64_t i = 0; i < size; ++i) {
            if (i % 5 != 0)
              std::memset(bytes + i * each + (each > 1 ? 1 : 0), i % 5 == 4 && is_signed(type) ? 255 : 0,
                          std::max<std::size_t>(each - 1, 1));
          }
        }
        for (const Axes& axes : all_axes(shape.size())) {
          const NanPolicy nan = turn % 2 == 0 ? NanPolicy::propagate : NanPolicy::skip;
          SCOPED_TRACE(std::string(name_of(type)) + ", " + std::string(hard_case.name) + ", " + std::to_string(size) + ", " +
                       test::text_of(axes));
          std::vector<Value> expected;
          std::string failure;
          for (const Array& group : groups_of(host, axes)) {
            try {
              expected.push_back(product(group, on_cpu(nan)));
            } catch (const Error& error) {
              failure = error.what();
              break;
            }
          }
          on_all_devices(host, [&](const Array& data, const Device& device) {
            const Options options{.nan = nan, .device = device};
            if (!failure.empty()) return expect_error(ErrorKind::no_answer, failure, [&] { product(data, axes, options); });
            const Values found = product(data, axes, options);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i) {
              const Value value = value_at(found, i);
              ASSERT_EQ(value.type, expected[i].type);
              ASSERT_EQ(bits_of(value), bits_of(expected[i])) << i;
            }
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(AxesOperatorTest, ReductionsOfFormulas) {
  std::vector<double> x(6 * 40 * 10), y(40 * 10);
  hard::Random random(1);
  for (double& number : x) number = static_cast<double>(random.between(-100000, 100000)) / 64;
  for (double& number : y) number = static_cast<double>(random.between(-100000, 100000)) / 3;
  const Array cube = Array(x.data(), {6, 40, 10}, DType::float64).slice(1, 39, 20, -2), plane(y.data(), {40, 10}, DType::float64);
  const std::vector<FormulaInput> inputs{{"x", cube}, {"y", plane.slice(0, 0, 20)}};
  const AxisReduction all[] = {
      AxisReduction::sum,    AxisReduction::mean,         AxisReduction::variance,      AxisReduction::standard_deviation,
      AxisReduction::norm,   AxisReduction::squared_norm, AxisReduction::min,           AxisReduction::max,
      AxisReduction::argmin, AxisReduction::argmax,       AxisReduction::count_nonzero, AxisReduction::product};
  for (const char* text : {"x*y - m", "x > y ? i : 0", "x > y"}) {
    const Formula formula(text);
    const std::vector<FormulaParameter> parameters{{"m", 0.125}};
    const DType type = formula.describe(inputs, parameters).results[0];
    Values values(type, shape_of(inputs));
    samesum::map(formula, inputs, parameters, {values.array()});
    for (const AxisReduction reduction : all) {
      if (reduction == AxisReduction::product && is_integer(type)) continue;
      for (const Axes& axes : all_axes(3)) {
        for (const Device& device : test::devices()) {
          SCOPED_TRACE(std::string(text) + ", " + std::string(name_of(reduction)) + ", " + test::text_of(axes) + ", " +
                       device.info().selector);
          const Values expected = axis_reduction(values.array(), reduction, axes, on_cpu());
          const Values found = axis_reduction(formula, inputs, parameters, reduction, axes, {.device = device});
          EXPECT_EQ(found.shape(), expected.shape());
          test::expect_same_bits(found.array(), expected.array(), "");
        }
      }
    }
  }
  const Array none(nullptr, {0, 4}, DType::float64);
  EXPECT_EQ(axis_reduction(Formula("x"), {{"x", none}}, {}, AxisReduction::sum, Axes{0}).as<double>()[3], 0);
  expect_error(ErrorKind::no_answer, "mean at (0): ", [&] {
    axis_reduction(Formula("x"), {{"x", none}}, {}, AxisReduction::mean, Axes{0});
  });
}

// More values than are computed at once: boxes of several results, and results that take them chunk by chunk. On the CPU alone, as the
// places where parts begin are the same everywhere.
TEST(AxesOperatorTest, ValuesInParts) {
  if (test::on_own_queues()) GTEST_SKIP() << "runs on the CPU alone, where the caller's queues change nothing";
  const std::vector<std::int64_t> few = {3, 5, 7, 0, 11, 2, 9, 4, 1};
  const std::uint64_t length = (std::uint64_t{1} << 20) + 7;
  std::vector<std::int64_t> long_row(length);
  for (std::size_t k = 0; k < length; ++k) long_row[k] = static_cast<std::int64_t>(k * 2654435761 % 1000);
  const auto value = [&](std::uint64_t row, std::uint64_t k) {
    return (few[row] * long_row[k] + static_cast<std::int64_t>(row * length + k)) % 1009;
  };
  const Formula formula("(x*y + i) % 1009");
  const Operator op(Formula("(a*3 + b) % 1000003"));
  std::vector<std::int64_t> sums(few.size(), 0), of_columns(length, 0);
  std::vector<std::vector<std::int64_t>> rows;
  for (std::size_t row = 0; row < few.size(); ++row) {
    std::vector<std::int64_t>& values = rows.emplace_back(length);
    for (std::size_t k = 0; k < length; ++k) {
      values[k] = value(row, k);
      sums[row] += values[k];
      of_columns[k] += values[k];
    }
  }
  const auto expect = [](const Values& found, const std::vector<std::int64_t>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    ASSERT_TRUE(std::ranges::equal(found.as<std::int64_t>(), expected));
  };
  const std::vector<FormulaInput> wide{{"x", Array(few.data(), {few.size(), 1}, DType::int64)}, {"y", long_row}};
  expect(axis_reduction(formula, wide, {}, AxisReduction::sum, Axes{1}, on_cpu()), sums);
  expect(axis_reduction(formula, wide, {}, AxisReduction::sum, Axes{0}, on_cpu()), of_columns);
  const Values reduced = reduce(formula, wide, {}, op, Axes{1}, on_cpu())[0];
  for (std::size_t row = 0; row < few.size(); ++row) {
    EXPECT_EQ(value_at(reduced, row), reduce(rows[row], op, on_cpu())[0]);
  }
  // 8 times as long: more than 64 MiB for each result.
  const std::vector<FormulaInput> longer{{"x", Array(few.data(), {2, 1, 1}, DType::int64)},
                                         {"y", Array(long_row.data(), {9, length}, DType::int64, {0, 8})}};
  const Formula other("x*y + i % 2");
  const Values found = axis_reduction(other, longer, {}, AxisReduction::sum, Axes{1, 2}, on_cpu());
  const std::int64_t once = std::accumulate(long_row.begin(), long_row.end(), std::int64_t{0});
  EXPECT_EQ(found.as<std::int64_t>()[0], 9 * 3 * once + static_cast<std::int64_t>(9 * length / 2));
  EXPECT_EQ(found.as<std::int64_t>()[1], 9 * 5 * once + static_cast<std::int64_t>(9 * length - 9 * length / 2));
  const Values most = reduce(other, longer, {}, Operator(Formula("max(a, b)")), Axes{1, 2}, on_cpu())[0];
  EXPECT_EQ(most.as<std::int64_t>()[1], 5 * 999 + 1);
  expect_error(ErrorKind::no_answer, "sum at (1): ", [&] {
    axis_reduction(Formula("x == 5 ? 4000000000000000000 : 0"), longer, {}, AxisReduction::sum, Axes{1, 2}, on_cpu());
  });
  expect_error(ErrorKind::no_answer, "division by zero at index (0, 0, 0) of the formula", [&] {
    axis_reduction(Formula("i/y"), longer, {}, AxisReduction::sum, Axes{1, 2}, on_cpu());
  });
}

}  // namespace
}  // namespace samesum
