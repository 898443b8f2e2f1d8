// Sums and means along axes on the CPU in every instruction set: the bits of each line's sum alone.
#include "selftest/cases.hpp"
#include "support/informative.hpp"
#include "support/simd_levels.hpp"

#include <samesum/axes.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace samesum {
namespace {

enum class Data { uniform, wide, cancelling, zeros, special, one_odd };

template <class T>
T number(Data data, std::size_t i, hard::Random& random) {
  const double sign = random.bits(1) != 0 ? -1 : 1, unit = static_cast<double>(random.bits(53) + 1) * 0x1p-53;
  constexpr int kRange = sizeof(T) == 4 ? 100 : 300;
  switch (data) {
    case Data::uniform:
      return static_cast<T>(unit);
    case Data::wide:
      return static_cast<T>(std::ldexp(sign * unit, random.between(-kRange, kRange)));
    case Data::cancelling:
      return static_cast<T>(i % 2 == 0 ? std::ldexp(1.0, random.between(0, 60)) : -std::ldexp(1.0, random.between(0, 60)));
    case Data::zeros:
      return static_cast<T>(random.below(40) == 0 ? 0.0 : -0.0);
    case Data::special:
      return static_cast<T>(random.below(200) == 0   ? std::numeric_limits<double>::quiet_NaN()
                            : random.below(200) == 0 ? sign * std::numeric_limits<double>::infinity()
                                                     : unit);
    case Data::one_odd:  // among numbers of like size, now and then one that needs more terms
      return static_cast<T>(random.below(300) == 0 ? std::ldexp(sign, random.between(-kRange / 2, kRange / 2)) : sign * unit);
  }
  return 0;
}

template <class T>
void check(std::uint64_t rows, std::uint64_t columns, Data data, NanPolicy nan, hard::Random& random) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", data " + std::to_string(static_cast<int>(data)));
  std::vector<T> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = number<T>(data, i, random);
  const Array matrix(x.data(), {rows, columns}, dtype_of<T>());
  const Options options{.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = 1}};
  for (const std::size_t axis : {0u, 1u}) {
    const Values sums = sum(matrix, Axes{static_cast<std::int64_t>(axis)}, options),
                 means = mean(matrix, Axes{static_cast<std::int64_t>(axis)}, options);
    if (data == Data::uniform) {
      ASSERT_TRUE(test::informative(sums.as<double>()));
    }
    for (std::uint64_t i = 0; i < sums.size(); ++i) {
      const Array line = matrix.at(1 - axis, i);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(sums.as<double>()[i]), std::bit_cast<std::uint64_t>(sum(line, options).as_double()))
          << axis << ": " << i;
      if (nan == NanPolicy::skip) continue;  // of no elements there is no mean
      ASSERT_EQ(std::bit_cast<std::uint64_t>(means.as<double>()[i]), std::bit_cast<std::uint64_t>(mean(line, options)))
          << axis << ": " << i;
    }
  }
}

TEST(AxesOnTheCpu, InEveryInstructionSet) {
  hard::Random random(4);
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    for (const Data data : {Data::uniform, Data::wide, Data::cancelling, Data::zeros, Data::special, Data::one_odd}) {
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        // Rows shorter and longer than a vector, blocks of 64 rows and more, fewer and more columns than registers or a block hold.
        for (const auto& [rows, columns] : {std::pair(64u, 5u), {33u, 16u}, {70u, 67u}, {131u, 40u}, {40u, 130u}, {3u, 1030u}}) {
          check<float>(rows, columns, data, nan, random);
          check<double>(rows, columns, data, nan, random);
          if (HasFatalFailure()) break;
        }
      }
    }
    simd::restrict_to(best);
  }
}

// More columns than a block has, in memory that begins anywhere in a page: the first block is shorter.
TEST(AxesOnTheCpu, BlocksThatBeginWithAPage) {
  hard::Random random(5);
  for (const auto& [outer, rows, columns] : {std::tuple(1u, 70u, 2100u), {1u, 900u, 1025u}, {3u, 66u, 1500u}}) {
    for (const std::uint64_t first : {0u, 1u, 515u, 1023u}) {
      for (const std::uint32_t threads : {1u, 3u}) {
        std::vector<float> room(first + outer * rows * columns);
        for (float& x : room) x = number<float>(Data::one_odd, 0, random);
        const Array data(room.data() + first, {outer, rows, columns}, DType::float32);
        const Options options{.device = Device::open("cpu"), .tuning = {.threads = threads}};
        const Values sums = sum(data, Axes{1}, options), greatest = max(data, Axes{1}, options);
        for (std::uint64_t i = 0; i < outer * columns; i += 1 + random.below(20)) {
          const Array line = data.at(0, i / columns).at(1, i % columns);
          ASSERT_EQ(sums.as<double>()[i], sum(line, options).as_double()) << first << ": " << i;
          ASSERT_EQ(greatest.as<float>()[i], max(line, options).value.as_double()) << first << ": " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace samesum
