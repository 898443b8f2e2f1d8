// Weights in bins against the exact sum of each bin's own weights.
#include "support/histograms.hpp"
#include "support/informative.hpp"

#include <samesum/map_source.hpp>
#include <samesum/reduce.hpp>
#include <samesum/weighted_histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace samesum {
namespace {

using hard::Random;
using test::refusal;

constexpr double kNanValue = std::numeric_limits<double>::quiet_NaN();

// Coordinates, and weights that cancel, with denormals, both zeros, infinities and NaNs where asked for.
struct Data {
  Data(std::size_t count, bool special, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      x.push_back(random.below(50) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.between(-2, 12)) + 0.5f);
      y.push_back(static_cast<std::uint8_t>(random.below(7)));
      double weight = std::ldexp(static_cast<double>(random.bits(53)), random.between(-120, 60)) * (random.bits(1) != 0 ? -1 : 1);
      if (random.below(6) == 0 && i > 0) weight = -w[random.below(i)];
      if (random.below(30) == 0) weight = random.bits(1) != 0 ? 5e-324 : -0.0;
      if (special && random.below(900) == 0) weight = random.bits(1) != 0 ? kNanValue : std::numeric_limits<double>::infinity();
      w.push_back(weight);
    }
  }
  // The weights of the samples in a cell.
  std::vector<double> of(const std::vector<Bins>& axes, std::int64_t i, std::int64_t k) const {
    std::vector<double> weights;
    for (std::size_t n = 0; n < w.size(); ++n) {
      if (axes[0].index_of(x[n]) == i && axes[1].index_of(y[n]) == k) weights.push_back(w[n]);
    }
    return weights;
  }
  std::vector<float> x;
  std::vector<std::uint8_t> y;
  std::vector<double> w;
};

std::vector<Bins> some_axes() { return {Bins::even(0, 10, 5), Bins::each_value(1, 4)}; }

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

TEST(WeightedHistogram, EveryCellIsTheExactSumOfItsOwnWeights) {
  for (const bool special : {false, true}) {
    const Data data(3000, special, 1);
    const std::vector<Bins> axes = some_axes();
    WeightedHistogram h(axes);
    h.add({data.x, data.y}, data.w);
    const Values sums = h.sums(), squares = h.squares(), means = h.means(), variances = h.variances(1);
    ASSERT_EQ(sums.shape(), (std::vector<std::uint64_t>{5, 4}));
    for (std::int64_t i = -3; i < 5; ++i) {
      for (std::int64_t k = -3; k < 4; ++k) {
        const std::vector<double> own = data.of(axes, i, k);
        EXPECT_TRUE(same_bits(h.sum({i, k}).round(), accumulate(own).round())) << i << ", " << k;
        EXPECT_EQ(h.histogram().at({i, k}), own.size());
        if (i < 0 || k < 0) continue;
        const auto at = static_cast<std::size_t>(4 * i + k);
        ASSERT_GT(own.size(), 1u);
        if (!special) {
          ASSERT_TRUE(test::informative(accumulate(own)) && test::informative(variance(own, 1)));
        }
        EXPECT_TRUE(same_bits(sums.as<double>()[at], accumulate(own).round()));
        EXPECT_TRUE(same_bits(squares.as<double>()[at], squared_norm(own)));
        EXPECT_TRUE(same_bits(means.as<double>()[at], mean(own)));
        EXPECT_TRUE(same_bits(variances.as<double>()[at], variance(own, 1)));
        EXPECT_TRUE(same_bits(h.means(NanPolicy::skip).as<double>()[at], mean(own, {.nan = NanPolicy::skip})));
      }
    }
    EXPECT_EQ(h.histogram(), histogram_nd({data.x, data.y}, axes));
  }
}

TEST(WeightedHistogram, PartsProjectionsSlicesAndRebinningHaveTheBitsOfTheWhole) {
  const Data data(4000, false, 2);
  const std::vector<Bins> axes = some_axes();
  WeightedHistogram whole(axes), parts(axes), more(axes);
  whole.add({data.x, data.y}, data.w);
  parts.add({Array(data.x).part(0, 1234), Array(data.y).part(0, 1234)}, Array(data.w).part(0, 1234));
  more.add({Array(data.x).part(1234, 2766), Array(data.y).part(1234, 2766)}, Array(data.w).part(1234, 2766), {.tuning = {.threads = 2}});
  parts += more;
  WeightedHistogram x_alone({axes[0]});
  x_alone.add({data.x}, data.w);
  WeightedHistogram turned({axes[1], axes[0]});
  turned.add({data.y, data.x}, data.w);
  const auto equal = [](const WeightedHistogram& a, const WeightedHistogram& b) {
    ASSERT_EQ(a.axes(), b.axes());
    EXPECT_EQ(a.histogram(), b.histogram());
    const Values one = a.sums(), other = b.sums(), squares = a.squares(), others = b.squares();
    EXPECT_EQ(std::memcmp(one.data(), other.data(), 8 * one.size()), 0);
    EXPECT_EQ(std::memcmp(squares.data(), others.data(), 8 * squares.size()), 0);
  };
  equal(parts, whole);
  equal(whole.project({0}), x_alone);
  equal(whole.project({1, 0}), turned);
  WeightedHistogram coarse({Bins::between({0, 4, 8, 10}), axes[1]}), sliced({Bins::between({2, 4, 6}), axes[1]});
  coarse.add({data.x, data.y}, data.w);
  sliced.add({data.x, data.y}, data.w);
  equal(whole.rebin(0, 2), coarse);
  equal(whole.slice(0, 1, 2), sliced);
  EXPECT_EQ(whole.slice(0, 1, 2).sum({Bins::kUnder, 0}), sliced.sum({Bins::kUnder, 0}));
}

TEST(WeightedHistogram, IntegersAreExactIntegers) {
  const std::vector<std::int32_t> x = {0, 1, 1, 2, 1};
  const std::vector<std::int64_t> w = {5, std::int64_t{1} << 62, 3, -1, -7};
  WeightedHistogram h({Bins::each_value(0, 2)});
  h.add({x}, w);
  EXPECT_EQ(h.sums().as<std::int64_t>()[1], (std::int64_t{1} << 62) - 4);
  EXPECT_EQ(h.sums().as<std::int64_t>()[2], -1);
}

TEST(WeightedHistogram, SourcesAndArraysOnDevices) {
  const Data data(5000, false, 3);
  const std::vector<Bins> axes = some_axes();
  WeightedHistogram right(axes);
  right.add({data.x, data.y}, data.w);
  WeightedHistogram of_sources(axes);
  const auto x = map("x", {{"x", data.x}}), y = map("x", {{"x", data.y}}), w = map("x", {{"x", data.w}});
  of_sources.add(std::vector<Source*>{x.get(), y.get()}, *w);
  EXPECT_EQ(std::memcmp(of_sources.sums().data(), right.sums().data(), 8 * 20), 0);
  for (const Device& device : test::devices()) {
    const Buffer x_there(device, 4 * data.x.size()), y_there(device, data.y.size()), w_there(device, 8 * data.w.size());
    x_there.write(data.x.data(), 4 * data.x.size());
    y_there.write(data.y.data(), data.y.size());
    w_there.write(data.w.data(), 8 * data.w.size());
    const Array a(x_there, data.x.size(), DType::float32), b(y_there, data.y.size(), DType::uint8),
        c(w_there, data.w.size(), DType::float64);
    WeightedHistogram there(axes);
    there.add({a, b}, c);
    EXPECT_EQ(std::memcmp(there.sums().data(), right.sums().data(), 8 * 20), 0) << device.info().selector;
    refusal([&] { there.add({a, b}, data.w); });
    if (device.info().has(Capability::kernels)) {
      refusal([&] { there.add({a, b}, c, {.device = Device::open("cpu")}); });
    }
  }
}

// Where a report says that sums are made, of arrays there or uploaded.
void expect_told(const Report& report, const Device& device, std::uint64_t bytes) {
  const bool there = device.info().has(Capability::kernels) && device.info().has(Capability::int64_atomics);
  EXPECT_EQ(report.device, there ? device.info().selector : "cpu");
  EXPECT_EQ(report.variant, there ? "sums_by_index" : "");
  EXPECT_EQ(report.configuration.find("no 64-bit atomics") != std::string::npos, !there && device.info().has(Capability::kernels));
  EXPECT_EQ(report.bytes, bytes);
}

// All that two histograms have, bit for bit.
void expect_same(const WeightedHistogram& a, const WeightedHistogram& b, const std::string& what) {
  EXPECT_TRUE(a == b) << what;
  EXPECT_EQ(a.histogram(), b.histogram()) << what;
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    const Values results[][2] = {{a.sums(nan), b.sums(nan)},
                                 {a.squares(nan), b.squares(nan)},
                                 {a.means(nan), b.means(nan)},
                                 {a.variances(1, nan), b.variances(1, nan)}};
    for (const auto& [one, other] : results) {
      ASSERT_EQ(one.size(), other.size()) << what;
      EXPECT_EQ(std::memcmp(one.data(), other.data(), 8 * one.size()), 0) << what;
    }
  }
}

TEST(WeightedHistogram, ADeviceGetsSamplesOfTheHost) {
  const Device cpu = Device::open("cpu");
  const std::vector<std::vector<Bins>> grids = {{Bins::even(0, 10, 5)},
                                                {Bins::between({-1, 0.5, 0.75, 9})},
                                                {Bins::by_formula(Formula("x*x/7"), 9)},
                                                {Bins::even(0, 10, 5), Bins::each_value(1, 4)},
                                                {Bins::by_formula(Formula("x*x/7"), 9), Bins::even(0, 8, 3)}};
  for (const std::size_t count : {0, 1, 511, 512, 513, 3001}) {
    const Data data(count, true, 4 + count);
    const std::vector<std::int16_t> whole(data.y.begin(), data.y.end());
    // Elements that are not aligned.
    std::vector<char> odd(4 * count + 1);
    if (count != 0) std::memcpy(odd.data() + 1, data.x.data(), 4 * count);
    const Array x(odd.data() + 1, count, DType::float32), y(data.y), w(data.w);
    for (const std::vector<Bins>& axes : grids) {
      const std::vector<Array> samples = axes.size() == 1 ? std::vector<Array>{x} : std::vector<Array>{x, y};
      WeightedHistogram right(axes);
      right.add(samples, w, {.device = cpu});
      right.add(samples, whole, {.device = cpu});
      for (const Device& device : test::devices()) {
        const std::string what = device.info().selector + ", " + std::to_string(count);
        WeightedHistogram there(axes);
        Report report;
        std::uint64_t done = 0;
        there.add(samples, w, {.device = device, .report = &report, .progress = [&](const Progress& now) { done = now.done; }});
        const std::uint64_t bytes = count * (4 + (axes.size() == 2 ? 1 : 0) + 8);
        if (count != 0 && axes[0].formula() == nullptr) {
          EXPECT_EQ(done, bytes);
          expect_told(report, device, bytes);
        }
        there.add(samples, whole, {.device = device});
        expect_same(there, right, what);
      }
    }
  }
}

// More than a device gets at once, and one more and one less.
TEST(WeightedHistogram, PartsOfADevice) {
  constexpr std::size_t kPart = std::size_t{1} << 22;
  Random random(9);
  std::vector<std::uint8_t> x(kPart + 1);
  std::vector<float> w(kPart + 1);
  for (std::size_t i = 0; i <= kPart; ++i) {
    x[i] = static_cast<std::uint8_t>(random.bits(8));
    w[i] = std::ldexp(static_cast<float>(random.bits(24)), static_cast<int>(i % 200) - 140) * (i % 3 == 0 ? -1.0f : 1.0f);
  }
  const std::vector<Bins> axes = {Bins::each_value(3, 250)};
  for (const std::size_t count : {kPart - 1, kPart, kPart + 1}) {
    const Array samples = Array(x).part(0, count), weights = Array(w).part(0, count);
    WeightedHistogram right(axes);
    right.add({samples}, weights, {.device = Device::open("cpu")});
    for (const Device& device : test::devices()) {
      if (!device.info().has(Capability::kernels)) continue;
      const Buffer x_there(device, count), w_there(device, 4 * count);
      x_there.write(x.data(), count);
      w_there.write(w.data(), 4 * count);
      WeightedHistogram uploaded(axes), there(axes);
      uploaded.add({samples}, weights, {.device = device});
      Report report;
      there.add({Array(x_there, count, DType::uint8)}, Array(w_there, count, DType::float32), {.report = &report});
      expect_told(report, device, 5 * count);
      expect_same(uploaded, right, device.info().selector);
      expect_same(there, right, device.info().selector);
    }
  }
}

// What lies outside of all bins is no part of the result, and no reason to refuse it.
TEST(WeightedHistogram, IntegersThatOverflowOutsideOfTheBins) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<double> x = {-1, -1, 0.5, 3, 3};
  for (const Device& device : test::devices()) {
    WeightedHistogram h({Bins::even(0, 1, 2)}), large({Bins::even(0, 1, 2)}), refused({Bins::even(0, 1, 2)});
    h.add({x}, std::vector<std::int64_t>{kMost, kMost, -7, -kMost, -kMost}, {.device = device});
    EXPECT_TRUE(std::ranges::equal(h.sums().as<std::int64_t>(), std::vector<std::int64_t>{0, -7})) << device.info().selector;
    large.add({x}, std::vector<std::uint64_t>{~0ull, ~0ull, ~0ull, 1, 1}, {.device = device});
    EXPECT_TRUE(std::ranges::equal(large.sums().as<std::uint64_t>(), std::vector<std::uint64_t>{0, ~0ull})) << device.info().selector;
    refused.add({std::vector<double>{0.5, 0.75}}, std::vector<std::int64_t>{kMost, 1}, {.device = device});
    try {
      refused.sums();
      ADD_FAILURE() << "a sum beyond 64 bits";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
      EXPECT_NE(std::string(error.what()).find("cell 1: "), std::string::npos) << error.what();
    }
  }
}

TEST(WeightedHistogram, WithoutSamplesAndWhatIsRefused) {
  WeightedHistogram h(some_axes());
  h.add({std::vector<float>{}, std::vector<float>{}}, std::vector<float>{});
  EXPECT_EQ(h.histogram().total(), 0u);
  EXPECT_TRUE(std::isnan(h.means().as<double>()[0]));
  refusal([&] { h.add({std::vector<float>(3)}, std::vector<float>(3)); });
  refusal([&] { h.add({std::vector<float>(3), std::vector<float>(3)}, std::vector<float>(2)); });
  refusal([&] { h.sum({0}); });
  WeightedHistogram sums_alone({Bins::even(0, 1, 2)}, false);
  sums_alone.add({std::vector<float>{0.1f, 0.7f, 0.8f}}, std::vector<float>{1, 2, 3});
  EXPECT_EQ(sums_alone.rebin(0, 2).sums().as<double>()[0], 6);
  refusal([&] { sums_alone.rebin(0, 2).squares(); });
  refusal([&] { h.sum({5, 0}); });
  refusal([&] { h += WeightedHistogram({Bins::even(0, 1, 2)}); });
  refusal([] { WeightedHistogram({Bins::even(0, 1, 1 << 24), Bins::even(0, 1, 16)}); });
}

}  // namespace
}  // namespace samesum
