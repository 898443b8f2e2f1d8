// Reductions along axes on every device: the bits of the same reduction of each result's elements alone.
#include "support/axes.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/guarded.hpp"
#include "support/informative.hpp"

#include <samesum/axes.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::all_axes;
using test::groups_of;

struct OnDevice {
  OnDevice(const Device& device, const Array& host, std::uint64_t offset) {
    const std::uint64_t bytes = std::max<std::uint64_t>(host.bytes(), 8);
    buffer.emplace(device, bytes + offset);
    if (host.bytes() != 0) buffer->write(host.data(), host.bytes(), offset);
    array.emplace(*buffer, Shape(host.shape()), host.type(), offset);
  }
  std::optional<Buffer> buffer;
  std::optional<Array> array;
};

void check_sums(const Array& host, const Array& data, const Device& device, NanPolicy nan) {
  const Options options{.nan = nan, .device = device};
  for (const Axes& axes : all_axes(host.rank())) {
    std::string names;
    for (const std::int64_t axis : axes.numbers()) names += " " + std::to_string(axis);
    SCOPED_TRACE("axes" + names);
    const std::vector<Array> groups = groups_of(host, axes);
    const Values sums = sum(data, axes, options);
    ASSERT_EQ(sums.size(), groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Accumulator exact = accumulate(groups[i], {.device = Device::open("cpu")});
      if (!is_integer(host.type())) {
        const double expected = exact.round(nan), found = sums.as<double>()[i];
        ASSERT_EQ(std::memcmp(&found, &expected, 8), 0) << found << " instead of " << expected << " at " << i;
      } else if (is_signed(host.type())) {
        ASSERT_EQ(sums.as<std::int64_t>()[i], exact.to_int64()) << i;
      } else {
        ASSERT_EQ(sums.as<std::uint64_t>()[i], exact.to_uint64()) << i;
      }
    }
    bool all = true;
    std::vector<double> expected(groups.size());
    for (std::size_t i = 0; i < groups.size() && all; ++i) {
      try {
        expected[i] = mean(groups[i], {.nan = nan, .device = Device::open("cpu")});
      } catch (const Error&) {
        all = false;
      }
    }
    if (!all) {
      EXPECT_THROW(mean(data, axes, options), Error);
      continue;
    }
    const Values means = mean(data, axes, options);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      ASSERT_EQ(std::memcmp(&means.as<double>()[i], &expected[i], 8), 0)
          << means.as<double>()[i] << " instead of " << expected[i] << " at " << i;
    }
  }
}

class AxesOfType : public testing::TestWithParam<DType> {};

TEST_P(AxesOfType, SumsAndMeansHaveTheBitsOfEachGroupAlone) {
  const DType type = GetParam();
  const std::vector<std::vector<std::uint64_t>> shapes = {{},        {1},        {7},    {3, 5}, {40, 3},     {3, 40},
                                                          {2, 3, 4}, {5, 1, 33}, {0, 3}, {3, 0}, {2, 2, 2, 3}};
  std::size_t turn = 0;
  bool informative = false;
  for (const hard::Case& hard_case : hard::cases()) {
    if (is_integer(type) && hard_case.name != "random_bits") continue;
    for (const std::vector<std::uint64_t>& shape : shapes) {
      if (!is_integer(type) && ++turn % 7 != 0) continue;
      const std::uint64_t size = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
      const auto made = hard::make(hard_case, type, size);
      if (is_integer(type) && size_of(type) == 8) {  // sums of many would not fit
        for (std::uint64_t i = 0; i < size; ++i) {
          auto* const word = static_cast<std::int64_t*>(const_cast<void*>(made.view().data())) + i;
          *word = is_signed(type) ? *word >> 8 : static_cast<std::int64_t>(static_cast<std::uint64_t>(*word) >> 8);
        }
      }
      const Array host(made.view().data(), Shape(shape), type);
      informative |= size > 1 && test::informative(accumulate(host).round(NanPolicy::skip));
      for (const Device& device : test::devices()) {
        SCOPED_TRACE(std::string(hard_case.name) + ", rank " + std::to_string(shape.size()) + ", " + device.info().selector);
        const NanPolicy nan = turn % 2 == 0 ? NanPolicy::propagate : NanPolicy::skip;
        check_sums(host, host, device, nan);
        const OnDevice there(device, host, turn % 4 * 8);
        check_sums(host, *there.array, device, nan);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_TRUE(informative);
}

INSTANTIATE_TEST_SUITE_P(All, AxesOfType, testing::ValuesIn(kDTypes), [](const auto& type) { return std::string(name_of(type.param)); });

// Sizes at which loops change: vectors, steps, parts of long axes; layouts with gaps, backwards, in Fortran order, with repeated elements.
TEST(AxesTest, LayoutsAndSizes) {
  hard::Random random(5);
  std::vector<float> values(std::size_t{1} << 17);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (static_cast<float>(random.bits() >> 40) * 0x1p-24f - 0.5f) * (i % 501 == 0 ? 0x1p40f : 1.0f);
  }
  const float* const x = values.data();
  const auto array = [&](std::initializer_list<std::uint64_t> shape) { return Array(x, shape, DType::float32); };
  const std::vector<Array> arrays = {
      array({1025, 33}),
      array({33, 1025}),
      array({2, 40000}),
      array({40000, 2}),
      array({17, 31, 65}),
      array({300, 300}).transposed(),
      array({300, 300}).slice(0, 299, 300, -1),
      array({300, 300}).slice(1, 1, 100, 2),
      array({12, 50, 40}).slice(1, 3, 20, 2),
      array({12, 50, 40}).slice(2, 39, 40, -1).transposed(),
      Array(x, {70, 100}, DType::float32, {4, 0}),
      Array(x, {50, 100}, DType::float32, {0, 12}),
      Array(reinterpret_cast<const std::byte*>(x) + 2, {90, 37}, DType::float32),
  };
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (const Device& device : test::devices()) {
      SCOPED_TRACE("array " + std::to_string(i) + ", " + device.info().selector);
      check_sums(arrays[i], arrays[i], device, NanPolicy::propagate);
    }
  }
  // The same memory on devices.
  for (const Device& device : test::devices()) {
    const OnDevice there(device, Array(x, values.size(), DType::float32), 4);
    for (std::size_t i = 0; i + 1 < arrays.size(); ++i) {
      const auto offset =
          static_cast<std::uint64_t>(static_cast<const std::byte*>(arrays[i].data()) - reinterpret_cast<const std::byte*>(x));
      const Array data(*there.buffer, Shape(arrays[i].shape()), DType::float32, 4 + offset, Strides(arrays[i].strides()));
      SCOPED_TRACE("array " + std::to_string(i) + " on " + device.info().selector);
      check_sums(arrays[i], data, device, NanPolicy::propagate);
    }
  }
}

// More results than a device notes that need another way.
TEST(AxesTest, ManyResultsThatSpanTooMuch) {
  const double terms[] = {1e300, 1e200, 1e100, 1, -1e300};
  std::vector<double> x(70000 * 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = terms[i % 5] * (1 + static_cast<double>(i / 5 % 3));
  const Array host(x.data(), {70000, 5}, DType::float64);
  for (const Device& device : test::devices()) {
    const OnDevice there(device, host, 0);
    const Values sums = sum(*there.array, Axes{1}, {.device = device});
    for (std::size_t i = 0; i < 70000; ++i) ASSERT_EQ(sums.as<double>()[i], 1e200 * (1 + static_cast<double>(i % 3))) << i;
  }
}

// Results that doubles cannot add up, too many to be summed up one by one: as on the CPU, whose results other tests compare with an oracle.
TEST(AxesTest, ManyResultsThatNeedAnotherWay) {
  constexpr std::uint64_t kRows = 61, kColumns = 700;
  for (const DType type : {DType::float64, DType::int64, DType::float32}) {
    for (const hard::Case& hard_case : hard::cases()) {
      if (is_integer(type) && hard_case.name != "random_bits") continue;
      const auto made = hard::make(hard_case, type, kRows * kColumns);
      if (is_integer(type)) {  // sums of many would not fit
        auto* const words = static_cast<std::int64_t*>(const_cast<void*>(made.view().data()));
        for (std::uint64_t i = 0; i < kRows * kColumns; ++i) words[i] >>= 8;
      }
      const Array host(made.view().data(), {kRows, kColumns}, type);
      for (const Device& device : test::devices()) {
        const bool slow = device.info().is_cpu && device.info().has(Capability::kernels);
        if (slow && type == DType::float32) continue;
        const OnDevice there(device, host, 16);
        for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
          if (slow && nan == NanPolicy::skip && is_integer(type)) continue;
          for (const AxisReduction what : {AxisReduction::sum, AxisReduction::mean}) {
            std::optional<Values> expected, found;
            std::string wrong, refused;
            const auto compute = [&](const Array& data, const Axes& axes, std::string& message) -> std::optional<Values> {
              try {
                return axis_reduction(data, what, axes, {.nan = nan});
              } catch (const Error& error) {
                message = error.what();
                return std::nullopt;
              }
            };
            for (const bool backwards : {false, true}) {
              const auto seen = [&](const Array& all) { return backwards ? all.slice(0, kRows - 1, kRows, -1).transposed() : all; };
              const Axes axes{backwards ? 1 : 0};
              expected = compute(seen(host), axes, wrong);
              found = compute(seen(*there.array), axes, refused);
              ASSERT_EQ(expected.has_value(), found.has_value()) << hard_case.name << wrong << refused;
              ASSERT_EQ(wrong, refused);
              if (!expected) continue;
              ASSERT_EQ(std::memcmp(found->data(), expected->data(), 8 * kColumns), 0)
                  << device.info().selector << " " << name_of(type) << " " << hard_case.name << " " << name_of(what)
                  << (nan == NanPolicy::skip ? ", NaNs skipped" : "");
            }
          }
        }
      }
    }
  }
}

// So many results of few elements that a work-item takes several: as on the CPU, whose results other tests compare with an oracle.
TEST(AxesTest, ManyResultsOfFewElements) {
  constexpr std::uint64_t kResults = 600011;
  for (const DType type : {DType::float32, DType::float64, DType::int8}) {
    const auto made = hard::make(hard::cases()[1], type, 4 * kResults);
    for (const std::uint64_t each : {1, 3, 4}) {
      for (const bool rows : {true, false}) {
        const Array host(made.view().data(), rows ? Shape{kResults, each} : Shape{each, kResults}, type);
        const Axes axes{rows ? 1 : 0};
        const Values expected = sum(host, axes);
        for (const Device& device : test::devices()) {
          const OnDevice there(device, host, 8);
          const Values sums = sum(*there.array, axes, {.device = device});
          ASSERT_EQ(std::memcmp(sums.data(), expected.data(), 8 * kResults), 0)
              << device.info().selector << " " << name_of(type) << " " << each << (rows ? " in rows" : " in columns");
        }
      }
    }
  }
}

TEST(AxesTest, OtherReductions) {
  std::vector<double> x(6 * 50);
  hard::Random random(3);
  for (double& value : x) value = static_cast<double>(random.bits() % 1000) / 8 - 60;
  x[20] = x[23] = 99;  // in one row, and at several places
  x[250] = -0.0;
  const Array host(x.data(), {6, 50}, DType::float64);
  for (const Device& device : test::devices()) {
    const OnDevice there(device, host, 0);
    for (const Array& data : {host, *there.array}) {
      for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 1}}) {
        SCOPED_TRACE(device.info().selector);
        const std::vector<Array> groups = groups_of(host, axes);
        const Options options{.device = data.on_device() ? std::optional(device) : std::nullopt};
        const Values variances = variance(data, axes, options), norms = norm(data, axes, options);
        const Values mins = min(data, axes, options), maxs = max(data, axes, options);
        const Values lows = argmin(data, axes, options), highs = argmax(data, axes, options);
        const Values counts = axis_reduction(data, AxisReduction::count_nonzero, axes, options);
        for (std::size_t i = 0; i < groups.size(); ++i) {
          EXPECT_EQ(variances.as<double>()[i], variance(groups[i]));
          EXPECT_EQ(norms.as<double>()[i], norm(groups[i]));
          EXPECT_EQ(mins.as<double>()[i], min(groups[i]).value.as_double());
          EXPECT_EQ(maxs.as<double>()[i], max(groups[i]).value.as_double());
          EXPECT_EQ(lows.as<std::uint64_t>()[i], min(groups[i]).index);
          EXPECT_EQ(highs.as<std::uint64_t>()[i], max(groups[i]).index);
          EXPECT_EQ(counts.as<std::uint64_t>()[i], count_nonzero(groups[i]));
        }
      }
    }
  }
  // Extrema come in the type of the elements, infinities and NaNs too.
  const std::uint16_t halves[] = {0x3c00, 0x7c00, 0xfc00, 0x7e01, 0x0001, 0x8000};
  const Array rows(halves, {3, 2}, DType::float16);
  const Values highest = max(rows, Axes{1}), lowest = min(rows, Axes{1});
  const auto bits = [](const Values& values, std::size_t i) { return static_cast<const std::uint16_t*>(values.data())[i]; };
  EXPECT_EQ(highest.type(), DType::float16);
  EXPECT_EQ(bits(highest, 0), 0x7c00);
  EXPECT_EQ(bits(highest, 1), 0x7e00);
  EXPECT_EQ(bits(highest, 2), 0x0001);
  EXPECT_EQ(bits(lowest, 0), 0x3c00);
  EXPECT_EQ(bits(lowest, 2), 0x8000);
}

TEST(AxesTest, ResultsInTheCallersMemory) {
  std::vector<float> x(7 * 9);
  std::iota(x.begin(), x.end(), 0.25f);
  const Array host(x.data(), {7, 9}, DType::float32);
  const Values expected = sum(host, Axes{0});
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    const OnDevice there(device, host, 0);
    const std::vector<double> zeros(40, 0.0);
    for (const std::int64_t stride : {8, 16}) {
      const Buffer to(device, 40 * 8);
      to.write(zeros.data(), 320);
      axis_reduction(*there.array, AxisReduction::sum, Axes{0}, Array(to, Shape{9}, DType::float64, 24, Strides{stride}),
                     {.device = device});
      std::vector<double> found(40);
      to.read(found.data(), 320);
      for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(found[3 + i * static_cast<std::size_t>(stride) / 8], expected.as<double>()[i]) << i;
      EXPECT_EQ(found[2], 0);
      EXPECT_EQ(found[39], 0);
    }
    std::vector<double> here(9);
    axis_reduction(*there.array, AxisReduction::sum, Axes{0}, here, {.device = device});
    EXPECT_TRUE(std::ranges::equal(here, expected.as<double>()));
  }
  const Values kept = sum(host, Axes{0}.kept());
  EXPECT_EQ(kept.shape(), (std::vector<std::uint64_t>{1, 9}));
  EXPECT_TRUE(std::ranges::equal(kept.as<double>(), expected.as<double>()));
  EXPECT_EQ(kept.array().rank(), 2u);
}

// Rows whose elements span so many exponents that they are added one by one, of as many columns as whole vectors have; a page follows that
// nobody may read.
template <class Real>
void check_end(std::uint64_t rows, std::uint64_t columns) {
  std::vector<Real> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(Real(1 + i % 7), i % 3 == 0 ? 40 : -20);
  const Array ordinary(values.data(), {rows, columns}, sizeof(Real) == 4 ? DType::float32 : DType::float64);
  const test::Guarded guarded{std::span<const Real>(values)};
  const Array last(guarded.values().data(), {rows, columns}, ordinary.type());
  const Device cpu = Device::open("cpu");
  for (const std::int64_t axis : {0, 1}) {
    const Values found = sum(last, Axes{axis}, {.device = cpu});
    const std::vector<Array> groups = groups_of(ordinary, Axes{axis});
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const double expected = accumulate(groups[i], {.device = cpu}).round();
      ASSERT_TRUE(test::informative(expected));
      ASSERT_EQ(found.as<double>()[i], expected) << rows << " x " << columns << ", axis " << axis << ", result " << i;
    }
  }
}

TEST(AxesTest, NothingIsReadBehindTheArray) {
  for (const std::uint64_t columns : {4u, 8u, 16u, 32u, 64u, 128u}) {
    for (const std::uint64_t rows : {1u, 3u, 65u}) {
      check_end<float>(rows, columns);
      check_end<double>(rows, columns);
    }
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(AxesTest, SaysWhatIsWrong) {
  const std::vector<double> x(12, 1.0);
  const Array data(x.data(), {3, 4}, DType::float64);
  EXPECT_NE(error_of([&] { sum(data, Axes{2}); }).find("there is no axis 2: the array has 2 axes"), std::string::npos);
  EXPECT_NE(error_of([&] { sum(data, Axes{-3}); }).find("there is no axis -3"), std::string::npos);
  EXPECT_NE(error_of([&] { sum(data, Axes{1, -1}); }).find("named twice"), std::string::npos);
  EXPECT_NE(error_of([&] { sum(data, Axes{0}).as<float>(); }).find("float64, not float32"), std::string::npos);
  std::vector<double> three(3);
  EXPECT_NE(error_of([&] { axis_reduction(data, AxisReduction::sum, Axes{0}, three); }).find("of shape (4)"), std::string::npos);
  const std::vector<std::int64_t> large{1, 2, INT64_MAX, 1};
  for (const Device& device : test::devices()) {
    const OnDevice there(device, Array(large.data(), {2, 2}, DType::int64), 0);
    EXPECT_NE(error_of([&] { sum(*there.array, Axes{1}, {.device = device}); }).find("sum at (1)"), std::string::npos)
        << device.info().selector;
  }
  const std::string empty = error_of([&] { mean(data.slice(0, 0, 0), Axes{0}); });
  EXPECT_NE(empty.find("mean at (0)"), std::string::npos) << empty;
  EXPECT_EQ(sum(data.slice(0, 0, 0), Axes{0}).as<double>()[3], 0.0);
  EXPECT_EQ(sum(data.slice(0, 0, 0), Axes{1}).size(), 0u);
}

}  // namespace
}  // namespace samesum
