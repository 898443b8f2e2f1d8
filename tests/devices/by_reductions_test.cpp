// Every reduction, operators of one's own and formulas, by key and by segment: of each group the bits of its elements alone.
#include "support/devices.hpp"
#include "support/same_bits.hpp"

#include <samesum/by_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace by_reductions {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr AxisReduction kAll[] = {
    AxisReduction::sum,    AxisReduction::mean,         AxisReduction::variance,      AxisReduction::standard_deviation,
    AxisReduction::norm,   AxisReduction::squared_norm, AxisReduction::min,           AxisReduction::max,
    AxisReduction::argmin, AxisReduction::argmax,       AxisReduction::count_nonzero, AxisReduction::product};

// Groups of no element, of one, of some, and of more than go together; `of` has the group of each element.
struct Division {
  std::vector<std::uint64_t> of;
  std::uint64_t groups = 0;
};
Division divided(std::uint64_t groups, std::uint64_t most, std::mt19937_64& random) {
  Division division;
  for (std::uint64_t group = 0; group < groups; ++group) {
    const std::uint64_t size = group % 7 == 3 ? 0 : group % 5 == 0 ? 1 : random() % most;
    division.of.insert(division.of.end(), size, group);
  }
  division.groups = groups;
  return division;
}

template <class T>
std::vector<T> numbers(std::size_t size, std::mt19937_64& random) {
  std::vector<T> values(size);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random() % 7 == 0 ? 0 : static_cast<std::int64_t>(random() % 11) - (std::is_signed_v<T> ? 5 : 0));
    } else {
      const auto number = static_cast<T>(std::ldexp(static_cast<double>(random() % 4096) - 2048, static_cast<int>(random() % 20) - 20));
      value = random() % 300 == 0 ? static_cast<T>(kNan) : random() % 50 == 0 ? static_cast<T>(-0.0) : number;
    }
  }
  return values;
}

void store(const Value& value, DType type, void* to) {
  std::visit(
      [&](auto number) {
        const auto put = [&](auto element) { std::memcpy(to, &element, sizeof element); };
        type == DType::float64   ? put(static_cast<double>(number))
        : type == DType::float32 ? put(static_cast<float>(number))
        : type == DType::int64   ? put(static_cast<std::int64_t>(number))
        : type == DType::uint64  ? put(static_cast<std::uint64_t>(number))
                                 : put(static_cast<std::uint8_t>(number));
      },
      value.number);
}

// A result of one group's elements as the functions for whole arrays have it, in the type of `like`; false where there is none.
template <class T>
bool store_reduction(const std::vector<T>& elements, const std::vector<std::uint64_t>& places, AxisReduction reduction, NanPolicy nan,
                     DType like, void* to) {
  const Options options = {.nan = nan, .device = Device::open("cpu")};
  const Array array(elements);
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  const auto put_value = [&](const Value& value) { store(value, like, to); };
  try {
    switch (reduction) {
      case AxisReduction::sum: {
        const Accumulator sum = accumulate(array, options);
        like == DType::float64 ? put(sum.round(nan)) : like == DType::int64 ? put(sum.to_int64()) : put(sum.to_uint64());
        return true;
      }
      case AxisReduction::mean:
        put(mean(array, options));
        return true;
      case AxisReduction::variance:
        put(variance(array, 1, options));
        return true;
      case AxisReduction::standard_deviation:
        put(standard_deviation(array, 1, options));
        return true;
      case AxisReduction::norm:
        put(norm(array, options));
        return true;
      case AxisReduction::squared_norm:
        put(squared_norm(array, options));
        return true;
      case AxisReduction::min:
        put_value(min(array, options).value);
        return true;
      case AxisReduction::max:
        put_value(max(array, options).value);
        return true;
      case AxisReduction::argmin:
        put(places[min(array, options).index]);
        return true;
      case AxisReduction::argmax:
        put(places[max(array, options).index]);
        return true;
      case AxisReduction::count_nonzero:
        put(count_nonzero(array, options));
        return true;
      case AxisReduction::product:
        put_value(product(array, options));
        return true;
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_answer);
  }
  return false;
}

template <class T>
void expect_reductions(const std::vector<T>& values, const Division& division, const By& by, const Array& data, const std::string& what) {
  std::vector<std::vector<T>> elements(division.groups);
  std::vector<std::vector<std::uint64_t>> places(division.groups);
  for (std::size_t i = 0; i < values.size(); ++i) {
    elements[division.of[i]].push_back(values[i]);
    places[division.of[i]].push_back(i);
  }
  for (const AxisReduction reduction : kAll) {
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
      for (const std::uint32_t threads : {1u, 3u}) {
        const bool spread = reduction == AxisReduction::variance || reduction == AxisReduction::standard_deviation;
        const std::uint64_t ddof = spread ? 1 : 0;
        const Options options = {.nan = nan, .tuning = {.threads = threads}};
        std::vector<std::string> failing;  // those without a result, which is not NaN either
        try {
          const Values found = group_reduction(data, reduction, by, ddof, options);
          ASSERT_EQ(found.size(), division.groups);
          for (std::uint64_t group = 0; group < division.groups; ++group) {
            std::uint64_t wanted = 0, got = 0;
            const std::size_t bytes = size_of(found.type());
            std::memcpy(&got, static_cast<const std::byte*>(found.data()) + group * bytes, bytes);
            if (store_reduction(elements[group], places[group], reduction, nan, found.type(), &wanted)) {
              ASSERT_EQ(got, wanted) << what << " " << name_of(reduction) << " of group " << group << " of " << elements[group].size();
            } else {
              ASSERT_EQ(found.type(), DType::float64);
              ASSERT_TRUE(std::isnan(found.as<double>()[group])) << what << " " << name_of(reduction) << " of group " << group;
            }
          }
        } catch (const Error& error) {
          ASSERT_EQ(error.kind(), ErrorKind::no_answer) << error.what();
          // The first group that has no answer is the one that is named.
          std::uint64_t group = 0, ignored = 0;
          const DType like = std::is_integral_v<T> ? (std::is_signed_v<T> ? DType::int64 : DType::uint64) : DType::float64;
          while (group < division.groups && store_reduction(elements[group], places[group], reduction, nan, like, &ignored)) ++group;
          ASSERT_LT(group, division.groups) << error.what();
          ASSERT_NE(std::string(error.what()).find("group " + std::to_string(group)), std::string::npos) << error.what();
        }
      }
    }
  }
}

template <class T>
class ByReductions : public testing::Test {};
using Types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(ByReductions, Types);

TYPED_TEST(ByReductions, HaveTheBitsOfTheGroupsAlone) {
  using T = TypeParam;
  std::mt19937_64 random(20261130);
  for (const auto& [groups, most] : {std::pair{400, 40}, {1, 5000}, {30, 9000}, {0, 1}}) {
    for (const bool with_empty : {false, true}) {
      Division division = divided(static_cast<std::uint64_t>(groups), static_cast<std::uint64_t>(most), random);
      if (!with_empty) {  // every group has an element
        for (std::uint64_t group = 0; group < division.groups; ++group) division.of.push_back(group);
        std::ranges::sort(division.of);
      }
      const std::vector<T> values = numbers<T>(division.of.size(), random);
      std::vector<std::uint64_t> lengths(division.groups);
      for (const std::uint64_t group : division.of) ++lengths[group];
      expect_reductions<T>(values, division, by_lengths(lengths), values, "segments");
      std::vector<T> apart(2 * values.size() + 1);
      for (std::size_t i = 0; i < values.size(); ++i) apart[2 * i] = values[i];
      const Array strided(apart.data(), values.size(), dtype_of<T>(), 2 * sizeof(T));
      expect_reductions<T>(values, division, by_lengths(lengths), strided, "strided segments");
      std::ranges::shuffle(division.of, random);
      expect_reductions<T>(values, division, by(division.of, division.groups), values, "indices");
      const std::vector<std::int16_t> narrow(division.of.begin(), division.of.end());
      expect_reductions<T>(values, division, by(narrow, division.groups), strided, "narrow indices");
      if (!with_empty) expect_reductions<T>(values, division, by(narrow), values, "keys");
    }
  }
}

TEST(ByReduction, TypesAreThoseOfTheElementsThoughThereAreNone) {
  const std::vector<std::int32_t> values = {5, 6, 7};
  const By none = by_offsets(std::vector{1, 1, 1});
  EXPECT_EQ(sum(values, none).as<std::int64_t>()[1], 0);
  EXPECT_EQ(group_reduction(values, AxisReduction::count_nonzero, none).as<std::uint64_t>()[0], 0u);
  EXPECT_EQ(product(std::vector<std::uint8_t>{1}, by_lengths(std::vector{0})).as<std::uint64_t>()[0], 1u);
  std::int64_t to[2] = {7, 7};
  sum(values, none, Array(to, 2, DType::int64));
  EXPECT_EQ(to[0] + to[1], 0);
  test::expect_error(ErrorKind::no_answer, "group 0", [&] { static_cast<void>(max(values, none)); });
  EXPECT_TRUE(std::isnan(max(std::vector<float>{1}, by_lengths(std::vector{0})).as<double>()[0]));
  EXPECT_EQ(min(std::vector<std::uint16_t>(), by(std::vector<int>(), 0)).type(), DType::uint64);
  test::expect_error(ErrorKind::usage, "too many", [&] { static_cast<void>(by(std::vector{1}, std::uint64_t{1} << 63)); });
  const Operator pair(Formula("a + b"), {Value{1.0, DType::float64}, Value{1.0, DType::float64}});
  test::expect_error(ErrorKind::usage, "the identity has", [&] { static_cast<void>(reduce(values, pair, by(std::vector{1, 1, 2}))); });
}

// Keys that lie far apart, which all threads number.
TEST(ByReduction, KeysFarApart) {
  std::mt19937_64 random(17);
  std::vector<std::int64_t> keys(600'000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = (static_cast<std::int64_t>(random() % (i < keys.size() / 2 ? 100 : 70'000)) - 50) * 1'000'000'007;
  }
  const By sorted = by(keys), seen = by(keys, KeyOrder::first_seen);
  std::vector<std::int64_t> distinct(keys);
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  ASSERT_EQ(sorted.groups(), distinct.size());
  ASSERT_EQ(seen.groups(), distinct.size());
  const auto *const of = static_cast<const std::uint64_t*>(sorted.indices().data()), *const of_seen = static_cast<const std::uint64_t*>(
                                                                                         seen.indices().data());
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(sorted.keys().as<std::int64_t>()[of[i]], keys[i]) << i;
    ASSERT_EQ(distinct[of[i]], keys[i]) << i;
    ASSERT_EQ(seen.keys().as<std::int64_t>()[of_seen[i]], keys[i]) << i;
    ASSERT_LE(of_seen[i], next) << i;
    next += of_seen[i] == next ? 1 : 0;
  }
}

TEST(ByReduction, SegmentsOfAMatrixAreThoseOfItsElementsInCOrder) {
  const double x[] = {1, 5, 2, 6, 3, 7};
  const Array matrix(x, {2, 3}, DType::float64),
      columns = Array(x, {3, 2}, DType::float64).transposed();  // of which the rows are 1 2 3, 5 6 7
  const By segments = by_offsets(std::vector{0, 1, 6});
  for (const AxisReduction reduction : kAll) {
    const std::vector<double> in_order = {1, 2, 3, 5, 6, 7};
    test::expect_same_bits(group_reduction(matrix, reduction, segments).array(), group_reduction(x, reduction, segments).array(), "rows");
    test::expect_same_bits(group_reduction(columns, reduction, segments).array(), group_reduction(in_order, reduction, segments).array(),
                           "columns");
  }
  Values values = sum(matrix, segments);
  const Values taken = std::move(values);
  EXPECT_EQ(values.size(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(taken.as<double>()[0], 1);
  double total = 0;
  for (const double one : sum(matrix, segments).as<double>()) total += one;  // of a temporary: a copy
  EXPECT_EQ(total, 24);
  test::expect_error(ErrorKind::usage, "no reduction 99",
                     [&] { static_cast<void>(axis_reduction(matrix, static_cast<AxisReduction>(99), Axes{0})); });
}

TEST(ByReduction, RefusesWhatIsNoReductionOfThese) {
  const std::vector<double> values = {1, 2, 3};
  const By groups = by(std::vector{1, 0, 1});
  using test::expect_error;
  expect_error(ErrorKind::usage, "this is the norm", [&] { static_cast<void>(group_reduction(values, AxisReduction::norm, groups, 1)); });
  expect_error(ErrorKind::usage, "each element needs one key", [&] { static_cast<void>(product(std::vector{1.0}, groups)); });
  expect_error(ErrorKind::usage, "element 1", [&] { static_cast<void>(argmin(values, by(std::vector{0, 3, 0}, 2))); });
  expect_error(ErrorKind::usage, "there are 3 elements", [&] { static_cast<void>(argmin(values, by_lengths(std::vector{3, 1}))); });
  const std::vector<std::int64_t> large = {3, INT64_MAX, 2};
  expect_error(ErrorKind::no_answer, "product of group 1", [&] { static_cast<void>(product(large, by(std::vector{0, 1, 1}))); });
  const std::vector<std::int64_t> zero = {INT64_MAX, 2, 0};
  EXPECT_EQ(product(zero, by(std::vector{1, 1, 1})).as<std::int64_t>()[0], 0);
}

// An operator of each group's elements alone.
void expect_operator(const Array& data, const Division& division, const By& by, const Operator& op, const std::string& what) {
  for (const std::uint32_t threads : {1u, 3u}) {
    const std::vector<Values> found = reduce(data, op, by, {.tuning = {.threads = threads}});
    std::vector<std::vector<std::uint64_t>> places(division.groups);
    for (std::size_t i = 0; i < division.of.size(); ++i) places[division.of[i]].push_back(i);
    for (std::uint64_t group = 0; group < division.groups; ++group) {
      const std::size_t bytes = size_of(data.type());
      std::vector<std::byte> elements(places[group].size() * bytes);
      for (std::size_t i = 0; i < places[group].size(); ++i) {
        std::memcpy(elements.data() + i * bytes, static_cast<const std::byte*>(data.data()) + places[group][i] * bytes, bytes);
      }
      const std::vector<Value> wanted =
          reduce(Array(elements.data(), places[group].size(), data.type()), op, {.device = Device::open("cpu")});
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        const Values& all = found[k];
        std::uint64_t expected = 0, got = 0;
        store(wanted[k], all.type(), &expected);
        std::memcpy(&got, static_cast<const std::byte*>(all.data()) + group * size_of(all.type()), size_of(all.type()));
        ASSERT_EQ(got, expected) << what << ", group " << group << " of " << places[group].size() << ", component " << k;
      }
    }
  }
}

TEST(ByOperator, HasTheBitsOfTheGroupsAlone) {
  std::mt19937_64 random(7);
  const auto one = [](double value) { return std::vector{Value{value, DType::float64}}; };
  Operator finished(Formula("a + b"), one(0));
  finished.finish = Formula("sqrt(a)");
  const std::pair<Operator, std::string> of_floats[] = {{Operator(Formula("a*0.5 + b"), one(-3)), "not associative"},
                                                        {Operator(Formula("max(a, b)"), one(-1e30)), "in any order"},
                                                        {Operator(Formula("a"), one(5)), "the first"},
                                                        {finished, "with a last step"}};
  const std::pair<Operator, std::string> of_integers[] = {{Operator(Formula("gcd(a, b)"), {Value{std::int64_t{0}, DType::int64}}), "gcd"},
                                                          {Operator(Formula("a - b"), {Value{std::int64_t{0}, DType::int64}}), "minus"}};
  for (const auto& [groups, most] : {std::pair{500, 30}, {3, 20'000}, {40, 700}, {2, 100'000}, {1, 1}}) {
    Division division = divided(static_cast<std::uint64_t>(groups), static_cast<std::uint64_t>(most), random);
    // Longer than what one thread takes: one of them beside others, then nothing else.
    if (groups == 2) division.of.insert(division.of.end(), (std::uint64_t{1} << 20) + 3, 1);
    if (groups == 1) division.of.assign((std::uint64_t{1} << 20) + 5, 0);
    std::vector<double> doubles(division.of.size());
    for (double& value : doubles) value = static_cast<double>(random() % 1000);
    const std::vector<float> floats(doubles.begin(), doubles.end());
    const std::vector<std::int16_t> shorts(doubles.begin(), doubles.end());
    const std::vector<std::uint32_t> words(doubles.begin(), doubles.end());
    for (const bool shuffled : {false, true}) {
      if (shuffled) std::ranges::shuffle(division.of, random);
      const By groups_of = by(division.of, division.groups);
      for (const auto& [op, name] : of_floats) {
        expect_operator(doubles, division, groups_of, op, name);
        expect_operator(floats, division, groups_of, op, name + " of float32");
      }
      for (const auto& [op, name] : of_integers) {
        expect_operator(shorts, division, groups_of, op, name + " of int16");
        expect_operator(words, division, groups_of, op, name + " of uint32");
      }
      expect_operator(shorts, division, groups_of, Operator(Formula("a != b"), {Value{std::uint64_t{0}, DType::uint64}}), "bools");
    }
  }
}

TEST(ByOperator, TakesWhatAFormulaGives) {
  std::mt19937_64 random(9);
  const Division division = divided(50, 60, random);
  std::vector<std::uint64_t> of = division.of;
  std::ranges::shuffle(of, random);
  std::vector<double> x(of.size()), y(of.size());
  for (double& value : x) value = static_cast<double>(random() % 100) - 50;
  for (double& value : y) value = static_cast<double>(random() % 7);
  const By groups = by(of, division.groups);
  Operator farthest(Formula("b[0] > a[0] ? b : a"), {Value{-1.0, DType::float64}, Value{std::int64_t{-1}, DType::int64}});
  const std::vector<Values> found = reduce(Formula("(abs(x), i)"), {{"x", x}}, {}, farthest, groups);
  ASSERT_EQ(found.size(), 2u);
  std::vector<double> distance(division.groups, -1), product(x.size());
  std::vector<std::int64_t> where(division.groups, -1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    product[i] = x[i] * y[i];
    if (std::abs(x[i]) <= distance[of[i]]) continue;
    distance[of[i]] = std::abs(x[i]);
    where[of[i]] = static_cast<std::int64_t>(i);
  }
  for (std::uint64_t group = 0; group < division.groups; ++group) {
    ASSERT_EQ(found[0].as<double>()[group], distance[group]) << group;
    ASSERT_EQ(found[1].as<std::int64_t>()[group], where[group]) << group;
  }
  for (const AxisReduction reduction : kAll) {
    if (reduction == AxisReduction::argmin || reduction == AxisReduction::argmax) continue;  // some groups have no elements
    const Values wanted = group_reduction(product, reduction, groups),
                 got = group_reduction(Formula("x*y"), {{"x", x}, {"y", y}}, {}, reduction, groups);
    test::expect_same_bits(got.array(), wanted.array(), std::string(name_of(reduction)));
  }
  const std::vector<double> none;
  EXPECT_EQ(group_reduction(Formula("x*x"), {{"x", none}}, {}, AxisReduction::sum, by(std::vector<int>(), 3)).size(), 3u);
}

TEST(ByOperator, NamesTheGroupWithoutAnAnswer) {
  using test::expect_error;
  const std::vector<std::int64_t> values = {1, INT64_MAX, 4, 5, INT64_MAX, 9};
  const std::vector<int> keys = {0, 3, 0, 3, 2, 2};
  const By groups = by(keys, 4);
  const Operator plus(Formula("a + b"));
  expect_error(ErrorKind::no_answer, "of group 1: there are no elements", [&] { static_cast<void>(reduce(values, plus, groups)); });
  const Operator from_zero(Formula("a + b"), {Value{std::int64_t{0}, DType::int64}});
  expect_error(ErrorKind::no_answer, "of group 2: ", [&] { static_cast<void>(reduce(values, from_zero, groups)); });
  const std::vector<std::uint64_t> large = {1, 2, UINT64_MAX};
  expect_error(ErrorKind::no_answer, "of group 1", [&] {
    static_cast<void>(reduce(large, Operator(Formula("int64(a) - int64(b)")), by(std::vector{0, 1, 1})));
  });
  expect_error(ErrorKind::usage, "gives 2 numbers", [&] {
    static_cast<void>(group_reduction(Formula("(x, x)"), {{"x", values}}, {}, AxisReduction::sum, groups));
  });
}

// Arrays on every device that runs kernels: the bits of the same in host memory.
TEST(ByReduction, OfArraysOnDevices) {
  std::mt19937_64 random(31);
  Division division = divided(300, 50, random);
  for (std::uint64_t group = 0; group < division.groups; ++group) division.of.push_back(group);
  std::ranges::shuffle(division.of, random);
  const std::vector<float> values = numbers<float>(division.of.size(), random);
  const std::vector<std::uint32_t> keys(division.of.begin(), division.of.end());
  const By here = by(keys, division.groups);
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    const Buffer x(device, 4 * values.size()), k(device, 4 * keys.size());
    x.write(values.data(), 4 * values.size());
    k.write(keys.data(), 4 * keys.size());
    const Array there(x, values.size(), DType::float32);
    const By groups = by(Array(k, keys.size(), DType::uint32), division.groups);
    const auto expect_same = [&](const Values& got, const Values& wanted, std::string_view what) {
      test::expect_same_bits(got.array(), wanted.array(), std::string(what) + " on " + device.info().selector);
    };
    for (const AxisReduction reduction : kAll) {
      expect_same(group_reduction(there, reduction, groups), group_reduction(values, reduction, here), name_of(reduction));
      expect_same(group_reduction(Formula("exp(x/1000)*x"), {{"x", there}}, {}, reduction, groups),
                  group_reduction(Formula("exp(x/1000)*x"), {{"x", values}}, {}, reduction, here), name_of(reduction));
    }
    const Operator op(Formula("a*0.25 + b"));
    expect_same(reduce(there, op, groups)[0], reduce(values, op, here)[0], "operator");
  }
}

}  // namespace
}  // namespace by_reductions
}  // namespace samesum
