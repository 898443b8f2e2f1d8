// Plans of reductions along axes: in device memory and as a result they have the bits of axis_reduction(), for any shape, strides, type and
// data; after a plan is made nothing is compiled, allocated or waited for.
#include <samesum/axes.hpp>
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>

#include "support/devices.hpp"
#include "support/listing_device.hpp"
#include "support/same_bits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

using test::expect_error;
using test::expect_same_bits;

// In four of five cases sums that doubles hold; in others exponents that span the type, cancellation, infinities and NaNs.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random() >> (seed % 5 == 4 ? 9 : 40));
    } else {
      value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5);
      if (seed % 5 == 4) value = static_cast<T>(std::ldexp(static_cast<double>(value), static_cast<int>(random() % 200) - 100));
    }
  }
  if constexpr (!std::is_integral_v<T>) {
    if (seed % 5 == 4 && count > 100) {
      values[3] = std::numeric_limits<T>::infinity();
      values[60] = -std::numeric_limits<T>::infinity();
      values[61] = std::numeric_limits<T>::quiet_NaN();
      for (std::size_t i = 70; i + 1 < 90; i += 2) values[i + 1] = -(values[i] = std::numeric_limits<T>::max() / 2);
    }
  }
  return values;
}

bool takes(const Device& device, AxisReduction reduction) {
  if (!device.info().has(Capability::kernels)) return true;
  return device.info().has(Capability::fp64) && (reduction == AxisReduction::sum || reduction == AxisReduction::mean);
}

// Arrays of `elements` numbers in device memory, made by like(Buffer, offset); the same in host memory are made by here(pointer).
template <class T, class There, class Here>
void check(const Device& device, std::uint64_t elements, const Axes& axes, AxisReduction reduction, NanPolicy nan, const There& there,
           const Here& here) {
  const Device cpu = Device::open("cpu");
  const Buffer buffer(device, elements * sizeof(T));
  Plan plan(device, AlongAxes{there(buffer), axes, reduction}, {.nan = nan});
  for (unsigned seed = 0; seed < 6; ++seed) {
    const std::vector<T> values = numbers<T>(elements, seed == 5 ? 0 : seed);
    buffer.write(values.data(), elements * sizeof(T));
    const std::string what = device.info().selector + ", " + std::string(name_of(reduction)) + " of " +
                             std::string(name_of(dtype_of<T>())) + ", seed " + std::to_string(seed);
    std::optional<Values> expected;
    try {
      expected = axis_reduction(here(values.data()), reduction, axes, {.nan = nan, .device = cpu});
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::no_answer) << error.what();
    }
    if (!expected) {
      expect_error(ErrorKind::no_answer, "", [&] {
        plan.enqueue(there(buffer));
        static_cast<void>(plan.result());
      });
      continue;
    }
    plan.enqueue(there(buffer));
    const Values found = plan.result<Values>();
    EXPECT_EQ(found.shape(), expected->shape()) << what;
    expect_same_bits(found.array(), expected->array(), what);
    const std::uint64_t bytes = expected->array().bytes();
    const Buffer to(device, bytes + 16);
    const std::vector<std::byte> other(bytes + 16, std::byte{7});
    to.write(other.data(), bytes + 16);
    plan.enqueue(there(buffer), to, 8);
    std::vector<std::byte> read(bytes + 16);
    to.read(read.data(), read.size());
    expect_same_bits(Array(read.data() + 8, expected->size(), expected->type()),
                     Array(expected->data(), expected->size(), expected->type()), what + ", in device memory");
    EXPECT_EQ(read[0], std::byte{7});
    EXPECT_EQ(read[bytes + 8], std::byte{7});
    expect_same_bits(plan.result<Values>().array(), expected->array(), what + ", of the launch without a place");
  }
}

template <class T>
void check_shapes(AxisReduction reduction, NanPolicy nan = NanPolicy::propagate) {
  const DType type = dtype_of<T>();
  struct Case {
    std::vector<std::uint64_t> shape;
    Axes axes;
  };
  const std::vector<Case> cases{{{37, 129}, {0}},   {{37, 129}, {1}},   {{37, 129}, {0, 1}},           {{5, 7, 33}, {0, 2}},
                                {{3, 20'000}, {1}}, {{20'000, 3}, {0}}, {{40'000, 3}, Axes{1}.kept()}, {{1, 1}, {0}}};
  for (const Device& device : test::devices()) {
    if (!takes(device, reduction)) continue;
    for (const Case& one : cases) {
      std::uint64_t elements = 1;
      for (const std::uint64_t extent : one.shape) elements *= extent;
      // From the second element on, so that loads of 16 bytes are not aligned; the same along reversed axes.
      check<T>(
          device, elements + 1, one.axes, reduction, nan,
          [&](const Buffer& buffer) { return Array(buffer, Shape(one.shape), type, sizeof(T)); },
          [&](const T* values) { return Array(values + 1, Shape(one.shape), type); });
    }
    check<T>(
        device, 64 * 48, {1}, reduction, nan,
        [&](const Buffer& buffer) {
          return Array(buffer, Shape({64, 48}), type).transposed();
        },
        [&](const T* values) {
          return Array(values, Shape({64, 48}), type).transposed();
        });
  }
}

// What a launch into the caller's memory finds says nothing of the results of others.
TEST(AxesPlan, TellsOfLaunchesWithoutAPlace) {
  for (const Device& device : test::devices()) {
    if (!takes(device, AxisReduction::sum) || !device.info().has(Capability::kernels)) continue;  // the CPU's enqueue() throws
    const std::vector<std::int64_t> good = {1, 2, 3, 4}, bad = {INT64_MAX, 1, 1, 1};
    const Buffer of_good(device, 32), of_bad(device, 32), to(device, 16);
    of_good.write(good.data(), 32);
    of_bad.write(bad.data(), 32);
    const Array rows(of_good, Shape{2, 2}, DType::int64), others(of_bad, Shape{2, 2}, DType::int64);
    Plan plan(device, AlongAxes{rows, {1}, AxisReduction::sum});
    plan.enqueue(rows);
    plan.enqueue(others, to, 0);
    EXPECT_EQ(plan.result<Values>().as<std::int64_t>(), (std::vector<std::int64_t>{3, 7})) << device.info().selector;
    plan.enqueue(others);
    plan.enqueue(rows, to, 0);
    expect_error(ErrorKind::no_answer, "", [&] { static_cast<void>(plan.result()); });
  }
}

TEST(AxesPlan, HasTheBitsOfSums) {
  check_shapes<float>(AxisReduction::sum);
  check_shapes<double>(AxisReduction::sum);
  check_shapes<std::int64_t>(AxisReduction::sum);
  check_shapes<std::uint8_t>(AxisReduction::sum);
}

TEST(AxesPlan, HasTheBitsOfMeans) {
  check_shapes<float>(AxisReduction::mean);
  check_shapes<double>(AxisReduction::mean, NanPolicy::skip);
  check_shapes<std::uint64_t>(AxisReduction::mean);
}

TEST(AxesPlan, OfOtherReductionsIsForTheCpu) {
  check_shapes<float>(AxisReduction::variance);
  check_shapes<std::int32_t>(AxisReduction::max);
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    expect_error(ErrorKind::usage, "axis_reduction()", [&] {
      Plan(device, AlongAxes{Array(nullptr, Shape({3, 4}), DType::float32), {0}, AxisReduction::max});
    });
  }
}

TEST(AxesPlan, TakesArraysLikeThatItWasMadeFor) {
  for (const Device& device : test::devices()) {
    if (!takes(device, AxisReduction::sum)) continue;
    const Buffer buffer(device, 400), small(device, 8);
    const std::vector<float> values(100, 1.5f);
    buffer.write(values.data(), 400);
    const Array like(nullptr, Shape({4, 5}), DType::float32), there(buffer, Shape({4, 5}), DType::float32);
    Plan plan(device, AlongAxes{like, {0}});
    expect_error(ErrorKind::usage, "enqueue", [&] { static_cast<void>(plan.result()); });
    expect_error(ErrorKind::usage, "shape (5, 4)", [&] { plan.enqueue(Array(buffer, Shape({5, 4}), DType::float32)); });
    expect_error(ErrorKind::usage, "strides", [&] { plan.enqueue(Array(buffer, Shape({5, 4}), DType::float32).transposed()); });
    expect_error(ErrorKind::usage, "float64", [&] { plan.enqueue(Array(buffer, Shape({4, 5}), DType::float64)); });
    expect_error(ErrorKind::usage, "host memory", [&] { plan.enqueue(Array(values.data(), Shape({4, 5}), DType::float32)); });
    expect_error(ErrorKind::usage, "the results along the axes", [&] { plan.enqueue(there, small); });
    expect_error(ErrorKind::usage, "axis 2", [&] { Plan(device, AlongAxes{like, {2}}); });
    plan.enqueue(there);
    const Values sums = plan.result<Values>();
    for (const double sum : sums.as<double>()) EXPECT_EQ(sum, 6);
  }
}

TEST(AxesPlan, MakesNothingAndWaitsForNothing) {
  for (const DType type : {DType::float32, DType::float64, DType::bfloat16, DType::int16, DType::uint64}) {
    for (const std::int64_t axis : {0, 1}) {
      const auto counted = std::make_shared<test::ListingDevice>();
      const Device device(counted);
      const Array like(nullptr, Shape({3000, 200}), type);
      const Buffer buffer(device, 3000 * 200 * size_of(type) + 64), to(device, 8 * 3000);
      Plan plan(device, AlongAxes{like, {axis}});
      const test::Made made = counted->made;
      const int launches = counted->launches, waits = counted->waits;
      for (const std::uint64_t first : {0, 1, 8}) {
        plan.enqueue(Array(buffer, Shape({3000, 200}), type, first * size_of(type)), to);
        plan.enqueue(Array(buffer, Shape({3000, 200}), type, first * size_of(type)));
      }
      EXPECT_GT(counted->launches, launches);
      EXPECT_EQ(counted->waits, waits);
      static_cast<void>(plan.result());
      EXPECT_EQ(counted->made, made) << name_of(type);
    }
  }
}

}  // namespace
}  // namespace samesum
