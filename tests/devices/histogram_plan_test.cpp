// Histograms by plans: equal to the counts of histogram(), written to device memory or read, for arrays at any offset.
#include <samesum/error.hpp>
#include <samesum/plan.hpp>

#include "device/device.hpp"
#include "histogram/histogram_device.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace samesum {
namespace {

using test::devices;

std::vector<std::uint64_t> slots_of(const Histogram& histogram) {
  std::vector<std::uint64_t> slots{histogram.under()};
  slots.insert(slots.end(), histogram.counts().begin(), histogram.counts().end());
  slots.insert(slots.end(), {histogram.over(), histogram.nan_count()});
  return slots;
}

// Samples in all bins and on both sides of them, NaNs among the floats.
hard::Data samples_of(DType type, std::uint64_t count) {
  hard::Random random(static_cast<unsigned>(type) + 1);
  std::vector<std::uint64_t> patterns(count);
  if (is_integer(type)) {
    for (std::uint64_t& pattern : patterns) pattern = random.below(120);
    return hard::Data(patterns, type);
  }
  const hard::Format format = hard::format_of(type);
  for (std::uint64_t& pattern : patterns) pattern = format.encode(random.bits(format.fraction_bits + 1), random.between(-6, 2));
  patterns[count / 2] = format.infinity() + 1;
  return hard::Data(patterns, type);
}

class HistogramPlans : public testing::TestWithParam<DType> {};

TEST_P(HistogramPlans, CountWhatHistogramCounts) {
  const DType type = GetParam();
  constexpr std::uint64_t kSamples = 20011;
  const hard::Data data = samples_of(type, kSamples);
  for (const Device& device : devices()) {
    const bool exports = size_of(type) > 2 || !device.info().has(Capability::kernels) || device.info().has(Capability::int64_atomics);
    const Buffer buffer(device, data.view().bytes());
    buffer.write(data.view().data(), data.view().bytes());
    for (const Bins& bins : {Bins::even(1, 3, 10), Bins::even(0.5, 100, 3000), Bins::between({0.25, 0.3, 1, 2, 100})}) {
      const Buffer to(device, 8 * (bins.count() + 5));
      Plan plan(device, bins, type, kSamples);
      for (const std::uint64_t first : {0, 1, 3, 7, 13}) {
        for (const std::uint64_t count : {kSamples - first, std::uint64_t{4099}, std::uint64_t{17}, std::uint64_t{1}, std::uint64_t{0}}) {
          const Array host = data.view().part(first, count), array(buffer, count, type, first * size_of(type));
          const Histogram expected = histogram(host, bins, {.device = Device::open("cpu")});
          const std::string what = device.info().selector + ", " + std::string(name_of(type)) + ", " + std::to_string(bins.count()) +
                                   " bins, " + std::to_string(count) + " samples from " + std::to_string(first);
          ASSERT_EQ(expected.total(), count);
          plan.enqueue(array);
          ASSERT_EQ(plan.result<Histogram>(), expected) << what;
          if (count != 17) {
            ASSERT_EQ(histogram(array, bins), expected) << what;
          }
          if (!exports) {
            EXPECT_THROW(plan.enqueue(array, to, 8), Error) << what;
            continue;
          }
          std::vector<std::uint64_t> left(bins.count() + 5, 77);
          to.write(left.data(), 8 * left.size());
          plan.enqueue(array, to, 8);
          to.read(left.data(), 8 * left.size());
          EXPECT_EQ(left.front(), 77u) << what;  // the memory before and after is unchanged
          EXPECT_EQ(left.back(), 77u) << what;
          ASSERT_EQ(std::vector(left.begin() + 1, left.end() - 1), slots_of(expected)) << what;
        }
      }
    }
  }
}

// Groups draw tiles where each has more than two of them. How many were drawn is known to the host, which does not ask for it between the
// launches that count to the same bins.
TEST(HistogramLaunches, FollowEachOtherWithoutBeingCleared) {
  const Bins bins = Bins::even(0, 10, 10);
  const binning::Plan plan(bins, DType::int32);
  for (const Device& opened : devices()) {
    if (!opened.info().has(Capability::kernels)) continue;
    device::Device& device = opened.implementation();
    const device::Lock lock(device.mutex());
    binning::DeviceHistogram counted(device, {&plan}, std::uint64_t{1} << 20, 64);
    const binning::Configuration& shape = counted.configuration();
    const std::uint64_t share = std::uint64_t{shape.group_size} * shape.loads * shape.steps * 4, bound = 2 * std::uint64_t{shape.groups};
    std::vector<std::int32_t> values((bound + 3) * share + 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i % 13 % 10);
    const device::Memory memory = device.allocate(4 * values.size());
    device.write(memory, 0, values.data(), 4 * values.size());
    std::vector<std::uint64_t> expected(10);
    counted.clear();
    for (const std::uint64_t shares : {bound, bound + 1, bound - 1, bound, bound + 3, bound + 1}) {
      counted.launch(memory, shares * share + 1);
      for (std::uint64_t i = 0; i < shares * share + 1; ++i) ++expected[static_cast<std::size_t>(values[i])];
    }
    const Histogram found = counted.result(bins);
    ASSERT_TRUE(test::informative_counts(expected));
    EXPECT_EQ(std::vector(found.counts().begin(), found.counts().end()), expected)
        << opened.info().selector << ", " << shape.text() << ", " << values.size() << " samples";
    EXPECT_EQ(found.under() + found.over() + found.nan_count(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HistogramPlans,
                         testing::Values(DType::float32, DType::float64, DType::bfloat16, DType::uint8, DType::int16, DType::int32,
                                         DType::uint64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(HistogramPlan, RefusesWhatItCannotDo) {
  for (const Device& device : devices()) {
    const Buffer buffer(device, 800);
    Plan plan(device, Bins::even(0, 1, 10), DType::float32, 100);
    EXPECT_THROW(static_cast<void>(plan.result()), Error) << "nothing was enqueued";
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float64}), Error);
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32, 0, 8}), Error) << "strides";
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32}, buffer, 800 - 8 * 12), Error) << "room for 13 counts";
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32}, buffer, 4), Error);
    EXPECT_THROW(plan.enqueue({buffer, Plan::kMaxElements + 1, DType::float32, 0, 0}), Error);
  }
}

}  // namespace
}  // namespace samesum
