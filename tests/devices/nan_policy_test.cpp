// The policy on NaNs at every entry point, over the same data: 1, NaN, 2.
#include "support/devices.hpp"

#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::on;

constexpr NanPolicy kSkip = NanPolicy::skip;
const std::vector<float> kValues{1, std::numeric_limits<float>::quiet_NaN(), 2};

Array view() { return {kValues.data(), kValues.size(), DType::float32}; }

class OneView final : public Source {
 public:
  std::optional<Array> next() override { return std::exchange(done_, true) ? std::nullopt : std::optional(view()); }
  std::string_view format() const noexcept override { return "test"; }
  std::optional<DType> type() const noexcept override { return DType::float32; }

 private:
  bool done_ = false;
};

// Under both policies: an exact sum of 1, NaN and 2, or of their squares, or products.
template <class Exact>
void expect_exact(const Exact& sum, double skipped, const std::string& what) {
  EXPECT_TRUE(std::isnan(sum.round())) << what;
  EXPECT_EQ(sum.round(kSkip), skipped) << what;
}

void expect_statistics(const Statistics& all, const std::string& what) {
  EXPECT_TRUE(std::isnan(all.mean())) << what;
  EXPECT_EQ(all.mean(kSkip), 1.5) << what;
  EXPECT_TRUE(std::isnan(all.variance())) << what;
  EXPECT_EQ(all.variance(0, kSkip), 0.25) << what;
  EXPECT_TRUE(std::isnan(all.norm())) << what;
  EXPECT_EQ(all.norm(kSkip), std::sqrt(5.0)) << what;
  expect_exact(all.sum(), 3, what);
  expect_exact(all.squares(), 5, what);
}

void expect_extremes(const Statistics& found, const std::string& what) {
  EXPECT_TRUE(std::isnan(found.min().value.as_double())) << what;
  EXPECT_EQ(found.min().index, 1u) << what;
  EXPECT_EQ(found.min(kSkip).value.as_double(), 1) << what;
  EXPECT_EQ(found.max(kSkip).value.as_double(), 2) << what;
  EXPECT_EQ(found.max(kSkip).index, 2u) << what;
}

const Options skip{.nan = kSkip};

TEST(NanPolicyOn, HostMemoryIsObeyed) {
  for (const Device& device : open_devices("all", 0)) {
    SCOPED_TRACE(device.info().selector);
    EXPECT_TRUE(std::isnan(sum(view(), {.device = device}).as_double()));
    EXPECT_EQ(sum(view(), {.nan = kSkip, .device = device}).as_double(), 3);
    for (const SumVariant& variant : sum_variants(device)) {
      EXPECT_EQ(sum(view(), {.nan = kSkip, .device = device, .tuning = {.variant = std::string(variant.name)}}).as_double(), 3)
          << variant.name;
      expect_exact(accumulate(view(), {.device = device, .tuning = {.variant = std::string(variant.name)}}), 3, std::string(variant.name));
    }
    expect_exact(accumulate(view(), std::vector{device, device}), 3, "shared out");
    EXPECT_TRUE(std::isnan(min(view(), {.device = device}).value.as_double()));
    EXPECT_EQ(min(view(), on(device, skip)).value.as_double(), 1);
    EXPECT_EQ(max(view(), on(device, skip)).value.as_double(), 2);
    EXPECT_EQ(minmax(view(), on(device, skip)).second.index, 2u);
    EXPECT_EQ(count_nonzero(view(), {.device = device}), 3u);
    EXPECT_EQ(count_nonzero(view(), on(device, skip)), 2u);
    EXPECT_TRUE(any(view(), on(device, skip)));
    EXPECT_TRUE(all(view(), on(device, skip)));
    EXPECT_EQ(mean(view(), on(device, skip)), 1.5);
    EXPECT_EQ(variance(view(), 1, on(device, skip)), 0.5);
    EXPECT_EQ(standard_deviation(view(), 0, on(device, skip)), 0.5);
    EXPECT_EQ(squared_norm(view(), on(device, skip)), 5);
    EXPECT_EQ(norm(view(), on(device, skip)), std::sqrt(5.0));
    expect_exact(dot(view(), view(), {.device = device}), 5, "dot");
    expect_statistics(collect(view(), {}, {.device = device}), "collect");
    expect_extremes(collect(view(), {}, {.device = device}), "collect");
    if (!device.info().has(Capability::denormals)) return;  // needed for products
    EXPECT_TRUE(std::isnan(product(view(), {.device = device}).as_double()));
    EXPECT_EQ(product(view(), on(device, skip)).as_double(), 2);
  }
}

TEST(NanPolicyOn, SourcesIsObeyed) {
  for (const Device& device : open_devices("all", 0)) {
    SCOPED_TRACE(device.info().selector);
    OneView numbers, squared, left, right;
    expect_exact(accumulate(numbers, {.device = device}), 3, "accumulate");
    expect_statistics(collect(squared, {}, {.device = device}), "collect");
    expect_exact(dot(left, right, {.device = device}), 5, "dot");
    OneView factors;
    if (!device.info().has(Capability::denormals)) return;  // needed for products
    EXPECT_EQ(product(factors, on(device, skip)).as_double(), 2);
  }
}

TEST(NanPolicyOn, ArraysOnTheDeviceIsObeyed) {
  for (const Device& device : open_devices("all", 0)) {
    SCOPED_TRACE(device.info().selector);
    const Buffer buffer(device, view().bytes());
    buffer.write(view().data(), view().bytes());
    const Array data(buffer, 3, DType::float32);
    EXPECT_TRUE(std::isnan(sum(data).as_double()));
    EXPECT_EQ(sum(data, {.nan = kSkip}).as_double(), 3);
    expect_exact(accumulate(data), 3, "accumulate");
    EXPECT_EQ(min(data, skip).value.as_double(), 1);
    EXPECT_EQ(max(data, skip).value.as_double(), 2);
    EXPECT_EQ(minmax(data, skip).first.index, 0u);
    expect_exact(dot(data, data), 5, "dot");
    expect_statistics(collect(data), "collect");
  }
}

TEST(NanPolicyOn, PlansIsObeyed) {
  for (const Device& device : open_devices("all", 0)) {
    SCOPED_TRACE(device.info().selector);
    const Buffer buffer(device, view().bytes()), place(device, sizeof(SumRecord));
    buffer.write(view().data(), view().bytes());
    const Array data(buffer, 3, DType::float32);
    for (const NanPolicy nan : {kSkip, NanPolicy::propagate, kSkip}) {
      Plan sums(device, ops::sum, DType::float32, 3, {.nan = nan});
      sums.enqueue(data, place);
      SumRecord record;
      place.read(&record, sizeof record);
      EXPECT_EQ(std::isnan(record.value), nan != kSkip);
      EXPECT_EQ(std::isnan(record.value32), nan != kSkip);
      EXPECT_TRUE(nan != kSkip || (record.value == 3 && record.value32 == 3)) << record.value;
      expect_exact(sums.result<Accumulator>(), 3, "a plan");
    }
    Plan extrema(device, ops::extrema, DType::float32, 3);
    extrema.enqueue(data);
    expect_extremes(extrema.result<Statistics>(), "a plan of extrema");
    Plan all(device, Fields(), DType::float32, 3);
    all.enqueue(data);
    expect_statistics(all.result<Statistics>(), "a plan of statistics");
    Plan products(device, ops::dot, DType::float32, 3);
    products.enqueue(data, data);
    expect_exact(products.result<ProductAccumulator>(), 5, "a plan of a dot product");
  }
}

}  // namespace
}  // namespace samesum
