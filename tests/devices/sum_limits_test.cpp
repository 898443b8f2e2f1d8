// The CPU's sums at the capacity of each of their counters, lanes and bins, and slightly beyond: an error in emptying them by one step
// shows only here. The sizes follow from the constants of the code.
#include "core/half.hpp"
#include "core/simd.hpp"
#include "reduce/cpu/sum_cpu.hpp"
#include "reduce/cpu/sum_cpu_bins.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"
#include "support/process.hpp"
#include "support/repeated.hpp"

#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace samesum {
namespace {

using test::informative;

// `block` added up `times` over, by doubling.
template <class Sum>
Sum times(Sum block, std::uint64_t times) {
  Sum total;
  for (; times != 0; times /= 2) {
    if (times % 2 != 0) total.merge(block);
    block.merge(Sum(block));
  }
  return total;
}

// The greatest elements that an exponent window takes, all of one sign, more than lanes have room for. In every unit one element is so
// small that double additions round, which ends the sums that are watched for rounding. How small it must be so that the window fits
// exactly depends on the vectors' width, so a range of sizes is tried.
TEST(SumLimits, LanesOfAWindowAreEmptiedInTime) {
  constexpr std::uint64_t kTimes = 16 * reduction::PartialSum<float>::kMaxBlocks;
  for (int below = 60; below <= 72; ++below) {
    std::vector<float> block(reduction::kBlock, std::nextafter(2.0F, 0.0F));
    for (std::size_t i = 0; i < block.size(); i += 256) block[i] = std::ldexp(1.0F, 1 - below);
    const test::Repeated all(std::span<const float>(block), kTimes);
    if (!all.why_not().empty()) GTEST_SKIP() << all.why_not();
    const Accumulator expected = times(test::add_each(std::span<const float>(block)), kTimes);
    ASSERT_TRUE(informative(expected.round()));
    ASSERT_EQ(reduction::sum_cpu(all.view(), 1), expected) << "the least is 2^" << below << " times smaller";
    ASSERT_EQ(reduction::rounded_sum_cpu(all.view(), 1), expected.round()) << "the least is 2^" << below << " times smaller";
  }
}

template <class T>
void fill_one_bin(std::uint64_t count, T element) {
  const std::vector<T> elements(4096, element);
  reduction::PartialSum<T> partial;
  partial.watching.left_out = partial.blocks_to_bins = std::numeric_limits<int>::max();  // only bins
  for (std::uint64_t left = count; left != 0;) {
    const std::uint64_t taken = std::min<std::uint64_t>(left, elements.size());
    reduction::add_elements(reinterpret_cast<const std::byte*>(elements.data()), taken, sizeof(T) == 4 ? DType::float32 : DType::float64,
                            partial);
    left -= taken;
  }
  ASSERT_GT(partial.blocks_to_bins, 0);
  Accumulator one;
  one.add(element);
  ASSERT_EQ(partial.finish(), times(one, count)) << count << " times " << element;
}

TEST(SumLimits, ABinIsEmptiedInTime) {
  constexpr std::uint64_t kRoom = reduction::BinTables<float>::kCapacity;
  for (const float element : {std::nextafter(0x1p-125F, 0.0F), std::nextafter(1.0F, 0.0F), std::numeric_limits<float>::max()}) {
    for (const std::uint64_t count : {kRoom - 1, kRoom, kRoom + 1, kRoom + 5 * reduction::kBlock + 1, 3 * kRoom}) {
      fill_one_bin(count, element);
      fill_one_bin(count, -element);
    }
  }
  fill_one_bin(kRoom, std::numeric_limits<double>::max() / 0x1p20);
}

// For each device that runs kernels, with a mask: an array of `count` equal elements, and options for one group of 16 work-items.
template <class T, class Check>
void for_each_device(const char* mask, T element, DType type, std::uint64_t count, Check check) {
  const test::ScopedVariable masked("SAMESUM_MASK", mask);
  for (const DeviceInfo& info : list_devices().devices) {
    if (!info.has(Capability::kernels)) continue;
    const Device device = Device::open(info.selector);
    const std::vector<T> values(count + 1, element);
    const Buffer buffer(device, values.size() * sizeof(T));
    buffer.write(values.data(), values.size() * sizeof(T));
    SCOPED_TRACE(info.selector);
    check(Array(buffer, count, type, sizeof(T)), Options{.device = device, .tuning = {.group_size = 16, .groups = 1}});
  }
}

// A group's bins of 32 bits take 2^15 pieces of 16 bits before they are collected: here each piece of each element is as great as it can
// be, and the elements before the first load of 16 bytes come on top.
TEST(SumLimits, BinsOfAGroupAreCollectedInTime) {
  if (test::on_own_queues()) GTEST_SKIP() << "masks are for devices that are opened by their name";
  constexpr std::uint64_t kCount = 5 * 8192 * std::uint64_t{16} + 77;
  for (const char* const mask : {"fp64", ""}) {  // without, and with sums in registers
    for (const float element :
         {std::nextafter(4.0F, 0.0F), -std::nextafter(0x1p-3F, 0.0F)}) {  // digits from a row's lowest bit on, up to its highest
      Accumulator one;
      one.add(element);
      for_each_device(mask, element, DType::float32, kCount, [&](const Array& array, const Options& options) {
        EXPECT_EQ(accumulate(array, options), times(one, kCount)) << element << " without '" << mask << "'";
      });
    }
  }
}

// Of squares 2^13 pieces of 18 bits.
TEST(SumLimits, BinsOfSquaresAreCollectedInTime) {
  if (test::on_own_queues()) GTEST_SKIP() << "masks are for devices that are opened by their name";
  constexpr std::uint64_t kCount = 5 * 2048 * std::uint64_t{16} + 77;
  const auto check = [&](double number) {
    return [number](const Array& array, const Options& options) {
      const Statistics found = collect(array, {.extrema = true, .sum = true, .squares = true, .nonzeros = true}, options);
      Accumulator one;
      one.add(number);
      ProductAccumulator square;
      square.add(number, number);
      EXPECT_EQ(found.contents().sum, times(one, kCount)) << number;
      EXPECT_EQ(found.contents().squares, times(square, kCount)) << number;
    };
  };
  const float element = std::nextafter(32.0F, 0.0F);  // the highest bits of a row of float32, and of bfloat16
  for_each_device("fp64", element, DType::float32, kCount, check(element));
  const auto half = core::BFloat16::truncate(element);
  for_each_device("fp64", half, DType::bfloat16, kCount, check(static_cast<float>(half)));
}

// The sum of 2^31 of the greatest 32-bit integers, on one thread, nearly fills 64 bits.
TEST(SumLimits, IntegersAreAddedInPiecesThatFit) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the shadow memory of a sanitizer would be larger than this machine's";
#endif
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 21, kTimes = (std::uint64_t{1} << 10) + 1;
  const std::vector<std::uint32_t> block(kBlock, std::numeric_limits<std::uint32_t>::max());
  const test::Repeated all(std::span<const std::uint32_t>(block), kTimes);
  if (!all.why_not().empty()) GTEST_SKIP() << all.why_not();
  constexpr std::uint64_t kCount = kBlock * kTimes;
  static_assert(kCount > std::uint64_t{1} << 31);
  EXPECT_EQ(reduction::sum_cpu(all.view(), 1).to_uint64(), kCount * std::numeric_limits<std::uint32_t>::max());
  const Array negative(all.view().data(), kCount, DType::int32);
  EXPECT_EQ(reduction::sum_cpu(negative, 1).to_int64(), -static_cast<std::int64_t>(kCount));
}

Accumulator difference(Accumulator a, const Accumulator& b) {
  auto digits = b.canonical_digits();
  for (std::int64_t& digit : digits) digit = -digit;
  a.add_digits(digits);
  return a;
}

// Most elements are slightly less than half a spacing of the last slice, for one of the sizes that are tried: all of them are rounded in
// the same direction. The exact sum then lies beyond a tie by half of the lost amount, so a bound that is too tight gives the wrong
// neighbour.
TEST(SumLimits, WhatIsRoundedAwayIsBoundedAtItsWorst) {
  hard::Random random(12);
  constexpr std::size_t kSize = 6 * reduction::kBlock;
  int decided = 0;
  for (int below = 80; below <= 120; ++below) {
    std::vector<double> values(kSize, std::ldexp(1.998, -below));
    for (double& value : values) {  // in any lane, so that sums that are watched for rounding do round
      if (random.below(8) == 0) value = 1 + static_cast<double>(random.bits(52)) * 0x1p-52;
    }
    const Array data = std::span<const double>(values);
    reduction::PartialSum<double> partial(true);
    reduction::add_elements(static_cast<const std::byte*>(data.data()), kSize, DType::float64, partial);
    const Accumulator exact = test::add_each(data);
    const Accumulator approximate = partial.finish();
    const double lost = difference(exact, approximate).round();
    ASSERT_LE(std::fabs(lost), 2 * partial.slack) << "2^-" << below;
    if (lost == 0) continue;
    // The distance from the sum to a tie, and half of the lost amount beyond it.
    const double nearest = exact.round();
    Accumulator lacking;
    for (const double part : {nearest, std::ldexp(1.0, std::ilogb(nearest) - 53), lost / 2}) lacking.add(part);
    values.push_back(difference(lacking, exact).round());
    const Array all = std::span<const double>(values);
    const double expected = test::add_each(all).round();
    ASSERT_TRUE(informative(expected));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(reduction::rounded_sum_cpu(all, 1)), std::bit_cast<std::uint64_t>(expected)) << "2^-" << below;
    decided += std::fabs(lost) > 0.25 * partial.slack;
  }
  if (simd::detect() != simd::Level::baseline) {  // the baseline has no vectors, and rounds nothing
    EXPECT_GT(decided, 0) << "this test is of what is rounded away";
  }
}

}  // namespace
}  // namespace samesum
