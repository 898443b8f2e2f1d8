// Results decided by the smallest differences: roundings at a tie, equal extremes at several indices, edges at the limits of a type.
#include "exact/big_integer.hpp"
#include "reduce/collect.hpp"
#include "reduce/cpu/collect_cpu_partial.hpp"
#include "selftest/cases.hpp"

#include <samesum/device.hpp>
#include <samesum/histogram.hpp>
#include <samesum/statistics.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

// 5t is the midpoint of two doubles, of which the lower is even; the third element, however small, moves the root above it.
TEST(Ties, OfANormAreDecidedByTheLeastElement) {
  const double t = 0x1p51 + 1;
  ASSERT_EQ(3 * t / 3, t);
  ASSERT_EQ(static_cast<std::uint64_t>(t) * 5 % 4, 1u);
  const double even = 5 * 0x1p51 + 4, above = 5 * 0x1p51 + 6;
  ASSERT_EQ(std::nextafter(even, above), above);
  const Device cpu = Device::open("cpu");
  const std::vector<double> tie = {3 * t, 4 * t}, more = {3 * t, 4 * t, 0x1p-500}, less = {std::nextafter(3 * t, 0.0), 4 * t, 0x1p-500};
  EXPECT_EQ(collect(std::span<const double>(tie), {}, {.device = cpu}).norm(), even);
  EXPECT_EQ(collect(std::span<const double>(more), {}, {.device = cpu}).norm(), above);
  EXPECT_EQ(collect(std::span<const double>(less), {}, {.device = cpu}).norm(), even);
}

// A thread may get the parts of an array in any order, here the last one first; the index is that of the first of equal elements.
template <class T>
void check_order(const std::vector<T>& values, DType type, Fields fields, std::uint64_t least, std::uint64_t greatest,
                 std::uint64_t first_nan) {
  const Array data(values.data(), values.size(), type);
  constexpr std::uint64_t kPart = 4096;
  for (const bool several : {false, true}) {  // on one thread, or one per part, merged in that order too
    Statistics::Contents contents;
    statistics::Extremes all;
    statistics::Partial one(type, fields);
    for (std::uint64_t first = values.size() / kPart * kPart;; first -= kPart) {
      const std::uint64_t count = std::min(kPart, values.size() - first);
      if (several) {
        statistics::Partial part(type, fields);
        part.add(data, first, count);
        part.finish(contents, all);
      } else {
        one.add(data, first, count);
      }
      if (first == 0) break;
    }
    if (!several) one.finish(contents, all);
    EXPECT_EQ(all.min_index, least) << several;
    EXPECT_EQ(all.max_index, greatest) << several;
    if (first_nan != values.size()) {
      EXPECT_EQ(all.first_nan, first_nan) << several;
    }
  }
}

TEST(Ties, OfExtremesGoToTheLowestIndexInAnyOrder) {
  for (const bool sums : {false, true}) {  // with sums and squares float32 has its own loop
    const Fields fields{true, sums, sums, false};
    std::vector<float> floats(5 * 4096 + 100, 1.0F);
    for (const std::size_t i : {700, 6000, 9000, 20400}) floats[i] = -2.5F;
    for (const std::size_t i : {350, 5000, 5001, 12000, 20500}) floats[i] = 7.5F;
    check_order(floats, DType::float32, fields, 700, 350, floats.size());
    for (const std::size_t i : {16000, 300, 8000}) floats[i] = std::numeric_limits<float>::quiet_NaN();
    check_order(floats, DType::float32, fields, 700, 350, 300);
    std::vector<double> doubles(floats.begin(), floats.end());
    check_order(doubles, DType::float64, fields, 700, 350, 300);
    std::vector<std::int32_t> integers(floats.size(), 1);
    for (const std::size_t i : {4100, 6000, 9000}) integers[i] = -5;
    for (const std::size_t i : {4500, 20000}) integers[i] = 5;
    check_order(integers, DType::int32, fields, 4100, 4500, integers.size());
  }
}

// A sum, squares and extremes of float32 are found in one go, block by block; only blocks with a new extreme are looked at again. The least
// stands at each place of the third block, the greatest in the fourth one.
TEST(Ties, ExtremesOfABlockAreFoundWhereverTheyStand) {
  constexpr std::size_t kBlock = statistics::kProductBlock;
  for (std::size_t place = 0; place < kBlock; ++place) {
    std::vector<float> values(4 * kBlock);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<float>(i * 37 % 1000) / 1024;
    const std::size_t least = 2 * kBlock + place, greatest = 3 * kBlock + (place + kBlock / 2 + 5) % kBlock;
    values[least] = 0.5F;
    values[greatest] = 3;
    statistics::Partial partial(DType::float32, {true, true, true, false});
    partial.add(std::span<const float>(values), 0, values.size());
    Statistics::Contents contents;
    statistics::Extremes extremes;
    partial.finish(contents, extremes);
    ASSERT_EQ(extremes.min_index, least);
    ASSERT_EQ(extremes.max_index, greatest);
  }
}

// The last bin is closed: where its edge is the greatest integer of the type, no sample is above it.
template <class T>
void check_last_edge(DType type) {
  const auto greatest = std::numeric_limits<T>::max();
  const std::vector<T> values = {greatest, static_cast<T>(greatest - 1), static_cast<T>(greatest - 2), greatest, 0, 1};
  const double top = static_cast<double>(greatest);
  ASSERT_EQ(static_cast<long double>(top), static_cast<long double>(greatest)) << "the edge is the integer itself";
  for (const Bins& bins : {Bins::between({0, 1, top - 1, top}), Bins::even(0, top, 3)}) {
    for (const Device& device : open_devices("all", 0)) {
      const Histogram counted = histogram(Array(values.data(), values.size(), type), bins, {.device = device});
      EXPECT_EQ(counted.over(), 0u) << device.info().selector << ", " << name_of(type);
      EXPECT_EQ(counted.under(), 0u) << device.info().selector << ", " << name_of(type);
      EXPECT_GE(counted.counts().back(), 3u) << device.info().selector << ", " << name_of(type);
    }
  }
  // With an edge less by one, the greatest is above it.
  for (const Device& device : open_devices("all", 0)) {
    const Histogram counted = histogram(Array(values.data(), values.size(), type), Bins::between({0, 1, top - 1}), {.device = device});
    EXPECT_EQ(counted.over(), 2u) << device.info().selector << ", " << name_of(type);
  }
}

TEST(Ties, AtTheGreatestIntegerBelongToTheLastBin) {
  check_last_edge<std::int8_t>(DType::int8);
  check_last_edge<std::uint8_t>(DType::uint8);
  check_last_edge<std::int16_t>(DType::int16);
  check_last_edge<std::uint16_t>(DType::uint16);
  check_last_edge<std::int32_t>(DType::int32);
  check_last_edge<std::uint32_t>(DType::uint32);
}

}  // namespace
}  // namespace samesum
