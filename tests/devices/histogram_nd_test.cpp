// Histograms over several axes against a loop over all samples, and against histograms over one axis.
#include "histogram/nd/cells.hpp"
#include "support/histograms.hpp"
#include "support/informative.hpp"

#include <samesum/histogram_distance.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/map_source.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace samesum {
namespace {

using hard::Random;
using test::reference;
using test::refusal;
using test::Samples;
using test::samples_around;

constexpr double kNanValue = std::numeric_limits<double>::quiet_NaN();

// The place of each sample, by the reference for one axis.
std::vector<std::uint64_t> places_of(const Array& data, const Bins& bins) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const std::vector<std::uint64_t> one = reference(data.part(i, 1), bins);
    places.push_back(static_cast<std::uint64_t>(std::find(one.begin(), one.end(), 1) - one.begin()));
  }
  return places;
}

HistogramNd expected(const std::vector<Array>& columns, const std::vector<Bins>& axes) {
  std::vector<std::uint64_t> cells(HistogramNd(axes).cells().size()), cell(columns[0].size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::vector<std::uint64_t> places = places_of(columns[i], axes[i]);
    for (std::size_t k = 0; k < cell.size(); ++k) cell[k] = cell[k] * (axes[i].count() + 3) + places[k];
  }
  for (const std::uint64_t one : cell) ++cells[one];
  return {axes, cells};
}

const std::vector<Bins>& some_bins() {
  static const std::vector<Bins> bins = {Bins::even(-3, 5, 7),
                                         Bins::even(0.1, 0.9, 33),
                                         Bins::logarithmic(0.01, 1e3, 12),
                                         Bins::between({-1, 0, 0, 2, 2.5, 40}),
                                         Bins::each_value(-4, 9),
                                         Bins::categories({"a", "b", "c", "d"})};
  return bins;
}

TEST(HistogramNd, EveryKindOfAxisAndTypeIsRight) {
  Random random(11);
  for (const Device& device : test::devices()) {
    for (int i = 0; i < 60 && !HasFailure(); ++i) {
      const std::size_t rank = 1 + random.below(3), count = random.below(5) == 0 ? random.below(3) : random.below(1500);
      std::vector<Bins> axes;
      std::vector<Samples> samples;
      std::vector<Array> columns;
      for (std::size_t k = 0; k < rank; ++k) {
        axes.push_back(some_bins()[random.below(some_bins().size())]);
        samples.push_back(samples_around(kDTypes[random.below(kDTypes.size())], axes[k], count, random));
      }
      for (const Samples& one : samples) columns.push_back(one.view());
      Report report;
      EXPECT_EQ(histogram_nd(columns, axes, {.device = device, .report = &report}), expected(columns, axes))
          << "case " << i << " on " << device.info().selector << ", " << report.configuration;
    }
  }
}

TEST(HistogramNd, ManySamplesOnSeveralThreadsAndAnyStrides) {
  constexpr std::uint64_t kRows = 700, kColumns = 900;
  Random random(3);
  std::vector<float> x(2 * kRows * kColumns);
  std::vector<double> y(kRows * kColumns);
  for (float& one : x) one = static_cast<float>(random.between(-100, 1100)) / 1000;
  for (double& one : y) one = random.below(50) == 0 ? kNanValue : static_cast<double>(random.between(0, 300)) / 7;
  // Every second column of x; y transposed.
  const Array x_matrix = Array(x.data(), {kRows, 2 * kColumns}, DType::float32).slice(1, 1, kColumns, 2);
  const Array y_matrix = Array(y.data(), {kColumns, kRows}, DType::float64).transposed();
  const std::vector<Bins> axes = {Bins::even(0, 1, 20), Bins::even(0, 40, 10)};
  std::vector<std::uint64_t> cells(23 * 13);
  for (std::uint64_t i = 0; i < kRows; ++i) {
    for (std::uint64_t k = 0; k < kColumns; ++k) {
      const auto place = [](std::int64_t index, std::uint64_t bins) {
        return static_cast<std::uint64_t>(index >= 0              ? index + 1
                                          : index == Bins::kUnder ? 0
                                                                  : static_cast<std::int64_t>(bins) + (index == Bins::kOver ? 1 : 2));
      };
      ++cells[place(axes[0].index_of(x[i * 2 * kColumns + 2 * k + 1]), 20) * 13 + place(axes[1].index_of(y[k * kRows + i]), 10)];
    }
  }
  const HistogramNd right(axes, cells);
  ASSERT_TRUE(test::informative_counts(right.counts()));
  for (const Device& device : test::devices()) {
    EXPECT_EQ(histogram_nd({x_matrix, y_matrix}, axes, {.device = device}), right) << device.info().selector;
  }
  EXPECT_EQ(histogram_nd({x_matrix, y_matrix}, axes, {.device = Device::open("cpu"), .tuning = {.threads = 3}}), right);
  std::uint64_t told = 0;
  const HistogramNd parts =
      histogram_nd({x_matrix, y_matrix}, axes, {.device = Device::open("cpu"), .progress = [&](const Progress& now) { told = now.done; }});
  EXPECT_EQ(parts, right);
  EXPECT_EQ(told, kRows * kColumns * 12);
}

TEST(HistogramNd, ArraysInADevicesMemory) {
  Random random(9);
  std::vector<float> x(2 * 300 * 400);
  std::vector<std::int16_t> y(300 * 400);
  for (float& one : x) one = static_cast<float>(random.between(-10, 110)) / 100;
  for (std::int16_t& one : y) one = static_cast<std::int16_t>(random.between(-5, 40));
  const auto x_of = [](const Array& all) { return all.reshaped({300, 800}).slice(1, 1, 400, 2); };
  const auto y_of = [](const Array& all) { return all.reshaped({400, 300}).transposed(); };
  const std::vector<Bins> axes = {Bins::even(0, 1, 20), Bins::logarithmic(1, 40, 6)};
  const std::vector<Bins> by_formula = {Bins::by_formula(Formula("x*4"), 3), Bins::by_formula(Formula("x % 7"), 6)};
  const HistogramNd right = histogram_nd({x_of(x), y_of(y)}, axes), values = histogram_nd({x_of(x), y_of(y)}, by_formula);
  ASSERT_TRUE(test::informative_counts(right.counts()) && test::informative_counts(values.counts()));
  EXPECT_EQ(values.projection(1), histogram(y, by_formula[1]));
  for (const Device& device : test::devices()) {
    const Buffer x_there(device, 4 * x.size()), y_there(device, 2 * y.size());
    x_there.write(x.data(), 4 * x.size());
    y_there.write(y.data(), 2 * y.size());
    const Array a = x_of(Array(x_there, x.size(), DType::float32)), b = y_of(Array(y_there, y.size(), DType::int16));
    Report report;
    EXPECT_EQ(histogram_nd({a, b}, axes, {.report = &report}), right) << device.info().selector;
    EXPECT_EQ(histogram_nd({a, b}, by_formula), values) << device.info().selector;
    EXPECT_EQ(report.variant, device.info().has(Capability::kernels) ? "histogram_cells" : "");
    refusal([&] { histogram_nd({a, y_of(y)}, axes); });
  }
}

TEST(HistogramNd, FormulasAsAxes) {
  std::vector<std::int32_t> x;
  std::vector<std::uint8_t> y;
  for (int i = -300; i < 300; ++i) {
    x.push_back(i);
    y.push_back(static_cast<std::uint8_t>(i));
  }
  const std::vector<Bins> axes = {Bins::by_formula(Formula("(x + 100)/50"), 4), Bins::by_formula(Formula("x % 3"), 2)};
  const HistogramNd found = histogram_nd({x, y}, axes);
  EXPECT_EQ(found.projection(0), histogram(x, axes[0]));
  EXPECT_EQ(found.projection(1), histogram(y, axes[1]));
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < x.size(); ++i) right += x[i] >= -50 && x[i] < 0 && y[i] % 3 == 2 ? 1 : 0;
  EXPECT_EQ(found.at({1, Bins::kOver}), right);
  EXPECT_THROW(histogram_nd({x, y}, {Bins::by_formula(Formula("5/(x - 7)"), 4), axes[1]}), Error);
}

TEST(HistogramNd, SourcesAreTakenTogether) {
  const std::vector<double> x = {0.5, 1.5, 2.5, -1, kNanValue}, y = {3, 2, 1, 0, 9};
  const auto twice = map("2*x", {{"x", x}});
  const auto same = map("x + 0", {{"x", y}});
  const std::vector<Bins> axes = {Bins::even(0, 6, 3), Bins::each_value(0, 3)};
  const HistogramNd found = histogram_nd(std::vector<Source*>{twice.get(), same.get()}, axes);
  EXPECT_EQ(found.at({0, 3}), 1u);
  EXPECT_EQ(found.at({1, 2}), 1u);
  EXPECT_EQ(found.at({2, 1}), 1u);
  EXPECT_EQ(found.at({Bins::kUnder, 0}), 1u);
  EXPECT_EQ(found.at({Bins::kNan, Bins::kOver}), 1u);
  EXPECT_EQ(found.total(), 5u);
  const auto one = map("x", {{"x", x}});
  const std::vector<double> few = {1, 2};
  const auto other = map("x", {{"x", few}});
  EXPECT_NE(refusal([&] {
              histogram_nd(std::vector<Source*>{one.get(), other.get()}, axes);
            }).find("different lengths"),
            std::string::npos);
}

TEST(HistogramNd, ProjectionsSlicesAndRebinning) {
  Random random(5);
  std::vector<float> x(4000), y(4000), z(4000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random.between(-2, 13));
    y[i] = random.below(20) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.between(-30, 300)) / 10;
    z[i] = static_cast<float>(random.between(0, 5)) - 0.25f;
  }
  const Bins bx = Bins::each_value(0, 9), by = Bins::even(0, 20, 7), bz = Bins::even(0, 4, 4);
  const HistogramNd all = histogram_nd({x, y, z}, {bx, by, bz});
  EXPECT_EQ(all.shape(), (std::vector<std::uint64_t>{10, 7, 4}));
  EXPECT_EQ(all.total(), x.size());
  EXPECT_EQ(all.project({2, 0}), histogram_nd({z, x}, {bz, bx}));
  EXPECT_EQ(all.project({0, 1, 2}), all);
  EXPECT_EQ(all.projection(1), histogram(y, by));
  const HistogramNd::Outside outside = all.outside(1);
  EXPECT_EQ(outside.nan, static_cast<std::uint64_t>(std::count_if(y.begin(), y.end(), [](float one) { return std::isnan(one); })));
  // A cut is the histogram of the samples in that bin.
  std::vector<float> x_cut, z_cut;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (by.index_of(y[i]) != 3) continue;
    x_cut.push_back(x[i]);
    z_cut.push_back(z[i]);
  }
  EXPECT_EQ(all.cut(1, 3), histogram_nd({x_cut, z_cut}, {bx, bz}));
  EXPECT_EQ(all.cut(1, Bins::kNan).total(), outside.nan);
  // Bins by threes: edges 0, 3, 6, 9, 10 of x.
  const std::vector<double> threes = {-0.5, 2.5, 5.5, 8.5, 9.5};
  EXPECT_EQ(all.rebin(0, 3), histogram_nd({x, y, z}, {Bins::between(threes), by, bz}));
  EXPECT_EQ(all.rebin(0, 100).axes()[0].count(), 1u);
  EXPECT_EQ(all.slice(0, 2, 4), histogram_nd({x, y, z}, {Bins::between({1.5, 2.5, 3.5, 4.5, 5.5}), by, bz}));
  EXPECT_EQ(all.slice(0, 0, 10), all);
  EXPECT_EQ(histogram(x, bx).slice(2, 4), histogram(x, Bins::between({1.5, 2.5, 3.5, 4.5, 5.5})));
  EXPECT_EQ(histogram(x, bx).rebin(3), histogram(x, Bins::between(threes)));
  // Of parts.
  HistogramNd sum = histogram_nd({Array(x).part(0, 17), Array(y).part(0, 17), Array(z).part(0, 17)}, {bx, by, bz});
  sum += histogram_nd({Array(x).part(17, 3983), Array(y).part(17, 3983), Array(z).part(17, 3983)}, {bx, by, bz});
  EXPECT_EQ(sum, all);
  std::uint64_t inside = 0;
  for (const std::uint64_t count : all.counts()) inside += count;
  EXPECT_EQ(all.counts().size(), 280u);
  EXPECT_EQ(inside, all.inside());
  EXPECT_EQ(all.counts()[(3 * 7 + 2) * 4 + 1], all.at({3, 2, 1}));
}

TEST(HistogramNd, WhatIsRefused) {
  const std::vector<float> x(5), y(4);
  const Bins bins = Bins::even(0, 1, 2);
  EXPECT_NE(refusal([&] { histogram_nd({x, y}, {bins, bins}); }).find("one shape"), std::string::npos);
  refusal([&] { histogram_nd({x}, {bins, bins}); });
  refusal([&] { HistogramNd(std::vector<Bins>{}); });
  const Bins many = Bins::even(0, 1, 1 << 24);
  EXPECT_NE(refusal([&] { HistogramNd({many, many}); }).find("too many cells"), std::string::npos);
  const HistogramNd one({bins, Bins::even(0, 2, 2)});
  refusal([&] { one.project({0, 0}); });
  refusal([&] { one.project({2}); });
  refusal([&] { one.project({}); });
  refusal([&] { one.cut(0, 2); });
  refusal([&] { one.at({0}); });
  refusal([&] { one.at({0, -4}); });
  refusal([&] { one.slice(1, 1, 2); });
  refusal([&] { one.rebin(0, 0); });
  refusal([&] {
    HistogramNd other = one;
    other += HistogramNd({bins, bins});
  });
  refusal([&] { HistogramNd({bins}, {1, 2}); });
  HistogramNd full({bins}, {~std::uint64_t{0}, 0, 0, 0, 0});
  EXPECT_THROW(full += full, Error);
  EXPECT_EQ(full.total(), ~std::uint64_t{0});
}

TEST(BinsIndex, IsWhereTheHistogramCounts) {
  Random random(8);
  for (const DType type : kDTypes) {
    for (const Bins& bins : some_bins()) {
      const Samples samples = samples_around(type, bins, 200, random);
      for (std::uint64_t i = 0; i < 200; ++i) {
        const Histogram one = histogram(samples.view().part(i, 1), bins, {.device = Device::open("cpu")});
        const std::int64_t index = bins.index_of(samples.bytes.data() + i * size_of(type), type);
        ASSERT_EQ(one.under(), index == Bins::kUnder ? 1u : 0u) << name_of(type) << " " << i;
        ASSERT_EQ(one.over(), index == Bins::kOver ? 1u : 0u) << name_of(type) << " " << i;
        ASSERT_EQ(one.nan_count(), index == Bins::kNan ? 1u : 0u) << name_of(type) << " " << i;
        if (index < 0) continue;
        ASSERT_EQ(one.counts()[static_cast<std::size_t>(index)], 1u) << name_of(type) << " " << i;
      }
    }
  }
  const Bins wide = Bins::between({-0x1p63, 0x1p53, 0x1p63, 0x1p64});
  EXPECT_EQ(wide.index_of((std::int64_t{1} << 53) - 1), 0);
  EXPECT_EQ(wide.index_of((std::int64_t{1} << 53) + 1), 1);
  EXPECT_EQ(wide.index_of(std::numeric_limits<std::int64_t>::min()), 0);
  EXPECT_EQ(wide.index_of(std::numeric_limits<std::uint64_t>::max()), 2);
  EXPECT_EQ(Bins::by_formula(Formula("x/10"), 3).index_of(25), 2);
  EXPECT_EQ(Bins::by_formula(Formula("x/10"), 3).index_of(30), Bins::kOver);
}

TEST(Categories, AreNamedNumbers) {
  const Bins bins = Bins::categories({"north", "south"});
  EXPECT_EQ(bins.kind(), "categories");
  EXPECT_EQ(bins.names()[1], "south");
  EXPECT_EQ(bins.index_of(1), 1);
  EXPECT_EQ(bins.index_of(-1), Bins::kUnder);  // a missing one, as some write it
  EXPECT_FALSE(bins == Bins::categories({"north", "west"}));
  EXPECT_FALSE(bins == Bins::each_value(0, 1));
  refusal([] { Bins::categories({}); });
}

Histogram of(std::vector<std::uint64_t> counts, std::vector<double> edges) {
  return {Bins::between(std::move(edges)), std::move(counts), 7, 8, 9};
}

TEST(HistogramDistance, IsWhatTheDefinitionsSay) {
  const Histogram a = of({1, 2, 5, 0}, {0, 1, 2, 4, 5}), b = of({4, 0, 4, 8}, {0, 1, 2, 4, 5});
  // Shares 1/8, 2/8, 5/8, 0 and 1/4, 0, 1/4, 1/2.
  EXPECT_EQ(intersection(a, b), 0.125 + 0.25);
  EXPECT_DOUBLE_EQ(chi_squared(a, b), (0.125 * 0.125 / 0.375 + 0.25 + 0.375 * 0.375 / 0.875 + 0.5) / 2);
  // Middles 0.5, 1.5, 3, 4.5; of sums of shares 1/8, 3/8, 1 and 1/4, 1/4, 1/2.
  EXPECT_EQ(earth_movers(a, b), 0.125 * 1 + 0.125 * 1.5 + 0.5 * 1.5);
  const auto part = [](double p, double q) { return p == 0 ? 0.0 : p * std::log2(2 * p / (p + q)); };
  const double js = (part(0.125, 0.25) + part(0.25, 0.125) + part(0.25, 0) + part(0.625, 0.25) + part(0.25, 0.625) + part(0.5, 0)) / 2;
  EXPECT_NEAR(jensen_shannon(a, b), js, 1e-15);
  for (const auto distance : {&earth_movers, static_cast<double (*)(const Histogram&, const Histogram&)>(&chi_squared),
                              static_cast<double (*)(const Histogram&, const Histogram&)>(&jensen_shannon)}) {
    EXPECT_EQ(distance(a, b), distance(b, a));
    EXPECT_EQ(distance(a, of({3, 6, 15, 0}, {0, 1, 2, 4, 5})), 0);
  }
  EXPECT_EQ(intersection(a, of({3, 6, 15, 0}, {0, 1, 2, 4, 5})), 1);
  const Histogram left = of({3, 0}, {0, 1, 2}), right = of({0, 5}, {0, 1, 2});
  EXPECT_EQ(intersection(left, right), 0);
  EXPECT_EQ(chi_squared(left, right), 1);
  EXPECT_EQ(jensen_shannon(left, right), 1);
  EXPECT_EQ(earth_movers(left, right), 1);
  const HistogramNd flat({left.bins()}, {7, 3, 0, 8, 9}), other({left.bins()}, {0, 1, 1, 0, 0});
  EXPECT_EQ(intersection(flat, other), 0.5);
  EXPECT_EQ(chi_squared(flat, other), chi_squared(left, of({1, 1}, {0, 1, 2})));
  EXPECT_EQ(jensen_shannon(flat, other), jensen_shannon(left, of({1, 1}, {0, 1, 2})));
}

TEST(HistogramDistance, CountsOf64BitsDoNotOverflow) {
  const std::uint64_t half = std::uint64_t{1} << 62;
  const Histogram a(Bins::even(0, 3, 3), {half, half, half}, 0, 0, 0), b(Bins::even(0, 3, 3), {half, half - 1, half + 1}, 0, 0, 0);
  EXPECT_DOUBLE_EQ(earth_movers(a, b), 1.0 / (3 * 0x1p62));
  EXPECT_EQ(intersection(a, b), 1.0);
  EXPECT_EQ(earth_movers(Histogram(Bins::between({-1.7e308, 0, 1.7e308}), {1, 0}, 0, 0, 0),
                         Histogram(Bins::between({-1.7e308, 0, 1.7e308}), {0, 1}, 0, 0, 0)),
            1.7e308);
}

TEST(HistogramDistance, WhatIsRefused) {
  const Histogram a = of({1, 2}, {0, 1, 2}), other = of({1, 2}, {0, 1, 3}), none = of({0, 0}, {0, 1, 2});
  refusal([&] { intersection(a, other); });
  EXPECT_THROW(chi_squared(a, none), Error);
  EXPECT_THROW(earth_movers(none, a), Error);
}

// A block of cells is written to its end and no further, whatever finds the bins.
TEST(HistogramNd, CellsEndWithTheirBlock) {
  const std::vector<Bins> axes{Bins::by_formula(Formula("x"), 7), Bins::by_formula(Formula("x*2"), 9)};
  const std::vector<std::uint32_t> values(binning::CellFinder::kBlock, 1000);  // above all bins: in the last place of each axis
  const View column(values.data(), values.size(), DType::uint32);
  const binning::CellFinder finder(axes, std::vector<DType>(2, DType::uint32));
  for (const std::size_t count : {std::size_t{1}, std::size_t{5}, values.size() - 1}) {
    constexpr std::uint32_t kUntouched = 4'000'000'000;
    std::vector<std::uint32_t> cells(values.size(), kUntouched);
    finder.find(std::vector<View>{column, column}, 0, count, cells.data());
    for (std::size_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells[i] == kUntouched, i >= count) << i << " of " << count;
  }
}

}  // namespace
}  // namespace samesum
