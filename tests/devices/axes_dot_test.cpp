// Dot products along axes and products of matrices, on every device: the bits of dot() of each result's elements alone.
#include "device/memory/buffer.hpp"
#include "groups/dots/device/dots_device.hpp"
#include "groups/dots/dots.hpp"
#include "support/devices.hpp"
#include "support/simd_levels.hpp"

#include <samesum/axes_dot.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

constexpr DType kFloats[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16};
constexpr DType kIntegers[] = {DType::int8,  DType::uint8,  DType::int16, DType::uint16,
                               DType::int32, DType::uint32, DType::int64, DType::uint64};

// Bytes of elements in host memory.
struct Elements {
  DType type;
  std::vector<std::byte> bytes;
  Array shaped(const std::vector<std::uint64_t>& shape) const { return {bytes.data(), Shape(shape), type}; }
};

void put(DType type, double value, std::byte* to) {
  const auto store = [&](auto element) { std::memcpy(to, &element, sizeof element); };
  const auto as_float = static_cast<float>(value);
  switch (type) {
    case DType::float64:
      return store(value);
    case DType::float32:
      return store(as_float);
    case DType::bfloat16:
      return store(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(as_float) >> 16));
    default: {
      // Float16: a sign, an exponent and a fraction of the value's own.
      const auto bits = std::bit_cast<std::uint32_t>(as_float);
      const std::uint32_t exponent = bits >> 23 & 0xff, fraction = bits >> 13 & 0x3ff;
      const std::uint32_t field = exponent == 0xff ? 31 : exponent == 0 ? 0 : (exponent % 29) + 1;
      return store(static_cast<std::uint16_t>((bits >> 16 & 0x8000) | field << 10 | (exponent == 0xff && fraction == 0 ? 0 : fraction)));
    }
  }
}

// Numbers made by `next`.
Elements floats(DType type, std::uint64_t count, const std::function<double()>& next) {
  Elements all{type, std::vector<std::byte>(count * size_of(type))};
  for (std::uint64_t i = 0; i < count; ++i) put(type, next(), all.bytes.data() + i * size_of(type));
  return all;
}
Elements integers(DType type, std::uint64_t count, std::mt19937_64& random, bool small) {
  Elements all{type, std::vector<std::byte>(count * size_of(type))};
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t value = random();
    if (small && size_of(type) == 8)
      value = is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> 38) : value >> 38;
    std::memcpy(all.bytes.data() + i * size_of(type), &value, size_of(type));
  }
  return all;
}

// The bits of one result; nothing if there is none.
std::vector<std::uint64_t> alone(const Array& a, const Array& b, NanPolicy nan) {
  const ProductAccumulator sum = dot(a, b, {.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = 1}});
  try {
    if (!is_integer(a.type())) return {std::bit_cast<std::uint64_t>(sum.round(nan))};
    return {is_signed(a.type()) ? static_cast<std::uint64_t>(sum.to_int64()) : sum.to_uint64()};
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::uint64_t> bits_of(const Values& values) {
  std::vector<std::uint64_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), 8 * bits.size());
  return bits;
}

// Of rows (n, k) and columns given as (m, k): each result by itself.
std::vector<std::uint64_t> wanted_of(const Array& a, const Array& b, NanPolicy nan) {
  std::vector<std::uint64_t> bits;
  for (std::uint64_t i = 0; i < a.shape()[0]; ++i) {
    for (std::uint64_t j = 0; j < b.shape()[0]; ++j) {
      for (const std::uint64_t each : alone(a.row(i), b.row(j), nan)) bits.push_back(each);
    }
  }
  return bits;
}

// Elements on a device with kernels, or where they are.
Array placed(const Elements& elements, const std::vector<std::uint64_t>& shape, const Device& device, std::vector<Buffer>& buffers) {
  if (!device.info().has(Capability::kernels)) return elements.shaped(shape);
  Buffer& there = buffers.emplace_back(device, std::max<std::uint64_t>(elements.bytes.size(), 16));
  if (!elements.bytes.empty()) there.write(elements.bytes.data(), elements.bytes.size());
  return {there, Shape(shape), elements.type};
}

struct Sizes {
  std::uint64_t n, m, k;
};

// a (n, k) and b (m, k) on this device by tiles of results, with the matrices transposed in memory or not.
void expect_products(const Device& device, const Elements& a, const Elements& b, Sizes s, NanPolicy nan, const std::string& what) {
  std::vector<Buffer> buffers;
  const Options options{.nan = nan};
  const Array left = placed(a, {s.n, s.k}, device, buffers), right = placed(b, {s.m, s.k}, device, buffers);
  const std::vector<std::uint64_t> wanted = wanted_of(a.shaped({s.n, s.k}), b.shaped({s.m, s.k}), nan);
  ASSERT_EQ(wanted.size(), s.n * s.m) << what;
  EXPECT_EQ(bits_of(matmul(left, right.transposed(), options)), wanted) << what;
  // The other way round, of which the result is the transposed one.
  const Values other = matmul(right, left.transposed(), options);
  const std::vector<std::uint64_t> turned = bits_of(other);
  for (std::uint64_t i = 0; i < s.n; ++i) {
    for (std::uint64_t j = 0; j < s.m; ++j) ASSERT_EQ(turned[j * s.n + i], wanted[i * s.m + j]) << what << " at " << i << ", " << j;
  }
}

// Calls body() for each instruction set of the CPU; of other devices once.
template <class Body>
void at_each_level(const Device& device, const Body& body) {
  if (device.info().has(Capability::kernels)) return body();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    body();
  }
  simd::restrict_to(simd::detect());
}

constexpr Sizes kSizes[] = {{1, 1, 1},   {3, 5, 2}, {4, 4, 33},  {5, 17, 40},  {1, 40, 70},  {40, 1, 70},
                            {2, 33, 31}, {9, 8, 7}, {65, 66, 9}, {33, 7, 257}, {8, 16, 300}, {17, 3, 4}};

TEST(AxesDot, FloatsOfAllMagnitudes) {
  std::mt19937_64 random(1);
  for (const Device& device : test::devices()) {
    for (const DType type : kFloats) {
      for (const Sizes& s : kSizes) {
        if (device.info().has(Capability::kernels) && (type != DType::float32 && type != DType::float64) && s.k > 40) continue;
        std::normal_distribution<double> normal;
        std::uniform_int_distribution<int> exponent(-60, 60);
        const std::vector<std::function<double()>> kinds = {
            [&] { return normal(random); }, [&] { return std::ldexp(normal(random), exponent(random)); },
            [&] { return static_cast<double>(static_cast<int>(random() % 7) - 3); },  // ties, zeros, no rounding
            [&] {
              return (random() % 2 != 0 ? 1 : -1) * (random() % 3 == 0 ? 0x1p60 : 1.0 + 0x1p-9 * static_cast<double>(random() % 8));
            }};  // cancellation
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
          const Elements a = floats(type, s.n * s.k, kinds[kind]), b = floats(type, s.m * s.k, kinds[kind]);
          const std::string what = std::string(device.info().selector) + " " + std::string(name_of(type)) + " kind " +
                                   std::to_string(kind) + " " + std::to_string(s.n) + "x" + std::to_string(s.m) + "x" + std::to_string(s.k);
          at_each_level(device, [&] { expect_products(device, a, b, s, NanPolicy::propagate, what); });
        }
      }
    }
  }
}

// Each instruction set of the CPU, of numbers whose products overflow, are denormal, infinite, NaN, or zeros of either sign.
TEST(AxesDot, Extremes) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> numbers = {0.0,
                                       -0.0,
                                       1.0,
                                       -1.0,
                                       0x1p-1074,
                                       -0x1p-1074,
                                       0x1p-1022,
                                       0x1.fffffffffffffp-500,
                                       0x1p-540,
                                       0x1p-537,
                                       0x1p600,
                                       -0x1p600,
                                       0x1.fffffffffffffp1023,
                                       -0x1.fffffffffffffp1023,
                                       0x1p-600,
                                       3.0};
  std::mt19937_64 random(2);
  for (const Device& device : test::devices()) {
    at_each_level(device, [&] {
      for (const DType type : {DType::float64, DType::float32}) {
        for (const unsigned special : {0u, 1u}) {
          for (const Sizes& s : {Sizes{17, 18, 3}, Sizes{16, 9, 40}, Sizes{40, 1, 64}, Sizes{5, 6, 1}}) {
            const auto next = [&]() -> double {
              if (special != 0 && random() % 50 == 0) return random() % 3 == 0 ? nan : random() % 2 == 0 ? inf : -inf;
              const double x = numbers[random() % numbers.size()];
              return type == DType::float64 ? x : std::isinf(static_cast<float>(x)) ? 0x1p127 : x;
            };
            const Elements a = floats(type, s.n * s.k, next), b = floats(type, s.m * s.k, next);
            for (const NanPolicy policy : {NanPolicy::propagate, NanPolicy::skip}) {
              expect_products(device, a, b, s, policy, std::string(device.info().selector) + " " + std::string(name_of(type)));
            }
          }
        }
      }
    });
  }
}

TEST(AxesDot, Integers) {
  std::mt19937_64 random(3);
  for (const Device& device : test::devices()) {
    for (const DType type : kIntegers) {
      for (const Sizes& s : {Sizes{3, 5, 2}, Sizes{17, 18, 33}, Sizes{40, 1, 70}, Sizes{2, 3, 1}}) {
        const Elements a = integers(type, s.n * s.k, random, true), b = integers(type, s.m * s.k, random, true);
        if (wanted_of(a.shaped({s.n, s.k}), b.shaped({s.m, s.k}), NanPolicy::propagate).size() != s.n * s.m) continue;  // beyond 64 bits
        expect_products(device, a, b, s, NanPolicy::propagate, std::string(device.info().selector) + " " + std::string(name_of(type)));
      }
    }
  }
}

// Sums of integers that do not fit are errors that name the result.
TEST(AxesDot, IntegersBeyond64Bits) {
  for (const Device& device : test::devices()) {
    for (const DType type : {DType::int32, DType::int64}) {
      const std::uint64_t n = 5, k = 40;
      Elements a{type, std::vector<std::byte>(n * k * size_of(type))}, b = a;
      for (std::uint64_t i = 0; i < k; ++i) {
        const std::int64_t large = type == DType::int32 ? std::numeric_limits<std::int32_t>::min() : std::int64_t{1} << 40;
        std::memcpy(a.bytes.data() + (3 * k + i) * size_of(type), &large, size_of(type));
        std::memcpy(b.bytes.data() + (4 * k + i) * size_of(type), &large, size_of(type));
      }
      std::vector<Buffer> buffers;
      const Array left = placed(a, {n, k}, device, buffers), right = placed(b, {n, k}, device, buffers);
      try {
        matmul(left, right.transposed());
        ADD_FAILURE() << device.info().selector;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::no_answer);
        EXPECT_NE(std::string(error.what()).find("dot product at (3, 4)"), std::string::npos) << error.what();
      }
    }
  }
}

// Axes of both arrays, of one alone, and several that are summed, in any layout: against the elements of each result.
TEST(AxesDot, AxesAndLayouts) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  const Elements x = floats(DType::float32, 4 * 5 * 6 * 7, [&] { return normal(random); });
  const Elements y = floats(DType::float32, 5 * 6 * 7, [&] { return normal(random); });
  for (const Device& device : test::devices()) {
    std::vector<Buffer> buffers;
    const Array a = placed(x, {4, 5, 6, 7}, device, buffers), b = placed(y, {5, 1, 7}, device, buffers);
    const Array host_a = x.shaped({4, 5, 6, 7}), host_b = y.shaped({5, 1, 7});
    // b broadcast to (4, 5, 6, 7) in host memory: its element (i1, 0, i3).
    const auto wanted = [&](const std::vector<bool>& summed) {
      std::vector<std::uint64_t> bits;
      const std::uint64_t shape[] = {4, 5, 6, 7};
      std::uint64_t results = 1, each = 1;
      for (std::size_t axis = 0; axis < 4; ++axis) (summed[axis] ? each : results) *= shape[axis];
      for (std::uint64_t r = 0; r < results; ++r) {
        std::vector<float> left, right;
        for (std::uint64_t e = 0; e < each; ++e) {
          std::uint64_t rest_r = r, rest_e = e, index[4];
          for (std::size_t axis = 4; axis-- > 0;) {
            std::uint64_t& rest = summed[axis] ? rest_e : rest_r;
            index[axis] = rest % shape[axis];
            rest /= shape[axis];
          }
          left.push_back(static_cast<const float*>(host_a.data())[((index[0] * 5 + index[1]) * 6 + index[2]) * 7 + index[3]]);
          right.push_back(static_cast<const float*>(host_b.data())[index[1] * 7 + index[3]]);
        }
        for (const std::uint64_t bit : alone(left, right, NanPolicy::propagate)) bits.push_back(bit);
      }
      return bits;
    };
    for (unsigned mask = 0; mask < 16; ++mask) {
      std::vector<std::int64_t> axes;
      std::vector<bool> summed(4);
      for (std::size_t axis = 0; axis < 4; ++axis) {
        summed[axis] = (mask >> axis & 1) != 0;
        if (summed[axis]) axes.push_back(axis % 2 == 0 ? static_cast<std::int64_t>(axis) : static_cast<std::int64_t>(axis) - 4);
      }
      EXPECT_EQ(bits_of(dot(a, b, Axes(axes))), wanted(summed)) << device.info().selector << " axes " << mask;
      EXPECT_EQ(bits_of(dot(b, a, Axes(axes))), wanted(summed)) << device.info().selector << " axes " << mask;
    }
    const Values kept = dot(a, b, Axes{1, 3}.kept());
    EXPECT_EQ(kept.shape(), (std::vector<std::uint64_t>{4, 1, 6, 1}));
    // Every other element, backwards.
    const Array odd = a.slice(3, 6, 4, -2), odd_b = b.slice(2, 6, 4, -2);
    const Values some = dot(odd, odd_b, Axes{-1});
    const Array first = host_a.at(0, 2).at(0, 3).at(0, 5).slice(0, 6, 4, -2), second = host_b.at(0, 3).at(0, 0).slice(0, 6, 4, -2);
    EXPECT_EQ(bits_of(some)[(2 * 5 + 3) * 6 + 5], alone(first, second, NanPolicy::propagate)[0]) << device.info().selector;
  }
}

TEST(AxesDot, ShapesOfMatrices) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 2, 0, 1, 3};
  const Array left(a.data(), Shape{2, 3}, DType::float64), right(b.data(), Shape{3, 2}, DType::float64);
  EXPECT_EQ(matmul(left, right).as<double>(), (std::vector<double>{8, 9, 20, 18}));
  EXPECT_EQ(matmul(left, right).shape(), (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(matmul(left, right.column(0)).shape(), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(matmul(left.row(1), right).shape(), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(matmul(left.row(1), right.column(1)).as<double>(), (std::vector<double>{18}));
  EXPECT_TRUE(matmul(left.row(1), right.column(1)).shape().empty());
  const Array stack(a.data(), Shape{1, 3, 2, 1}, DType::float64), others(b.data(), Shape{2, 1, 1, 3}, DType::float64);
  EXPECT_EQ(matmul(stack, others).shape(), (std::vector<std::uint64_t>{2, 3, 2, 3}));
  EXPECT_EQ(matmul(stack, others).as<double>()[4], 0);    // (0, 0, 1, 1): 2 * 0
  EXPECT_EQ(matmul(stack, others).as<double>()[35], 18);  // (1, 2, 1, 2): 6 * 3
  // Of no products zeros, of no results nothing.
  const Array none(a.data(), Shape{2, 0}, DType::float64), no_rows(a.data(), Shape{0, 2}, DType::float64);
  EXPECT_EQ(matmul(none, none.transposed()).as<double>(), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(matmul(no_rows, none).shape(), (std::vector<std::uint64_t>{0, 0}));
}

TEST(AxesDot, IntoMemoryOfTheCaller) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  for (const Device& device : test::devices()) {
    std::vector<Buffer> buffers;
    const Elements elements{DType::float32, std::vector<std::byte>(24)};
    std::memcpy(const_cast<std::byte*>(elements.bytes.data()), a.data(), 24);
    const Array left = placed(elements, {2, 3}, device, buffers), right = placed(elements, {3, 2}, device, buffers);
    std::vector<double> host(8, -1);
    matmul(left, right, Array(host.data() + 1, Shape{2, 2}, DType::float64, Strides{24, 8}));
    EXPECT_EQ(host, (std::vector<double>{-1, 22, 28, -1, 49, 64, -1, -1})) << device.info().selector;
    dot(left, left, Axes{0}, Array(host.data(), 3, DType::float64));
    EXPECT_EQ(host[0], 17);
    EXPECT_EQ(host[2], 45);
    if (!device.info().has(Capability::kernels)) continue;
    const Buffer there(device, 48);
    matmul(left, right, Array(there, Shape{2, 2}, DType::float64, 16));
    double found[6];
    there.read(found, 48);
    EXPECT_EQ(found[2], 22);
    EXPECT_EQ(found[5], 64);
  }
}

TEST(AxesDot, BadInput) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> narrow = {1, 2, 3};
  const Array left(a.data(), Shape{2, 3}, DType::float64);
  std::vector<double> to(4);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage ? error.what() : "another kind";
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { matmul(left, left); }), "the matrices do not fit: the rows of a have 3 elements, the columns of b 2");
  EXPECT_NE(message([&] { dot(left, a, Axes{-1}); }).find("'b' has the shape (6)"), std::string::npos)
      << message([&] { dot(left, a, Axes{-1}); });
  EXPECT_EQ(message([&] { dot(left, narrow, Axes{-1}); }),
            "the arrays of a dot product are of different types, float64 and float32: convert one of them");
  EXPECT_NE(message([&] { dot(left, left, Axes{2}); }).find("there is no axis 2"), std::string::npos);
  EXPECT_NE(message([&] { dot(left, left, Axes{0}.with_ddof(1)); }).find("ddof"), std::string::npos);
  EXPECT_NE(message([&] { matmul(left, Array(a.data(), Shape{}, DType::float64)); }).find("one axis or more"), std::string::npos);
  EXPECT_NE(message([&] { dot(left, left, Axes{0}, Array(to.data(), 4, DType::float64)); }).find("shape (3)"), std::string::npos);
}

// Of ordinary numbers hardly any sum is left to be added up in integers: neither ties, nor tiles with rows, columns or steps that there are
// not.
TEST(AxesDot, LeavesFewResults) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  for (const DType type : {DType::float64, DType::float32}) {
    for (const std::uint64_t k : {4u, 17u, 200u, 1000u}) {
      const std::uint64_t n = 37;
      const auto apart = static_cast<std::int64_t>(k * size_of(type)), each = static_cast<std::int64_t>(size_of(type));
      // Zeros of both signs, and numbers of which many sums lie in the middle between two doubles.
      const Elements a = floats(type, n * k, [&] { return random() % 9 == 0 ? (random() % 2 != 0 ? 0.0 : -0.0) : normal(random); });
      const Elements b = floats(type, n * k, [&] { return static_cast<float>(normal(random)); });
      for (const Device& device : test::devices()) {
        std::vector<Buffer> buffers;
        const Array left = placed(a, {n, k}, device, buffers), right = placed(b, {n, k}, device, buffers);
        const Axes last{-1};
        const auto rows = [&](const Array& of, bool down) {
          const std::vector<std::uint64_t> shape = down ? std::vector<std::uint64_t>{n, 1, k} : std::vector<std::uint64_t>{1, n, k};
          const std::vector<std::int64_t> strides =
              down ? std::vector<std::int64_t>{apart, 0, each} : std::vector<std::int64_t>{0, apart, each};
          if (of.on_device()) return Array(of.buffer(), Shape(shape), type, 0, Strides(strides));
          return Array(of.data(), Shape(shape), type, Strides(strides));
        };
        const groups::DotProblem problem(rows(left, true), rows(right, false), last);
        std::vector<std::byte> results(8 * n * n);
        if (device.info().has(Capability::kernels)) {
          const Buffer to(device, results.size());
          EXPECT_LE(groups::dots_on_device(problem, to.state().memory, 0).size(), 1u) << device.info().selector << " " << k;
        } else {
          EXPECT_LE(groups::dots_on_cpu(problem, 0, results.data()).size(), 1u) << name_of(type) << " " << k;
        }
      }
    }
  }
}

// The bits do not depend on the number of threads, nor on how results are divided into tiles.
TEST(AxesDot, Threads) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const Elements a = floats(DType::float64, 130 * 600, [&] { return normal(random); });
  const Array left = a.shaped({130, 600});
  const auto with = [&](std::uint32_t threads) { return bits_of(matmul(left, left.transposed(), {.tuning = {.threads = threads}})); };
  const std::vector<std::uint64_t> one = with(1);
  EXPECT_EQ(one, with(2));
  EXPECT_EQ(one, with(7));
  for (const std::uint64_t i : {0u, 77u, 129u}) EXPECT_EQ(one[i * 130 + 5], alone(left.row(i), left.row(5), NanPolicy::propagate)[0]);
}

}  // namespace
}  // namespace samesum
