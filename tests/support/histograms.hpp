// Samples, and their expected histogram: by a loop that compares each sample with each edge in arithmetic that is exact for all types.
#pragma once

#include "core/visit.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum::test {

using hard::Random;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Elements of any type, rounded from doubles.
struct Samples {
  DType type;
  std::vector<std::byte> bytes = {};

  template <class T>
  void push(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  Array view() const { return {bytes.data(), bytes.size() / size_of(type), type}; }
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

// The value, and both of its neighbours.
template <class T>
void push_around(Samples& samples, double value) {
  const T middle = nearest<T>(value);
  using Bits = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  const Bits bits = std::bit_cast<Bits>(middle);
  for (const Bits near : {bits, static_cast<Bits>(bits - 1), static_cast<Bits>(bits + 1)}) samples.push(std::bit_cast<T>(near));
}

inline Samples samples_around(DType type, const Bins& bins, std::size_t count, Random& random) {
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
          samples.push(
              nearest<T>(bins.low() / 2 * (1 - part) + bins.high() / 2 * part + (bins.low() / 2 * (1 - part) + bins.high() / 2 * part)));
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
          constexpr double kOdd[] = {0.0,    -0.0,    kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                                     5e-324, -5e-324, 1e-45,     1,          -1};
          const double odd = kOdd[random.below(std::size(kOdd))];
          samples.push(std::isnan(odd) && std::is_integral_v<T> ? T{} : nearest<T>(odd));
      }
    }
  });
  samples.bytes.resize(count * size_of(type));
  return samples;
}

// The expected histogram. A long double holds every value of every type.
static_assert(std::numeric_limits<long double>::digits >= 64);
inline std::vector<std::uint64_t> reference(Array data, const Bins& bins) {
  const auto edges = bins.edges();
  std::vector<std::uint64_t> slots(bins.count() + 3);
  core::visit(data.type(), [&](auto element) {
    using T = decltype(element);
    for (std::uint64_t i = 0; i < data.size(); ++i) {
      std::memcpy(&element, static_cast<const std::byte*>(data.data()) + static_cast<std::int64_t>(i) * data.stride(), sizeof element);
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

inline void expect_right(Array data, const Bins& bins, const Device& device, const std::string& what) {
  const Histogram right(bins, reference(data, bins));
  Report report;
  const Histogram found = histogram(data, bins, {.device = device, .report = &report});
  ASSERT_EQ(found.total(), data.size()) << what << " on " << report.device << ", " << report.configuration;
  if (found == right) return;
  std::size_t i = 0;
  while (i < bins.count() && found.counts()[i] == right.counts()[i]) ++i;
  FAIL() << what << " on " << report.device << ", " << report.configuration << ": " << bins.count() << " bins (" << bins.kind() << ", "
         << bins.low() << " to " << bins.high() << ") of " << name_of(data.type()) << "; bin " << i << ", under " << found.under() << "/"
         << right.under() << ", over " << found.over() << "/" << right.over() << ", nan " << found.nan_count() << "/" << right.nan_count()
         << (i < bins.count() ? ", " + std::to_string(found.counts()[i]) + " instead of " + std::to_string(right.counts()[i]) : "");
}

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace samesum::test
