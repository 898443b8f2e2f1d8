// Histograms against a loop that compares each sample with each edge in arithmetic that is exact for all types.
#include "core/simd.hpp"
#include "core/visit.hpp"
#include "device/device.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/plan.hpp"
#include "selftest/cases.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <type_traits>

namespace samesum {
namespace {

using binning::Plan;
using hard::Random;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Elements of any type, from doubles: as near to them as the type has it.
struct Samples {
  DType type;
  std::vector<std::byte> bytes = {};

  template <class T>
  void push(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  View view() const { return {bytes.data(), bytes.size() / size_of(type), type}; }
};

template <class T>
T nearest(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_integral_v<T>) {
    if (!(value > static_cast<double>(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  } else {
    return T::truncate(static_cast<float>(value));
  }
}

// The value, and its neighbours to either side.
template <class T>
void push_around(Samples& samples, double value) {
  const T middle = nearest<T>(value);
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  const Bits bits = std::bit_cast<Bits>(middle);
  for (const Bits near : {bits, static_cast<Bits>(bits - 1), static_cast<Bits>(bits + 1)}) samples.push(std::bit_cast<T>(near));
}

Samples samples_around(DType type, const Bins& bins, std::size_t count, Random& random) {
  Samples samples{type};
  const auto edges = bins.edges();
  core::visit(type, [&](auto element) {
    using T = decltype(element);
    while (samples.bytes.size() < count * sizeof(T)) {
      switch (random.below(4)) {
        case 0:
          push_around<T>(samples, edges[random.below(edges.size())]);
          break;
        case 1: {
          const double part = std::ldexp(static_cast<double>(random.bits(53)), -53);
          samples.push(nearest<T>(bins.low() / 2 * (1 - part) + bins.high() / 2 * part + (bins.low() / 2 * (1 - part) + bins.high() / 2 * part)));
          break;
        }
        case 2: {
          T any;
          const std::uint64_t bits = random.bits(64);
          std::memcpy(&any, &bits, sizeof any);
          samples.push(any);
          break;
        }
        default:
          constexpr double kOdd[] = {0.0, -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 5e-324, -5e-324, 1e-45, 1, -1};
          const double odd = kOdd[random.below(std::size(kOdd))];
          samples.push(std::isnan(odd) && std::is_integral_v<T> ? T{} : nearest<T>(odd));
      }
    }
  });
  samples.bytes.resize(count * size_of(type));
  return samples;
}

// What a histogram has to be. A long double holds every value of every type.
static_assert(std::numeric_limits<long double>::digits >= 64);
std::vector<std::uint64_t> reference(View data, const Bins& bins) {
  const auto edges = bins.edges();
  std::vector<std::uint64_t> slots(bins.count() + 3);
  core::visit(data.type(), [&](auto element) {
    using T = decltype(element);
    for (std::uint64_t i = 0; i < data.size(); ++i) {
      std::memcpy(&element, static_cast<const std::byte*>(data.data()) + i * sizeof element, sizeof element);
      const auto x = static_cast<long double>(static_cast<std::conditional_t<std::is_arithmetic_v<T>, T, float>>(element));
      if (std::isnan(x)) {
        ++slots.back();
      } else if (x > edges.back()) {
        ++slots[slots.size() - 2];
      } else {
        ++slots[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end() - 1, x) - edges.begin())];
      }
    }
  });
  return slots;
}

void expect_right(View data, const Bins& bins, const Device& device, const std::string& what) {
  const Histogram right(bins, reference(data, bins));
  HistogramReport report;
  const Histogram found = histogram(data, bins, device, {}, &report);
  ASSERT_EQ(found.total(), data.size()) << what << " on " << report.device << ", " << report.configuration;
  if (found == right) return;
  std::size_t i = 0;
  while (i < bins.count() && found.counts()[i] == right.counts()[i]) ++i;
  FAIL() << what << " on " << report.device << ", " << report.configuration << ": " << bins.count() << " bins (" << bins.kind() << ", " << bins.low() << " to " << bins.high() << ") of "
         << name_of(data.type()) << "; bin " << i << ", under " << found.under() << "/" << right.under() << ", over " << found.over() << "/"
         << right.over() << ", nan " << found.nan() << "/" << right.nan()
         << (i < bins.count() ? ", " + std::to_string(found.counts()[i]) + " instead of " + std::to_string(right.counts()[i]) : "");
}

std::vector<Device> devices() {
  std::vector<Device> all;
  for (const DeviceInfo& info : list_devices().devices) all.push_back(Device::open(info.selector));
  return all;
}

Bins random_bins(DType type, Random& random) {
  const std::uint64_t counts[] = {1, 2, 7, 255, 256, 257, 1000};
  const std::uint64_t count = counts[random.below(std::size(counts))];
  const auto number = [&] {
    switch (random.below(5)) {
      case 0:
        return static_cast<double>(random.between(-300, 300));
      case 1:
        return std::ldexp(static_cast<double>(random.bits(53)), random.between(-60, 20)) * (random.bits(1) != 0 ? -1 : 1);
      case 2: {  // anything finite
        const double any = std::bit_cast<double>(random.bits(64));
        return std::isfinite(any) ? any : 1e308;
      }
      case 3:  // denormal
        return static_cast<double>(random.between(-40, 40)) * 5e-324;
      default: {
        const double ends[] = {-0x1p63, 0x1p63, -32768, 32767, 0x1p64, -128, 127, 255, 65535, 0x1p32, -1.7e308, 1.7e308, 0, -0.0};
        return ends[random.below(std::size(ends))];
      }
    }
  };
  for (;;) {
    const double a = number(), b = number();
    if (a == b) continue;
    switch (random.below(4)) {
      case 0:
        if (std::min(a, b) <= 0) continue;
        return Bins::logarithmic(std::min(a, b), std::max(a, b), count);
      case 1: {
        std::vector<double> edges(2 + random.below(40));
        for (double& edge : edges) edge = random.below(4) == 0 ? a : number();  // some of them repeat
        edges[0] = a;
        edges[1] = b;
        std::sort(edges.begin(), edges.end());
        return Bins::between(std::move(edges));
      }
      case 2:
        if (is_integer(type) && size_of(type) <= 2) return Bins::each_value(type);
        return Bins::each_value(random.between(-500, 0), random.between(0, 500));
      default:
        return Bins::even(std::min(a, b), std::max(a, b), count);
    }
  }
}

class HistogramOf : public testing::TestWithParam<DType> {};

TEST_P(HistogramOf, AnyBinsAreRightOnTheCpu) {
  Random random(1);
  const Device cpu = Device::open("cpu");
  for (const simd::Level level : {simd::Level::avx512, simd::Level::avx2, simd::Level::sse4, simd::Level::baseline}) {
    if (level < simd::detect()) continue;
    simd::restrict_to(level);
    for (int i = 0; i < 150 && !HasFatalFailure(); ++i) {
      const Bins bins = random_bins(GetParam(), random);
      const Samples samples = samples_around(GetParam(), bins, random.below(3000), random);
      expect_right(samples.view(), bins, cpu, "case " + std::to_string(i));
    }
  }
  simd::restrict_to(simd::detect());
}

TEST_P(HistogramOf, AnyBinsAreRightOnDevices) {
  for (const Device& device : devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    Random random(2);
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      const Bins bins = random_bins(GetParam(), random);
      const Samples samples = samples_around(GetParam(), bins, random.below(3000), random);
      expect_right(samples.view(), bins, device, "case " + std::to_string(i));
    }
  }
}

// From a few counters to more than any local memory has room for.
TEST_P(HistogramOf, AnyNumberOfBinsIsRight) {
  for (const Device& device : devices()) {
    Random random(3);
    for (const std::uint64_t count : {1, 2, 7, 255, 256, 257, 2048, 2049, 16384, 65536, 65537, 1 << 20}) {
      const Bins bins = is_integer(GetParam()) ? Bins::even(-100, 1e6, count) : Bins::even(-1, 3, count);
      const Samples samples = samples_around(GetParam(), bins, 20000, random);
      expect_right(samples.view(), bins, device, "even");
      if (HasFatalFailure()) return;
    }
    if (size_of(GetParam()) <= 2) continue;
    for (const std::uint64_t count : {2, 256, 70000}) {
      std::vector<double> edges(count + 1);
      for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = std::pow(static_cast<double>(i), 1.3);
      const Bins bins = Bins::between(edges);
      expect_right(samples_around(GetParam(), bins, 20000, random).view(), bins, device, "edges");
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HistogramOf, testing::ValuesIn(kDTypes),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

}  // namespace
}  // namespace samesum
