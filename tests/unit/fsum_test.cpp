// The test vectors of CPython's math.fsum.
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace samesum {
namespace {

template <class Term>
std::vector<double> series(int first, int end, int step, const Term& term) {
  std::vector<double> values;
  for (int n = first; n < end; n += step) values.push_back(term(n));
  return values;
}

// Lib/test/test_math.py, testFsum: each with the correctly rounded sum.
std::vector<std::pair<std::vector<double>, double>> fsum_vectors() {
  const double big = 0x1p53;
  std::vector<double> wide = series(-1074, 972, 2, [](int n) { return std::ldexp(1, n) - std::ldexp(1, n + 50) + std::ldexp(1, n + 52); });
  wide.push_back(-0x1p1022);
  return {{{}, 0.0},
          {{0.0}, 0.0},
          {{1e100, 1.0, -1e100, 1e-100, 1e50, -1.0, -1e50}, 1e-100},
          {{big, -0.5, -0x1p-54}, big - 1},
          {{big, 1.0, 0x1p-100}, big + 2},
          {{big + 10, 1.0, 0x1p-100}, big + 12},
          {{big - 4, 0.5, 0x1p-54}, big - 3},
          {series(1, 1001, 1, [](int n) { return 1.0 / n; }), 0x1.df11f45f4e61ap+2},
          {series(1, 1001, 1, [](int n) { return (n % 2 == 0 ? 1.0 : -1.0) / n; }), -0x1.62a2af1bd3624p-1},
          {{1e16, 1.0, 1e-16}, 10000000000000002.0},
          {{1e16 - 2, 1 - 0x1p-53, -(1e16 - 2), -(1 - 0x1p-53)}, 0.0},
          {wide, 0x1.5555555555555p+970}};
}

TEST(Fsum, Vectors) {
  for (const Device& device : open_devices("all", 0)) {
    for (const auto& [values, expected] : fsum_vectors()) {
      const Array view{std::span<const double>(values)};
      const std::uint64_t wanted = std::bit_cast<std::uint64_t>(expected);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sum(values, {.device = device})), wanted) << device.info().selector << ", " << values.size();
      EXPECT_EQ(std::bit_cast<std::uint64_t>(collect(view, {}, {.device = device}).sum().round()), wanted)
          << device.info().selector << ", " << values.size();
    }
  }
}

}  // namespace
}  // namespace samesum
