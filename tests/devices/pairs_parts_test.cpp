// All pairs with the y divided into parts: the parts must combine to the same result as a single one. Ties between parts go to the lowest
// index, and the rounding errors of each part are preserved.
#include "pairs/cpu/pairs_cpu.hpp"
#include "pairs/pairs_device.hpp"
#include "selftest/cases.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"

#include <samesum/device.hpp>
#include <samesum/pairs.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

struct Way {
  Device device;
  all_pairs::Configuration configuration;
  std::string label() const { return device.info().selector + " " + configuration.text(); }
};

// The CPU; and devices with kernels with groups that combine parts in one row and in several, with more parts than rows and fewer.
std::vector<Way> ways(bool doubles) {
  std::vector<Way> all;
  for (const Device& device : open_devices("all", 0)) {
    if (!device.info().has(Capability::kernels)) {
      all.push_back({device, {}});
    } else if (!doubles || device.info().has(Capability::fp64)) {
      for (const std::uint32_t size : {16u, 64u, 128u, 256u}) {
        for (const std::uint32_t parts : {1u, 2u, 5u, 37u}) {
          if (size <= device.info().max_group_size) all.push_back({device, {.group_size = size, .parts = parts}});
        }
      }
    }
  }
  return all;
}

void run_pairs(const Way& way, const all_pairs::Problem& problem, void* c) {
  if (!way.device.info().has(Capability::kernels)) return all_pairs::pairs_on_cpu(problem, {c}, 0);
  device::Device& device = way.device.implementation();
  const std::lock_guard lock(device.mutex());
  all_pairs::DevicePairs(device, problem, way.configuration).run(0, problem.x_count, {c});
}

all_pairs::Problem problem_of(std::span<const double> a, std::span<const double> b, PairsProblem options) {
  return all_pairs::checked(Array(a), Array(b), options);
}

// The first half of the products nearly cancels the second: each part's sum is large, and their total small.
TEST(PairsInParts, CompensatedSumsKeepWhatPartsRoundAway) {
  constexpr std::size_t kCount = std::size_t{1} << 17;
  hard::Random random(3);
  const std::vector<double> a = {1, 0.75, -0x1p-3};
  std::vector<double> b(kCount);
  for (std::size_t i = 0; i < kCount / 2; ++i) {
    b[i] = 1 + static_cast<double>(random.bits(52)) * 0x1p-52;
    b[kCount / 2 + i] = -b[i] + static_cast<double>(random.bits(20)) * 0x1p-60;
  }
  const double total = test::add_each(std::span<const double>(b)).round();
  ASSERT_TRUE(test::informative(total));
  PairsProblem options;
  options.accuracy = PairAccuracy::compensated;
  const all_pairs::Problem problem = problem_of(a, b, options);
  for (const Way& way : ways(true)) {
    std::vector<double> c(a.size(), -1);
    run_pairs(way, problem, c.data());
    for (std::size_t x = 0; x < a.size(); ++x) {
      // 2 u |C| + (2 k u)^2 F, where F is the sum of magnitudes.
      const double u = 0x1p-53, k = kCount, bound = std::fabs(a[x]) * (2 * u * std::fabs(total) + 4 * k * k * u * u * 1.5 * k);
      ASSERT_LT(bound, std::fabs(a[x] * total) * 1e-6) << "the bound says something";
      EXPECT_NEAR(c[x], a[x] * total, bound) << way.label();
    }
  }
}

TEST(PairsInParts, TiesGoToTheLowestIndex) {
  constexpr std::size_t kCount = 6000;
  const std::vector<double> a = {0, 1, -3, 1e6};
  for (const std::vector<std::size_t>& places :
       {std::vector<std::size_t>{5999}, {0, 5999}, {1, 2, 3}, {700, 701, 3000, 5000}, {2999, 3000}, {4000, 5500}, {160, 330, 490, 2500}}) {
    for (const double other : {50.0, 0x1p30}) {  // these positions have the greatest numbers, or all others have
      std::vector<double> b(kCount, other);
      for (const std::size_t place : places) b[place] = 0x1p20;
      PairsProblem options;
      options.f = PairFunction::difference;  // least where b is greatest
      options.reduction = PairReduction::argmin;
      const all_pairs::Problem problem = problem_of(a, b, options);
      const std::int64_t expected = std::max_element(b.begin(), b.end()) - b.begin();
      for (const Way& way : ways(true)) {
        std::vector<std::int64_t> c(a.size(), -1);
        run_pairs(way, problem, c.data());
        EXPECT_EQ(c, std::vector<std::int64_t>(a.size(), expected)) << way.label() << ", " << places.front();
      }
    }
  }
}

}  // namespace
}  // namespace samesum
