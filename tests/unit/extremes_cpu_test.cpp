// Extremes, their first positions, zeros and NaNs on the CPU with each instruction set of this processor: of arrays that are read in
// several places, with few values, so that extremes are there many times, or with rare ones.
#include "reduce/cpu/extremes_cpu.hpp"
#include "core/float_environment.hpp"
#include "core/half.hpp"
#include "selftest/cases.hpp"
#include "support/simd_levels.hpp"

#include <samesum/types.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace samesum::statistics {
namespace {

// Elements one by one, each in a call of its own.
Extremes one_by_one(const std::vector<std::byte>& bytes, DType type) {
  Extremes all;
  for (std::size_t i = 0; i < bytes.size() / size_of(type); ++i) {
    Extremes one;
    add_extremes(bytes.data() + i * size_of(type), 1, type, i, true, one);
    all.merge(one);
  }
  return all;
}

class ExtremesCpu : public test::AtSimdLevel {};

TEST_P(ExtremesCpu, OfLongArrays) {
  const core::DefaultFloatEnvironment environment;
  hard::Random random(11);
  for (const DType type :
       {DType::float16, DType::bfloat16, DType::float32, DType::float64, DType::int8, DType::uint16, DType::int32, DType::uint64}) {
    const std::size_t size = size_of(type), count = (3 << 16) / size + 1235;
    for (int kind = 0; kind < 4; ++kind) {  // few values; a rare one among many; the same and NaNs; random bits
      std::vector<std::byte> bytes(count * size + 1);
      std::byte* const first = bytes.data() + kind % 2;  // aligned or not
      const auto set = [&](std::size_t i, double value, std::uint64_t bits) {
        if (type == DType::float32) {
          const auto number = static_cast<float>(value);
          std::memcpy(first + i * size, &number, size);
        } else if (type == DType::float64) {
          std::memcpy(first + i * size, &value, size);
        } else {
          std::memcpy(first + i * size, &bits, size);
        }
      };
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random.bits();
        if (kind == 3) {
          std::memcpy(first + i * size, &bits, size);
        } else {
          set(i, static_cast<double>(bits % 5) - 2, bits % 5 + 64);
        }
      }
      if (kind == 1 || kind == 2) {
        for (int n = 0; n < 3; ++n) {
          set(random.bits() % count, 9, 127);
          set(random.bits() % count, -9, 1);
        }
      }
      if (kind == 2 && !is_integer(type)) {
        for (int n = 0; n < 5; ++n) {
          const std::uint64_t nan = ~std::uint64_t{0};
          std::memcpy(first + random.bits() % count * size, &nan, size);
        }
      }
      Extremes found;
      add_extremes(first, count, type, 0, true, found);
      const Extremes expected = one_by_one(std::vector<std::byte>(first, first + count * size), type);
      const std::string what = std::string(name_of(type)) + ", kind " + std::to_string(kind);
      EXPECT_EQ(found.min, expected.min) << what;
      EXPECT_EQ(found.max, expected.max) << what;
      EXPECT_EQ(found.min_index, expected.min_index) << what;
      EXPECT_EQ(found.max_index, expected.max_index) << what;
      EXPECT_EQ(found.first_nan, expected.first_nan) << what;
      EXPECT_EQ(found.nan_count, expected.nan_count) << what;
      EXPECT_EQ(found.zeros, expected.zeros) << what;
      EXPECT_EQ(found.count, expected.count) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ExtremesCpu, testing::ValuesIn(test::simd_levels()), test::AtSimdLevel::name);

}  // namespace
}  // namespace samesum::statistics
