// Sums of a few numbers of which nearly all cancel, in any order: the terms of an expansion then end in any order, too. By axis, segment
// and key, and as prefixes, on every device: the bits of the same numbers' sum alone.
#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <samesum/axes.hpp>
#include <samesum/by.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace samesum {
namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

// `count` numbers: pairs x and -x with exponents of three clusters or any, and one or two numbers that do not cancel.
template <class Real>
std::vector<Real> cancelling(hard::Random& random, std::size_t count) {
  const int low = sizeof(Real) == 4 ? -140 : -1000, high = sizeof(Real) == 4 ? 115 : 900;
  int clusters[3];
  for (int& cluster : clusters) cluster = random.between(low, high);
  const bool clustered = random.bits(1) != 0;
  std::vector<Real> all;
  while (all.size() < count) {
    const int exponent = clustered ? clusters[random.below(3)] + random.between(-3, 3) : random.between(low, high);
    const double mantissa = random.below(4) == 0 ? 1 : 1 + static_cast<double>(random.bits(24)) * 0x1p-24;
    const auto x = static_cast<Real>(std::ldexp(random.bits(1) != 0 ? mantissa : -mantissa, exponent));
    all.push_back(x);
    if (all.size() < count) all.push_back(random.below(8) == 0 ? std::nextafter(-x, Real{0}) : -x);
  }
  if (random.bits(1) != 0) all.back() = static_cast<Real>(std::ldexp(1.0, sizeof(Real) == 4 ? -149 : -1074));
  for (std::size_t i = count; i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

template <class Real>
void check(const Device& device, bool resident) {
  constexpr std::uint64_t kRows = 300;
  constexpr DType type = sizeof(Real) == 4 ? DType::float32 : DType::float64;
  const Options options{.device = device}, cpu{.device = Device::open("cpu")};
  hard::Random random(sizeof(Real));
  for (std::uint64_t size = 3; size <= 24; size += random.below(3) + 1) {
    std::vector<Real> x;
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> keys;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      const std::vector<Real> one = cancelling<Real>(random, size);
      x.insert(x.end(), one.begin(), one.end());
      offsets.push_back(x.size());
      keys.insert(keys.end(), size, static_cast<std::uint32_t>(row));
    }
    std::vector<std::uint64_t> sums, means, variances;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      const Array line = Array(x).part(row * size, size);
      sums.push_back(bits(sum(line, cpu).as_double()));
      means.push_back(bits(mean(line, cpu)));
      variances.push_back(bits(variance(line, 0, cpu)));
    }
    Array data = x;
    if (resident) {
      const Buffer buffer(device, data.bytes());
      buffer.write(x.data(), data.bytes());
      data = Array(buffer, x.size(), type);
    }
    const auto expect = [&](const Values& values, const std::vector<std::uint64_t>& expected, const char* what) {
      for (std::uint64_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(bits(values.as<double>()[row]), expected[row]) << what << " of " << size << ", row " << row;
      }
    };
    const Array rows = data.reshaped({kRows, size});
    expect(sum(rows, Axes{1}, options), sums, "sum along an axis");
    expect(mean(rows, Axes{1}, options), means, "mean along an axis");
    expect(variance(rows, Axes{1}, options), variances, "variance along an axis");
    expect(sum(rows.transposed(), Axes{0}, options), sums, "sum along the other axis");
    const By segments = by_offsets(offsets), grouped = by(keys, kRows);
    expect(sum(data, segments, options), sums, "sum by segment");
    expect(mean(data, segments, options), means, "mean by segment");
    expect(sum(data, grouped, options), sums, "sum by key");
    expect(mean(data, grouped, options), means, "mean by key");
    expect(variance(data, grouped, 0, options), variances, "variance by key");
    const Values prefixes = scan(data, {.offsets = {offsets.begin(), offsets.end() - 1}}, options);
    for (std::uint64_t i = 0; i < x.size(); i += 1 + random.below(5)) {
      const Array prefix = Array(x).part(i / size * size, i % size + 1);
      ASSERT_EQ(bits(prefixes.as<double>()[i]), bits(sum(prefix, cpu).as_double())) << "prefix " << i << " of " << size;
    }
  }
}

TEST(Cancellation, LeavesTheBitsOfTheSumAlone) {
  for (const Device& device : test::devices()) {
    for (const bool resident : {false, true}) {
      SCOPED_TRACE(device.info().selector + (resident ? ", in its memory" : ", in host memory"));
      check<float>(device, resident);
      check<double>(device, resident);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace samesum
