// Reductions and histograms of tiles against those of each tile's elements alone.
#include "support/histograms.hpp"
#include "support/informative.hpp"

#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>
#include <samesum/tiles.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace samesum {
namespace {

using hard::Random;
using test::refusal;

// A matrix of float32 with sums that cancel, in rows that are longer than what is used of them.
struct Matrix {
  Matrix(std::uint64_t rows_, std::uint64_t columns_, Random& random)
      : rows(rows_), columns(columns_), numbers(rows_ * (columns_ + 3) + 1) {
    for (float& one : numbers) {
      one = std::ldexp(static_cast<float>(random.between(-1000, 1000)), random.between(-30, 60));
      if (random.below(400) == 0) one = -0.0f;
    }
  }
  Array array() const { return {numbers.data() + 1, {rows, columns}, DType::float32, {static_cast<std::int64_t>(4 * (columns + 3)), 4}}; }
  std::uint64_t rows, columns;
  std::vector<float> numbers;
};

// The elements of the tile at a row and a column of tiles.
Array tile_at(const Array& matrix, std::uint64_t height, std::uint64_t width, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t y = row * height, x = column * width;
  return matrix.slice(0, y, std::min(height, matrix.shape()[0] - y)).slice(1, x, std::min(width, matrix.shape()[1] - x));
}

struct Size {
  std::uint64_t rows, columns, height, width;
};
constexpr Size kSizes[] = {{48, 64, 16, 16}, {50, 67, 16, 16}, {5, 7, 16, 16}, {1, 100, 1, 9},
                           {33, 1, 4, 1},    {64, 40, 64, 1},  {17, 19, 1, 1}};

TEST(Tiles, ReductionsHaveTheBitsOfEachTileAlone) {
  Random random(1);
  for (const Device& device : test::devices()) {
    for (const auto& [rows, columns, height, width] : kSizes) {
      const Matrix matrix(rows, columns, random);
      const Array data = matrix.array();
      const Options options = {.device = device};
      const Values sums = tile_reduction(data, AxisReduction::sum, {height, width}, options);
      const Values least = tile_reduction(data, AxisReduction::min, {height, width}, options);
      const Values where = tile_reduction(data, AxisReduction::argmax, {height, width}, options);
      const std::uint64_t across = (columns + width - 1) / width, down = (rows + height - 1) / height;
      ASSERT_EQ(sums.shape(), (std::vector<std::uint64_t>{down, across}));
      ASSERT_TRUE(test::informative(sums.as<double>()));
      for (std::uint64_t i = 0; i < down; ++i) {
        for (std::uint64_t k = 0; k < across; ++k) {
          const Array tile = tile_at(data, height, width, i, k);
          const double sum = accumulate(tile, options).round(), found = sums.as<double>()[i * across + k];
          ASSERT_EQ(std::memcmp(&sum, &found, 8), 0) << i << ", " << k << " of " << rows << " x " << columns;
          ASSERT_EQ(least.as<float>()[i * across + k], static_cast<float>(min(tile, options).value.as_double()));
          ASSERT_EQ(where.as<std::uint64_t>()[i * across + k], max(tile, options).index);
        }
      }
    }
  }
}

TEST(Tiles, HistogramsAreThoseOfEachTileAlone) {
  Random random(2);
  for (const Device& device : test::devices()) {
    for (const auto& [rows, columns, height, width] : kSizes) {
      for (const Bins& bins :
           {Bins::even(-1, 1, 20), Bins::logarithmic(1e-6, 1e6, 40), Bins::by_formula(Formula("clz(x)"), 33), Bins::each_value(0, 255)}) {
        for (const DType type : {DType::uint8, DType::int16, DType::float32, DType::int32, DType::float64}) {
          if (bins.formula() != nullptr && !is_integer(type)) continue;
          const test::Samples samples = test::samples_around(type, bins, rows * (columns + 5), random);
          const auto size = static_cast<std::int64_t>(size_of(type));
          const Array data(samples.bytes.data() + 2 * size, {rows, columns}, type, {static_cast<std::int64_t>(columns + 5) * size, size});
          const TileHistograms found = tile_histograms(data, bins, {height, width}, {.device = device});
          const std::uint64_t across = (columns + width - 1) / width;
          for (std::uint64_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(found.histogram(i),
                      histogram(tile_at(data, height, width, i / across, i % across), bins, {.device = Device::open("cpu")}))
                << "tile " << i << " of " << rows << " x " << columns << " " << name_of(type) << ", " << bins.kind() << " on "
                << device.info().selector;
          }
          const TileHistograms transposed = tile_histograms(data.transposed(), bins, {width, height}, {.device = device});
          ASSERT_EQ(transposed.histogram(0), found.histogram(0));
        }
      }
    }
  }
}

TEST(Tiles, SlicesOfAVolumeHaveTilesOfTheirOwn) {
  std::vector<std::int32_t> numbers(3 * 10 * 12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i * i);
  const Array volume(numbers.data(), {3, 10, 12}, DType::int32);
  for (const Device& device : test::devices()) {
    const Values sums = tile_reduction(volume, AxisReduction::sum, {4, 5}, {.device = device});
    EXPECT_EQ(sums.shape(), (std::vector<std::uint64_t>{3, 3, 3}));
    const TileHistograms counts = tile_histograms(volume, Bins::even(0, 1e5, 7), {4, 5}, {.device = device});
    EXPECT_EQ(counts.shape(), sums.shape());
    for (std::uint64_t i = 0; i < 27; ++i) {
      const Array tile = tile_at(volume.at(0, i / 9), 4, 5, i / 3 % 3, i % 3);
      EXPECT_EQ(sums.as<std::int64_t>()[i], accumulate(tile).to_int64());
      EXPECT_EQ(counts.histogram(i), histogram(tile, Bins::even(0, 1e5, 7)));
    }
    const Values blocks = tile_reduction(volume, AxisReduction::sum, {2, 10, 12}, {.device = device});
    EXPECT_EQ(blocks.shape(), (std::vector<std::uint64_t>{2, 1, 1}));
    EXPECT_EQ(blocks.as<std::int64_t>()[1], accumulate(volume.at(0, 2)).to_int64());
    const TileHistograms of_blocks = tile_histograms(volume, Bins::even(0, 1e5, 7), {2, 10, 12}, {.device = device});
    EXPECT_EQ(of_blocks.histogram(1), histogram(volume.at(0, 2), Bins::even(0, 1e5, 7)));
  }
}

// Few tiles are counted by several groups each, bins without room in local memory in global memory.
TEST(Tiles, FewLargeOnesAndManyBins) {
  Random random(7);
  std::vector<float> numbers(300 * 700);
  for (float& one : numbers) one = std::ldexp(static_cast<float>(random.bits(20)), -20);
  const Array data(numbers.data(), {300, 700}, DType::float32);
  for (const Bins& bins : {Bins::even(0, 1, 50), Bins::even(0, 1, 20000)}) {
    const TileHistograms right = tile_histograms(data, bins, {200, 600}, {.device = Device::open("cpu")});
    EXPECT_EQ(right.histogram(3), histogram(data.slice(0, 200, 100).slice(1, 600, 100), bins));
    for (const Device& device : test::devices()) {
      EXPECT_EQ(tile_histograms(data, bins, {200, 600}, {.device = device}), right) << device.info().selector;
      // In the device's memory, not from its beginning, two arrays of four axes.
      const Buffer there(device, 4 * numbers.size());
      there.write(numbers.data(), 4 * numbers.size());
      const Array volumes = Array(there, {7, 10, 30, 100}, DType::float32).slice(0, 1, 6).slice(1, 2, 7);
      const Array here = Array(numbers.data(), {7, 10, 30, 100}, DType::float32).slice(0, 1, 6).slice(1, 2, 7);
      EXPECT_EQ(tile_histograms(volumes, bins, {16, 32}), tile_histograms(here, bins, {16, 32}, {.device = Device::open("cpu")}));
    }
  }
}

TEST(Tiles, ManyOnSeveralThreads) {
  std::vector<std::uint8_t> image(1000 * 1300);
  Random random(4);
  for (std::uint8_t& one : image) one = static_cast<std::uint8_t>(random.bits(8));
  const Array data(image.data(), {1000, 1300}, DType::uint8);
  const Bins bins = Bins::each_value(DType::uint8);
  const TileHistograms one = tile_histograms(data, bins, {16, 16}, {.device = Device::open("cpu"), .tuning = {.threads = 1}});
  ASSERT_TRUE(test::informative_counts(one.histogram(0).counts()));
  EXPECT_EQ(tile_histograms(data, bins, {16, 16}, {.device = Device::open("cpu"), .tuning = {.threads = 4}}), one);
  for (const Device& device : test::devices()) EXPECT_EQ(tile_histograms(data, bins, {16, 16}, {.device = device}), one);
  const TileHistograms large = tile_histograms(data, bins, {300, 431}, {.device = Device::open("cpu"), .tuning = {.threads = 3}});
  for (std::uint64_t i = 0; i < large.size(); ++i) EXPECT_EQ(large.histogram(i), histogram(tile_at(data, 300, 431, i / 4, i % 4), bins));
  Histogram all(bins);
  for (std::uint64_t i = 0; i < one.size(); ++i) all += one.histogram(i);
  EXPECT_EQ(all, histogram(data, bins));
}

TEST(Tiles, WithoutElementsAndWhatIsRefused) {
  const Array none(nullptr, {0, 5}, DType::float32);
  EXPECT_EQ(tile_reduction(none, AxisReduction::sum, {4, 4}).shape(), (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(tile_histograms(none, Bins::even(0, 1, 2), {4, 4}).size(), 0u);
  const std::vector<float> x(6);
  const Array matrix(x.data(), {2, 3}, DType::float32);
  refusal([&] { tile_reduction(matrix, AxisReduction::sum, {4, 0}); });
  refusal([&] { tile_reduction(matrix, AxisReduction::sum, Tile(std::vector<std::uint64_t>{})); });
  refusal([&] { tile_reduction(x, AxisReduction::sum, {2, 2}); });
  refusal([&] { tile_histograms(matrix, Bins::even(0, 1, 2), {1, 1}).histogram(6); });
  std::vector<std::uint8_t> many(1 << 20);
  refusal([&] { tile_histograms(many, Bins::even(0, 1, 1000), {1}); });
}

}  // namespace
}  // namespace samesum
