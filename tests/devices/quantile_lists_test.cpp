// Quantiles along axes of arrays in the memory of every device: the bits of the same quantiles of the array in host memory. All types; few
// and many elements, in registers and beyond; rows, columns, three axes, strides; NaNs, ties, random bits.
#include "support/devices.hpp"

#include <samesum/buffer.hpp>
#include <samesum/quantile.hpp>

#include "core/visit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace samesum::quantile_lists {
namespace {

// Random bits, of which floats that are not finite become zeros, or numbers with many ties; with `nans`, one in seven floats is a NaN.
std::vector<std::byte> some_elements(DType type, std::size_t count, bool bits, bool nans, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count * size_of(type));
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    using Number = std::conditional_t<std::is_same_v<Element, double>, double, float>;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t word = random();
      std::memcpy(&element, &word, sizeof element);
      if constexpr (!std::is_integral_v<Element>) {
        if (!std::isfinite(static_cast<Number>(element)) || !bits) std::memset(&element, static_cast<int>(word % 9) + 60, sizeof element);
        if (nans && random() % 7 == 0) std::memset(&element, i % 2 == 0 ? 0xff : 0x7f, sizeof element);
      } else if (!bits) {
        element = static_cast<Element>(word % 9);
      }
      std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
    }
  });
  return bytes;
}

// `host`: within `elements`, which the device gets behind `offset` bytes.
void check(const Device& device, const std::vector<std::byte>& elements, const Array& host, const Axes& axes, const Options& options,
           const QuantileRule& rule = {}) {
  const std::vector<double> q = {0.5, 0, 0.9, 1, 0.25};
  const std::uint64_t offset = 2 * size_of(host.type());
  const Buffer buffer(device, std::max<std::size_t>(elements.size(), 1) + offset);
  if (!elements.empty()) buffer.write(elements.data(), elements.size(), offset);
  const auto first = static_cast<const std::byte*>(host.data()) - elements.data();
  const std::vector<std::int64_t> strides(host.strides().begin(), host.strides().end());
  const Array there(buffer, Shape(host.shape()), host.type(), offset + static_cast<std::uint64_t>(first), Strides(strides));
  const Values expected = quantiles(host, q, axes, rule, options), found = quantiles(there, q, axes, rule, options);
  ASSERT_EQ(found.type(), expected.type());
  ASSERT_EQ(found.shape(), expected.shape());
  const std::size_t element = size_of(expected.type());
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    const auto* const a = static_cast<const std::byte*>(expected.data()) + i * element;
    const auto* const b = static_cast<const std::byte*>(found.data()) + i * element;
    ASSERT_EQ(std::memcmp(a, b, element), 0) << name_of(host.type()) << " result " << i << " of " << expected.size();
  }
}

class QuantileLists : public testing::TestWithParam<DType> {};

TEST_P(QuantileLists, RowsAndColumns) {
  const DType type = GetParam();
  std::uint64_t seed = 0;
  for (const Device& device : test::devices()) {
    const bool slow = device.info().is_cpu;
    for (const std::uint64_t each : {1, 2, 10, 16, 17, 100, 500, 5000}) {
      for (const bool bits : {false, true}) {
        const std::uint64_t count = each > 100 ? (slow ? 3 : 300) : slow ? 67 : 5000;
        Options options;
        options.nan = ++seed % 2 == 0 ? NanPolicy::skip : NanPolicy::propagate;
        const auto elements = some_elements(type, each * count, bits, each > 2 && seed % 3 != 0, seed);
        const QuantileRule rule{seed % 4 == 0 ? QuantileMethod::nearest : QuantileMethod::linear, seed % 5 == 0};
        check(device, elements, Array(elements.data(), Shape({count, each}), type), Axes{1}, options, rule);
        check(device, elements, Array(elements.data(), Shape({each, count}), type), Axes{0}, options, rule);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(QuantileLists, SeveralAxes) {
  const DType type = GetParam();
  const auto elements = some_elements(type, 4 * 30 * 5, true, true, 8);
  const auto element = static_cast<std::int64_t>(size_of(type));
  const Array whole(elements.data(), Shape({4, 30, 5}), type);
  const Array backwards(elements.data() + 119 * 5 * element, Shape({4, 15, 5}), type, Strides({-150 * element, -10 * element, element}));
  const Array repeated(elements.data(), Shape({7, 20}), type, Strides({0, element}));
  Options options;
  options.nan = NanPolicy::skip;
  for (const Device& device : test::devices()) {
    for (const Array& data : {whole, backwards}) {
      for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{0, 2}, Axes{1, 2}, Axes{0, 1}, Axes{0, 1, 2}, Axes{}}) {
        check(device, elements, data, axes, is_integer(type) || axes.numbers().size() > 1 ? options : Options(), {QuantileMethod::lower});
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    check(device, elements, repeated, Axes{0}, Options());
  }
}

INSTANTIATE_TEST_SUITE_P(Every, QuantileLists, testing::ValuesIn(kDTypes), [](const auto& of) { return std::string(name_of(of.param)); });

TEST(QuantileLists, ListsOfNansAlone) {
  const std::vector<float> numbers = {1, NAN, NAN, NAN, 2, 3};
  std::vector<std::byte> elements(sizeof(float) * numbers.size());
  std::memcpy(elements.data(), numbers.data(), elements.size());
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, elements.size());
    buffer.write(elements.data(), elements.size(), 0);
    const Array there(buffer, Shape({3, 2}), DType::float32);
    Options skip;
    skip.nan = NanPolicy::skip;
    try {
      median(there, Axes{1}, skip);
      ADD_FAILURE() << device.info().selector;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "quantile at (1): there are no elements: all are NaN, and left out");
    }
    EXPECT_EQ(median(there, Axes{0}, skip).as<double>()[0], 1.5);
    EXPECT_TRUE(std::isnan(median(there, Axes{0}).as<double>()[0]));
  }
}

}  // namespace
}  // namespace samesum::quantile_lists
