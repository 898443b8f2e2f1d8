// Extremes, statistics and dot products of arrays on a device: at any offset of any buffer, with any stride, repeatedly.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>

#include "reduce/collect.hpp"
#include "reduce/extremes/extremes_device.hpp"
#include "support/devices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

constexpr Fields kAll{true, true, true, true};  // as in other tests, whose kernels are built already

using test::devices;

// Few different elements, including NaNs and infinities, so that extremes occur more than once.
template <class Element>
std::vector<std::byte> repetitive(std::size_t count, const std::vector<Element>& from) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<std::byte> bytes(count * sizeof(Element));
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * sizeof(Element), &from[random() % from.size()], sizeof(Element));
  return bytes;
}

std::vector<std::byte> elements_of(DType type, std::size_t count) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (type == DType::float64)
    return repetitive<double>(count, {0.0, -0.0, 1.5, -2.5, infinity, -infinity, 0.0 / 0.0, -(0.0 / 0.0), 5e-324});
  if (type == DType::float32) return repetitive<float>(count, {-0.0f, 0.0f, -1e-45f, 0.25f});
  if (size_of(type) == 2) return repetitive<std::uint16_t>(count, {0x8000, 0x0000, 0x3c00, 0xfc01, 0x7c00, 0x0001, 0xbc00});
  if (size_of(type) == 1) return repetitive<std::uint8_t>(count, {0, 1, 127, 128, 255});
  return repetitive<std::uint64_t>(count, {0, ~0ull, 1ull << 63, (1ull << 63) - 1, 0x7fffffff, 0x80000000});
}

class Arrays : public testing::TestWithParam<DType> {};

TEST_P(Arrays, AreSearchedWhereverTheyLie) {
  const DType type = GetParam();
  const auto element = static_cast<std::int64_t>(size_of(type));
  constexpr std::uint64_t kElements = 20000;
  const std::vector<std::byte> bytes = elements_of(type, kElements);
  for (const Device& device : devices()) {
    const Buffer buffer(device, bytes.size());
    const Buffer records(device, 2 * sizeof(ExtremaRecord));
    buffer.write(bytes.data(), bytes.size());
    Plan plan(device, ops::extrema, type, kElements, {}, Layout::strided);
    for (const std::int64_t stride : {element, 3 * element, std::int64_t{0}, -element}) {
      for (const std::uint64_t size : {0, 1, 2, 17, 255, 4099}) {
        for (const std::uint64_t offset : {0, 1, 3, 8}) {
          const std::uint64_t first = (stride < 0 ? bytes.size() / 2 : 0) + offset * element;
          const Array host(bytes.data() + first, size, type, stride);
          const Statistics expected = collect(host, {true, false, false, false}, {.device = Device::open("cpu")});
          const Array view(buffer, size, type, first, stride);
          const std::string what = device.info().selector + ", " + std::string(name_of(type)) + ", " + std::to_string(size) +
                                   " elements every " + std::to_string(stride) + " bytes from " + std::to_string(first);
          plan.enqueue(view, records, sizeof(ExtremaRecord));
          plan.enqueue(view);
          ASSERT_EQ(plan.result<Statistics>(), expected) << what;
          ExtremaRecord record;
          records.read(&record, sizeof record, sizeof record);
          ASSERT_EQ(record, statistics::record_of(expected.contents(), host)) << what;
        }
      }
    }
  }
}

TEST_P(Arrays, AreCollectedWhereverTheyLie) {
  const DType type = GetParam();
  const auto element = static_cast<std::int64_t>(size_of(type));
  const std::vector<std::byte> bytes = elements_of(type, 20000);
  const Device cpu = Device::open("cpu");
  for (const Device& device : devices()) {
    const Buffer buffer(device, bytes.size());
    buffer.write(bytes.data(), bytes.size());
    for (const std::int64_t stride : {element, -2 * element}) {
      for (const std::uint64_t size : {0, 1, 17, 4099}) {
        const std::uint64_t first = (stride < 0 ? bytes.size() / 2 : 0) + 3 * element;
        const Array host(bytes.data() + first, size, type, stride);
        const Array view(buffer, size, type, first, stride);
        const std::string what =
            device.info().selector + ", " + std::string(name_of(type)) + ", " + std::to_string(size) + " every " + std::to_string(stride);
        ASSERT_EQ(collect(view, kAll), collect(host, kAll, {.device = cpu})) << what;
        for (const std::uint64_t other : {3, 4}) {  // equally aligned or not
          const Array second(buffer, size, type, static_cast<std::uint64_t>(other * element));
          ASSERT_EQ(dot(view, second), dot(host, Array(bytes.data() + other * element, size, type), {.device = cpu})) << what;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Arrays,
                         testing::Values(DType::float32, DType::float64, DType::bfloat16, DType::int8, DType::uint32, DType::int64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(PlansOfExtrema, CanBeLaunchedAgainAndAgain) {
  const std::vector<std::byte> bytes = elements_of(DType::float32, 300000);
  for (const Device& device : devices()) {
    const Buffer buffer(device, bytes.size());
    const Buffer records(device, 50 * sizeof(ExtremaRecord));
    buffer.write(bytes.data(), bytes.size());
    Plan plan(device, ops::extrema, DType::float32, 300000);
    const auto part = [](std::uint64_t i) { return 300000 - 5999 * i; };
    for (std::uint64_t i = 0; i < 50; ++i) plan.enqueue({buffer, part(i), DType::float32, 4 * i}, records, i * sizeof(ExtremaRecord));
    for (std::uint64_t i = 0; i < 50; ++i) {
      const Array host(bytes.data() + 4 * i, part(i), DType::float32);
      ExtremaRecord record;
      records.read(&record, sizeof record, i * sizeof record);
      ASSERT_EQ(record, statistics::record_of(collect(host, {}, {.device = Device::open("cpu")}).contents(), host))
          << device.info().selector << " " << i;
    }
  }
}

// A single group takes tiles dynamically too.
TEST(PlansOfExtrema, OneGroupCanBeLaunchedAgain) {
  const std::vector<std::byte> bytes = elements_of(DType::float32, 30000);
  const Array host(bytes.data(), 30000, DType::float32);
  for (const Device& device : devices()) {
    const Buffer buffer(device, bytes.size());
    buffer.write(bytes.data(), bytes.size());
    Plan plan(device, ops::extrema, DType::float32, 30000, {.tuning = {.groups = 1}});
    for (int turn = 0; turn < 3; ++turn) {
      plan.enqueue({buffer, 30000, DType::float32});
      ASSERT_EQ(plan.result<Statistics>(), collect(host, {true, false, false, false}, {.device = Device::open("cpu")}))
          << device.info().selector;
    }
  }
}

TEST(PlansOfExtrema, LooksForOneEndOrValuesAlone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> numbers(5000, 0.5f);
  numbers[700] = numbers[4000] = -3;
  numbers[1234] = numbers[4999] = 7;
  const std::vector<float> none, nans(300, nan);
  std::vector<float> mixed = numbers;
  mixed[17] = mixed[2500] = nan;
  for (const Device& device : devices()) {
    for (const ops::Extrema ends : {ops::Extrema{false, true, false}, ops::Extrema{true, false, true}, ops::Extrema{true, true, false}}) {
      Plan plan(device, ends, DType::float32, 5000);
      for (const auto* values : std::initializer_list<const std::vector<float>*>{&numbers, &none, &nans, &mixed}) {
        const Array host{std::span<const float>(*values)};
        const Buffer buffer(device, host.bytes() + 4), records(device, sizeof(ExtremaRecord));
        if (host.size() != 0) buffer.write(host.data(), host.bytes());
        const Statistics all = collect(host, {}, {.device = Device::open("cpu")});
        plan.enqueue({buffer, host.size(), DType::float32}, records);
        ExtremaRecord record;
        records.read(&record, sizeof record, 0);
        const ExtremaRecord expected = statistics::record_of(all.contents(), host, ends);
        ASSERT_EQ(record, expected) << device.info().selector << " " << host.size() << " " << ends.min << ends.max << ends.indices;
        ASSERT_EQ(expected.min_index == ExtremaRecord::kNowhere, !ends.min || host.size() == all.nan_count());
        plan.enqueue({buffer, host.size(), DType::float32});
        const Statistics found = plan.result<Statistics>();
        ASSERT_EQ(found.nan_count(), all.nan_count());
        if (values == &none || values == &nans) continue;
        if (ends.max) {
          ASSERT_EQ(found.max(NanPolicy::skip).value, all.max(NanPolicy::skip).value);
          ASSERT_EQ(found.max(NanPolicy::skip).index, ends.indices ? 1234u : ExtremaRecord::kNowhere);
        }
        if (ends.min) {
          ASSERT_EQ(found.min(NanPolicy::skip).value, all.min(NanPolicy::skip).value);
          ASSERT_EQ(found.min(NanPolicy::skip).index, ends.indices ? 700u : ExtremaRecord::kNowhere);
        }
        if (values == &mixed && ends.max) {
          ASSERT_TRUE(std::isnan(found.max().value.as_double()));
        }
      }
    }
  }
}

// An extremum that was not requested has no index, also for integers, whose least and greatest keys are elements.
TEST(PlansOfExtrema, LooksForOneEndOfIntegers) {
  std::vector<std::uint8_t> values(999, 17);
  values[400] = 3;
  values[500] = 250;
  const Array host{std::span<const std::uint8_t>(values)};
  const Statistics all = collect(host, {}, {.device = Device::open("cpu")});
  for (const Device& device : devices()) {
    const Buffer buffer(device, 999), records(device, sizeof(ExtremaRecord));
    buffer.write(values.data(), 999);
    for (const ops::Extrema ends : {ops::Extrema{false, true, true}, ops::Extrema{true, false, true}}) {
      Plan(device, ends, DType::uint8, 999).enqueue({buffer, 999, DType::uint8}, records);
      ExtremaRecord record;
      records.read(&record, sizeof record, 0);
      ASSERT_EQ(record, statistics::record_of(all.contents(), host, ends)) << device.info().selector << " " << ends.min;
    }
  }
}

TEST(PlansOfExtrema, RefusesWhatItCannotDo) {
  const Device device = Device::open("cpu");
  Plan plan(device, ops::extrema, DType::float32, 10);
  const Buffer buffer(device, 80);
  EXPECT_THROW(plan.enqueue({buffer, 10, DType::float64}), Error);
  EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32}, buffer, 40), Error);
  EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32}, buffer, 4), Error);
  plan.enqueue({buffer, 0, DType::float32});
  EXPECT_THROW(static_cast<void>(plan.result<Statistics>().min()), Error);
}

}  // namespace
}  // namespace samesum
