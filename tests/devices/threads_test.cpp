// Tests everything that the public headers allow from several threads at once. Under ThreadSanitizer this finds races; in any build it
// compares bits.
#include "device/device.hpp"
#include "reduce/cpu/sum_cpu.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"
#include "support/process.hpp"

#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <thread>

namespace samesum {
namespace {

// Calls work(0), …, work(count - 1) on as many threads, which start at the same moment.
void at_once(int count, const std::function<void(int)>& work) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      EXPECT_NO_THROW(work(i));
    });
  }
  for (auto& thread : threads) thread.join();
}

std::vector<float> numbers(std::size_t size, int seed) {
  std::vector<float> values(size);
  std::uint32_t state = static_cast<std::uint32_t>(seed) + 1;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(state)), static_cast<int>(state >> 8) % 40 - 20);
  }
  return values;
}

TEST(Threads, SumTheSameArrayOnOneDevice) {
  const auto values = numbers(400'003, 1);
  const double expected = test::add_each(values).round();
  ASSERT_TRUE(test::informative(expected));
  for (const DeviceInfo& info : list_devices().devices) {
    const Device device = Device::open(info.selector);
    at_once(4, [&](int i) {
      EXPECT_EQ(sum(values, {.device = device, .tuning = {.threads = static_cast<std::uint32_t>(i % 3)}}), expected) << info.selector;
    });
  }
}

// Arrays so small that all devices finish at about the same time, and merge concurrently.
TEST(Threads, ShareOutSmallArraysOverManyDevices) {
  const std::vector<Device> devices(6, Device::open("cpu"));
  for (int round = 0; round < 200; ++round) {
    const auto values = numbers(static_cast<std::size_t>(round), round);
    const Array view{std::span<const float>(values)};
    ASSERT_EQ(accumulate(view, devices), test::add_each(view)) << round;
  }
}

TEST(Threads, QuantilesOfTheSameArray) {
  const auto values = numbers((1 << 20) + 77, 3);  // too many to gather: digits are counted
  const Array view{std::span<const float>(values)};
  const double q[] = {0.1, 0.5};
  const std::vector<Value> expected = quantiles(view, q, {}, {.tuning = {.threads = 1}}).values;
  at_once(3, [&](int i) { EXPECT_EQ(quantiles(view, q, {}, {.tuning = {.threads = static_cast<std::uint32_t>(i)}}).values, expected); });
}

TEST(Threads, SumDifferentArraysOnDifferentDevices) {
  const auto devices = list_devices().devices;
  at_once(6, [&](int i) {
    const auto values = numbers(200'000 + static_cast<std::size_t>(i), i);
    const double expected = test::add_each(values).round();
    EXPECT_TRUE(test::informative(expected));
    EXPECT_EQ(sum(values), expected);
    EXPECT_EQ(sum(values, {.device = Device::open(devices[static_cast<std::size_t>(i) % devices.size()].selector)}), expected);
  });
}

// The first calls of a process, which initialize shared state.
TEST(Threads, MayMakeTheFirstCall) {
  if (!test::in_child()) return test::run_in_children({});
  at_once(6, [](int i) {
    const auto values = numbers(600'000, 7);
    const Array view{std::span<const float>(values)};
    if (i % 3 == 0) {
      EXPECT_FALSE(list_devices().devices.empty());
    }
    const Device device = i % 2 == 0 ? choose_device("auto", view.bytes()) : Device::open("cpu");
    EXPECT_EQ(accumulate(view, {.device = device}).round(), test::add_each(view).round());
    if (i % 3 == 1) {
      EXPECT_THROW(Device::open("opencl:none such"), Error);
    }
  });
}

TEST(Threads, MayReadOneAccumulatorOrFile) {
  const test::ScopedFolder folder;
  const std::string path = folder.path() + "/x.raw";
  const auto values = numbers(100'000, 3);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(values.data()), 400'000);
  const ArrayFile file(path, DType::float32);
  const Accumulator total = test::add_each(std::span<const float>(values));
  at_once(4, [&](int) {
    const ArrayFile copy = file;
    EXPECT_EQ(sum(copy.array()), (Value{total.round(), DType::float64}));
    EXPECT_EQ(Accumulator::deserialize(total.serialize()), total);
    EXPECT_EQ(accumulate(file.array(), {.device = Device::open("cpu")}), total);
    file.check_unchanged();
  });
}

// The caller's own threads, each with a part: as in sums of streams.
TEST(Threads, AddToAccumulatorsOfTheirOwn) {
  const auto values = numbers(100'000, 4);
  std::vector<Accumulator> parts(5);
  at_once(5, [&](int i) {
    for (std::size_t at = static_cast<std::size_t>(i); at < values.size(); at += 5) parts[static_cast<std::size_t>(i)].add(values[at]);
  });
  Accumulator total;
  for (const Accumulator& part : parts) total += part;
  EXPECT_EQ(total, test::add_each(std::span<const float>(values)));
}

}  // namespace
}  // namespace samesum
