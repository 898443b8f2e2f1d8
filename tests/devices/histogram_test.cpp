// Histograms against a loop that compares each sample with each edge in arithmetic that is exact for all types.
#include "device/device.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/plan.hpp"
#include "support/histograms.hpp"
#include "support/simd_levels.hpp"

#include <samesum/histogram.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <type_traits>

namespace samesum {
namespace {

using binning::Plan;
using hard::Random;
using test::devices;
using test::expect_right;
using test::kInfinity;
using test::reference;
using test::refusal;
using test::Samples;
using test::samples_around;

Bins random_bins(DType type, Random& random) {
  const std::uint64_t counts[] = {1, 2, 7, 255, 256, 257, 1000};
  const std::uint64_t count = counts[random.below(std::size(counts))];
  const auto number = [&] {
    switch (random.below(5)) {
      case 0:
        return static_cast<double>(random.between(-300, 300));
      case 1:
        return std::ldexp(static_cast<double>(random.bits(53)), random.between(-60, 20)) * (random.bits(1) != 0 ? -1 : 1);
      case 2: {  // anything finite
        const double any = std::bit_cast<double>(random.bits(64));
        return std::isfinite(any) ? any : 1e308;
      }
      case 3:  // denormal
        return static_cast<double>(random.between(-40, 40)) * 5e-324;
      default: {
        const double ends[] = {-0x1p63, 0x1p63, -32768, 32767, 0x1p64, -128, 127, 255, 65535, 0x1p32, -1.7e308, 1.7e308, 0, -0.0};
        return ends[random.below(std::size(ends))];
      }
    }
  };
  for (;;) {
    const double a = number(), b = number();
    if (a == b) continue;
    switch (random.below(4)) {
      case 0:
        if (std::min(a, b) <= 0) continue;
        return Bins::logarithmic(std::min(a, b), std::max(a, b), count);
      case 1: {
        std::vector<double> edges(2 + random.below(40));
        for (double& edge : edges) edge = random.below(4) == 0 ? a : number();  // some of them repeat
        edges[0] = a;
        edges[1] = b;
        std::sort(edges.begin(), edges.end());
        return Bins::between(std::move(edges));
      }
      case 2:
        if (is_integer(type) && size_of(type) <= 2) return Bins::each_value(type);
        return Bins::each_value(random.between(-500, 0), random.between(0, 500));
      default:
        return Bins::even(std::min(a, b), std::max(a, b), count);
    }
  }
}

class HistogramOf : public testing::TestWithParam<DType> {};

TEST_P(HistogramOf, AnyBinsAreRightOnTheCpu) {
  if (test::on_own_queues()) GTEST_SKIP() << "the CPU has none";
  Random random(1);
  const Device cpu = Device::open("cpu");
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    for (int i = 0; i < 150 && !HasFatalFailure(); ++i) {
      const Bins bins = random_bins(GetParam(), random);
      const Samples samples = samples_around(GetParam(), bins, random.below(3000), random);
      expect_right(samples.view(), bins, cpu, "case " + std::to_string(i));
    }
  }
  simd::restrict_to(simd::detect());
}

TEST_P(HistogramOf, AnyBinsAreRightOnDevices) {
  for (const Device& device : devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    Random random(2);
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      const Bins bins = random_bins(GetParam(), random);
      const Samples samples = samples_around(GetParam(), bins, random.below(3000), random);
      expect_right(samples.view(), bins, device, "case " + std::to_string(i));
    }
  }
}

// For any local memory that a device reports, a launch requests no more, for as many groups as share it.
TEST(HistogramChoice, AsksForNoMoreLocalMemoryThanThereIs) {
  DeviceInfo info;
  info.compute_units = 132;
  info.max_group_size = 1024;
  for (const std::uint64_t bins : {2, 256, 16'384, 65'536, 300'000}) {
    for (const DType type : {DType::uint16, DType::float32, DType::float64}) {
      const Plan even(Bins::even(0, 1 << 20, bins), type);
      std::vector<double> edges(std::min<std::uint64_t>(bins, 20'000) + 1);
      for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = static_cast<double>(i * i);
      const Plan uneven(Bins::between(edges), type);
      for (const std::uint64_t local : {0, 100, 1024, 4095, 4096, 5000, 16384, 32768, 49152, 49153, 65536, 232448}) {
        info.local_bytes = std::min<std::uint64_t>(local, 49152);
        for (const Plan* plan : {&even, &uneven}) {
          for (const std::uint32_t group_size : {0, 1, 32, 1024}) {
            binning::Trie trie;
            const auto chosen = binning::choose(info, local, {plan}, 1 << 28, group_size, trie);
            const std::string what = chosen.text() + " of " + std::to_string(local) + " bytes, " + std::to_string(bins) + " bins";
            EXPECT_LE(chosen.local_bytes, std::max<std::uint64_t>(local, 128))
                << what;  // 128: the tile numbers, and candidates for a hot slot
            if (local > 49152 && chosen.resident > 1) {
              EXPECT_LE(chosen.resident * (chosen.local_bytes + std::uint64_t{1024}), local + 1024) << what;
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HistogramOf, testing::ValuesIn(kDTypes),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(Histogram, EveryWayToCountIsTaken) {
  Random random(4);
  for (const Device& device : devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    const std::uint64_t local = device.implementation().launch_local_bytes();
    // Just beyond the number of bins for 32-bit counters, and for 16-bit counters.
    for (const auto& [count, counters] :
         {std::pair(local / 4 - 2, binning::Counters::local16), {local / 2 - 2, binning::Counters::global}}) {
      const Bins bins = Bins::even(-1, 1, count);
      const Plan plan(bins, DType::float32);
      binning::Trie trie;
      EXPECT_EQ(binning::choose(device.info(), local, {&plan}, 100000, 0, trie).counters, counters);
      expect_right(samples_around(DType::float32, bins, 30000, random).view(), bins, device, "narrow counters");
    }
  }
}

// Many edges between neighbouring floats, few elsewhere.
TEST(Histogram, CrowdedEdgesAreRight) {
  Random random(6);
  std::vector<double> edges(1025);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] =
        i < 1000 ? 0.5 + std::ldexp(static_cast<double>(random.bits(30)), -44) : std::ldexp(static_cast<double>(random.bits(30)), -30);
  }
  for (const double least : {-1.0, 0.5}) {
    edges[1024] = least;
    std::sort(edges.begin(), edges.end());
    const Bins bins = Bins::between(edges);
    const Samples samples = samples_around(DType::float32, bins, 5000, random);
    for (const Device& device : devices()) expect_right(samples.view(), bins, device, "crowded edges");
  }
}

// Guesses are used where intended, and are nearly always sure.
TEST(Histogram, EvenBinsAreGuessed) {
  for (const DType type : {DType::float32, DType::float64, DType::int32, DType::uint64}) {
    const double unit = is_integer(type) ? 1e6 : 1;
    for (const std::uint64_t count : {1, 256, 2048, 16384}) {
      const Plan plan(Bins::even(0.25 * unit, 0.75 * unit, count), type);
      ASSERT_TRUE(plan.even()) << name_of(type) << ", " << count;
      EXPECT_LT(plan.even()->tolerance, type == DType::float64 ? 1e-9 : 0.05);
    }
  }
  EXPECT_FALSE(Plan(Bins::between({0, 1, 1.5, 10}), DType::float32).even());
}

// 16-bit counters in local memory, and the counters of a chunk, are emptied in time.
TEST(Histogram, ManyEqualSamplesAreCounted) {
  for (const Device& device : devices()) {
    const std::uint64_t local = device.info().has(Capability::kernels) ? device.implementation().launch_local_bytes() : 0;
    const std::vector<float> samples(700'000, 0.5f);
    const Bins bins = Bins::even(0, 1, local / 4 + 1000);
    const Histogram found = histogram(std::span<const float>(samples), bins, {.device = device});
    EXPECT_EQ(*std::max_element(found.counts().begin(), found.counts().end()), samples.size());
    EXPECT_EQ(found.total(), samples.size());
    std::vector<std::uint16_t> shorts(700'000, 12345);
    for (std::size_t i = 0; i < shorts.size(); i += 3) shorts[i] = 12344;  // shares a word with it
    const Histogram pairs = histogram(std::span<const std::uint16_t>(shorts), Bins::each_value(DType::uint16), {.device = device});
    EXPECT_EQ(pairs.counts()[12345], 466'666u);
    EXPECT_EQ(pairs.counts()[12344], 233'334u);
  }
}

// Pages that were never written to are all the same page of zeros, so this takes little memory.
TEST(Histogram, MoreSamplesThan32BitsCount) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "would take minutes";
#endif
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 32) + 5;
  void* pages = mmap(nullptr, kCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) GTEST_SKIP() << "no room for 4 GiB of addresses";
  static_cast<std::uint8_t*>(pages)[kCount - 1] = 7;
  for (const std::uint32_t threads : {1u, 2u}) {
    const Histogram found = histogram(Array(pages, kCount, DType::uint8), Bins::each_value(DType::uint8),
                                      {.device = Device::open("cpu"), .tuning = {.threads = threads}});
    EXPECT_EQ(found.counts()[0], kCount - 1);
    EXPECT_EQ(found.counts()[7], 1u);
  }
  munmap(pages, kCount);
}

TEST(Histogram, LargeDataAreRightWithAnyNumberOfThreads) {
  Random random(5);
  for (const DType type : kDTypes) {
    const Bins bins = random_bins(type, random);
    const Samples samples = samples_around(type, bins, 1'500'000, random);
    const Histogram right(bins, reference(samples.view(), bins));
    for (const std::uint32_t threads : {1u, 2u, 3u}) {
      EXPECT_EQ(histogram(samples.view(), bins, {.device = Device::open("cpu"), .tuning = {.threads = threads}}), right)
          << name_of(type) << ", threads " << threads;
    }
  }
  // Many values, few, two, whose pairs' counters wrap around, and runs: each counting method for bytes.
  std::vector<std::uint8_t> bytes(4'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i < 1'000'000   ? random.bits(8)
                                         : i < 2'000'000 ? 'a' + random.below(5)
                                         : i < 3'000'000 ? 'a' + random.below(2)
                                                         : i / 1000);
  }
  const Bins bins = Bins::each_value(DType::uint8);
  const Histogram right(bins, reference(std::span<const std::uint8_t>(bytes), bins));
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    EXPECT_EQ(histogram(std::span<const std::uint8_t>(bytes), bins), right) << static_cast<int>(level);
  }
  simd::restrict_to(simd::detect());
}

// Elements with gaps, backwards, or overlapping.
TEST(Histogram, StridesAreRight) {
  Random random(7);
  for (const DType type : {DType::uint8, DType::float16, DType::int32, DType::float64}) {
    const Bins bins = Bins::even(-100, 100, 64);
    const Samples samples = samples_around(type, bins, 300'000, random);
    const auto size = static_cast<std::int64_t>(size_of(type));
    const auto* first = samples.bytes.data();
    for (const std::int64_t stride : {3 * size, size + 1, -2 * size, std::int64_t{0}}) {
      const std::uint64_t count = 90'000;
      const auto* from = stride < 0 ? first + 200'000 * size : first;
      const Array view(from, count, type, stride);
      std::vector<std::byte> packed(count * size_of(type));
      for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(&packed[i * size_of(type)], from + static_cast<std::int64_t>(i) * stride, size_of(type));
      }
      const Histogram right(bins, reference(Array(packed.data(), count, type), bins));
      for (const Device& device : devices())
        EXPECT_EQ(histogram(view, bins, {.device = device}), right) << name_of(type) << ", stride " << stride;
      const auto range = range_of(view), expected = range_of(Array(packed.data(), count, type));
      ASSERT_EQ(range.has_value(), expected.has_value());
      if (range) {
        EXPECT_EQ(range->min, expected->min);
        EXPECT_EQ(range->max, expected->max);
      }
    }
  }
}

// Arrays in a device's memory: at various offsets, and with strides.
TEST(Histogram, ArraysInBuffersAreRight) {
  Random random(8);
  for (const Device& device : devices()) {
    for (const DType type : {DType::uint8, DType::uint16, DType::float32, DType::float64}) {
      const Bins bins = Bins::even(-100, 100, 64);
      const Samples samples = samples_around(type, bins, 100'000, random);
      const Buffer buffer(device, samples.bytes.size());
      buffer.write(samples.bytes.data(), samples.bytes.size());
      const auto size = static_cast<std::int64_t>(size_of(type));
      for (const auto& [first, stride] : {std::pair(0, size), {16, size}, {3, size}, {1, 3 * size}, {90'000, -2 * size}, {5, 0 * size}}) {
        const std::uint64_t offset = first * size_of(type), count = 30'000;
        const Histogram right(bins, reference(Array(samples.bytes.data() + offset, count, type, stride), bins));
        Report report;
        EXPECT_EQ(histogram(Array(buffer, count, type, offset, stride), bins, {.report = &report}), right)
            << name_of(type) << " from " << first << ", stride " << stride << " on " << report.device << ", " << report.configuration;
        EXPECT_EQ(report.upload_seconds, 0);
      }
    }
  }
}

TEST(Bins, AreRefusedWhereTheyMakeNoSense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal([] { Bins::even(1, 1, 3); }).find("less than"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::even(0, kInfinity, 3); }).find("finite"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::even(-kInfinity, 1, 3); }).find("finite"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::even(kNan, 1, 3); }).find("finite"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::even(0, 1, 0); }).find("0 bins"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::even(0, 1, Bins::kMax + 1); }).find("2^24"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::logarithmic(0, 1, 3); }).find("greater than 0"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::between({1}); }).find("two or more"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::between({1, 3, 2}); }).find("edge 2"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::between({1, 1}); }).find("greater than the first"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::each_value(DType::int32); }).find("int32"), std::string::npos);
  EXPECT_NE(refusal([] { Bins::each_value(std::int64_t{1} << 60, (std::int64_t{1} << 60) + 5); }).find("2^51"), std::string::npos);
}

TEST(Bins, EdgesAreNumpys) {
  // numpy.linspace(0.1, 0.7, 8)
  const std::vector<double> edges = {
      0.1, 0.18571428571428572, 0.27142857142857146, 0.3571428571428571, 0.44285714285714284, 0.5285714285714286, 0.6142857142857142, 0.7};
  const Bins bins = Bins::even(0.1, 0.7, 7);
  EXPECT_TRUE(std::ranges::equal(bins.edges(), edges));
  const Bins widest = Bins::even(-1.7e308, 1.7e308, 2);
  EXPECT_EQ(widest.edges()[1], 0);
  const Bins constant = Bins::spanning(3, 3, 2);
  EXPECT_EQ(constant.low(), 2.5);
  EXPECT_EQ(constant.high(), 3.5);
  EXPECT_LT(Bins::spanning(1e300, 1e300, 2).low(), 1e300);
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const double end : {kMax, -kMax}) {
    const Bins at_end = Bins::spanning(end, end, 3);
    EXPECT_TRUE(end > 0 ? at_end.high() == kMax && at_end.low() < kMax : at_end.low() == -kMax && at_end.high() > -kMax);
    const std::vector<double> samples(10, end);
    EXPECT_EQ(histogram(std::span<const double>(samples), at_end).inside(), samples.size());
  }
  EXPECT_NE(refusal([] { Bins::spanning(kInfinity, kInfinity, 2); }).find("finite"), std::string::npos);
  EXPECT_TRUE(std::ranges::is_sorted(Bins::even(0, 15e-324, 1000).edges()));
  EXPECT_EQ(Bins::logarithmic(1, 1000, 3).edges()[1], 10);
}

TEST(Histogram, SlotsOf32BitsAreThoseOf64) {
  for (const std::uint64_t bins : {1u, 7u, (1u << 16) + 1, 200001u}) {
    Random random(bins);
    std::vector<std::uint32_t> narrow(bins + 3);
    for (std::uint32_t& slot : narrow) slot = static_cast<std::uint32_t>(random.bits(32));
    narrow[1] = 0xffffffff;
    const std::vector<std::uint64_t> wide(narrow.begin(), narrow.end());
    const Bins even = Bins::even(0, 1, bins);
    EXPECT_EQ(Histogram(even, std::span<const std::uint32_t>(narrow)), Histogram(even, std::span<const std::uint64_t>(wide))) << bins;
    narrow.pop_back();
    EXPECT_NE(refusal([&] { Histogram(even, std::span<const std::uint32_t>(narrow)); }).find("made of"), std::string::npos);
  }
}

TEST(Histogram, ValuesFromCounts) {
  const std::vector<double> samples = {-5, 0, 0.5, 1, 1, 2, 3, 4, 9, kInfinity, std::numeric_limits<double>::quiet_NaN()};
  const Histogram h = histogram(std::span<const double>(samples), Bins::between({0, 1, 2, 4}));
  EXPECT_EQ(std::vector(h.counts().begin(), h.counts().end()), (std::vector<std::uint64_t>{2, 2, 3}));
  EXPECT_EQ(h.under(), 1u);
  EXPECT_EQ(h.over(), 2u);
  EXPECT_EQ(h.nan_count(), 1u);
  EXPECT_EQ(h.inside(), 7u);
  EXPECT_EQ(h.total(), samples.size());
  EXPECT_EQ(h.cumulative(), (std::vector<std::uint64_t>{2, 4, 7}));
  EXPECT_EQ(h.density(), (std::vector<double>{2 / 7.0, 2 / 7.0, 3 / 2.0 / 7}));
  EXPECT_EQ(h.quantile(0).low, -kInfinity);
  EXPECT_EQ(h.quantile(0.5).low, 1);  // of ten samples the fifth: 1
  EXPECT_EQ(h.quantile(0.5).high, 2);
  EXPECT_EQ(h.quantile(0.5).value, 1.75);
  EXPECT_EQ(h.quantile(0.5).error(), 0.75);
  EXPECT_EQ(h.quantile(1).high, kInfinity);
  const std::vector<std::uint64_t> many = {0, (std::uint64_t{1} << 62) + 1, 1, 0, 0};
  EXPECT_EQ(Histogram(Bins::even(0, 2, 2), many).quantile(1).low, 1) << "the last of so many that doubles cannot count them";
  EXPECT_EQ(h.quantile(1).error(), kInfinity);
  EXPECT_NE(refusal([&] { h.quantile(1.5); }).find("0..1"), std::string::npos);
  EXPECT_THROW(Histogram(Bins::even(0, 1, 2)).quantile(0.5), Error);
  Histogram twice = h;
  twice += h;
  EXPECT_EQ(twice.total(), 2 * h.total());
  EXPECT_EQ(twice.counts()[2], 6u);
  EXPECT_NE(refusal([&] { twice += Histogram(Bins::even(0, 1, 2)); }).find("different bins"), std::string::npos);
}

// Quantiles are where sorting finds them.
TEST(Histogram, QuantilesAreInTheirBounds) {
  Random random(6);
  std::vector<double> samples(5001);
  for (double& sample : samples) sample = std::ldexp(static_cast<double>(random.bits(53)), -53) * 12 - 1;
  const Histogram h = histogram(std::span<const double>(samples), Bins::even(0, 10, 100));
  std::sort(samples.begin(), samples.end());
  for (int i = 0; i <= 1000; ++i) {
    const double p = i / 1000.0;
    const auto rank = std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(p * 5001.0L)), 1, 5001);
    const Quantile quantile = h.quantile(p);
    ASSERT_LE(quantile.low, samples[rank - 1]) << p;
    ASSERT_GE(quantile.high, samples[rank - 1]) << p;
  }
}

TEST(Histogram, RangesAreFound) {
  const std::vector<float> samples = {3, std::numeric_limits<float>::quiet_NaN(), -2, std::numeric_limits<float>::infinity()};
  const auto range = range_of(std::span<const float>(samples));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->min, -2);
  EXPECT_EQ(range->max, 3);
  EXPECT_FALSE(range_of(std::span<const float>(samples).subspan(1, 1)));
  EXPECT_FALSE(range_of(Array(nullptr, 0, DType::int8)));
  const std::vector<std::int64_t> wide = {INT64_MAX, INT64_MAX - 1};
  EXPECT_LE(range_of(std::span<const std::int64_t>(wide))->min, 0x1p63 - 1024);
  EXPECT_EQ(range_of(std::span<const std::int64_t>(wide))->max, 0x1p63);
}

TEST(Histogram, Characters) {
  // A sentence of ours with the counts that the textbook's has.
  const std::string_view book = "The old cloud counted a dozen prizes near a hill from a bazaar.";
  const std::string_view text = "Pack my box with five dozen liquor jugs.";
  for (const Device& device : devices()) {
    EXPECT_EQ(count_characters(book, CharacterMap::letters(4), {.device = device}).counts,
              (std::vector<std::uint64_t>{14, 8, 6, 10, 7, 2, 3}));
    const CharacterCounts four = count_characters(text, CharacterMap::letters(4), {.device = device});
    EXPECT_EQ(four.names, (std::vector<std::string>{"a-d", "e-h", "i-l", "m-p", "q-t", "u-x", "y-z"}));
    EXPECT_EQ(four.counts, (std::vector<std::uint64_t>{4, 5, 6, 6, 4, 5, 2})) << device.info().selector;
    EXPECT_EQ(four.others, 8u);
    EXPECT_EQ(std::accumulate(four.counts.begin(), four.counts.end(), four.others), text.size());
    const CharacterCounts vowels = count_characters(text, CharacterMap::of({"aeiou", "."}), {.device = device});
    EXPECT_EQ(vowels.counts, (std::vector<std::uint64_t>{11, 1}));
    EXPECT_EQ(count_characters(text, CharacterMap::bytes(), {.device = device}).counts['i'], 3u);
  }
  EXPECT_NE(refusal([] { CharacterMap::of({"ab", "bc"}); }).find("two groups"), std::string::npos);
  EXPECT_NE(refusal([] { CharacterMap::letters(27); }).find("1 to 26"), std::string::npos);
}

// A map can be filled in by the caller.
TEST(Histogram, CharactersInNoBinAreRefused) {
  const Device cpu = Device::open("cpu");
  CharacterMap map = CharacterMap::of({"abc"});
  for (const int bin : {1, 2, 32767, -2, -32768}) {
    map.bin['x'] = static_cast<std::int16_t>(bin);
    EXPECT_NE(refusal([&] { count_characters("", map, {.device = cpu}); }).find("the byte 0x78 is in bin " + std::to_string(bin)),
              std::string::npos);
  }
  map.bin['x'] = CharacterMap::kNone;
  EXPECT_EQ(count_characters("axbb", map, {.device = cpu}).others, 1u);
  EXPECT_NE(refusal([] { CharacterMap::of(std::vector<std::string>(32'768)); }).find("32767"), std::string::npos);
}

}  // namespace
}  // namespace samesum
