// Groups of arrays on devices that sort elements by their groups: the bits of the same in host memory.
#include "core/visit.hpp"
#include "support/devices.hpp"
#include "support/same_bits.hpp"

#include <samesum/by_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace by_device {
namespace {

// With equal ones, extremes, zeros of both signs, infinities and NaNs of both signs. Of 16-bit floats any bits.
Values numbers(DType type, std::size_t size, std::mt19937_64& random) {
  Values values(type, {size});
  core::visit(type, [&](auto element) {
    using T = decltype(element);
    auto* const to = static_cast<T*>(values.data());
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t bits = random();
      if constexpr (std::is_integral_v<T>) {
        to[i] = static_cast<T>(bits % 3 == 0 ? bits >> 32 : bits % 5);
        if (bits % 64 == 1) to[i] = std::numeric_limits<T>::min();
        if (bits % 64 == 2) to[i] = std::numeric_limits<T>::max();
      } else if constexpr (std::is_floating_point_v<T>) {
        to[i] = bits % 200 == 0   ? std::numeric_limits<T>::quiet_NaN()
                : bits % 50 == 1  ? static_cast<T>(-0.0)
                : bits % 50 == 2  ? T{0}
                : bits % 300 == 3 ? -std::numeric_limits<T>::infinity()
                                  : static_cast<T>(bits % 2000) / 8 - 100;
        if (bits % 200 == 100) to[i] = -std::numeric_limits<T>::quiet_NaN();
      } else {
        std::memcpy(to + i, &bits, sizeof(T));
      }
    }
  });
  return values;
}

Array on(const Device& device, const Array& data) {
  const Buffer there(device, std::max<std::uint64_t>(data.bytes(), 16));
  if (data.size() != 0) there.write(data.data(), data.bytes());
  return Array(there, data.size(), data.type());
}

// The same result, or the same error.
template <class Call>
void expect_same(const Call& call, const Array& there, const By& by_there, const Array& here, const By& by_here, const std::string& what) {
  std::optional<Values> wanted, got;
  std::string wanted_error, got_error;
  try {
    wanted.emplace(call(here, by_here));
  } catch (const Error& error) {
    wanted_error = error.what();
  }
  try {
    got.emplace(call(there, by_there));
  } catch (const Error& error) {
    got_error = error.what();
  }
  ASSERT_EQ(got_error, wanted_error) << what;
  if (wanted) test::expect_same_bits(got->array(), wanted->array(), what);
}

void expect_all(const Array& there, const By& by_there, const Array& here, const By& by_here, const std::string& what) {
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    const Options options = {.nan = nan};
    for (const AxisReduction reduction :
         {AxisReduction::argmin, AxisReduction::argmax, AxisReduction::product, AxisReduction::min, AxisReduction::max}) {
      expect_same([&](const Array& x, const By& by) { return group_reduction(x, reduction, by, 0, options); }, there, by_there, here,
                  by_here, what + " " + std::string(name_of(reduction)));
    }
    for (const QuantileMethod method : {QuantileMethod::linear, QuantileMethod::lower, QuantileMethod::nearest}) {
      const double q[] = {0.5, 0, 0.31, 1};
      expect_same([&](const Array& x, const By& by) { return quantiles(x, q, by, {.method = method}, options); }, there, by_there, here,
                  by_here, what + " quantiles");
    }
  }
  const Operator first(Formula("a"), {Value{std::int64_t{0}, DType::int64}});
  const Operator mixed(Formula(is_integer(here.type()) ? "a/2 - b/2" : "a*0.5 - b"), {Value{std::int64_t{0}, DType::int64}});
  for (const Operator& op : {first, mixed}) {
    expect_same([&](const Array& x, const By& by) { return std::move(reduce(x, op, by)[0]); }, there, by_there, here, by_here,
                what + " operator");
  }
}

struct Case {
  std::uint64_t size, groups;
  bool with_all;  // each group has an element
  unsigned skew;  // so many in 16 elements are of one group
};

class ByDevice : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, ByDevice,
                         testing::Values(DType::int8, DType::int64, DType::uint64, DType::float16, DType::float32, DType::float64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST_P(ByDevice, HasTheBitsOfTheHost) {
  if (test::on_own_queues() && GetParam() != DType::float32) GTEST_SKIP() << "one type is enough for launches on other queues";
  std::mt19937_64 random(20261201);
  const Case cases[] = {{1, 1, true, 0},        {9, 3, false, 0},        {2047, 2, true, 0},      {4097, 300, true, 0},
                        {5000, 4999, false, 0}, {30'000, 256, true, 15}, {70'000, 257, false, 8}, {200'000, 66'000, false, 4}};
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    for (const Case& one : cases) {
      if (one.size > 10'000 && GetParam() != DType::float32 && GetParam() != DType::int64) continue;
      const Values all = numbers(GetParam(), one.size, random);
      const Array values = all.array();
      std::vector<std::int32_t> keys(one.size);
      for (std::uint64_t i = 0; i < one.size; ++i) {
        keys[i] = static_cast<std::int32_t>(random() % 16 < one.skew ? one.groups / 2 : random() % one.groups);
        if (one.with_all && i < one.groups) keys[i] = static_cast<std::int32_t>(i);
      }
      const std::string what = std::to_string(one.size) + " elements in " + std::to_string(one.groups) + " groups on " +
                               device.info().selector + ", " + std::string(name_of(GetParam()));
      const By here = by(keys, one.groups);
      const Array there = on(device, values), keys_there = on(device, keys);
      expect_all(there, by(keys_there, one.groups), values, here, what);
      if (one.size > 5000) continue;
      expect_all(there, by(keys), values, by(keys), what + ", keys of the host");
      const std::vector<std::int8_t> narrow(keys.begin(), keys.end());
      if (one.groups < 100) expect_all(there, by(on(device, narrow), one.groups), values, here, what + ", int8 keys");
      // Every second element, backwards.
      const std::uint64_t half = (one.size + 1) / 2;
      const auto backwards = [&](const Array& x, std::uint64_t size) { return x.slice(0, (size - 1) / 2 * 2, (size + 1) / 2, -2); };
      std::vector<std::int32_t> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(half));
      expect_all(backwards(there, one.size), by(on(device, some), one.groups), backwards(values, one.size), by(some, one.groups),
                 what + ", strided");
      // Segments, which leave out the first element and the last.
      std::vector<std::uint64_t> offsets(one.groups + 1);
      for (std::uint64_t& offset : offsets) offset = random() % one.size;
      std::ranges::sort(offsets);
      expect_all(there, by_offsets(on(device, offsets)), values, by_offsets(offsets), what + ", segments");
      expect_all(there, by_offsets(offsets), values, by_offsets(offsets), what + ", segments of the host");
    }
  }
}

class ByDeviceKeys : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, ByDeviceKeys, testing::Values(DType::int8, DType::uint16, DType::int32, DType::uint64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

// Keys of all magnitudes, of few, of one; strided.
TEST_P(ByDeviceKeys, AreNumberedAsOnTheHost) {
  std::mt19937_64 random(3);
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    for (const std::uint64_t size : {1, 255, 3000, 40'000}) {
      const Values all = numbers(GetParam(), size, random);
      const Array wide = on(device, all.array()), one(wide.buffer(), {size}, GetParam(), 0, {0});
      const Array here_one(all.data(), Shape{size}, GetParam(), Strides{0});
      const std::pair<Array, Array> both[] = {
          {wide, all.array()}, {one, here_one}, {wide.slice(0, size - 1, size, -1), all.array().slice(0, size - 1, size, -1)}};
      for (const auto& [there, here] : both) {
        for (const KeyOrder order : {KeyOrder::sorted, KeyOrder::first_seen}) {
          const By got = by(there, order), wanted = by(here, order);
          const std::string what = std::string(name_of(GetParam())) + " " + std::to_string(size) + " on " + device.info().selector;
          test::expect_same_bits(got.keys().array(), wanted.keys().array(), what);
          std::vector<std::uint32_t> indices(size);
          const Array indices_there = got.indices();
          ASSERT_TRUE(indices_there.on_device()) << what;
          indices_there.buffer().read(indices.data(), 4 * size, indices_there.offset());
          const auto expected = wanted.indices();
          for (std::uint64_t i = 0; i < size; ++i) {
            ASSERT_EQ(indices[i], static_cast<const std::uint64_t*>(expected.data())[i]) << what << " at " << i;
          }
        }
      }
    }
  }
}

TEST(ByDeviceErrors, AreThoseOfTheHost) {
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    const std::vector<std::int64_t> values = {5, INT64_MAX, 3, 2, 0, 7};
    const std::vector<std::int32_t> outside = {0, 1, -1, 0, 1, 1}, beyond = {0, 1, 2, 0, 1, 1}, keys = {0, 1, 1, 0, 3, 3};
    const Array there = on(device, values);
    const auto expect = [&](ErrorKind kind, const std::string& text, const By& groups) {
      test::expect_error(kind, text, [&] { static_cast<void>(argmin(there, groups)); });
      test::expect_error(kind, text, [&] { static_cast<void>(median(there, groups)); });
      test::expect_error(kind, text, [&] { static_cast<void>(reduce(there, Operator(Formula("a - b")), groups)); });
    };
    expect(ErrorKind::usage, "element 2", by(on(device, outside), 2));
    expect(ErrorKind::usage, "element 2", by(on(device, beyond), 2));
    for (const By& groups : {by(on(device, keys), 4), by_offsets(std::vector{0, 2, 4, 4, 6})}) {
      test::expect_error(ErrorKind::no_answer, "group 2", [&] { static_cast<void>(argmax(there, groups)); });
      test::expect_error(ErrorKind::no_answer, "group 2",
                         [&] { static_cast<void>(quantile(there, 0.5, groups, {.method = QuantileMethod::lower})); });
      test::expect_error(ErrorKind::no_answer, "group 2", [&] { static_cast<void>(reduce(there, Operator(Formula("a - b")), groups)); });
    }
    expect(ErrorKind::usage, "keys of 5", by(on(device, std::vector<std::int32_t>(5)), 1));
    expect(ErrorKind::usage, "there are 6 elements", by_offsets(std::vector{2, 7}));
    test::expect_error(ErrorKind::no_answer, "product of group 1", [&] { static_cast<void>(product(there, by(on(device, keys), 4))); });
    // With a zero: exact, though it does not fit on the way.
    const std::vector<std::int64_t> zero = {INT64_MAX, 2, 0};
    EXPECT_EQ(product(on(device, zero), by(std::vector{1, 1, 1})).as<std::int64_t>()[0], 0);
  }
}

// Far more groups than elements: a level of the trees may have more nodes than the ones before it.
TEST(ByDeviceGroups, MayBeEmpty) {
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    constexpr std::uint64_t kGroups = 1'000'000;
    std::vector<double> values(5000, 1.0);
    values[17] = 3;
    const std::vector<std::int32_t> keys(values.size(), kGroups - 1);
    const Values found = product(on(device, values), by(on(device, keys), kGroups));
    const auto all = found.as<double>();
    EXPECT_EQ(all[kGroups - 1], 3) << device.info().selector;
    EXPECT_EQ(std::ranges::count(all, 1.0), kGroups - 1) << device.info().selector;
    EXPECT_EQ(
        reduce(on(device, values), Operator(Formula("a + b"), {Value{0.0}}), by(on(device, keys), kGroups))[0].as<double>()[kGroups - 1],
        5002)
        << device.info().selector;
  }
}

// Pairs of results, and what a formula gives.
TEST(ByDeviceFormulas, GiveSeveralComponents) {
  std::mt19937_64 random(5);
  const Values all = numbers(DType::float64, 3000, random);
  const Array x = all.array();
  std::vector<std::uint16_t> keys(x.size());
  for (std::uint16_t& key : keys) key = static_cast<std::uint16_t>(random() % 40);
  const Operator farthest(Formula("b[0] > a[0] ? b : a"), {Value{-1.0, DType::float64}, Value{std::int64_t{-1}, DType::int64}});
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels) || !device.info().has(Capability::fp64)) continue;
    const std::vector<Values> wanted = reduce(Formula("(abs(x), i)"), {{"x", x}}, {}, farthest, by(keys, 50));
    const std::vector<Values> got = reduce(Formula("(abs(x), i)"), {{"x", on(device, x)}}, {}, farthest, by(on(device, keys), 50));
    ASSERT_EQ(got.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) test::expect_same_bits(got[k].array(), wanted[k].array(), "component");
  }
}

}  // namespace
}  // namespace by_device
}  // namespace samesum
