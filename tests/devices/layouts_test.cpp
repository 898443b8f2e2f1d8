// Every pattern on arrays of any layout: misaligned, strided, backwards, one element repeated, a line of a three-dimensional array in
// Fortran order. On every device, from host memory and from the device's own, compared with a contiguous copy on the CPU.
#include <samesum/buffer.hpp>
#include <samesum/histogram.hpp>
#include <samesum/pairs.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>

#include "core/visit.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace samesum {
namespace {

using test::devices;
using test::informative;

constexpr std::uint64_t kCount = 1501;

// The first element lies `first` elements after a multiple of 64 bytes, or the last one where the array goes backwards.
struct Lie {
  const char* name;
  std::int64_t elements, bytes;  // from one element to the next
  std::uint64_t first;           // in elements
  std::uint64_t beyond;          // and bytes
};
constexpr Lie kLies[] = {
    {"aligned", 1, 0, 0, 0},
    {"an element off", 1, 0, 1, 0},
    {"a byte off", 1, 0, 0, 1},
    {"every third", 3, 0, 2, 0},
    {"backwards", -2, 0, 1, 0},
    {"odd bytes apart", 1, 1, 0, 0},
    {"one again and again", 0, 0, 5, 0},
    {"a line of 7 x 11 x n in Fortran order", 77, 0, 3 + 7 * 4, 0},
};

// Numbers on both sides of zero; or factors close to 1, so that their product is finite.
std::vector<std::byte> make(DType type, std::uint64_t count, bool factors, std::uint64_t seed) {
  hard::Random random(seed);
  std::vector<std::byte> bytes(count * size_of(type));
  double product = 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    double number = random.between(-200, 300) / 8.0;
    if (factors) number = is_integer(type) ? (i % 200 == 7 ? 3 : 1) : (product > 1 ? 0.75 : 1.25) * (random.bits(1) != 0 ? -1 : 1);
    product *= std::abs(number);
    if (is_integer(type)) {
      const auto whole = static_cast<std::int64_t>(is_signed(type) ? number : std::abs(number));
      std::memcpy(&bytes[i * size_of(type)], &whole, size_of(type));
    } else {
      const hard::Format format = hard::format_of(type);
      const std::uint64_t pattern = format.encode(static_cast<std::uint64_t>(std::abs(number) * 8), -3) | (number < 0 ? format.sign() : 0);
      std::memcpy(&bytes[i * size_of(type)], &pattern, size_of(type));
    }
  }
  return bytes;
}

/// The same numbers, in the given layout and contiguous.
class Lying {
 public:
  Lying(DType type, const Lie& lie, bool factors, std::uint64_t seed, std::uint64_t count = kCount) : type_(type), count_(count) {
    const std::uint64_t size = size_of(type);
    stride_ = lie.elements * static_cast<std::int64_t>(size) + lie.bytes;
    const std::vector<std::byte> numbers = make(type, count, factors, seed);
    offset_ = lie.first * size + lie.beyond + (stride_ < 0 ? (count - 1) * static_cast<std::uint64_t>(-stride_) : 0);
    memory_.resize(64 + (count + 1) * (static_cast<std::uint64_t>(std::abs(stride_)) + size) + offset_);
    base_ = 64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64;
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(at(i), &numbers[i * size], size);
    copy_.resize(count * size);
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(&copy_[i * size], at(i), size);
  }
  Array view() const { return {memory_.data() + base_ + offset_, count_, type_, stride_}; }
  Array copy() const { return {copy_.data(), count_, type_}; }
  bool fits_buffers() const { return offset_ % size_of(type_) == 0 && stride_ % static_cast<std::int64_t>(size_of(type_)) == 0; }
  Array buffer(const Device& device) const {
    const Buffer buffer(device, memory_.size() - base_);
    buffer.write(memory_.data() + base_, memory_.size() - base_);
    return {buffer, count_, type_, offset_, stride_};
  }

 private:
  std::byte* at(std::uint64_t i) { return memory_.data() + base_ + offset_ + static_cast<std::int64_t>(i) * stride_; }

  DType type_;
  std::uint64_t count_, offset_ = 0, base_ = 0;
  std::int64_t stride_ = 0;
  std::vector<std::byte> memory_, copy_;
};

constexpr Fields kEveryField{true, true, true, true}, kExtremes{true, false, false, false};

struct Layouts : testing::TestWithParam<std::tuple<DType, Lie>> {
  DType type() const { return std::get<0>(GetParam()); }
  const Lie& lie() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Types, Layouts,
                         testing::Combine(testing::Values(DType::uint8, DType::int16, DType::float16, DType::float32, DType::int64,
                                                          DType::float64),
                                          testing::ValuesIn(kLies)),
                         [](const auto& parameter) {
                           std::string name = std::string(name_of(std::get<0>(parameter.param))) + "_" + std::get<1>(parameter.param).name;
                           for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
                           return name;
                         });

TEST_P(Layouts, OfSums) {
  const Lying data(type(), lie(), false, 1);
  const Accumulator expected = test::add_each(data.copy());
  ASSERT_TRUE(informative(expected.round()));
  for (const Device& device : devices()) {
    EXPECT_EQ(accumulate(data.view(), {.device = device}), expected) << device.info().selector;
    if (!data.fits_buffers()) continue;
    EXPECT_EQ(accumulate(data.buffer(device)), expected) << device.info().selector;
  }
  EXPECT_EQ(accumulate(data.view(), devices()), expected);
}

TEST_P(Layouts, OfStatisticsAndExtremes) {
  const Lying data(type(), lie(), false, 2);
  const Device cpu = Device::open("cpu");
  const Statistics expected = collect(data.copy(), kEveryField, {.device = cpu});
  ASSERT_EQ(expected.contents().sum, test::add_each(data.copy()));
  const Statistics extremes = collect(data.copy(), kExtremes, {.device = cpu});
  ASSERT_TRUE(lie().elements == 0 || (extremes.max().index != 0 && extremes.min().index != 0)) << "the first is the least or the greatest";
  for (const Device& device : devices()) {
    EXPECT_EQ(collect(data.view(), kEveryField, {.device = device}), expected) << device.info().selector;
    EXPECT_EQ(collect(data.view(), kExtremes, {.device = device}), extremes) << device.info().selector;
    if (!data.fits_buffers()) continue;
    EXPECT_EQ(collect(data.buffer(device), kEveryField), expected) << device.info().selector;
    EXPECT_EQ(collect(data.buffer(device), kExtremes), extremes) << device.info().selector;
  }
}

// The other factor is contiguous, and of the same layout as the first.
TEST_P(Layouts, OfDotProducts) {
  const Lying data(type(), lie(), false, 3), alike(type(), lie(), false, 4), plain(type(), kLies[0], false, 5);
  for (const Lying* other : {&alike, &plain}) {
    const Device cpu = Device::open("cpu");
    const ProductAccumulator expected = dot(data.copy(), other->copy(), {.device = cpu});
    ASSERT_TRUE(informative(expected.round()));
    for (const Device& device : devices()) {
      EXPECT_EQ(dot(data.view(), other->view(), {.device = device}), expected) << device.info().selector;
      EXPECT_EQ(dot(other->view(), data.view(), {.device = device}), expected) << device.info().selector;
      if (!data.fits_buffers()) continue;
      EXPECT_EQ(dot(data.buffer(device), other->buffer(device)), expected) << device.info().selector;
    }
  }
}

TEST_P(Layouts, OfProducts) {
  const bool again = lie().elements == 0 && lie().bytes == 0;  // a power: few factors, so that it is finite
  const Lying data(type(), lie(), true, 6, again ? 21 : kCount);
  const Value expected = product(data.copy(), {.device = Device::open("cpu")});
  ASSERT_TRUE(again || informative(expected.as_double(), 1));
  for (const Device& device : devices()) {
    EXPECT_EQ(product(data.view(), {.device = device}), expected) << device.info().selector;
  }
}

TEST_P(Layouts, OfHistograms) {
  const Lying data(type(), lie(), false, 7);
  const Bins bins = Bins::even(-20, 40, 13);
  const Histogram expected = histogram(data.copy(), bins, {.device = Device::open("cpu")});
  ASSERT_TRUE(lie().elements == 0 || expected.counts()[7] > 10);
  for (const Device& device : devices()) {
    EXPECT_EQ(histogram(data.view(), bins, {.device = device}), expected) << device.info().selector;
    if (!data.fits_buffers()) continue;
    EXPECT_EQ(histogram(data.buffer(device), bins), expected) << device.info().selector;
  }
}

TEST_P(Layouts, OfQuantiles) {
  const Lying data(type(), lie(), false, 8);
  const std::array q{0.1, 0.5};
  const Quantiles expected = quantiles(data.copy(), q);
  EXPECT_EQ(quantiles(data.view(), q).values, expected.values);
  for (const Device& device : devices()) {
    if (!data.fits_buffers()) continue;
    EXPECT_EQ(quantiles(data.buffer(device), q).values, expected.values) << device.info().selector;
  }
}

// Exact sums and minima, which have the same bits everywhere. Weights have the same layout.
TEST_P(Layouts, OfPairs) {
  if (type() != DType::float32 && type() != DType::float64) return;
  const Lying a(type(), lie(), false, 9, 90), b(type(), lie(), false, 10, 60), weights(type(), lie(), false, 11, 20);
  for (const PairReduction reduction : {PairReduction::sum, PairReduction::argmin}) {
    PairsProblem options;
    options.f = PairFunction::sqdist;
    options.reduction = reduction;
    options.components = 3;
    if (reduction == PairReduction::sum) options.accuracy = PairAccuracy::exact, options.weights = weights.copy();
    const PairsResult expected = pairs(a.copy(), b.copy(), options, {.device = Device::open("cpu")});
    if (options.weights) options.weights = weights.view();
    for (const Device& device : devices()) {
      EXPECT_EQ(pairs(a.view(), b.view(), options, {.device = device}), expected) << device.info().selector;
    }
  }
}

}  // namespace
}  // namespace samesum
