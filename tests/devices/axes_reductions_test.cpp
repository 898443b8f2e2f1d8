// Every reduction along axes on every device, of every type: the bits of the same reduction of each result's elements alone.
#include "selftest/cases.hpp"
#include "support/axes.hpp"
#include "support/devices.hpp"
#include "support/simd_levels.hpp"

#include <samesum/axes.hpp>
#include <samesum/axes_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace samesum {
namespace {

constexpr AxisReduction kAll[] = {
    AxisReduction::sum,    AxisReduction::mean,         AxisReduction::variance,     AxisReduction::standard_deviation,
    AxisReduction::norm,   AxisReduction::squared_norm, AxisReduction::min,          AxisReduction::max,
    AxisReduction::argmin, AxisReduction::argmax,       AxisReduction::count_nonzero};

// The bytes of the reduction of all elements; nothing if there is no result.
std::vector<std::byte> alone(const Array& elements, AxisReduction what, std::uint64_t ddof, NanPolicy nan) {
  const Options options{.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = 1}};
  std::vector<std::byte> bytes;
  const auto put = [&](auto value) { bytes.resize(sizeof value), std::memcpy(bytes.data(), &value, sizeof value); };
  const auto put_element = [&](const Extremum& extremum) {
    bytes.resize(size_of(elements.type()));
    if (std::isnan(extremum.value.as_double()) && !is_integer(elements.type())) {
      const std::uint64_t nan_bits = elements.type() == DType::float16    ? 0x7e00
                                     : elements.type() == DType::bfloat16 ? 0x7fc0
                                     : elements.type() == DType::float32  ? 0x7fc00000
                                                                          : 0x7ff8000000000000;
      std::memcpy(bytes.data(), &nan_bits, bytes.size());
      return;
    }
    std::uint64_t index = extremum.index;  // where it stands among the elements in C order
    const std::byte* at = static_cast<const std::byte*>(elements.data());
    for (std::size_t axis = elements.rank(); axis-- > 0;) {
      at += static_cast<std::int64_t>(index % elements.shape()[axis]) * elements.strides()[axis];
      index /= elements.shape()[axis];
    }
    std::memcpy(bytes.data(), at, bytes.size());
  };
  try {
    switch (what) {
      case AxisReduction::sum: {
        const Accumulator sum = accumulate(elements, options);
        if (!is_integer(elements.type())) {
          put(sum.round(nan));
        } else if (is_signed(elements.type())) {
          put(sum.to_int64());
        } else {
          put(sum.to_uint64());
        }
        break;
      }
      case AxisReduction::mean:
        put(mean(elements, options));
        break;
      case AxisReduction::variance:
        put(variance(elements, ddof, options));
        break;
      case AxisReduction::standard_deviation:
        put(standard_deviation(elements, ddof, options));
        break;
      case AxisReduction::norm:
        put(norm(elements, options));
        break;
      case AxisReduction::squared_norm:
        put(squared_norm(elements, options));
        break;
      case AxisReduction::min:
        put_element(min(elements, options));
        break;
      case AxisReduction::max:
        put_element(max(elements, options));
        break;
      case AxisReduction::argmin:
        put(min(elements, options).index);
        break;
      case AxisReduction::argmax:
        put(max(elements, options).index);
        break;
      case AxisReduction::count_nonzero:
        put(count_nonzero(elements, options));
        break;
      case AxisReduction::product:  // axes_operator_test.cpp
        break;
    }
  } catch (const Error&) {
    bytes.clear();
  }
  return bytes;
}

// Of `host`, whose elements `data` has, on any device.
void check(const Array& host, const std::vector<Array>& same, const Axes& axes, NanPolicy nan) {
  const std::vector<Array> groups = test::groups_of(host, axes);
  for (const AxisReduction what : kAll) {
    const bool spread = what == AxisReduction::variance || what == AxisReduction::standard_deviation;
    if (axes.ddof() != 0 && !spread) continue;
    SCOPED_TRACE(std::string(name_of(what)) + (nan == NanPolicy::skip ? ", NaNs skipped" : "") + ", ddof " + std::to_string(axes.ddof()));
    std::vector<std::byte> expected;
    bool all = true;
    for (const Array& group : groups) {
      const std::vector<std::byte> one = alone(group, what, axes.ddof(), nan);
      all &= !one.empty();
      expected.insert(expected.end(), one.begin(), one.end());
    }
    for (const Array& data : same) {
      SCOPED_TRACE(data.on_device() ? data.buffer().device().info().selector : "host memory");
      if (!all) {
        EXPECT_THROW(axis_reduction(data, what, axes, {.nan = nan}), Error);
        continue;
      }
      const Values found = axis_reduction(data, what, axes, {.nan = nan});
      const std::size_t bytes = size_of(found.type());
      ASSERT_EQ(found.size() * bytes, expected.size());
      for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::byte* const at = static_cast<const std::byte*>(found.data()) + i * bytes;
        std::uint64_t is = 0, should = 0;
        std::memcpy(&is, at, bytes);
        std::memcpy(&should, expected.data() + i * bytes, bytes);
        ASSERT_EQ(is, should) << "result " << i << " of " << groups.size();
      }
    }
  }
}

// On CPUs, where kernels take a second each to compile, those of three types stand for all.
bool stands_for_others(DType type, NanPolicy nan) {
  return nan == NanPolicy::skip ? type == DType::float32 : type == DType::uint8 || type == DType::float64;
}

struct There {
  There(const Array& host, std::uint64_t offset, NanPolicy nan) {
    for (const Device& device : test::devices()) {
      if (!device.info().has(Capability::kernels) || (device.info().is_cpu && !stands_for_others(host.type(), nan))) continue;
      buffers.emplace_back(device, host.bytes() + offset + 8);
      if (host.bytes() != 0) buffers.back().write(host.data(), host.bytes(), offset);
    }
  }
  // The host's and each device's array of a shape.
  std::vector<Array> arrays(const Array& host, std::uint64_t offset) const {
    std::vector<Array> all{host};
    for (const Buffer& buffer : buffers) all.emplace_back(buffer, Shape(host.shape()), host.type(), offset, Strides(host.strides()));
    return all;
  }
  std::vector<Buffer> buffers;
};

class AxesReductions : public testing::TestWithParam<DType> {};

TEST_P(AxesReductions, OfHardCases) {
  const DType type = GetParam();
  const std::vector<std::vector<std::uint64_t>> shapes = {{7}, {3, 5}, {40, 3}, {3, 40}, {2, 3, 4}, {3, 70, 35}, {70, 3, 33}};
  std::size_t turn = 0;
  for (const hard::Case& hard_case : hard::cases()) {
    if (is_integer(type) && hard_case.name != "random_bits") continue;
    for (const std::vector<std::uint64_t>& shape : shapes) {
      if (++turn % (is_integer(type) ? 2 : 5) != 0) continue;
      std::uint64_t size = 1;
      for (const std::uint64_t extent : shape) size *= extent;
      const auto made = hard::make(hard_case, type, size);
      if (is_integer(type) && size_of(type) == 8) {  // sums of many would not fit
        for (std::uint64_t i = 0; i < size; ++i) {
          auto* const word = static_cast<std::int64_t*>(const_cast<void*>(made.view().data())) + i;
          *word = is_signed(type) ? *word >> 8 : static_cast<std::int64_t>(static_cast<std::uint64_t>(*word) >> 8);
        }
      }
      const Array host(made.view().data(), Shape(shape), type);
      const NanPolicy nan = turn % 4 < 2 ? NanPolicy::propagate : NanPolicy::skip;
      const There there(host, 16, nan);
      for (unsigned mask = 1; mask < 1u << shape.size(); ++mask) {
        std::vector<std::int64_t> numbers;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          if ((mask >> axis & 1) != 0) numbers.push_back(static_cast<std::int64_t>(axis));
        }
        SCOPED_TRACE(std::string(hard_case.name) + ", shape " + std::to_string(&shape - shapes.data()) + ", axes " + std::to_string(mask));
        check(host, there.arrays(host, 16), Axes(numbers), nan);
        check(host, there.arrays(host, 16), Axes(numbers).with_ddof(1 + turn % 3), nan);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AxesReductions, testing::ValuesIn(kDTypes),
                         [](const auto& type) { return std::string(name_of(type.param)); });

// Numbers whose variances, means and norms are hard to round: constant, equal but for a last bit, far from zero, in the middle between two
// doubles, perfect squares, with one NaN, very small and very large.
template <class T>
std::vector<T> row_of(unsigned kind, std::size_t count, hard::Random& random) {
  std::vector<T> row(count);
  const double sign = random.bits(1) != 0 ? -1 : 1, base = sign * (1 + static_cast<double>(random.bits(20)) * 0x1p-20);
  for (std::size_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random.bits(52)) * 0x1p-52;
    switch (kind) {
      case 0:
        row[i] = static_cast<T>(base);
        break;
      case 1:
        row[i] = i == 0 ? std::nextafter(static_cast<T>(base), T(9)) : static_cast<T>(base);
        break;
      case 2:
        row[i] = static_cast<T>(base * 0x1p40 + unit);
        break;
      case 3:
        row[i] = static_cast<T>(i % 2 == 0 ? base : base * (1 + 3 * static_cast<double>(std::numeric_limits<T>::epsilon())));
        break;
      case 4:
        row[i] = static_cast<T>(3 * sign * static_cast<double>(i % 2 + 1));
        break;
      case 5:
        row[i] = i == count / 2 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(unit);
        break;
      case 6:
        row[i] = static_cast<T>(unit * (sizeof(T) == 8 ? 0x1p-700 : 0x1p-140));
        break;
      case 7:
        row[i] = static_cast<T>(unit * (sizeof(T) == 8 ? 0x1p700 : 0x1p120));
        break;
      case 8:
        row[i] = static_cast<T>(i % 3 == 0 ? unit * 0x1p60 : i % 3 == 1 ? -unit * 0x1p60 : unit);
        break;
      case 9:
        row[i] = static_cast<T>(std::floor(unit * 10));
        break;
      case 10:
        row[i] = static_cast<T>(i % 4 == 0 ? 0.0 : -0.0);
        break;
      default:
        row[i] = static_cast<T>(sign * unit);
    }
  }
  return row;
}

template <class T>
void check_rows(std::size_t count) {
  hard::Random random(static_cast<std::uint32_t>(count));
  constexpr std::size_t kRows = 36;
  std::vector<T> rows(kRows * count), columns(kRows * count);
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::vector<T> row = row_of<T>(static_cast<unsigned>(r % 12), count, random);
    for (std::size_t i = 0; i < count; ++i) rows[r * count + i] = columns[i * kRows + r] = row[i];
  }
  const DType type = dtype_of<T>();
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    const Array along(rows.data(), {kRows, count}, type), down(columns.data(), {count, kRows}, type);
    const There one(along, 0, nan), other(down, 8, nan);
    SCOPED_TRACE("of " + std::to_string(count));
    for (const std::uint64_t ddof : {0u, 1u, 2u}) {
      check(along, one.arrays(along, 0), Axes{1}.with_ddof(ddof), nan);
      check(down, other.arrays(down, 8), Axes{0}.with_ddof(ddof), nan);
    }
    const Array backwards = along.slice(1, count - 1, count, -1);
    check(backwards, {backwards}, Axes{1}, nan);
    const Array every_other = along.slice(0, 1, kRows / 2, 2);
    check(every_other, {every_other}, Axes{1}, nan);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(AxesReductionsOfRows, OfNumbersThatAreHardToRound) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    for (const std::size_t count : {2u, 3u, 4u, 15u, 16u, 33u, 600u}) {
      if (level != best && count % 16 == 0) continue;
      check_rows<float>(count);
      check_rows<double>(count);
      if (HasFatalFailure()) break;
    }
    simd::restrict_to(best);
  }
}

// The least and the greatest integers, whose squares need all bits of a word, in short rows and columns of many results.
TEST(AxesReductionsOfRows, OfTheGreatestIntegers) {
  constexpr std::uint64_t kResults = 150;
  for (const DType type : kDTypes) {
    if (!is_integer(type)) continue;
    for (const std::uint64_t each : {1u, 2u, 3u, 4u, 8u}) {
      const std::size_t bytes = size_of(type);
      std::vector<std::byte> elements(kResults * each * bytes);
      for (std::uint64_t i = 0; i < kResults * each; ++i) {
        std::uint64_t value = ~std::uint64_t{0} >> (is_signed(type) ? 1 : 0) >> (8 * (8 - bytes));  // the greatest
        if (i % 7 == 6 && is_signed(type)) ++value;                                                 // the least
        if (i % 11 == 10) --value;
        std::memcpy(elements.data() + i * bytes, &value, bytes);
      }
      const Array rows(elements.data(), Shape{kResults, each}, type);
      for (const Device& device : test::devices()) {
        // Types of one width have the same kernels, but for signs.
        if (device.info().has(Capability::kernels) && type != DType::uint32 && type != DType::int32 && type != DType::uint16) continue;
        for (const AxisReduction what : {AxisReduction::variance, AxisReduction::squared_norm}) {
          for (const bool columns : {false, true}) {
            const Array data = columns ? Array(elements.data(), Shape{each, kResults}, type) : rows;
            const Axes axes{columns ? 0 : 1};
            std::vector<std::byte> expected;
            for (const Array& group : test::groups_of(data, axes)) {
              const std::vector<std::byte> one = alone(group, what, 0, NanPolicy::propagate);
              expected.insert(expected.end(), one.begin(), one.end());
            }
            if (expected.size() != 8 * kResults) continue;  // a sum that does not fit
            const Values found = axis_reduction(data, what, axes, {.device = device});
            EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.size()), 0)
                << device.info().selector << " " << name_of(what) << " of " << each << " " << name_of(type)
                << (columns ? " in columns" : "");
          }
        }
      }
    }
  }
}

TEST(AxesReductionsOfRows, RefuseDdofOfWhatHasNone) {
  const std::vector<double> x = {1, 2, 4, 8, 16, 32};
  const Array matrix(x.data(), {2, 3}, DType::float64);
  EXPECT_EQ(variance(matrix, Axes{1}.with_ddof(1)).as<double>()[0], variance(matrix.at(0, 0), 1));
  EXPECT_EQ(axis_reduction(Formula("2*x"), {{"x", matrix}}, {}, AxisReduction::variance, Axes{1}.with_ddof(1)).as<double>()[1],
            4 * variance(matrix.at(0, 1), 1));
  EXPECT_THROW(variance(matrix, Axes{0}.with_ddof(2)), Error);
  EXPECT_THROW(mean(matrix, Axes{1}.with_ddof(1)), Error);
  EXPECT_THROW(reduce(matrix, Operator(Formula("max(a, b)")), Axes{1}.with_ddof(1)), Error);
  EXPECT_THROW(reduce(Formula("2*x"), {{"x", matrix}}, {}, Operator(Formula("max(a, b)")), Axes{1}.with_ddof(1)), Error);
  EXPECT_THROW(axis_reduction(Formula("2*x"), {{"x", matrix}}, {}, AxisReduction::norm, Axes{1}.with_ddof(1)), Error);
}

}  // namespace
}  // namespace samesum
