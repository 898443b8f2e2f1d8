// Bins by Floor (histogram/plan.hpp): the slots of slots.cl, run on the host, against the plan's binary search.
#include "histogram/plan.hpp"
#include "support/emulation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#define SAMPLE_TYPE 4
#define GUESS 4
#define EDGES_LOCAL 0
#define COPY_BITS 2
namespace samesum::dialect::floor_slots {
#include "histogram/slots.cl"
}  // namespace samesum::dialect::floor_slots
#define COUNTERS 1
#undef PER_VECTOR
#undef ROUNDER
#undef WHOLE
#undef SIGN
#undef EDGES
#undef COPIES
#undef SLOT
namespace samesum::dialect::floor_slots_of_narrow_counters {
#include "histogram/slots.cl"
}  // namespace samesum::dialect::floor_slots_of_narrow_counters
#pragma GCC diagnostic pop

namespace samesum {
namespace {

using dialect::uint;
using dialect::uint4;

template <class Kernel>
Kernel kernel_plan(const binning::Plan& plan) {
  Kernel kernel{};
  kernel.threshold_count = static_cast<uint>(plan.thresholds().size());
  kernel.nan_slot = static_cast<uint>(plan.nan_slot());
  kernel.low = plan.floor()->low;
  kernel.scale = plan.floor()->scale;
  kernel.top = plan.floor()->top;
  kernel.high = plan.floor()->high;
  return kernel;
}

// Each sample alone, and in a load with three others.
void check(const Bins& bins, const binning::Plan& plan, const std::vector<std::uint32_t>& more) {
  const auto kernel = kernel_plan<dialect::floor_slots::Plan>(plan);
  const auto narrow = kernel_plan<dialect::floor_slots_of_narrow_counters::Plan>(plan);
  std::vector<std::uint32_t> samples = more;
  for (const std::uint64_t threshold : plan.thresholds()) {
    for (int step = -3; step <= 2; ++step) {
      const auto key = static_cast<std::uint32_t>(threshold) + static_cast<std::uint32_t>(step);
      samples.push_back(binning::float_bits_of(key));
    }
  }
  const uint inside = std::bit_cast<uint>(static_cast<float>((bins.low() + bins.high()) / 2));
  for (const std::uint32_t sample : samples) {
    const auto expected = static_cast<uint>(plan.slot_of(sample));
    ASSERT_EQ(dialect::floor_slots::slot_of(&kernel, sample), expected) << std::bit_cast<float>(sample) << " of " << bins.count();
    uint slots[4];
    dialect::floor_slots::slots_of(&kernel, uint4{inside, sample, inside, inside}, slots);
    ASSERT_EQ(slots[1], expected) << std::bit_cast<float>(sample) << " of " << bins.count();
    ASSERT_EQ(slots[0], plan.slot_of(inside));
    dialect::floor_slots_of_narrow_counters::slots_of(&narrow, uint4{inside, sample, sample, inside}, slots);
    ASSERT_EQ(slots[1], expected) << std::bit_cast<float>(sample) << " of " << bins.count() << ", 16-bit counters";
    ASSERT_EQ(slots[3], plan.slot_of(inside));
  }
}

void check(const Bins& bins, const std::vector<std::uint32_t>& more) {
  const binning::Plan plan(bins, DType::float32);
  ASSERT_TRUE(plan.floor()) << bins.low() << " to " << bins.high() << ", " << bins.count();
  check(bins, plan, more);
}

std::vector<std::uint32_t> hard_samples() {
  std::vector<std::uint32_t> samples;
  for (const std::uint32_t magnitude : {0u, 1u, 2u, 0x7fffffu, 0x800000u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x4b3fffffu, 0x4b400000u,
                                        0x4b800000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    samples.push_back(magnitude);
    samples.push_back(magnitude | 0x80000000u);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) samples.push_back(static_cast<std::uint32_t>(random()));
  std::uniform_real_distribution<float> near(-2, 2);
  for (int i = 0; i < 20000; ++i) samples.push_back(std::bit_cast<std::uint32_t>(near(random)));
  return samples;
}

TEST(HistogramFloor, BinsFromZeroToOne) {
  for (const std::uint64_t count : {1, 2, 3, 7, 10, 64, 100, 255, 256, 1000, 1024, 2048, 4096, 10000, 16384}) {
    check(Bins::even(0, 1, count), hard_samples());
  }
}

TEST(HistogramFloor, BinsOfOtherRanges) {
  check(Bins::even(0, 256, 256), hard_samples());
  check(Bins::even(0, 255, 255), hard_samples());
  check(Bins::even(-1, 1, 256), hard_samples());
  check(Bins::even(-4, 4, 1024), hard_samples());
  check(Bins::even(-128, 128, 64), hard_samples());
  check(Bins::even(0, 0x1p-100, 16), hard_samples());
  check(Bins::even(0, 0x1p100, 10), hard_samples());
}

// Any bins for which there is such a guess: of magnitudes from the least to beyond the greatest float.
TEST(HistogramFloor, AnyBins) {
  std::mt19937 random(2);
  const std::vector<std::uint32_t> samples = hard_samples();
  int found = 0, wide = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto exponent = [&] { return static_cast<int>(random() % 300) - 155; };
    const auto number = [&] { return std::ldexp(static_cast<double>(random() % 65536), exponent()); };
    const double low = random() % 2 == 0 ? 0 : random() % 2 == 0 ? number() : -number();
    const double high = random() % 2 == 0 ? low + number() : number();
    const std::uint64_t count = 1 + random() % (random() % 2 == 0 ? 8 : 300);
    if (!(high > low)) continue;
    const Bins bins = Bins::even(low, high, count);
    const binning::Plan plan(bins, DType::float32);
    if (!plan.floor()) continue;
    ++found;
    wide += high > 0x1p127;
    ASSERT_NO_FATAL_FAILURE(check(bins, plan, {samples.begin(), samples.begin() + 2000})) << low << " to " << high;
  }
  EXPECT_GT(found, 300);
  EXPECT_GT(wide, 5);
  EXPECT_FALSE(binning::Plan(Bins::logarithmic(0x1p64, 4.8378067109212521e+75, 2), DType::float32).floor());
}

// Where rounding the difference can hide on which side of an edge a sample is, there is no such guess.
TEST(HistogramFloor, IsNotFoundWhereItWouldBeWrong) {
  EXPECT_FALSE(binning::Plan(Bins::even(-4, 4, 100), DType::float32).floor());
  EXPECT_FALSE(binning::Plan(Bins::even(0.1, 0.9, 65536), DType::float32).floor());
  EXPECT_FALSE(binning::Plan(Bins::even(0, 1, 256), DType::float64).floor());
  EXPECT_FALSE(binning::Plan(Bins::between({0, 0.25, 1}), DType::float32).floor());
}

}  // namespace
}  // namespace samesum
