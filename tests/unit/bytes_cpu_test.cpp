// The CPU's ways of counting bytes, with each instruction set.
#include "histogram/cpu/count.hpp"
#include "selftest/cases.hpp"
#include "support/simd_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace samesum {
namespace {

using hard::Random;

std::uint8_t clamp(std::int64_t value) { return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255)); }

// A sum of uniform numbers, nearly normal, whose standard deviation is 1.15 times `width`.
std::uint8_t near_middle(Random& random, std::uint64_t width) {
  std::int64_t sum = 128 - static_cast<std::int64_t>(2 * width);
  for (int i = 0; i < 4; ++i) sum += static_cast<std::int64_t>(random.below(width + 1));
  return clamp(sum);
}

struct Kind {
  std::string name;
  std::uint8_t (*value)(Random&, std::size_t);
};

// Each way of counting is the fastest for some of them; counters of 8 and of 16 bits wrap around, and those of 8 bits start again.
const Kind kKinds[] = {
    {"uniform", [](Random& random, std::size_t) { return static_cast<std::uint8_t>(random.bits(8)); }},
    {"wide", [](Random& random, std::size_t) { return near_middle(random, 50); }},
    {"narrow", [](Random& random, std::size_t) { return near_middle(random, 4); }},
    {"two values", [](Random& random, std::size_t) { return static_cast<std::uint8_t>(random.bits(1) * 255); }},
    {"one value most", [](Random& random, std::size_t) { return static_cast<std::uint8_t>(random.below(4) != 0 ? 255 : random.bits(8)); }},
    {"one value often", [](Random& random, std::size_t) { return static_cast<std::uint8_t>(random.below(3) == 0 ? 255 : random.bits(8)); }},
    {"opposite", [](Random& random, std::size_t i) { return static_cast<std::uint8_t>(random.bits(7) + i / 32 % 2 * 128); }},
    {"one value", [](Random&, std::size_t) { return std::uint8_t{77}; }},
    {"runs", [](Random& random, std::size_t i) { return static_cast<std::uint8_t>(i / 300 % 2 == 0 ? i / 300 : random.bits(8)); }},
    {"rising", [](Random&, std::size_t i) { return static_cast<std::uint8_t>(i); }},
};

class BytesCpu : public test::AtSimdLevel {};

TEST_P(BytesCpu, AllKindsAreRight) {
  std::vector<std::uint8_t> all;
  for (const Kind& kind : kKinds) {
    Random random(5);
    std::vector<std::uint8_t> bytes(5'000'003);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = kind.value(random, i);
    std::vector<std::uint64_t> right(256);
    const View data(bytes.data() + 1, bytes.size() - 1, DType::uint8);
    for (std::size_t i = 1; i < bytes.size(); ++i) ++right[bytes[i]];
    for (const std::uint32_t threads : {1u, 3u}) EXPECT_EQ(binning::count_bytes_on_cpu(data, 1, threads), right) << kind.name;
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  // One after the other, by the same counters.
  std::vector<std::uint64_t> right(256);
  for (const std::uint8_t byte : all) ++right[byte];
  EXPECT_EQ(binning::count_bytes_on_cpu(View(all.data(), all.size(), DType::uint8), 1, 1), right);
}

TEST_P(BytesCpu, AllSizesAreRight) {
  Random random(6);
  std::vector<std::uint8_t> bytes(300'000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits(8));
  for (const std::size_t size : {0u, 1u, 63u, 255u, 256u, 1000u, 262'143u, 262'144u, 262'400u, 299'999u}) {
    std::vector<std::uint64_t> right(256);
    for (std::size_t i = 0; i < size; ++i) ++right[bytes[i]];
    EXPECT_EQ(binning::count_bytes_on_cpu(View(bytes.data(), size, DType::uint8), 1, 1), right) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, BytesCpu, testing::ValuesIn(test::simd_levels()), BytesCpu::name);

}  // namespace
}  // namespace samesum
