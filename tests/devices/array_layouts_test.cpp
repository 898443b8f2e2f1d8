// Arrays of every layout, through every function, on the host and on devices: the same answers as for a contiguous copy in C order.
#include "core/array/array_blocks.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/layouts.hpp"

#include <samesum/error.hpp>
#include <samesum/pairs.hpp>
#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::kColumns;
using test::kDepth;
using test::kRows;
using test::kSize;
using test::Layout;
using test::layouts;
using test::packed;

// Elements of all magnitudes and signs; of floats with some NaNs where `nans`.
std::vector<std::byte> elements_of(DType type, bool nans) {
  hard::Random random(17);
  std::vector<std::byte> bytes(kSize * size_of(type));
  for (std::uint64_t i = 0; i < kSize; ++i) {
    std::uint64_t bits = random.bits();
    if (type == DType::float64) {
      const double value = (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * (i % 7 == 0 ? 0x1p60 : 1.0);
      std::memcpy(&bits, &value, 8);
      if (nans && i % 911 == 400) bits = 0x7ff8000000000000;
    } else if (type == DType::float32) {
      const float value = (static_cast<float>(bits >> 40) * 0x1p-24f - 0.5f) * (i % 7 == 0 ? 0x1p60f : 1.0f);
      std::uint32_t word;
      std::memcpy(&word, &value, 4);
      bits = nans && i % 911 == 400 ? 0x7fc00000 : word;
    }
    std::memcpy(&bytes[i * size_of(type)], &bits, size_of(type));
  }
  return bytes;
}

void check_same(const Array& array, const Array& plain, const Device& device) {
  const Device cpu = Device::open("cpu");
  const Accumulator exact = accumulate(plain, {.device = cpu});
  EXPECT_EQ(accumulate(array, {.device = device}), exact);
  EXPECT_EQ(collect(array, {true, true, true, true}, {.device = device}), collect(plain, {true, true, true, true}, {.device = cpu}));
  EXPECT_EQ(collect(array, {false, true, true, false}, {.device = device}), collect(plain, {false, true, true, false}, {.device = cpu}));
  EXPECT_EQ(dot(array, array, {.device = device}), dot(plain, plain, {.device = cpu}));
  if (!is_integer(array.type())) {
    EXPECT_EQ(sum(array, {.nan = NanPolicy::skip, .device = device}), (Value{exact.round(NanPolicy::skip), DType::float64}));
  }
  const Bins bins = Bins::even(-100, 100, 13);
  EXPECT_EQ(histogram(array, bins, {.device = device}), histogram(plain, bins, {.device = cpu}));
  EXPECT_EQ(range_of(array).has_value(), range_of(plain).has_value());
  if (range_of(plain)) {
    EXPECT_EQ(range_of(array)->min, range_of(plain)->min);
  }
  if (plain.size() == 0) return;
  EXPECT_TRUE(min(array, {.nan = NanPolicy::skip, .device = device}) == min(plain, {.nan = NanPolicy::skip, .device = cpu}));
  EXPECT_EQ(median(array, {.nan = NanPolicy::skip}), median(plain, {.nan = NanPolicy::skip}));
  if (is_integer(array.type()) || plain.size() > 2000) return;
  const PairsProblem by_index{.reduction = PairReduction::argmin};
  EXPECT_EQ(pairs(array, plain, by_index, {.device = device}), pairs(plain, plain, by_index, {.device = cpu}));
}

void check_layouts(DType type) {
  const std::vector<std::byte> host = elements_of(type, true);
  const Array cube(host.data(), {kDepth, kRows, kColumns}, type);
  ASSERT_TRUE(test::informative(sum(cube, {.nan = NanPolicy::skip}).as_double()));
  for (const Layout& layout : layouts()) {
    const Array array = layout.of(cube);
    const std::vector<std::byte> copy = packed(array);
    const Array plain(copy.data(), array.shape(), type);
    for (const Device& device : test::devices()) {
      SCOPED_TRACE(std::string(name_of(type)) + ", " + layout.name + ", " + device.info().selector);
      check_same(array, plain, device);
      const Buffer buffer(device, host.size() + 16);
      buffer.write(host.data(), host.size(), size_of(type));
      const Array there = layout.of(Array(buffer, {kDepth, kRows, kColumns}, type, size_of(type)));
      SCOPED_TRACE("in its memory");
      check_same(there, plain, device);
    }
  }
}

TEST(ArrayLayouts, OfFloat64) { check_layouts(DType::float64); }
TEST(ArrayLayouts, OfFloat32) { check_layouts(DType::float32); }
TEST(ArrayLayouts, OfIntegers) {
  check_layouts(DType::int16);
  check_layouts(DType::uint8);
}

// One type per size of element, as each size has its own kernel.
TEST(ArrayLayouts, OfHalfPrecision) {
  std::vector<std::uint16_t> bits(kSize);
  for (std::size_t i = 0; i < kSize; ++i) bits[i] = static_cast<std::uint16_t>(0x3000 + i * 37 % 0x0f00);
  for (const DType type : {DType::float16, DType::bfloat16}) {
    const Array cube(bits.data(), {kDepth, kRows, kColumns}, type);
    for (const Layout& layout : layouts()) {
      const Array array = layout.of(cube);
      const std::vector<std::byte> copy = packed(array);
      for (const Device& device : test::devices()) {
        SCOPED_TRACE(layout.name + ", " + device.info().selector);
        EXPECT_EQ(accumulate(array, {.device = device}),
                  accumulate(Array(copy.data(), array.size(), type), {.device = Device::open("cpu")}));
      }
    }
  }
}

// Their order matters, and their product must stay finite: pairs of numbers whose product is close to 1.
TEST(ArrayLayouts, OfFactors) {
  std::vector<double> factors(kSize);
  hard::Random random(3);
  for (std::size_t i = 0; i < kSize; ++i)
    factors[i] = i % 2 == 0 ? 0.5 + static_cast<double>(random.below(1 << 20)) * 0x1p-20 : 1 / factors[i - 1];
  const Array cube(factors.data(), {kDepth, kRows, kColumns}, DType::float64);
  for (const Layout& layout : layouts()) {
    const Array array = layout.of(cube);
    const std::vector<std::byte> copy = packed(array);
    const Value expected = product(Array(copy.data(), array.size(), DType::float64), {.device = Device::open("cpu")});
    ASSERT_TRUE(array.size() == 0 || test::informative(expected.as_double(), 1)) << layout.name;
    for (const Device& device : test::devices()) {
      SCOPED_TRACE(layout.name + ", " + device.info().selector);
      EXPECT_EQ(product(array, {.device = device}), expected);
      const Buffer buffer(device, 8 * kSize);
      buffer.write(factors.data(), buffer.bytes());
      EXPECT_EQ(product(layout.of(Array(buffer, {kDepth, kRows, kColumns}, DType::float64))), expected);
    }
  }
}

TEST(ArrayLayouts, OfManyAxes) {
  std::vector<float> values(1 << 12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761u % 4096);
  const std::vector<std::uint64_t> shape(12, 2);
  const Array array(values.data(), shape, DType::float32);
  Array odd = array;
  for (std::size_t axis = 0; axis < 12; axis += 2) odd = odd.slice(axis, 1, 2, -1);
  const std::vector<std::byte> copy = packed(odd);
  for (const Device& device : test::devices()) {
    EXPECT_EQ(max(odd, {.device = device}), max(Array(copy.data(), 4096, DType::float32), {.device = device}));
    EXPECT_EQ(accumulate(odd, {.device = device}).round(), 4095.0 * 4096 / 2);
    const Buffer buffer(device, 4 * values.size());
    buffer.write(values.data(), buffer.bytes());
    Array there(buffer, shape, DType::float32);
    for (std::size_t axis = 0; axis < 12; axis += 2) there = there.slice(axis, 1, 2, -1);
    EXPECT_EQ(max(there), max(Array(copy.data(), 4096, DType::float32), {.device = device}));
    EXPECT_EQ(dot(there, Array(buffer, shape, DType::float32)),
              dot(Array(copy.data(), 4096, DType::float32), Array(values), {.device = Device::open("cpu")}));
  }
}

// More than one block, and more than one part that a device gathers.
TEST(ArrayLayouts, OfSeveralBlocks) {
  constexpr std::uint64_t kSide = 6000;
  std::vector<std::uint32_t> values(kSide * kSide);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761u);
  const auto part = [](const Array& matrix) { return matrix.slice(1, 3, kSide - 4).transposed(); };
  const Array array = part(Array(values.data(), {kSide, kSide}, DType::uint32));
  std::uint64_t expected = 0, least = UINT64_MAX, at = 0;
  for (std::uint64_t column = 0; column < kSide - 4; ++column) {
    for (std::uint64_t row = 0; row < kSide; ++row) {
      const std::uint64_t value = values[row * kSide + column + 3];
      expected += value;
      if (value < least) least = value, at = column * kSide + row;
    }
  }
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    EXPECT_EQ(sum(array, {.device = device}), (Value{expected, DType::uint64}));
    EXPECT_EQ(min(array, {.device = device}), (Extremum{{least, DType::uint32}, at}));
    const Buffer buffer(device, 4 * values.size());
    buffer.write(values.data(), buffer.bytes());
    const Array there = part(Array(buffer, {kSide, kSide}, DType::uint32));
    EXPECT_EQ(sum(there), (Value{expected, DType::uint64}));
    EXPECT_EQ(min(there), (Extremum{{least, DType::uint32}, at}));
    EXPECT_EQ(dot(there, there), dot(array, array, {.device = Device::open("cpu")}));
  }
}

TEST(ArrayLayouts, WorkIsRefusedOnAnotherDevice) {
  const auto devices = open_devices("all", 0);
  if (devices.size() < 2) GTEST_SKIP() << "there is one device";
  const Buffer buffer(devices[1], 64);
  const Array array(buffer, 8, DType::float64);
  EXPECT_THROW(sum(array, {.device = devices[0]}), Error);
  EXPECT_THROW(mean(array, {.device = devices[0]}), Error);
  EXPECT_THROW(histogram(array, Bins::even(0, 1, 2), {.device = devices[0]}), Error);
  EXPECT_THROW(dot(array, std::vector<double>(8), {.device = devices[1]}), Error);
  EXPECT_THROW(dot(array, Array(buffer, {2, 4}, DType::float64), {.device = devices[1]}), Error);
  EXPECT_THROW(product(array, {.device = devices[0]}), Error);
}

}  // namespace
}  // namespace samesum
