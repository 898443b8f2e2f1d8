// Calls over arrays on a device reuse the scratch memory of earlier calls of the same kind: the bits do not depend on what came before.
#include <samesum/axes.hpp>
#include <samesum/buffer.hpp>
#include <samesum/histogram.hpp>
#include <samesum/map_source.hpp>
#include <samesum/operator.hpp>
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>

#include "device/plans.hpp"
#include "selftest/cases.hpp"
#include "support/listing_device.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

using device::Plans;

TEST(KeptPlans, AreTheLatestFewAndTakenOnce) {
  Plans plans;
  for (std::size_t i = 0; i <= Plans::kMax; ++i) plans.give_back("plan " + std::to_string(i), std::make_shared<std::size_t>(i));
  EXPECT_EQ(plans.take<std::size_t>("plan 0"), nullptr) << "the oldest is gone";
  const auto one = plans.take<std::size_t>("plan 1");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(*one, 1u);
  EXPECT_EQ(plans.take<std::size_t>("plan 1"), nullptr) << "who takes it has it alone";
  plans.give_back("plan 1", one);
  EXPECT_EQ(plans.take<std::size_t>("plan 1"), one);
}

TEST(KeptPlans, AreForArraysOfLikeSizes) {
  EXPECT_EQ(Plans::size_for(0), 1u);
  EXPECT_EQ(Plans::size_for(1024), 1024u);
  EXPECT_EQ(Plans::size_for(1025), 2048u);
  EXPECT_EQ(Plans::size_for(~std::uint64_t{0}), std::uint64_t{1} << 62);
}

TEST(KeptPlans, GiveTheSameBitsWhateverCameBefore) {
  for (const Device& device : open_devices("all", 0)) {
    for (const DType type : {DType::float32, DType::float64}) {
      const auto cases = hard::cases();
      for (std::size_t turn = 0; turn < cases.size(); ++turn) {
        const hard::Case& hard_case = cases[turn * 5 % cases.size()];
        for (const std::uint64_t size : {1000, 700, 0}) {
          const auto data = hard::make(hard_case, type, size), other = hard::make(cases[turn % cases.size()], type, size);
          Buffer a(device, size * size_of(type)), b(device, size * size_of(type));
          if (size != 0) a.write(data.view().data(), data.view().bytes());
          if (size != 0) b.write(other.view().data(), other.view().bytes());
          const std::string what = device.info().selector + ", " + std::string(hard_case.name) + ", " + std::to_string(size);
          ASSERT_EQ(accumulate(Array(a, size, type)), test::add_each(data.view())) << what;
          const Device cpu = Device::open("cpu");
          ASSERT_EQ(collect(Array(a, size, type)), collect(data.view(), {}, {.device = cpu})) << what;
          ASSERT_EQ(dot(Array(a, size, type), Array(b, size, type)), dot(data.view(), other.view(), {.device = cpu})) << what;
        }
      }
    }
  }
}

TEST(KeptPlans, OfHistogramsAreThoseOfTheirBins) {
  std::vector<float> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 1000) / 10;
  const Bins even = Bins::even(0, 100, 50), same = Bins::even(0, 100, 50), shifted = Bins::even(10, 90, 50);
  const Device cpu = Device::open("cpu");
  const Histogram one = histogram(values, even, {.device = cpu}), other = histogram(values, shifted, {.device = cpu});
  ASSERT_FALSE(std::ranges::equal(one.counts(), other.counts()));
  for (const Device& device : open_devices("all", 0)) {
    const Buffer buffer(device, 4 * values.size());
    buffer.write(values.data(), buffer.bytes());
    for (const std::uint64_t size : {3000, 2100, 3000, 0, 5}) {
      for (const Bins& bins : {even, shifted, even, same, same}) {
        const Array part(buffer, size, DType::float32);
        ASSERT_EQ(histogram(part, bins), histogram(std::span(values).first(size), bins, {.device = cpu}))
            << device.info().selector << ", " << size;
      }
    }
  }
}

TEST(KeptPlans, OfHistogramsMakeNothingTwice) {
  const auto listing = std::make_shared<test::ListingDevice>();
  const Device device(listing);
  const Buffer buffer(device, 4 << 10);
  const Array data(buffer, 1 << 10, DType::float32);
  const Bins bins = Bins::logarithmic(1, 1000, 300);
  histogram(data, bins);
  const test::Made made = listing->made;
  const int launches = listing->launches;
  ASSERT_GT(made.allocations, 1);
  histogram(data, bins);
  EXPECT_EQ(listing->made, made);
  EXPECT_EQ(listing->launches, launches + 1) << "the counters were cleared by the launch before";
}

TEST(KeptPlans, OfProductsMakeNothingTwice) {
  for (const DType type : {DType::float32, DType::float64, DType::int32}) {
    const auto listing = std::make_shared<test::ListingDevice>();
    const Device device(listing);
    const std::uint64_t size = 1 << 17;
    const Buffer buffer(device, size * size_of(type));
    product(Array(buffer, size, type));
    const test::Made made = listing->made;
    const int launches = listing->launches;
    for (const std::uint64_t count : {size, size / 2, std::uint64_t{3}}) product(Array(buffer, count, type));
    EXPECT_GT(listing->launches, launches) << name_of(type);
    EXPECT_EQ(listing->made, made) << name_of(type);
  }
}

// Each plain call of a kind makes everything, and the next one nothing.
TEST(KeptPlans, OfReductionsMakeNothingTwice) {
  const std::uint64_t size = 1 << 24;
  const auto expect = [&](const char* what, const auto& call) {
    const auto listing = std::make_shared<test::ListingDevice>();
    const Device device(listing);
    const Buffer buffer(device, size * 4);
    const Array data(buffer, size, DType::float32);
    call(data);
    const test::Made made = listing->made;
    const int launches = listing->launches;
    call(data);
    EXPECT_GT(listing->launches, launches) << what;
    EXPECT_EQ(listing->made, made) << what;
  };
  expect("sum", [](const Array& x) { accumulate(x); });
  expect("dot", [](const Array& x) { dot(x, x); });
  expect("statistics", [](const Array& x) { collect(x); });
  expect("extrema", [](const Array& x) { collect(x, {true, false, false, false}); });
  expect("squares", [](const Array& x) { collect(x, {false, false, true, false}); });
  expect("axes", [](const Array& x) { sum(x.reshaped({1 << 12, 1 << 12}), Axes{0}); });
  expect("formula", [](const Array& x) { accumulate(*map(Formula("x*x"), {{"x", x}})); });
  const Operator largest(Formula("max(a, b)")), both(Formula("(min(a[0], b[0]), max(a[1], b[1]))"));
  expect("operator", [&](const Array& x) { reduce(x, largest); });
  expect("operator of pairs", [&](const Array& x) { reduce(Formula("(x, x)"), {{"x", x}}, {}, both); });
}

TEST(KeptPlans, OfProductsHaveTheBitsOfFreshOnes) {
  std::vector<double> values(70'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<double>(i * 7919 % 1001) * 0x1p-52 * (i % 2 == 0 ? 1 : -1);
  std::vector<std::int64_t> integers(5000, 1);
  for (const std::size_t i : {3, 1500, 4999}) integers[i] = -static_cast<std::int64_t>(1000 + i);
  const Device cpu = Device::open("cpu");
  for (const Device& device : open_devices("all", 0)) {
    const Buffer buffer(device, 8 * values.size()), whole(device, 8 * integers.size());
    buffer.write(values.data(), buffer.bytes());
    whole.write(integers.data(), whole.bytes());
    for (const std::uint64_t size : {70'003, 1, 33'000, 70'003, 0}) {
      const std::span<const double> part = std::span(values).first(size);
      EXPECT_EQ(product(Array(buffer, size, DType::float64)), product(part, {.device = cpu})) << device.info().selector << ", " << size;
    }
    for (const std::uint64_t size : {5000, 1600, 2, 5000}) {
      const std::span<const std::int64_t> part = std::span(integers).first(size);
      EXPECT_EQ(product(Array(whole, size, DType::int64)), product(part, {.device = cpu})) << device.info().selector << ", " << size;
    }
  }
}

}  // namespace
}  // namespace samesum
