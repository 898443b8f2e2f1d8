// Every variant × device × type × number of bins × kind of data. That takes minutes where kernels are compiled for a CPU: without
// SAMESUM_TESTS=whole each type and number of bins has one kind of data, chosen cyclically, and the device's default variant.
#include "device/device.hpp"
#include "histogram/cpu/count.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/plan.hpp"
#include "support/histograms.hpp"

#include <samesum/bench_histogram.hpp>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>

namespace samesum {
namespace {

using binning::Configuration;
using binning::Counters;
using binning::Plan;
using hard::Random;
using test::devices;
using test::reference;
using test::refusal;
using test::Samples;

constexpr std::string_view kKinds[] = {"uniform", "equal", "sky", "sorted", "odd"};

bool whole() {
  const char* given = std::getenv("SAMESUM_TESTS");
  return given != nullptr && std::string_view(given) == "whole";
}

Samples samples_of(DType type, const Bins& bins, std::string_view kind, std::size_t count, Random& random) {
  if (kind == "odd") return test::samples_around(type, bins, count, random);
  const double low = bins.low(), width = bins.high() - bins.low();
  Samples samples{type};
  core::visit(type, [&](auto element) {
    for (std::size_t i = 0; i < count; ++i) {
      double part = std::ldexp(static_cast<double>(random.bits(53)), -53);
      if (kind == "equal") part = 0.3;
      if (kind == "sky" && random.below(100) < 85) part = 0.5 + 0.01 * static_cast<double>(random.below(4));
      if (kind == "sorted") part = static_cast<double>(i) / static_cast<double>(count);
      samples.push(test::nearest<decltype(element)>(low + part * width));
    }
  });
  return samples;
}

// Even bins that cover a part of the type's values.
Bins bins_of(DType type, std::uint64_t count) {
  if (!is_integer(type)) return Bins::even(-1, 3, count);
  return is_signed(type) ? Bins::even(-100, size_of(type) == 1 ? 100 : 30'000, count)
                         : Bins::even(5, size_of(type) == 1 ? 250 : 60'000, count);
}

// As many edges that are not evenly spaced.
Bins edges_of(const Bins& even) {
  std::vector<double> edges(even.edges().begin(), even.edges().end());
  const double low = even.low(), width = even.high() - even.low();
  for (double& edge : edges) edge = low + width * std::pow((edge - low) / width, 1.3);
  edges.back() = even.high();
  return Bins::between(std::move(edges));
}

// What GPUs choose, on any device that can compute it.
bool can_floor(const DeviceInfo& info, const Plan& plan) {
  return plan.floor() && info.has(Capability::fp64) && info.has(Capability::denormals) && info.has(Capability::fma);
}

// All configurations for this device, its default first.
std::vector<Configuration> variants(const Device& device, const binning::Problem& problem, std::uint64_t samples, binning::Trie& trie) {
  const std::uint64_t local_bytes = device.implementation().launch_local_bytes();
  std::vector<Configuration> all = {binning::choose(device.info(), local_bytes, problem, samples, 0, trie)};
  for (const Counters counters : {Counters::local32, Counters::local16, Counters::global}) {
    if (!whole()) break;
    if (counters == Counters::local16 && size_of(problem.type()) == 1) continue;  // 32 bits always fit
    Configuration other = all.front();
    if (other.counters == counters) continue;
    other.counters = counters;
    other.near_slots = counters == Counters::global ? 256 : 0;
    other.copy_bits = 0;
    other.ahead = counters == Counters::local16;
    other.steps = other.ahead ? 2 : 1;
    other.hot = other.ahead && size_of(problem.type()) <= 4;
    const std::uint64_t needed = binning::local_bytes_of(problem, other, trie);
    if (needed + 4096 > local_bytes) continue;  // drivers reserve some
    other.local_bytes = static_cast<std::uint32_t>(needed);
    all.push_back(other);
  }
  if (all.front().guess != binning::Guess::even || !can_floor(device.info(), *problem.plan)) return all;
  for (std::size_t i = 0, given = all.size(); i < given; ++i) {
    all.push_back(all[i]);
    all.back().guess = binning::Guess::floor;
  }
  return all;
}

std::vector<std::uint64_t> counts_of(const Device& device, const Samples& samples, const Plan& plan, const Configuration& configuration,
                                     const binning::Trie& trie) {
  const std::lock_guard lock(device.implementation().mutex());
  const Array data = samples.view();
  const device::Memory memory = device.implementation().allocate((data.bytes() + 15) / 16 * 16);
  device.implementation().write(memory, 0, data.data(), data.bytes());
  const binning::Problem problem{&plan};
  binning::DeviceHistogram histogram(device.implementation(), problem, configuration, trie);
  std::vector<std::uint64_t> slots(problem.slots());
  histogram.clear();
  histogram.launch(memory, data.size());
  histogram.add_to(slots);
  return plan.by_value() ? plan.fold(slots) : slots;
}

class HistogramMatrix : public testing::TestWithParam<DType> {};

TEST_P(HistogramMatrix, IsRight) {
  const DType type = GetParam();
  constexpr std::size_t kSamples = 20'000;
  Random random(1);
  std::size_t turn = static_cast<std::size_t>(type);
  for (const std::uint64_t count : {1, 2, 7, 255, 256, 257, 2048, 2049, 16384, 65536, 65537, 1 << 20}) {
    const Bins even = bins_of(type, count);
    const bool edges = size_of(type) > 2 && (whole() || count == 2 || count == 256 || count == 65537);
    for (const Bins& bins : edges ? std::vector{even, edges_of(even)} : std::vector{even}) {
      const Plan plan(bins, type);
      ++turn;
      for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
        if (!whole() && kind != turn % std::size(kKinds)) continue;
        const Samples samples = samples_of(type, bins, kKinds[kind], kSamples, random);
        const std::vector<std::uint64_t> right = reference(samples.view(), bins);
        const auto expect = [&](const std::vector<std::uint64_t>& found, const Device& device, const std::string& how) {
          EXPECT_TRUE(found == right) << name_of(type) << ", " << count << " bins (" << bins.kind() << "), " << kKinds[kind] << ": "
                                      << device.info().selector << ", " << how;
        };
        for (const Device& device : devices()) {
          if (!device.info().has(Capability::kernels)) {
            for (const std::uint32_t threads : {1u, 2u}) {
              EXPECT_EQ(histogram(samples.view(), bins, {.device = device, .tuning = {.threads = threads}}), Histogram(bins, right))
                  << name_of(type) << ", " << count;
            }
            continue;
          }
          binning::Trie trie;
          for (const Configuration& way : variants(device, {&plan}, kSamples, trie)) {
            try {
              expect(counts_of(device, samples, plan, way, trie), device, way.text());
            } catch (const std::exception& error) {  // the device may not recover
              FAIL() << count << " bins (" << bins.kind() << "), " << kKinds[kind] << ", " << way.text() << ": " << error.what();
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HistogramMatrix, testing::ValuesIn(kDTypes),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

// Samples that are mostly zeros of both signs: they are in the same bin, by every code path, at every position.
TEST_P(HistogramMatrix, BothZerosAreOne) {
  const DType type = GetParam();
  if (is_integer(type)) return;
  constexpr std::size_t kSamples = 20'003;
  Random random(9);
  Samples samples{type};
  core::visit(type, [&](auto element) {
    using T = decltype(element);
    constexpr double kValues[] = {-0.0, 0.0, -0.0, 0.5, -0.5, -1e-42, 1e-42, 1};
    for (std::size_t i = 0; i < kSamples; ++i) samples.push(test::nearest<T>(i < 5000 ? -0.0 : kValues[random.below(8)]));
  });
  for (const Bins& bins :
       {Bins::even(0, 1, 1), Bins::even(0, 1, 256), Bins::even(0, 1, 2049), Bins::even(-0.0, 3, 16384), Bins::even(0, 1, 65537),
        Bins::even(-1, 0, 256), Bins::even(-1, 1, 2), Bins::even(0, 1e-300, 4), Bins::even(-1e-300, 1e300, 7), Bins::between({0, 0.25, 1}),
        Bins::between({-0.0, 1e-45, 1}), Bins::between({-1, -0.0, 0, 0.75}), Bins::each_value(0, 300), edges_of(Bins::even(0, 1, 256))}) {
    const std::vector<std::uint64_t> right = reference(samples.view(), bins);
    const Plan plan(bins, type);
    for (const Device& device : devices()) {
      const auto what = [&](const std::string& how) {
        return std::string(name_of(type)) + ", " + std::to_string(bins.count()) + " bins (" + std::string(bins.kind()) + "), " + how;
      };
      for (const std::uint32_t threads : {1u, 2u}) {
        EXPECT_EQ(histogram(samples.view(), bins, {.device = device, .tuning = {.threads = threads}}), Histogram(bins, right))
            << what(device.info().selector);
        if (device.info().has(Capability::kernels)) break;
      }
      // Every other sample, as a column of two.
      const Array column(samples.view().data(), samples.view().size() / 2, type, 2 * static_cast<std::int64_t>(size_of(type)));
      EXPECT_EQ(histogram(column, bins, {.device = device}), Histogram(bins, reference(column, bins)))
          << what("strided, " + device.info().selector);
      if (!device.info().has(Capability::kernels)) continue;
      binning::Trie trie;
      for (const Configuration& way : variants(device, {&plan}, kSamples, trie)) {
        EXPECT_TRUE(counts_of(device, samples, plan, way, trie) == right) << what(device.info().selector + ", " + way.text());
      }
    }
  }
}

// Bins over the range of data that begins or ends with a zero, of either sign.
TEST(HistogramOfZeros, SetBoundsAlike) {
  for (const DType type : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    for (const double other : {1.0, -1.0, 0.0}) {
      for (const bool negative_first : {false, true}) {
        Samples samples{type};
        core::visit(type, [&](auto element) {
          for (int i = 0; i < 1001; ++i) {
            const bool negative = (i < 500) == negative_first;
            samples.push(test::nearest<decltype(element)>(i == 700 ? other : negative ? -0.0 : 0.0));
          }
        });
        const auto range = range_of(samples.view());
        ASSERT_TRUE(range);
        EXPECT_FALSE(std::signbit(range->min) && range->min == 0);
        EXPECT_FALSE(std::signbit(range->max) && range->max == 0);
        const Bins bins = Bins::spanning(range->min, range->max, 4);
        for (const double edge : bins.edges()) EXPECT_FALSE(std::signbit(edge) && edge == 0);
        for (const Device& device : devices()) {
          const Histogram found = histogram(samples.view(), bins, {.device = device});
          EXPECT_EQ(found.inside(), samples.view().size()) << name_of(type) << ", " << device.info().selector;
        }
      }
    }
  }
  const Bins bins = Bins::between({-0.0, 1});
  EXPECT_FALSE(std::signbit(bins.low())) << "-0.0 is 0 as an edge";
}

// Interleaved channels of bytes, by 16-bit counters, which must be emptied; most bytes are equal.
void expect_right_channels(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  Random random(7);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i < size / 6 * 5 ? 255 : random.bits(8));
  for (const std::uint32_t channels : {2u, 3u, 4u}) {
    std::vector<std::uint64_t> right(std::size_t{256} * channels);
    for (std::size_t i = 0; i < bytes.size(); ++i) ++right[i % channels * 256 + bytes[i]];
    const binning::Problem problem{nullptr, channels};
    for (const Device& device : devices()) {
      if (!device.info().has(Capability::kernels)) continue;
      device::Device& seam = device.implementation();
      const std::lock_guard lock(seam.mutex());
      const device::Memory memory = seam.allocate((bytes.size() + 15) / 16 * 16);
      seam.write(memory, 0, bytes.data(), bytes.size());
      binning::Trie trie;
      Configuration way = binning::choose(device.info(), seam.launch_local_bytes(), problem, bytes.size(), 0, trie);
      way.counters = Counters::local16;
      way.local_bytes = static_cast<std::uint32_t>(binning::local_bytes_of(problem, way, trie));
      for (const std::uint32_t loads : {1u, 2u, 4u}) {
        way.loads = loads;
        binning::DeviceHistogram histogram(seam, problem, way, trie);
        std::vector<std::uint64_t> counts(right.size());
        histogram.clear();
        histogram.launch(memory, bytes.size());
        histogram.add_to(counts);
        EXPECT_TRUE(counts == right) << channels << " channels: " << device.info().selector << ", " << way.text();
      }
    }
  }
}

TEST(HistogramOfChannels, NarrowCountersAreRight) { expect_right_channels(3'000'001); }
// So few that Oclgrind takes a second: oclgrind_test.py.
TEST(HistogramOfChannels, NarrowCountersOfFewBytesAreRight) { expect_right_channels(200'001); }

// Values of most samples, which have words of their own for each lane: in the lower and in the upper half of a word, outside of all bins,
// and so often that words must be emptied. Several such values, two in turns, a single one, and one beside others that come in runs.
TEST(HistogramOfHotValues, NarrowCountersAreRight) {
  constexpr std::uint32_t kHot[] = {200, 32968, 65535, 0};
  for (const DType type : {DType::uint16, DType::float32}) {
    const Plan plan(type == DType::uint16 ? Bins::each_value(type) : Bins::even(100, 40'100, 20'000), type);
    ASSERT_EQ(plan.floor().has_value(), type == DType::float32);
    for (const std::uint64_t values : {0, 1, 2, 4}) {  // 0: one beside others in runs
      Random random(8);
      Samples samples{type};
      const bool often = values == 1 || values == 2;
      const std::size_t count = often ? values * 3'000'000 : 300'000;
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = random.below(8) != 0 ? kHot[random.below(std::max<std::uint64_t>(values, 1))] : random.bits(16);
        if (values == 0 && random.bits(1) != 0) value = i / 16 * 1021 % 65536;
        if (values == 2) value = kHot[i % 2];
        const bool nan = type == DType::float32 && i % 999 == 0;
        core::visit(type, [&](auto element) {
          samples.push(test::nearest<decltype(element)>(nan ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(value)));
        });
      }
      std::vector<std::uint64_t> right = binning::count_on_cpu(samples.view(), plan, 1);
      for (const Device& device : devices()) {
        if (!device.info().has(Capability::kernels)) continue;
        const std::uint64_t local = device.implementation().launch_local_bytes();
        const binning::Problem problem{&plan};
        binning::Trie trie;
        Configuration way = binning::choose(device.info(), local, problem, samples.view().size(), 0, trie);
        way.counters = Counters::local16;
        way.ahead = way.hot = true;
        way.steps = 2;
        way.copy_bits = 0;
        if (often) way.groups = 1;  // which counts enough of them to overflow a word that is not emptied
        way.local_bytes = static_cast<std::uint32_t>(binning::local_bytes_of(problem, way, trie));
        if (way.local_bytes > local) continue;
        for (const binning::Guess guess : {way.guess, binning::Guess::even, binning::Guess::floor}) {
          if (guess != way.guess && (type != DType::float32 || !can_floor(device.info(), plan))) continue;
          Configuration other = way;
          other.guess = guess;
          EXPECT_TRUE(counts_of(device, samples, plan, other, trie) == right)
              << values << " of " << name_of(type) << ", " << device.info().selector << ", " << other.text();
        }
      }
    }
  }
}

TEST(HistogramLadder, EveryRungIsRight) {
  for (const Device& device : devices()) {
    for (const std::string& kind : bench::histogram_data_kinds()) {
      const std::vector<std::uint8_t> data = bench::histogram_data(kind, 100'003);
      bench::HistogramLadderOptions options;
      options.effort.runs = 3;
      options.effort.seconds = 0.01;
      if (kind != "uniform") options.rungs = {"sequential", "cpu"};
      if (kind != "uniform" && device.info().has(Capability::kernels)) options.rungs = {"aggregated", "best"};
      const bench::HistogramLadder ladder = bench::histogram_ladder(device, data, options);
      EXPECT_EQ(ladder.rungs.size(), options.rungs.empty() ? bench::histogram_rungs(device).size() : 2);
      for (const bench::HistogramLadderRow& row : ladder.rungs) {
        if (row.name == "racy") continue;  // correct only by chance
        EXPECT_EQ(row.verdict, bench::Verdict::right) << row.name << " on " << row.where << ": " << row.reason;
        EXPECT_GT(row.samples_per_second, 0);
      }
    }
    bench::HistogramLadderOptions options;
    options.rungs = {"nothing"};
    EXPECT_NE(refusal([&] { bench::histogram_ladder(device, {}, options); }).find("'nothing'"), std::string::npos);
  }
  EXPECT_NE(refusal([] { bench::histogram_data("nothing", 3); }).find("sorted"), std::string::npos);
}

}  // namespace
}  // namespace samesum
