// Arrays: construction from C++ containers; axes; functions that choose the device; and sums in the type of their elements.
#include "core/array/array_blocks.hpp"

#include <samesum/error.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plain_sum.hpp>
#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <limits>
#include <list>
#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace samesum {
namespace {

template <class Range>
constexpr bool kViewable = std::convertible_to<Range, Array>;

static_assert(kViewable<std::vector<float>&> && kViewable<const std::vector<double>&> && kViewable<std::vector<int>>);
static_assert(kViewable<std::array<long long, 4>&> && kViewable<const unsigned long (&)[3]> && kViewable<std::span<float>>);
static_assert(kViewable<std::span<const std::int8_t, 5>> && kViewable<std::initializer_list<double>> && kViewable<std::vector<char>&>);
static_assert(!kViewable<std::vector<bool>&> && !kViewable<std::vector<long double>&> && !kViewable<std::vector<char32_t>&>);
static_assert(!kViewable<std::list<float>&> && !kViewable<std::vector<std::string>&> && !kViewable<std::vector<std::byte>&>);
static_assert(!kViewable<std::string&> && !kViewable<std::string_view> && !kViewable<const char (&)[6]> && !kViewable<double>);

static_assert(dtype_of<signed char>() == DType::int8 && dtype_of<unsigned char>() == DType::uint8);
static_assert(dtype_of<short>() == DType::int16 && dtype_of<unsigned short>() == DType::uint16);
static_assert(dtype_of<int>() == DType::int32 && dtype_of<unsigned>() == DType::uint32);
static_assert(dtype_of<long>() == DType::int64 && dtype_of<unsigned long>() == DType::uint64);
static_assert(dtype_of<long long>() == DType::int64 && dtype_of<unsigned long long>() == DType::uint64);
static_assert(dtype_of<float>() == DType::float32 && dtype_of<double>() == DType::float64);
static_assert(dtype_of<char>() == (std::numeric_limits<char>::is_signed ? DType::int8 : DType::uint8));

// The type of a sum is known at compile time where that of the elements is.
static_assert(std::same_as<decltype(sum(std::vector<float>())), double> && std::same_as<decltype(sum(std::vector<double>())), double>);
static_assert(std::same_as<decltype(sum(std::vector<short>())), std::int64_t>);
static_assert(std::same_as<decltype(sum(std::array<unsigned char, 2>())), std::uint64_t>);
static_assert(std::same_as<decltype(sum(Array(nullptr, 0, DType::int8))), Value>);

TEST(Array, SeesWhatAContainerHolds) {
  const std::vector<long long> values = {1, -2, 3};
  const Array view = values;
  EXPECT_EQ(view.data(), values.data());
  EXPECT_EQ(view.size(), 3u);
  EXPECT_EQ(view.type(), DType::int64);
  EXPECT_TRUE(view.contiguous());
  unsigned short grid[] = {1, 2, 65535};
  EXPECT_EQ(Array(grid).size(), 3u);
  EXPECT_EQ(Array(grid).type(), DType::uint16);
  EXPECT_EQ(Array(std::vector<double>()).size(), 0u);
}

// The elements in C order, of an array of doubles in host memory.
std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  core::for_blocks(array, core::Order::index, [&](View block) {
    for (std::uint64_t i = 0; i < block.size(); ++i) values.push_back(*static_cast<const double*>(block.part(i, 1).data()));
  });
  return values;
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::usage ? error.what() : "not a mistake of usage";
  }
  return "no error";
}

TEST(Array, HasAxes) {
  std::vector<double> x(24);
  std::iota(x.begin(), x.end(), 0.0);
  const Array cube(x.data(), {2, 3, 4}, DType::float64);
  EXPECT_EQ(cube.size(), 24u);
  EXPECT_EQ(cube.rank(), 3u);
  EXPECT_TRUE(cube.contiguous());
  EXPECT_EQ(std::vector(cube.strides().begin(), cube.strides().end()), (std::vector<std::int64_t>{96, 32, 8}));
  EXPECT_EQ(values_of(cube), x);
  EXPECT_EQ(values_of(cube.at(0, 1).row(2)), (std::vector<double>{20, 21, 22, 23}));
  EXPECT_EQ(values_of(cube.at(1, 1)), (std::vector<double>{4, 5, 6, 7, 16, 17, 18, 19}));
  EXPECT_EQ(values_of(cube.at(2, 3)), (std::vector<double>{3, 7, 11, 15, 19, 23}));
  EXPECT_EQ(values_of(cube.at(0, 0).transposed()), (std::vector<double>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(values_of(cube.at(0, 0).slice(0, 2, 2, -2).slice(1, 3, 4, -1)), (std::vector<double>{11, 10, 9, 8, 3, 2, 1, 0}));
  EXPECT_EQ(values_of(cube.slice(1, 0, 2, 2).slice(2, 1, 1)), (std::vector<double>{1, 9, 13, 21}));
  EXPECT_EQ(values_of(Array(x.data() + 1, {3, 2}, DType::float64, {0, 8})), (std::vector<double>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(values_of(Array(x.data() + 5, Shape{}, DType::float64)), std::vector<double>{5});
  EXPECT_FALSE(cube.transposed().contiguous());
  EXPECT_EQ(Array(x.data(), {3, 0, 5}, DType::float64).size(), 0u);
  EXPECT_EQ(cube.part(1, 0).size(), 0u);
  EXPECT_EQ(cube.part(2, 0).size(), 0u) << "where the axis ends";
}

TEST(Array, IsReshapedWhereThatNeedsNoCopy) {
  std::vector<double> x(24);
  std::iota(x.begin(), x.end(), 0.0);
  const Array cube(x.data(), {2, 3, 4}, DType::float64);
  for (const std::vector<std::uint64_t>& shape : {std::vector<std::uint64_t>{24}, {4, 6}, {1, 24, 1}, {2, 2, 3, 2}, {12, 2}}) {
    EXPECT_EQ(values_of(cube.reshaped(shape)), x);
    EXPECT_EQ(cube.reshaped(shape).rank(), shape.size());
  }
  const Array columns = cube.slice(2, 0, 2);  // 2 x 3 x 2, a gap after each row
  EXPECT_EQ(values_of(columns.reshaped({6, 2})), values_of(columns));
  EXPECT_EQ(values_of(columns.reshaped({3, 2, 2, 1})), values_of(columns));
  EXPECT_EQ(message_of([&] { columns.reshaped({12}); }),
            "an array of 2 x 3 x 2 elements with strides of 96, 32, 8 bytes cannot be reshaped to 12 without a copy");
  EXPECT_EQ(message_of([&] { cube.reshaped({5, 5}); }), "24 elements cannot be reshaped to 5 x 5");
  EXPECT_EQ(Array(x.data(), {0, 3}, DType::float64).reshaped({7, 0, 2}).size(), 0u);
}

TEST(Array, BracesAreAShape) {
  const double x[] = {1, 2, 3};
  const Array one(x, {}, DType::float64);
  EXPECT_EQ(one.rank(), 0u);
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(Array(x, 3, DType::float64).rank(), 1u);
}

TEST(Array, RefusesWhatItCannotBe) {
  const std::vector<float> x(6);
  const Array row(x.data(), {2, 3}, DType::float32);
  EXPECT_EQ(message_of([&] { row.slice(2, 0, 1); }), "there is no axis 2 in an array of 2");
  EXPECT_EQ(message_of([&] { row.slice(1, 2, 2); }), "2 indices from 2 on, every 1, are not all within an axis of 3");
  EXPECT_EQ(message_of([&] { row.slice(1, 0, 2, -1); }), "2 indices from 0 on, every -1, are not all within an axis of 3");
  EXPECT_EQ(message_of([&] { row.part(3, 0); }), "0 indices from 3 on, every 1, are not all within an axis of 2");
  EXPECT_EQ(message_of([&] { row.at(0, 2); }), "there is no index 2 in an axis of 2");
  EXPECT_EQ(message_of([&] { row.slice(0, 1, UINT64_MAX); }),
            "18446744073709551615 indices from 1 on, every 1, are not all within an axis of 2");
  EXPECT_EQ(message_of([&] {
              Array(x.data(), {2, 3}, DType::float32, {4});
            }),
            "an array of 2 axes needs as many strides, in bytes: 1 are given");
  EXPECT_EQ(message_of([&] {
              Array(x.data(), {UINT64_MAX, 2}, DType::float32);
            }),
            "an array of 18446744073709551615 x 2 elements has more than 2^60");
  EXPECT_EQ(message_of([&] { Array(x.data(), UINT64_MAX, DType::float32); }),
            "an array of 18446744073709551615 elements has more than 2^60");
  const std::vector<std::uint64_t> many(Array::kMaxRank + 1, 1);
  EXPECT_EQ(message_of([&] { Array(x.data(), many, DType::float32); }), "an array of 65 axes: there can be 64");
  const Buffer buffer(Device::open("cpu"), 64);
  EXPECT_EQ(message_of([&] {
              Array(buffer, {2, 8}, DType::float64);
            }),
            "2 x 8 elements of 8 bytes, one every 64, 8 bytes from byte 0 on, do not lie within the 64 bytes of the buffer");
  EXPECT_EQ(message_of([&] {
              Array(buffer, {2, 2}, DType::float64, 0, {-8, 8});
            }),
            "2 x 2 elements of 8 bytes, one every -8, 8 bytes from byte 0 on, do not lie within the 64 bytes of the buffer");
  EXPECT_EQ(message_of([&] {
              Array(buffer, {2, 2}, DType::float64, 0, {12, 8});
            }),
            "elements of 8 bytes every 12, 8 bytes from byte 0 of a buffer on are not aligned");
  EXPECT_EQ(Array(buffer, {2, 4}, DType::float64, 32, {-32, 8}).offset(), 32u);
}

TEST(Array, OfBoolCountsWhatIsTrue) {
  const bool flags[] = {true, false, true, true};
  EXPECT_EQ(sum(flags), 3u);
  EXPECT_EQ(Array(flags).type(), DType::uint8);
  EXPECT_EQ(count_nonzero(flags), 3u);
}

TEST(Array, EveryFunctionTakesAContainerAndChoosesTheDevice) {
  std::vector<float> values = {3, 1e30f, -1e30f, 0.5f};
  const std::array<double, 3> few = {1, 2, 4};
  EXPECT_EQ(sum(values), 3.5);
  EXPECT_EQ(sum(few), 7);
  EXPECT_EQ(sum(std::span<float>(values).first(1)), 3);
  EXPECT_EQ(sum(std::vector{1, 2, 3}), 6);
  EXPECT_EQ(accumulate(values).round(), 3.5);
  EXPECT_EQ(collect(values).max().index, 1u);
  EXPECT_EQ(min(values).index, 2u);
  EXPECT_EQ(max(few).value.as_double(), 4);
  EXPECT_EQ(minmax(few).second.index, 2u);
  EXPECT_EQ(count_nonzero(values), 4u);
  EXPECT_TRUE(any(values) && all(values));
  EXPECT_EQ(mean(values), 0.875);
  EXPECT_EQ(mean(values, {.nan = NanPolicy::skip}), 0.875);
  EXPECT_EQ(variance(few, 1), 7.0 / 3);
  EXPECT_EQ(standard_deviation(std::array{1, 3}), 1);
  EXPECT_EQ(squared_norm(few), 21);
  EXPECT_EQ(norm(std::array{3, 4}), 5);
  EXPECT_EQ(dot(few, few).round(), 21);
  EXPECT_EQ(product(few).as_double(), 8);
  const Histogram counted = histogram(few, Bins::even(0, 4, 2));
  EXPECT_EQ(std::vector(counted.counts().begin(), counted.counts().end()), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(range_of(few)->max, 4);
  EXPECT_EQ(count_characters("aab", CharacterMap::bytes()).counts['a'], 2u);
  EXPECT_EQ(std::get<std::vector<double>>(pairs(few, few, {.weights = few}))[0], 21);
  EXPECT_EQ(plain_sum_forward(few), 7);
}

// 2^53 + 1 is not a double.
TEST(SumOfIntegers, IsTheIntegerOnEveryDevice) {
  const std::vector<std::int64_t> large = {std::int64_t{1} << 53, 1, 0, 0};
  const std::vector<std::uint64_t> largest = {~std::uint64_t{0} - 1, 1};
  const std::vector<std::int8_t> small = {-128, -128};
  EXPECT_EQ(sum(large), 9007199254740993);
  EXPECT_EQ(sum(std::vector<unsigned>{4294967295u, 1u}), 4294967296u);
  EXPECT_EQ(sum(std::vector<int>()), 0);
  for (const Device& device : open_devices("all", 0)) {
    EXPECT_EQ(sum(large, {.device = device}), 9007199254740993) << device.info().selector;
    EXPECT_EQ(sum(largest, {.device = device}), ~std::uint64_t{0}) << device.info().selector;
    EXPECT_EQ(sum(small, {.device = device}), -256) << device.info().selector;
    EXPECT_EQ(sum(std::vector<std::uint16_t>(), {.device = device}), 0u) << device.info().selector;
    EXPECT_EQ(sum(Array(large), {.device = device}), (Value{std::int64_t{9007199254740993}, DType::int64})) << device.info().selector;
    const Buffer buffer(device, 32);
    buffer.write(large.data(), 32);
    EXPECT_EQ(sum(Array(buffer, 4, DType::int64)), (Value{std::int64_t{9007199254740993}, DType::int64})) << device.info().selector;
  }
}

TEST(SumOfIntegers, ThatDoesNotFitIsAnErrorWithTheExactValue) {
  const std::vector<std::int64_t> values = {std::numeric_limits<std::int64_t>::max(), 1};
  const std::vector<std::uint64_t> more = {~std::uint64_t{0}, ~std::uint64_t{0}};
  const auto refused = [](const auto& data, const Device& device, const char* exactly) {
    try {
      sum(data, {.device = device});
      ADD_FAILURE() << "a sum that does not fit was given on " << device.info().selector;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
      EXPECT_NE(std::string(error.what()).find(exactly), std::string::npos) << error.what();
    }
  };
  for (const Device& device : open_devices("all", 0)) {
    refused(values, device, "9223372036854775808");
    refused(more, device, "36893488147419103230");
    EXPECT_EQ(accumulate(values, {.device = device}).round(), 0x1p63);
  }
}

}  // namespace
}  // namespace samesum
