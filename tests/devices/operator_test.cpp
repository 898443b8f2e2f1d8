// Operators of one's own on every device, against the same tree by plain recursion.
#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <samesum/error.hpp>
#include <samesum/map_source.hpp>
#include <samesum/operator.hpp>
#include <samesum/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace samesum {
namespace {

// The fixed association: the left child has the greatest power of two of leaves that leaves something for the right one.
template <class T, class Combine>
T tree(const std::vector<T>& leaves, std::size_t first, std::size_t count, const Combine& combine) {
  if (count == 1) return leaves[first];
  const std::size_t left = std::bit_ceil(count) / 2;
  const T a = tree(leaves, first, left, combine);
  return combine(a, tree(leaves, first + left, count - left, combine));
}

const std::vector<std::size_t>& sizes() {
  static const std::vector<std::size_t> all = {1, 2, 3, 5, 64, 1000, 1023, 1024, 1025, 5000, 16384, 16385, 70001};
  return all;
}

// In host memory, and in every device's.
void on_all_devices(const Array& host, const std::function<void(const Array&, const Options&)>& check) {
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    check(host, {.device = device});
    const Buffer buffer(device, std::max<std::uint64_t>(host.bytes(), 8));
    if (host.bytes() != 0) buffer.write(host.data(), host.bytes());
    check(Array(buffer, host.size(), host.type()), {.device = device});
  }
}

std::vector<std::int32_t> random_integers(std::size_t size, std::int32_t least, std::int32_t greatest) {
  hard::Random random(size);
  std::vector<std::int32_t> x(size);
  for (std::int32_t& value : x) value = static_cast<std::int32_t>(random.between(least, greatest));
  return x;
}

TEST(OperatorTest, IntegersThatDoNotCommute) {
  struct Case {
    const char* text;
    std::int64_t (*combine)(std::int64_t, std::int64_t);
    std::int32_t least, greatest;
  };
  constexpr std::int64_t kPrime = 1000003;
  const Case cases[] = {
      {"gcd(a, b)", [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); }, 0, 1 << 30},
      {"a*b % 1000003", [](std::int64_t a, std::int64_t b) { return a * b % kPrime; }, 1, 1000002},
      {"(a*3 + b*b + 7) % 1000003", [](std::int64_t a, std::int64_t b) { return (a * 3 + b * b + 7) % kPrime; }, 0, 1000002},
      {"a", [](std::int64_t a, std::int64_t) { return a; }, -5, 5},
      {"b", [](std::int64_t, std::int64_t b) { return b; }, -500, 500},
      {"min(a, b)", [](std::int64_t a, std::int64_t b) { return std::min(a, b); }, -1000000, 1000000},
  };
  for (const Case& one : cases) {
    const Operator op{Formula(one.text)};
    for (const std::size_t size : sizes()) {
      SCOPED_TRACE(std::string(one.text) + ", " + std::to_string(size));
      const std::vector<std::int32_t> x = random_integers(size, one.least, one.greatest);
      const std::vector<std::int64_t> leaves(x.begin(), x.end());
      const std::int64_t expected = tree(leaves, 0, size, one.combine);
      on_all_devices(x, [&](const Array& data, const Options& options) {
        EXPECT_EQ(reduce(data, op, options), (std::vector<Value>{{expected, DType::int64}}));
      });
    }
  }
}

// Operators whose elements are combined in any order, on elements of all types, with the answers of the tree.
template <class Wide>
Value value_of(Wide value) {
  if constexpr (std::is_floating_point_v<Wide>) {
    return {static_cast<double>(value), dtype_of<Wide>()};
  } else {
    return {value, dtype_of<Wide>()};
  }
}

bool same_bits(const Value& a, const Value& b) {
  if (a.type != b.type || a.number.index() != b.number.index()) return false;
  return a.number.index() == 0 ? std::bit_cast<std::uint64_t>(a.as_double()) == std::bit_cast<std::uint64_t>(b.as_double()) : a == b;
}

template <class T, class Wide, class Combine>
void check_any_order(const char* text, const Combine& combine, const std::function<T(hard::Random&)>& element) {
  const Operator op{Formula(text)};
  const Options options{.device = Device::open("cpu")};
  for (const std::size_t size : {1, 2, 3, 511, 512, 513, 4096, 4097, 200003}) {
    SCOPED_TRACE(std::string(text) + ", " + std::string(name_of(dtype_of<T>())) + ", " + std::to_string(size));
    hard::Random random(size);
    std::vector<T> x(size);
    for (T& value : x) value = element(random);
    const std::vector<Wide> leaves(x.begin(), x.end());
    ASSERT_TRUE(same_bits(reduce(x, op, options)[0], value_of(tree(leaves, 0, size, combine))));
    // Every third element, backwards.
    std::vector<Wide> some;
    for (std::size_t i = size; i-- > 0;) {
      if ((size - 1 - i) % 3 == 0) some.push_back(leaves[i]);
    }
    const Array backwards = Array(x).slice(0, size - 1, some.size(), -3);
    ASSERT_TRUE(same_bits(reduce(backwards, op, options)[0], value_of(tree(some, 0, some.size(), combine))));
  }
}

// One of each kind of operator for integers of type T, as components of a tuple too.
template <class T>
class IntegerOperators {
 public:
  using Wide = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;
  using Combine = Wide (*)(Wide, Wide);
  struct One {
    const char *text, *component;
    Combine combine;
    T (*element)(hard::Random&);
  };

  static std::vector<One> all() {
    std::vector<One> ops = {
        {"min(b, a)", "min(b[{}], a[{}])", [](Wide a, Wide b) { return std::min(a, b); }, any},
        {"max(a, b)", "max(a[{}], b[{}])", [](Wide a, Wide b) { return std::max(a, b); }, any},
        {"a & b", "a[{}] & b[{}]", [](Wide a, Wide b) { return a & b; }, [](hard::Random& r) { return static_cast<T>(any(r) | 5); }},
        {"a | b", "a[{}] | b[{}]", [](Wide a, Wide b) { return a | b; }, [](hard::Random& r) { return static_cast<T>(any(r) & 0x55); }},
        {"xor(a, b)", "xor(a[{}], b[{}])", [](Wide a, Wide b) { return a ^ b; }, any},
        {"mulmod(a, b, 998244353)", "mulmod(a[{}], b[{}], 998244353)", product_of_rests, odd},
    };
    if (!std::is_same_v<T, std::int64_t>) {
      ops.push_back({"gcd(a, b)", "gcd(a[{}], b[{}])", [](Wide a, Wide b) { return static_cast<Wide>(std::gcd(a, b)); },
                     [](hard::Random& r) { return static_cast<T>(6 * r.below(20)); }});
    }
    if (sizeof(T) < 4 || std::is_same_v<T, std::int32_t>) {
      ops.push_back({"a*b % 1000003", "a[{}]*b[{}] % 1000003", [](Wide a, Wide b) { return a * b % 1000003; }, odd});
      ops.push_back({"(a % 77)*b % 77", "(a[{}] % 77)*b[{}] % 77", [](Wide a, Wide b) { return a % 77 * b % 77; }, odd});
    }
    if (sizeof(T) < 8) ops.push_back({"a + b", "a[{}] + b[{}]", [](Wide a, Wide b) { return a + b; }, any});
    return ops;
  }

  static T any(hard::Random& random) { return static_cast<T>(random.bits() >> random.below(64)); }
  static T odd(hard::Random& random) { return static_cast<T>(any(random) | 1); }

 private:
  static Wide product_of_rests(Wide a, Wide b) {
    constexpr std::int64_t m = 998244353;
    const auto rest = [](Wide x) {
      return std::is_signed_v<Wide> ? (static_cast<std::int64_t>(x) % m + m) % m : static_cast<std::int64_t>(x % m);
    };
    return static_cast<Wide>(rest(a) * rest(b) % m);
  }
};

template <class T>
void check_any_order_of_integers() {
  for (const auto& one : IntegerOperators<T>::all()) {
    check_any_order<T, typename IntegerOperators<T>::Wide>(one.text, one.combine, one.element);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(OperatorTest, IntegersInAnyOrder) {
  check_any_order_of_integers<std::int8_t>();
  check_any_order_of_integers<std::uint8_t>();
  check_any_order_of_integers<std::int16_t>();
  check_any_order_of_integers<std::uint16_t>();
  check_any_order_of_integers<std::int32_t>();
  check_any_order_of_integers<std::uint32_t>();
  check_any_order_of_integers<std::int64_t>();
  check_any_order_of_integers<std::uint64_t>();
}

template <class T>
T least_of(T a, T b) {
  return a != a ? a : b != b ? b : a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
template <class T>
T greatest_of(T a, T b) {
  return a != a ? a : b != b ? b : a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}

TEST(OperatorTest, FloatsInAnyOrder) {
  const auto check = [](auto type) {
    using T = decltype(type);
    const auto zeros = [](hard::Random& random) { return random.below(2) == 0 ? T(0) : -T(0); };
    const auto any = [](hard::Random& random) {
      return std::ldexp(static_cast<T>(random.between(-1000, 1000)), static_cast<int>(random.between(-140, 110)));
    };
    const auto infinite = [](hard::Random& random) {
      return random.below(2) == 0 ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
    };
    for (const std::function<T(hard::Random&)>& element :
         {std::function<T(hard::Random&)>(zeros), std::function<T(hard::Random&)>(any), std::function<T(hard::Random&)>(infinite)}) {
      check_any_order<T, T>("min(a, b)", least_of<T>, element);
      check_any_order<T, T>("max(a, b)", greatest_of<T>, element);
    }
  };
  check(0.0f);
  check(0.0);
}

// All of them as components of one tuple, on all devices.
template <class T>
void check_tuple_in_any_order() {
  using Operators = IntegerOperators<T>;
  using Wide = typename Operators::Wide;
  const auto ops = Operators::all();
  std::string map = "(", combine = "(";
  for (std::size_t k = 0; k < ops.size(); ++k) {
    std::string component = ops[k].component;
    for (std::size_t at; (at = component.find("{}")) != std::string::npos;) component.replace(at, 2, std::to_string(k));
    map += k == 0 ? "x" : ", x";
    combine += (k == 0 ? "" : ", ") + component;
  }
  const Operator op{Formula(combine + ")")};
  for (const std::size_t size : {4096, 20001, 200003}) {
    SCOPED_TRACE(combine + ", " + std::to_string(size));
    hard::Random random(size);
    std::vector<T> x(size);
    for (T& value : x) value = Operators::odd(random);
    const std::vector<Wide> leaves(x.begin(), x.end());
    std::vector<Value> expected;
    for (const auto& one : ops) expected.push_back(value_of(tree(leaves, 0, size, one.combine)));
    on_all_devices(x, [&](const Array& data, const Options& options) {
      EXPECT_EQ(reduce(Formula(map + ")"), {{"x", data}}, {}, op, options), expected);
    });
  }
}

TEST(OperatorTest, TuplesInAnyOrder) {
  check_tuple_in_any_order<std::int8_t>();
  check_tuple_in_any_order<std::int32_t>();
  check_tuple_in_any_order<std::uint64_t>();
  // Floats, one of them alone.
  std::vector<float> x(20001);
  hard::Random random(1);
  for (float& value : x) value = static_cast<float>(random.between(-3, 3)) * 0.0f;
  x[77] = -1.5f;
  const Operator ends{Formula("(min(a[0], b[0]), max(a[1], b[1]))")}, least{Formula("min(a, b)")};
  on_all_devices(x, [&](const Array& data, const Options& options) {
    const std::vector<Value> found = reduce(Formula("(x, float64(x))"), {{"x", data}}, {}, ends, options);
    EXPECT_TRUE(same_bits(found[0], value_of(-1.5f)) && same_bits(found[1], value_of(tree(x, 0, x.size(), greatest_of<float>) + 0.0)));
    EXPECT_TRUE(same_bits(reduce(data, least, options)[0], value_of(-1.5f)));
  });
  x[9000] = -std::numeric_limits<float>::quiet_NaN();
  on_all_devices(x,
                 [&](const Array& data, const Options& options) { EXPECT_TRUE(std::isnan(reduce(data, least, options)[0].as_double())); });
}

// What looks like one but is not: remainders with signs depend on the order.
TEST(OperatorTest, NotInAnyOrder) {
  const std::vector<std::int32_t> x = random_integers(20001, -1000000, 1000000);
  const auto combine = [](std::int64_t a, std::int64_t b) { return (a + b) % 1000; };
  const std::int64_t rests = tree(std::vector<std::int64_t>(x.begin(), x.end()), 0, x.size(), combine);
  on_all_devices(x, [&](const Array& data, const Options& options) {
    EXPECT_EQ(reduce(data, Operator{Formula("(a + b) % 1000")}, options), (std::vector<Value>{{rests, DType::int64}}));
  });
}

// A sum that may overflow follows the tree, so that it is an error on all devices, or on none.
TEST(OperatorTest, SumsThatOverflow) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 62;
  std::vector<std::int64_t> x(5000, 0);
  x[2] = x[3] = kHalf;
  x[4000] = -kHalf;
  on_all_devices(
      x, [&](const Array& data, const Options& options) { EXPECT_THROW(reduce(data, Operator{Formula("a + b")}, options), Error); });
  std::swap(x[3], x[4000]);
  on_all_devices(x, [&](const Array& data, const Options& options) {
    EXPECT_EQ(reduce(data, Operator{Formula("a + b")}, options), (std::vector<Value>{{kHalf, DType::int64}}));
  });
  const std::vector<std::int64_t> least(5000, std::numeric_limits<std::int64_t>::min());
  on_all_devices(least, [&](const Array& data, const Options& options) {
    EXPECT_THROW(reduce(data, Operator{Formula("gcd(a, b)")}, options), Error);
    EXPECT_THROW(reduce(data, Operator{Formula("a*b % 7")}, options), Error);
  });
}

// Rows of a wider matrix: no tiles of neighbouring elements, and too many for the host alone.
TEST(OperatorTest, RowsOfAMatrix) {
  const auto combine = [](std::int64_t a, std::int64_t b) { return (a * 3 + b * b + 7) % 1000003; };
  const Operator op{Formula("(a*3 + b*b + 7) % 1000003")};
  const std::vector<std::int32_t> x = random_integers(50 * 107, 0, 1000002);
  std::vector<std::int64_t> leaves;
  for (std::size_t i = 0; i < 50; ++i) leaves.insert(leaves.end(), x.begin() + 107 * i + 3, x.begin() + 107 * i + 103);
  const std::int64_t expected = tree(leaves, 0, leaves.size(), combine);
  const std::vector<double> numbers(leaves.begin(), leaves.end());
  const double halved = tree(numbers, 0, numbers.size(), [](double a, double b) { return a * 0.5 + b; });
  ASSERT_TRUE(std::isfinite(halved) && halved != 0);
  on_all_devices(x, [&](const Array& data, const Options& options) {
    const Array rows = data.reshaped({50, 107}).slice(1, 3, 100);
    EXPECT_EQ(reduce(rows, op, options), (std::vector<Value>{{expected, DType::int64}}));
    // Of two components, of which the second alone is converted.
    const Operator pairs{Formula("(a[0] + b[0], float64(a[1])*0.5 + b[1])")};
    const std::vector<Value> found = reduce(Formula("(int64(x), float32(x))"), {{"x", rows}}, {}, pairs, options);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], (Value{std::accumulate(leaves.begin(), leaves.end(), std::int64_t{0}), DType::int64}));
    EXPECT_EQ(found[1], (Value{halved, DType::float64}));
  });
}

TEST(OperatorTest, FloatsHaveTheBitsOfTheTree) {
  for (const std::size_t size : sizes()) {
    SCOPED_TRACE(size);
    hard::Random random(size);
    std::vector<float> x(size);
    for (float& value : x) value = static_cast<float>(random.bits() >> 40) * 0x1p-24f - 0.3f;
    const auto combine = [](float a, float b) { return a + b - 0.125f * a * b; };
    const float expected = tree(x, 0, size, combine);
    ASSERT_TRUE(std::isfinite(expected));
    on_all_devices(x, [&](const Array& data, const Options& options) {
      EXPECT_EQ(reduce(data, Operator{Formula("a + b - 0.125*a*b")}, options)[0].as_double(), static_cast<double>(expected));
    });
  }
}

// A product of 2x2 matrices modulo a prime: four numbers at each position, by a map in front.
TEST(OperatorTest, TuplesOfAMap) {
  const Operator product{Formula("((a[0]*b[0] + a[1]*b[2]) % 997, (a[0]*b[1] + a[1]*b[3]) % 997, (a[2]*b[0] + a[3]*b[2]) % 997, "
                                 "(a[2]*b[1] + a[3]*b[3]) % 997)"),
                         {Value{std::int64_t{1}, DType::int64}, Value{std::int64_t{0}, DType::int64}, Value{std::int64_t{0}, DType::int64},
                          Value{std::int64_t{1}, DType::int64}}};
  const Formula map("(x % 997, 1, i % 5, 2*x % 997)");
  using Matrix = std::array<std::int64_t, 4>;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1500}, std::size_t{40000}}) {
    SCOPED_TRACE(size);
    const std::vector<std::int32_t> x = random_integers(size, 0, 100000);
    std::vector<Matrix> leaves;
    for (std::size_t i = 0; i < size; ++i) leaves.push_back({x[i] % 997, 1, static_cast<std::int64_t>(i % 5), 2 * x[i] % 997});
    Matrix expected{1, 0, 0, 1};
    if (size != 0) {
      expected = tree(leaves, 0, size, [](const Matrix& a, const Matrix& b) {
        return Matrix{(a[0] * b[0] + a[1] * b[2]) % 997, (a[0] * b[1] + a[1] * b[3]) % 997, (a[2] * b[0] + a[3] * b[2]) % 997,
                      (a[2] * b[1] + a[3] * b[3]) % 997};
      });
    }
    on_all_devices(x, [&](const Array& data, const Options& options) {
      const std::vector<Value> found = reduce(map, {{"x", data}}, {}, product, options);
      ASSERT_EQ(found.size(), 4u);
      for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(found[k], (Value{expected[k], DType::int64})) << k;
    });
  }
}

// Components of several types: the greatest value of a formula and its index.
TEST(OperatorTest, GreatestWithItsIndex) {
  std::vector<float> x(30000);
  hard::Random random(9);
  for (float& value : x) value = static_cast<float>(random.bits() >> 40) * 0x1p-24f - 0.5f;
  x[777] = x[20001] = -0.75f;
  Operator greatest{Formula("b[0] > a[0] ? b : a")};
  on_all_devices(x, [&](const Array& data, const Options& options) {
    const std::vector<Value> found = reduce(Formula("(abs(x), i)"), {{"x", data}}, {}, greatest, options);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], (Value{0.75, DType::float32}));
    EXPECT_EQ(found[1], (Value{std::int64_t{777}, DType::int64}));
  });
  greatest.finish = Formula("a[0]*2");
  EXPECT_EQ(reduce(Formula("(abs(x), i)"), {{"x", x}}, {}, greatest).at(0), (Value{1.5, DType::float32}));
}

// The same through a source, whose chunks may end anywhere.
TEST(OperatorTest, Sources) {
  const std::vector<std::int32_t> x = random_integers(70001, 1, 1000002);
  const Operator op{Formula("(a*3 + b*b + 7) % 1000003")};
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, 4 * x.size());
    buffer.write(x.data(), 4 * x.size());
    const auto source = map("x + 1", {{"x", Array(buffer, x.size(), DType::int32)}});
    std::vector<std::int64_t> leaves(x.begin(), x.end());
    for (std::int64_t& leaf : leaves) ++leaf;
    const std::int64_t expected =
        tree(leaves, 0, leaves.size(), [](std::int64_t a, std::int64_t b) { return (a * 3 + b * b + 7) % 1000003; });
    EXPECT_EQ(reduce(*source, op), (std::vector<Value>{{expected, DType::int64}})) << device.info().selector;
  }
}

// Numbers without a type are of one type all the same, whatever the first of them are.
TEST(OperatorTest, SourcesWithoutAType) {
  class Untyped final : public Source {
   public:
    explicit Untyped(std::vector<double> then) : then_(std::move(then)) {}
    std::optional<Array> next() override {
      ++turn_;
      if (turn_ == 1) return Array(first_);
      return turn_ == 2 && !then_.empty() ? std::optional<Array>(Array(then_)) : std::nullopt;
    }
    std::string_view format() const noexcept override { return "text"; }

   private:
    const std::vector<std::int64_t> first_ = {12, 18};
    const std::vector<double> then_;
    int turn_ = 0;
  };
  const auto reduced = [](const char* op, std::vector<double> then) {
    Untyped source(std::move(then));
    return reduce(source, Operator(Formula(op))).front();
  };
  EXPECT_EQ(reduced("a/b", {}), (Value{12.0 / 18, DType::float64}));
  EXPECT_EQ(reduced("a/b", {0.5}), (Value{12.0 / 18 / 0.5, DType::float64}));
  EXPECT_EQ(reduced("gcd(a, b)", {}), (Value{std::int64_t{6}, DType::int64}));
  EXPECT_EQ(reduced("gcd(a, b)", {4}), (Value{std::int64_t{2}, DType::int64}));
  EXPECT_THROW(reduced("gcd(a, b)", {0.5}), Error);
}

// Chunks of any sizes: what comes later begins at positions that no power of two divides.
TEST(OperatorTest, SourcesOfOddChunks) {
  class Chunks final : public Source {
   public:
    explicit Chunks(const std::vector<std::int32_t>& x) : x_(x) {}
    std::optional<Array> next() override {
      if (first_ == x_.size()) return std::nullopt;
      constexpr std::size_t kSizes[] = {3, 1, 1000, 5, 64, 4099, 2, 700, 333};
      const std::size_t count = std::min(kSizes[turn_++ % std::size(kSizes)], x_.size() - first_);
      first_ += count;
      return Array(x_.data() + first_ - count, count, DType::int32);
    }
    std::string_view format() const noexcept override { return "chunks"; }
    std::optional<DType> type() const noexcept override { return DType::int32; }

   private:
    const std::vector<std::int32_t>& x_;
    std::size_t first_ = 0, turn_ = 0;
  };
  const Operator op{Formula("(a*3 + b*b + 7) % 1000003")};
  for (const std::size_t size : {4, 10, 1009, 5003, 40007}) {
    const std::vector<std::int32_t> x = random_integers(size, 1, 1000002);
    const std::vector<std::int64_t> leaves(x.begin(), x.end());
    const std::int64_t expected =
        tree(leaves, 0, leaves.size(), [](std::int64_t a, std::int64_t b) { return (a * 3 + b * b + 7) % 1000003; });
    for (const Device& device : test::devices()) {
      Chunks source(x);
      EXPECT_EQ(reduce(source, op, {.device = device}), (std::vector<Value>{{expected, DType::int64}})) << size << device.info().selector;
    }
  }
}

TEST(OperatorTest, ParametersAndIdentities) {
  const std::vector<double> none;
  const Operator scaled{Formula("(a + b)*h"), {Value{7.0, DType::float64}}, {{"h", 0.5}}};
  EXPECT_EQ(reduce(none, scaled), (std::vector<Value>{{7.0, DType::float64}}));
  const std::vector<double> x = {1, 2, 4};
  EXPECT_EQ(reduce(x, scaled), (std::vector<Value>{{((1 + 2) * 0.5 + 4) * 0.5, DType::float64}}));
  // Matrices in Fortran order are walked in C order.
  const std::vector<std::int64_t> grid = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(reduce(Array(grid).reshaped({2, 3}).transposed(), Operator{Formula("a*10 + b")})[0],
            (Value{std::int64_t{((1 * 10 + 4) * 10 + (2 * 10 + 5)) * 10 + (3 * 10 + 6)}, DType::int64}));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(OperatorTest, SaysWhatIsWrong) {
  const std::vector<std::int64_t> x = {5, 0, 3};
  const auto of = [&](const char* text) { return error_of([&] { reduce(x, Operator{Formula(text)}); }); };
  EXPECT_NE(of("(a, b)").find("gives 2 numbers for operands of one number"), std::string::npos) << of("(a, b)");
  EXPECT_NE(of("a + c").find("'c'"), std::string::npos) << of("a + c");
  const std::vector<std::int64_t> none;
  EXPECT_NE(error_of([&] { reduce(none, Operator{Formula("a + b")}); }).find("no identity"), std::string::npos);
  for (const Device& device : test::devices()) {
    std::vector<std::int64_t> large(5000, 1);
    large[4500] = INT64_MAX;
    const Buffer buffer(device, 8 * large.size());
    buffer.write(large.data(), 8 * large.size());
    const std::string overflow = error_of([&] { reduce(Array(buffer, large.size(), DType::int64), Operator{Formula("a + b")}); });
    EXPECT_NE(overflow.find("overflow"), std::string::npos) << device.info().selector << ": " << overflow;
  }
}

// Elements become operands with the checks of formulas, on every device alike.
TEST(OperatorTest, ElementsThatDoNotFit) {
  std::vector<float> x(3000, 2.0f);
  const Operator whole{Formula("int64(a + b)")};
  on_all_devices(x, [&](const Array& data, const Options& options) {
    EXPECT_EQ(reduce(data, whole, options), (std::vector<Value>{{std::int64_t{6000}, DType::int64}}));
  });
  x[1234] = std::numeric_limits<float>::quiet_NaN();
  on_all_devices(x, [&](const Array& data, const Options& options) {
    const std::string error = error_of([&] { reduce(data, whole, options); });
    EXPECT_NE(error.find("conversion"), std::string::npos) << error;
  });
  const std::vector<std::int32_t> flags = {0, 256, 3, -1};
  on_all_devices(flags, [&](const Array& data, const Options& options) {
    EXPECT_EQ(reduce(data, Operator{Formula("a != 0 && b != 0")}, options)[0].as_double(), 0);
    EXPECT_EQ(reduce(data.slice(0, 1, 3), Operator{Formula("a != 0 && b != 0")}, options)[0].as_double(), 1);
  });
}

TEST(OperatorTest, FailuresNameTheElements) {
  std::vector<std::int64_t> x(40000, 1);
  x[33000] = INT64_MAX;
  const std::string error = error_of([&] { reduce(x, Operator{Formula("a + b")}); });
  EXPECT_NE(error.find("overflow in the operator a + b, among the elements 32768 to"), std::string::npos) << error;
}

TEST(OperatorTest, FindsWhatIsNotAssociative) {
  const std::vector<std::int32_t> x = {4, 9, 2, 7, 1, 8};
  EXPECT_FALSE(find_not_associative(x, Operator{Formula("gcd(a, b)")}));
  const auto found = find_not_associative(x, Operator{Formula("a - b")});
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("of the elements 4, 9, 2 from index 0 on it gives -7 from the left and -3 from the right"), std::string::npos)
      << *found;
  EXPECT_FALSE(find_not_associative(x, Operator{Formula("max(a, b)")}));
}

}  // namespace
}  // namespace samesum
