// Plans of reductions by operators: in device memory and as a result they have the bits of reduce(), for any size, alignment and stride,
// also of operators that are not associative; after a plan is made nothing is compiled, allocated or waited for.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/operator.hpp>
#include <samesum/plan.hpp>

#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/listing_device.hpp"
#include "support/same_bits.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

using test::expect_error;

template <class T>
std::vector<T> numbers(std::size_t count) {
  hard::Random random(count + sizeof(T));
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      values[i] = static_cast<T>(random.between(1, 1'000'000));
    } else {
      values[i] = static_cast<T>(std::ldexp(static_cast<double>(random.between(-1000, 1000)), static_cast<int>(random.between(-40, 40))));
      if (i % 997 == 500) values[i] = -T{0};
    }
  }
  return values;
}

std::vector<std::uint64_t> words_of(const std::vector<Value>& values) {
  std::vector<std::uint64_t> words;
  for (const Value& value : values) {
    if (value.type == DType::float32) {
      words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(std::get<double>(value.number))));
    } else {
      words.push_back(std::visit([](auto number) { return std::bit_cast<std::uint64_t>(number); }, value.number));
    }
  }
  return words;
}

bool takes(const Device& device, bool doubles) {
  return !device.info().has(Capability::kernels) || !doubles || device.info().has(Capability::fp64);
}

constexpr std::size_t kSizes[] = {1, 2, 3, 15, 16, 17, 1000, 1023, 1024, 1025, 4096, 5000, 16'385, 70'001, 300'000};

// Of x alone, contiguous, from the second element on, and every third of them.
template <class T>
void check(const Operator& op, const std::string& map, bool doubles) {
  const DType type = dtype_of<T>();
  const Device cpu = Device::open("cpu");
  for (const Device& device : test::devices()) {
    if (!takes(device, doubles)) continue;
    Plan plan(device, ByOperator{op, Formula(map), {{"x", Array(nullptr, 0, type)}}}, 10'000);
    for (const std::size_t size : kSizes) {
      const std::vector<T> values = numbers<T>(3 * size + 1);
      const Buffer buffer(device, values.size() * sizeof(T));
      buffer.write(values.data(), buffer.bytes());
      for (const std::uint64_t first : {0, 1}) {
        for (const std::int64_t apart : {1, 3}) {
          const auto stride = apart * static_cast<std::int64_t>(sizeof(T));
          const Array there(buffer, size, type, first * sizeof(T), stride);
          const Array here(values.data() + first, Shape({size}), type, Strides({stride}));
          const std::string what = device.info().selector + ", " + op.combine.to_string() + ", " + std::to_string(size) + ", " +
                                   std::to_string(first) + ", " + std::to_string(apart);
          const std::vector<std::uint64_t> expected = words_of(reduce(Formula(map), {{"x", here}}, {}, op, {.device = cpu}));
          plan.enqueue(there);
          ASSERT_EQ(words_of(plan.result<std::vector<Value>>()), expected) << what;
          const Buffer to(device, 8 * expected.size() + 16);
          const std::vector<std::uint64_t> other(expected.size() + 2, 7);
          to.write(other.data(), to.bytes());
          plan.enqueue(there, to, 8);
          std::vector<std::uint64_t> read(other.size());
          to.read(read.data(), to.bytes());
          ASSERT_EQ(std::vector(read.begin() + 1, read.end() - 1), expected) << what;
          ASSERT_EQ(read.front(), 7u);
          ASSERT_EQ(read.back(), 7u);
        }
      }
    }
  }
}

TEST(OperatorPlan, OfIntegersHasTheBitsOfReduce) {
  check<std::int32_t>(Operator{Formula("(a*3 + b*b + 7) % 1000003")}, "x", false);
  check<std::int32_t>(Operator{Formula("gcd(a, b)")}, "x", false);
  check<std::int64_t>(Operator{Formula("b")}, "x", false);
}

TEST(OperatorPlan, OfFloatsHasTheBitsOfReduce) {
  check<float>(Operator{Formula("a - b/2")}, "x", false);
  check<double>(Operator{Formula("a + b")}, "x", true);
  check<float>(Operator{Formula("max(a, b)")}, "x", false);
}

TEST(OperatorPlan, OfTuplesHasTheBitsOfReduce) {
  Operator norms{Formula("(a[0] + b[0], max(a[1], b[1]))")};
  norms.finish = Formula("(a[0]/2, a[1], a[0] > a[1])");
  check<double>(norms, "(x*x, abs(x))", true);
}

TEST(OperatorPlan, OfSeveralArraysWithParameters) {
  const std::vector<float> x = numbers<float>(5000);
  std::vector<std::int32_t> w = numbers<std::int32_t>(5000);
  const Formula map("h*x - w");
  Operator op{Formula("a + k*b")};
  op.parameters = {{"k", 0.5}};
  const std::vector<FormulaParameter> parameters{{"h", 3.0}};
  const std::vector<Value> expected = reduce(map, {{"x", x}, {"w", w}}, parameters, op, {.device = Device::open("cpu")});
  for (const Device& device : test::devices()) {
    if (!takes(device, true)) continue;
    const Buffer there(device, 20'000), weights(device, 20'000);
    there.write(x.data(), 20'000);
    weights.write(w.data(), 20'000);
    const Array a(there, 5000, DType::float32), b(weights, 5000, DType::int32);
    Plan plan(device, ByOperator{op, map, {{"x", a}, {"w", b}}, parameters}, 5000);
    plan.enqueue(std::vector{a, b});
    EXPECT_EQ(words_of(plan.result<std::vector<Value>>()), words_of(expected)) << device.info().selector;
    expect_error(ErrorKind::usage, "2 inputs", [&] { plan.enqueue(a); });
    expect_error(ErrorKind::usage, "as 'w'", [&] { plan.enqueue(std::vector{a, a}); });
  }
}

TEST(OperatorPlan, OfNoElementsIsTheIdentity) {
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, 16);
    const Array none(buffer, 0, DType::int32);
    const ByOperator without{Operator{Formula("max(a, b)")}, Formula("x"), {{"x", none}}};
    ByOperator with = without;
    with.op.identity = {FormulaParameter("", std::int64_t{-5}).value};
    Plan plan(device, with, 100);
    expect_error(ErrorKind::usage, "enqueue", [&] { static_cast<void>(plan.result()); });
    plan.enqueue(none);
    EXPECT_EQ(std::get<std::int64_t>(plan.result<std::vector<Value>>().at(0).number), -5);
    Plan other(device, without, 100);
    expect_error(ErrorKind::no_answer, "identity", [&] { other.enqueue(none); });
  }
}

TEST(OperatorPlan, RefusesWhatItCannotDo) {
  for (const Device& device : test::devices()) {
    const auto made = [&](const char* combine, const char* map, DType type) {
      Plan(device, ByOperator{Operator{Formula(combine)}, Formula(map), {{"x", Array(nullptr, 0, type)}}}, 100);
    };
    expect_error(ErrorKind::usage, "integer operation failed", [&] { made("a + b", "x", DType::int64); });
    expect_error(ErrorKind::usage, "integer operation failed", [&] { made("max(a, b)", "12/x", DType::int32); });
    expect_error(ErrorKind::usage, "takes no array", [&] { made("max(a, b)", "3.5", DType::int32); });
    expect_error(ErrorKind::usage, "integer operation failed", [&] { made("a > b", "x", DType::float32); });
  }
}

TEST(OperatorPlan, MakesNothingAndWaitsForNothing) {
  for (const DType type : {DType::float32, DType::float64, DType::bfloat16, DType::int16}) {
    const auto counted = std::make_shared<test::ListingDevice>();
    const Device device(counted);
    const std::uint64_t size = 100'000;
    const Buffer buffer(device, 3 * size * size_of(type) + 64), to(device, 16);
    Plan plan(device, ByOperator{Operator{Formula("max(a, b)")}, Formula("x"), {{"x", Array(nullptr, 0, type)}}}, size);
    const test::Made made = counted->made;
    const int launches = counted->launches, waits = counted->waits;
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{17}, size, 3 * size}) {
      for (const std::uint64_t first : {0, 1}) {
        plan.enqueue(Array(buffer, count, type, first * size_of(type)), to);
        if (count >= 3)
          plan.enqueue(Array(buffer, count / 3, type, first * size_of(type), 3 * static_cast<std::int64_t>(size_of(type))), to);
        plan.enqueue(Array(buffer, count, type, first * size_of(type)));
      }
    }
    EXPECT_GT(counted->launches, launches);
    EXPECT_EQ(counted->waits, waits);
    static_cast<void>(plan.result());
    EXPECT_EQ(counted->made, made) << name_of(type);
  }
}

}  // namespace
}  // namespace samesum
