// Plans of products: the record in device memory has the bits of product(), for arrays that begin anywhere and of any size; after a plan is
// made nothing is compiled, allocated or waited for.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>

#include "support/devices.hpp"
#include "support/listing_device.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace samesum {
namespace {

// The product by product() on the CPU, as a record.
ProductRecord expected_record(const Array& data, NanPolicy nan) {
  ProductRecord record{};
  try {
    const Value value = product(data, {.nan = nan, .device = Device::open("cpu")});
    if (const auto* const real = std::get_if<double>(&value.number)) record.value = *real;
    if (const auto* const integer = std::get_if<std::int64_t>(&value.number)) record.integer = *integer;
    if (const auto* const integer = std::get_if<std::uint64_t>(&value.number)) record.integer = std::bit_cast<std::int64_t>(*integer);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_answer) << error.what();
    record.overflow = 1;
  }
  return record;
}

enum class Kind { near_one, random_bits, with_nan, with_denormal_product, small_integers, powers_of_two, with_zero };

template <class T>
std::vector<T> numbers(std::size_t count, Kind kind, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      // Few of them differ from 1 and -1, so that the product fits into 64 bits as a rule.
      const bool rare = random() % (count / 20 + 1) == 0;
      values[i] = static_cast<T>(rare ? 1 + random() % 7 : 1);
      if (std::is_signed_v<T> && random() % 3 == 0) values[i] = static_cast<T>(-values[i]);
      if (kind == Kind::powers_of_two) values[i] = static_cast<T>(i < 63 ? 2 : 1);  // 2^63: too large for int64 alone
      if (kind == Kind::powers_of_two && std::is_signed_v<T> && i == 5) values[i] = static_cast<T>(-2);
      if (kind == Kind::random_bits) values[i] = static_cast<T>(random() | 1);
      if (kind == Kind::with_zero) values[i] = static_cast<T>(i == count / 2 ? 0 : random() | 1);
    } else {
      values[i] = static_cast<T>(0.75 + 0.5 * static_cast<double>(random() >> 11) * 0x1p-53) * (random() % 2 == 0 ? T(1) : T(-1));
      if (i / 3 % 2 == 1) values[i] = T(1) / values[i - 3];  // so that products of many are near 1, too
      if (kind == Kind::random_bits) {
        std::uint64_t bits = random();
        std::memcpy(&values[i], &bits, sizeof(T));
        if (!(values[i] - values[i] == 0)) values[i] = 1;
      }
      if (kind == Kind::with_nan && i % 1001 == 17) values[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  if constexpr (!std::is_integral_v<T>) {
    if (kind == Kind::with_denormal_product) {
      for (T& value : values) value = 1;
      if (count > 0) values[0] = std::numeric_limits<T>::min() * T(1.25);
      if (count > 1) values[count - 1] = T(-0x1p-7);
    }
  }
  return values;
}

template <class T>
void check(const Device& device, Kind kind, NanPolicy nan) {
  constexpr DType kType = dtype_of<T>();
  Plan plan(device, ops::product, kType, 1000, {.nan = nan});
  for (const std::size_t count : {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 1000, 4095, 4096, 8193, 100'003}) {
    // The digits of a product of large integers, which are in the error of product(), take long.
    if (std::is_integral_v<T> && (kind == Kind::random_bits || kind == Kind::with_zero) && count > 255) continue;
    for (const std::uint64_t offset : {0, 1, 3}) {
      const std::vector<T> values = numbers<T>(count, kind, static_cast<unsigned>(count + offset));
      const ProductRecord expected = expected_record(values, nan);
      const std::uint64_t at = (offset + count) * sizeof(T) / 8 * 8 + 16;
      const Buffer buffer(device, at + sizeof expected + 8);
      const std::vector<std::byte> before(buffer.bytes(), std::byte{0xa5});
      buffer.write(before.data(), before.size());
      buffer.write(values.data(), count * sizeof(T), offset * sizeof(T));
      const Array there(buffer, count, kType, offset * sizeof(T));
      plan.enqueue(there, buffer, at);
      struct {
        ProductRecord record;
        std::uint64_t behind;
      } found;
      buffer.read(&found, sizeof found, at);
      const std::string what = device.info().selector + ", " + std::string(name_of(kType)) + ", kind " +
                               std::to_string(static_cast<int>(kind)) + ", " + std::to_string(count) + " from " + std::to_string(offset);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(found.record.value), std::bit_cast<std::uint64_t>(expected.value)) << what;
      ASSERT_EQ(found.record.integer, expected.integer) << what;
      ASSERT_EQ(found.record.overflow, expected.overflow) << what;
      ASSERT_EQ(found.record.reserved, 0u) << what;
      ASSERT_EQ(found.behind, 0xa5a5a5a5a5a5a5a5u) << what;
      plan.enqueue(there);
      if (expected.overflow != 0) {
        EXPECT_THROW(static_cast<void>(plan.result()), Error) << what;
        continue;
      }
      const auto bits = [](const Value& value) { return std::visit([](auto x) { return std::bit_cast<std::uint64_t>(x); }, value.number); };
      const Value whole = product(Array(values), {.nan = nan, .device = Device::open("cpu")}), result = plan.result<Value>();
      ASSERT_EQ(bits(result), bits(whole)) << what;
      ASSERT_EQ(result.type, whole.type) << what;
    }
  }
}

TEST(ProductPlan, HasTheBitsOfTheCallForFloats) {
  for (const Device& device : test::devices()) {
    for (const Kind kind : {Kind::near_one, Kind::random_bits, Kind::with_nan, Kind::with_denormal_product}) {
      check<float>(device, kind, NanPolicy::propagate);
      if (device.info().has(Capability::fp64) || !device.info().has(Capability::kernels)) check<double>(device, kind, NanPolicy::propagate);
    }
    check<float>(device, Kind::with_nan, NanPolicy::skip);
  }
}

TEST(ProductPlan, HasTheBitsOfTheCallForIntegers) {
  for (const Device& device : test::devices()) {
    for (const Kind kind : {Kind::small_integers, Kind::random_bits, Kind::powers_of_two, Kind::with_zero}) {
      check<std::int32_t>(device, kind, NanPolicy::propagate);
      check<std::uint64_t>(device, kind, NanPolicy::propagate);
      check<std::int64_t>(device, kind, NanPolicy::propagate);
    }
    check<std::uint8_t>(device, Kind::small_integers, NanPolicy::propagate);
  }
}

// Every power of two from the greatest to the least denormal, and their fractions, from float32 to the record's double.
TEST(ProductPlan, WidensEveryExponent) {
  for (const Device& device : test::devices()) {
    Plan plan(device, ops::product, DType::float32, 1);
    const Buffer buffer(device, 32);
    for (int exponent = -149; exponent < 128; ++exponent) {
      const float x = std::ldexp(-1.0F, exponent) * (exponent > -140 ? 1.625F : 1.0F);
      buffer.write(&x, sizeof x);
      plan.enqueue(Array(buffer, 1, DType::float32), buffer, 8);
      double found = 0;
      buffer.read(&found, sizeof found, 8);
      ASSERT_EQ(found, double{x}) << exponent << ", " << device.info().selector;
    }
  }
}

// More chunks than one: on a device whose groups are small.
TEST(ProductPlan, TakesSeveralChunks) {
  for (const Device& device : test::devices()) {
    if (!device.info().is_cpu) continue;  // their chunks are larger, and the code is the same
    const auto values = numbers<float>((std::size_t{5} << 21) + 12345, Kind::near_one, 9);
    const Buffer buffer(device, 4 * values.size() + 8);
    for (const std::uint64_t offset : {0, 4}) {
      buffer.write(values.data(), 4 * values.size(), offset);
      Plan plan(device, ops::product, DType::float32, 1, {.tuning = {.group_size = 16}});
      plan.enqueue(Array(buffer, values.size(), DType::float32, offset));
      EXPECT_EQ(plan.result<Value>().as_double(), product(Array(values)).as_double()) << device.info().selector;
    }
  }
}

// Several work-items to a group, and two tiles: so few that Oclgrind can watch them (tests/kernels/oclgrind_test.py).
TEST(ProductPlan, OfFewElements) {
  for (const Device& device : test::devices()) {
    const auto values = numbers<float>(300, Kind::near_one, 9);
    const Buffer buffer(device, 4 * values.size());
    buffer.write(values.data(), 4 * values.size());
    Plan plan(device, ops::product, DType::float32, 1, {.tuning = {.group_size = 16}});
    plan.enqueue(Array(buffer, values.size(), DType::float32));
    EXPECT_EQ(plan.result<Value>().as_double(), product(Array(values)).as_double()) << device.info().selector;
  }
}

TEST(ProductPlan, CompilesAllocatesAndWaitsForNothingOnceMade) {
  for (const DType type : {DType::float32, DType::float64, DType::float16, DType::int8, DType::uint64}) {
    const auto counted = std::make_shared<test::ListingDevice>();
    const Device device(counted);
    const Buffer buffer(device, 1 << 24);
    Plan plan(device, ops::product, type, 100);
    const test::Made made = counted->made;
    const int launches = counted->launches, waits = counted->waits;
    for (const std::uint64_t count : {0, 1, 8191, 8192, 1'000'000}) {
      for (const std::uint64_t offset : {0, 1}) {
        plan.enqueue(Array(buffer, count, type, offset * size_of(type)), buffer, 1 << 23);
        plan.enqueue(Array(buffer, count, type, offset * size_of(type)));
      }
    }
    EXPECT_GE(counted->launches, launches + 40) << name_of(type);
    EXPECT_EQ(counted->made, made) << name_of(type);
    EXPECT_EQ(counted->waits, waits) << name_of(type);
  }
}

void expect_usage(const std::function<void()>& action, const std::string& words) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(ProductPlan, RefusesWhatItCannotDo) {
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, 400), small(device, 24);
    Plan plan(device, ops::product, DType::int32, 20);
    const Array a(buffer, 20, DType::int32);
    expect_usage([&] { static_cast<void>(plan.result()); }, "enqueue");
    expect_usage([&] { plan.enqueue(a, a); }, "one array");
    expect_usage([&] { plan.enqueue({buffer, 20, DType::int32, 0, 8}); }, "contiguous");
    expect_usage([&] { plan.enqueue({buffer, 20, DType::float32}); }, "float32");
    expect_usage([&] { plan.enqueue(a, small, 8); }, "a ProductRecord");
    expect_usage([&] { plan.enqueue(a, small, 4); }, "8");
  }
}

}  // namespace
}  // namespace samesum
