// Statistics and dot products by plans: equal to the results of collect() and dot(), launch after launch.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>

#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace samesum {
namespace {

using test::devices;

// Elements with few exponents; occasionally an outlier, a NaN, an infinity or a zero.
hard::Data elements_of(DType type, std::uint64_t count, unsigned seed) {
  const hard::Format format = hard::format_of(type);
  hard::Random random(seed);
  std::vector<std::uint64_t> patterns(count);
  for (std::uint64_t& pattern : patterns) {
    pattern = format.encode(random.bits(format.fraction_bits + 1), random.between(-12, -8)) | (random.bits(1) != 0 ? format.sign() : 0);
  }
  if (seed % 3 == 1) patterns[count / 2] = seed % 2 == 0 ? format.infinity() + 1 : format.infinity();
  if (seed % 3 == 2) patterns[count / 3] = format.encode(1, 9);
  return hard::Data(patterns, type);
}

class PlansOf : public testing::TestWithParam<DType> {};

TEST_P(PlansOf, FindWhatOneCallFinds) {
  const DType type = GetParam();
  const std::uint64_t element = size_of(type);
  const Device cpu = Device::open("cpu");
  constexpr std::uint64_t kElements = 5000;
  for (const Device& device : devices()) {
    const Buffer buffer(device, kElements * element), other(device, kElements * element);
    Plan all(device, Fields{true, true, true, true}, type, kElements), variance(device, Fields{false, true, true, false}, type, kElements),
        squares(device, Fields{false, false, true, false}, type, kElements), dots(device, ops::dot, type, kElements);
    for (unsigned launch = 0; launch < 6; ++launch) {
      const hard::Data a = elements_of(type, kElements, launch), b = elements_of(type, kElements, launch + 100);
      buffer.write(a.view().data(), a.view().bytes());
      other.write(b.view().data(), b.view().bytes());
      for (const std::uint64_t size : {kElements, kElements - 3, std::uint64_t{1}, std::uint64_t{0}}) {
        const std::uint64_t first = kElements - size;
        const std::string what = device.info().selector + ", launch " + std::to_string(launch) + ", " + std::to_string(size) + " elements";
        const Array host = a.view().part(first, size), second = b.view().part(first, size);
        const Array view(buffer, size, type, first * element);
        all.enqueue(view);
        variance.enqueue(view);
        squares.enqueue(view);
        dots.enqueue(view, {other, size, type, first * element});
        ASSERT_EQ(all.result<Statistics>(), collect(host, {true, true, true, true}, {.device = cpu})) << what;
        ASSERT_EQ(variance.result<Statistics>(), collect(host, {false, true, true, false}, {.device = cpu})) << what;
        ASSERT_EQ(squares.result<Statistics>().squares(), collect(host, {false, false, true, false}, {.device = cpu}).squares()) << what;
        ASSERT_EQ(dots.result<ProductAccumulator>(), dot(host, second, {.device = cpu})) << what;
      }
      const std::uint64_t half = kElements / 2;  // every other element, backwards from the last
      const auto stride = -2 * static_cast<std::int64_t>(element);
      dots.enqueue({buffer, half, type, (kElements - 1) * element, stride}, {other, half, type});
      const Array backwards(static_cast<const std::byte*>(a.view().data()) + (kElements - 1) * element, half, type, stride);
      ASSERT_EQ(dots.result<ProductAccumulator>(), dot(backwards, b.view().part(0, half), {.device = cpu})) << device.info().selector;
    }
    EXPECT_FALSE(all.configuration().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PlansOf, testing::Values(DType::float32, DType::float64, DType::bfloat16),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(PlansOfSeveralFields, RefusesWhatItCannotDo) {
  for (const Device& device : devices()) {
    Plan plan(device, Fields(), DType::float32, 10), dots(device, ops::dot, DType::float32, 10);
    const Buffer buffer(device, 80);
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float64}), Error);
    EXPECT_THROW(plan.enqueue({buffer, Plan::kMaxElements + 1, DType::float32, 0, 0}), Error);
    EXPECT_THROW(dots.enqueue({buffer, 10, DType::float32}, {buffer, 9, DType::float32}), Error);
    EXPECT_THROW(dots.enqueue({buffer, 10, DType::float64}, {buffer, 10, DType::float64}), Error);
    EXPECT_THROW(static_cast<void>(plan.result()), Error) << "nothing was enqueued";
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32}, buffer), Error) << "no room for the record";
    EXPECT_THROW(dots.enqueue({buffer, 10, DType::float32}, {buffer, 10, DType::float32}, buffer, 64), Error) << "no room for the record";
    EXPECT_THROW(dots.enqueue({buffer, 10, DType::float32}, {buffer, 10, DType::float32}, buffer, 4), Error) << "not aligned";
    EXPECT_THROW(plan.enqueue({buffer, 10, DType::float32}, Array(buffer, 10, DType::float32)), Error) << "it takes one array";
    EXPECT_THROW(dots.enqueue({buffer, 10, DType::float32}), Error) << "it takes two";
  }
}

}  // namespace
}  // namespace samesum
