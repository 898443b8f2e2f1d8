// Vectors that are added up over ranks as integers (samesum/element_words.hpp): the bits of each sum by itself, on every device.
#include "support/devices.hpp"
#include "support/scans.hpp"

#include <samesum/element_words.hpp>
#include <samesum/error.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::bits_of;
using Bits = std::vector<std::uint64_t>;

constexpr std::uint64_t kGuard = 0x5a5a5a5a5a5a5a5aU;

// `bits` as elements of a type behind `skip` others, in the memory of a device.
Array on(const Device& device, const Bits& bits, DType type, std::uint64_t skip = 0) {
  const std::size_t size = size_of(type);
  std::vector<std::byte> bytes((bits.size() + skip + 1) * size);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&bytes[(i + skip) * size], &bits[i], size);  // the lowest bytes come first
  const Buffer buffer(device, bytes.size());
  buffer.write(bytes.data(), bytes.size());
  return Array(buffer, bits.size() + skip, type).part(skip, bits.size());
}

Bits read(const Array& array) {
  const std::size_t size = size_of(array.type());
  std::vector<std::byte> bytes(array.size() * size);
  if (!bytes.empty()) array.buffer().read(bytes.data(), bytes.size(), array.offset());
  Bits bits(array.size());
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&bits[i], &bytes[i * size], size);
  return bits;
}

// What ranks with these vectors have after an all-reduce: x of the first rank, and which pieces did not fit.
struct Reduced {
  Bits x;
  Bits misfits;
};
Reduced reduced(const Device& device, DType type, const std::vector<Bits>& ranks) {
  ElementWords convert(device, type, static_cast<std::uint32_t>(ranks.size()));
  const std::uint64_t count = ranks.front().size();
  std::vector<Array> x;
  Bits greatest(ElementWords::pieces(count), std::bit_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min()));
  for (const Bits& rank : ranks) {
    x.push_back(on(device, rank, type, x.size() % 3));
    const Array exponents = on(device, Bits(ElementWords::pieces(count) + 2, kGuard), DType::int64).part(1, ElementWords::pieces(count));
    convert.exponents(x.back(), exponents);
    const Bits found = read(exponents);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (static_cast<std::int64_t>(found[i]) > static_cast<std::int64_t>(greatest[i])) greatest[i] = found[i];
    }
  }
  const Array exponents = on(device, greatest, DType::int64);
  Bits sums(ElementWords::size(count));
  for (const Array& each : x) {
    const Array all = on(device, Bits(ElementWords::size(count) + 2, kGuard), DType::int64);
    convert.words(each, exponents, all.part(1, ElementWords::size(count)));
    const Bits found = read(all);
    EXPECT_EQ(found.front(), kGuard);
    EXPECT_EQ(found.back(), kGuard);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += found[i + 1];
  }
  convert.round(on(device, sums, DType::int64), exponents, x.front());
  return {read(x.front()), Bits(sums.begin() + static_cast<std::ptrdiff_t>(count), sums.end())};
}

// Numbers within 2^spread of each other, with zeros of both signs.
template <class T>
std::vector<std::vector<T>> numbers(std::size_t ranks, std::size_t count, int middle, int spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<T>> all(ranks, std::vector<T>(count));
  for (auto& rank : all) {
    for (T& x : rank) {
      const auto kind = random() % 8;
      x = static_cast<T>(std::ldexp(std::uniform_real_distribution<T>(-1, 1)(random),
                                    middle + static_cast<int>(random() % static_cast<unsigned>(spread + 1)) - spread / 2));
      if (kind == 0) x = -T{0};
      if (kind == 1) x = T{0};
    }
  }
  return all;
}

template <class T>
void compare(DType type, int middle, int spread, bool all_fit) {
  for (const Device& device : test::devices()) {
    for (const std::size_t ranks : {2, 7}) {
      for (const std::size_t count : {0, 1, 1023, 1024, 1025, 5000}) {
        SCOPED_TRACE(device.info().selector + ", " + std::string(name_of(type)) + ", " + std::to_string(ranks) + " ranks, " +
                     std::to_string(count));
        const auto all = numbers<T>(ranks, count, middle, spread, static_cast<unsigned>(count + ranks));
        std::vector<Bits> bits;
        for (const auto& rank : all) {
          bits.emplace_back();
          for (const T x : rank) bits.back().push_back(bits_of(x));
        }
        const Reduced found = reduced(device, type, bits);
        ASSERT_EQ(found.x.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
          if (found.misfits[i / ElementWords::kPiece] != 0) {
            ASSERT_FALSE(all_fit);
            ASSERT_EQ(found.x[i], bits[0][i]) << "stays as it is";
            continue;
          }
          std::vector<T> column;
          for (const auto& rank : all) column.push_back(rank[i]);
          const Accumulator sum = accumulate(column);
          const T right = sizeof(T) == 4 ? static_cast<T>(sum.round_to_float()) : static_cast<T>(sum.round());
          ASSERT_EQ(found.x[i], bits_of(right)) << i;
        }
      }
    }
  }
}

TEST(ElementWords, HasTheBitsOfEachSum) {
  compare<float>(DType::float32, 0, 20, true);
  compare<float>(DType::float32, -140, 12, true);  // subnormal numbers
  compare<float>(DType::float32, 126, 4, true);    // sums beyond the greatest number
  compare<float>(DType::float32, 0, 100, false);   // of which most pieces do not fit
  compare<double>(DType::float64, 0, 2, true);
  compare<double>(DType::float64, -1070, 8, true);
  compare<double>(DType::float64, 1022, 2, true);
}

// Of all finite 16-bit floats, on every device those of the CPU, which tests/python compares with fractions.
TEST(ElementWords, NarrowFloatsAreThoseOfTheCpu) {
  std::mt19937_64 random(5);
  for (const DType type : {DType::float16, DType::bfloat16}) {
    std::vector<Bits> ranks(3);
    for (Bits& rank : ranks) {
      for (std::uint64_t i = 0; i < 65536; ++i) rank.push_back(type == DType::float16 ? (random() & 0xffff) : 0x3c00 + (random() & 0x83ff));
    }
    const Reduced right = reduced(Device::open("cpu"), type, ranks);
    EXPECT_EQ(std::ranges::count(right.misfits, 0u), type == DType::bfloat16 ? 64 : 0);
    for (const Device& device : test::devices()) {
      SCOPED_TRACE(device.info().selector);
      const Reduced found = reduced(device, type, ranks);
      EXPECT_EQ(found.x, right.x);
      EXPECT_EQ(found.misfits, right.misfits);
    }
  }
}

TEST(ElementWords, PiecesThatDoNotFitAreTold) {
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    std::vector<Bits> ranks(2, Bits(4000, bits_of(1.5)));
    ranks[0][0] = bits_of(std::numeric_limits<double>::quiet_NaN());
    ranks[1][1030] = bits_of(0x1p-60);
    ranks[0][3999] = bits_of(-std::numeric_limits<double>::infinity());
    const Reduced found = reduced(device, DType::float64, ranks);
    EXPECT_EQ((Bits{found.misfits[0] != 0, found.misfits[1] != 0, found.misfits[2] != 0, found.misfits[3] != 0}), (Bits{1, 1, 0, 1}));
    EXPECT_EQ(found.x[0], ranks[0][0]);
    EXPECT_EQ(found.x[1030], bits_of(1.5));
    EXPECT_EQ(found.x[2500], bits_of(3.0));
  }
}

TEST(ElementWords, RefusesWhatItCannotUse) {
  const Device cpu = Device::open("cpu");
  EXPECT_THROW(ElementWords(cpu, DType::int32, 2), Error);
  EXPECT_THROW(ElementWords(cpu, DType::float32, 0), Error);
  EXPECT_THROW(ElementWords(cpu, DType::float32, ElementWords::kMaxRanks + 1), Error);
  ElementWords convert(cpu, DType::float32, 2);
  const Array x = on(cpu, Bits(2000), DType::float32), exponents = on(cpu, Bits(2), DType::int64),
              words = on(cpu, Bits(2002), DType::int64);
  convert.words(x, exponents, words);
  EXPECT_THROW(convert.words(x, on(cpu, Bits(1), DType::int64), words), Error);
  EXPECT_THROW(convert.words(x, exponents, on(cpu, Bits(2001), DType::int64)), Error);
  EXPECT_THROW(convert.words(on(cpu, Bits(2000), DType::float64), exponents, words), Error);
  EXPECT_THROW(convert.exponents(x, on(cpu, Bits(2), DType::float64)), Error);
  const std::vector<float> host(2000);
  EXPECT_THROW(convert.exponents(host, exponents), Error);
}

}  // namespace
}  // namespace samesum
