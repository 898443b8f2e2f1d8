// Views of what holds elements in C++, whatever its name; functions that choose the device; and sums in the type of their elements.
#include <samesum/pairs.hpp>
#include <samesum/plain_sum.hpp>
#include <samesum/samesum.hpp>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <limits>
#include <list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace samesum {
namespace {

template <class Range>
constexpr bool kViewable = std::convertible_to<Range, View>;

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

// The type of a sum is known to the compiler where that of the elements is.
static_assert(std::same_as<decltype(sum(std::vector<float>())), double> && std::same_as<decltype(sum(std::vector<double>())), double>);
static_assert(std::same_as<decltype(sum(std::vector<short>())), std::int64_t>);
static_assert(std::same_as<decltype(sum(std::array<unsigned char, 2>())), std::uint64_t>);
static_assert(std::same_as<decltype(sum(View(nullptr, 0, DType::int8))), Value>);

TEST(View, SeesWhatAContainerHolds) {
  const std::vector<long long> values = {1, -2, 3};
  const View view = values;
  EXPECT_EQ(view.data(), values.data());
  EXPECT_EQ(view.size(), 3u);
  EXPECT_EQ(view.type(), DType::int64);
  EXPECT_TRUE(view.contiguous());
  unsigned short grid[] = {1, 2, 65535};
  EXPECT_EQ(View(grid).size(), 3u);
  EXPECT_EQ(View(grid).type(), DType::uint16);
  EXPECT_EQ(View(std::vector<double>()).size(), 0u);
}

TEST(View, EveryFunctionTakesAContainerAndChoosesTheDevice) {
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
  EXPECT_EQ(histogram(few, Bins::even(0, 4, 2)).counts(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(range_of(few)->greatest, 4);
  EXPECT_EQ(count_characters("aab", CharacterMap::bytes()).counts['a'], 2u);
  EXPECT_EQ(std::get<std::vector<double>>(pairs(few, few, {.weights = few}))[0], 21);
  EXPECT_EQ(plain_sum_forward(few), 7);
}

// 2^53 + 1 is no double.
TEST(SumOfIntegers, IsTheIntegerOnEveryDevice) {
  const std::vector<std::int64_t> large = {std::int64_t{1} << 53, 1, 0, 0};
  const std::vector<std::uint64_t> largest = {~std::uint64_t{0} - 1, 1};
  const std::vector<std::int8_t> small = {-128, -128};
  EXPECT_EQ(sum(large), 9007199254740993);
  EXPECT_EQ(sum(std::vector<unsigned>{4294967295u, 1u}), 4294967296u);
  EXPECT_EQ(sum(std::vector<int>()), 0);
  for (const Device& device : open_devices("all", 0)) {
    EXPECT_EQ(sum(large, device), 9007199254740993) << device.info().selector;
    EXPECT_EQ(sum(largest, device), ~std::uint64_t{0}) << device.info().selector;
    EXPECT_EQ(sum(small, device), -256) << device.info().selector;
    EXPECT_EQ(sum(std::vector<std::uint16_t>(), device), 0u) << device.info().selector;
    EXPECT_EQ(sum(View(large), device), (Value{std::int64_t{9007199254740993}, DType::int64})) << device.info().selector;
    const Buffer buffer(device, 32);
    buffer.write(large.data(), 32);
    EXPECT_EQ(sum(BufferView(buffer, 4, DType::int64)), (Value{std::int64_t{9007199254740993}, DType::int64})) << device.info().selector;
  }
}

TEST(SumOfIntegers, ThatDoesNotFitIsAnErrorWithTheExactValue) {
  const std::vector<std::int64_t> values = {std::numeric_limits<std::int64_t>::max(), 1};
  const std::vector<std::uint64_t> more = {~std::uint64_t{0}, ~std::uint64_t{0}};
  const auto refused = [](const auto& data, const Device& device, const char* exactly) {
    try {
      sum(data, device);
      ADD_FAILURE() << "a sum that does not fit was given on " << device.info().selector;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
      EXPECT_NE(std::string(error.what()).find(exactly), std::string::npos) << error.what();
    }
  };
  for (const Device& device : open_devices("all", 0)) {
    refused(values, device, "9223372036854775808");
    refused(more, device, "36893488147419103230");
    EXPECT_EQ(accumulate(values, device).round(), 0x1p63);
  }
}

}  // namespace
}  // namespace samesum
