// Exact sums of products on the CPU with each instruction set of this processor: where products lie in the one window, the other or none,
// and where that changes from block to block.
#include "core/float_environment.hpp"
#include "core/half.hpp"
#include "reduce/collect.hpp"
#include "reduce/cpu/sum_cpu.hpp"
#include "selftest/cases.hpp"
#include "support/simd_levels.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace samesum {
namespace {

struct Kind {
  int spread = 0;  // of the exponents, to either side of 0
  bool zeros = false;
  bool whole = false;
};
constexpr Kind kKinds[] = {{0},        {10},        {10, true}, {3},       {8, true},       {14},
                           {14, true}, {20},        {20, true}, {30},      {30, true},      {45},
                           {45, true}, {60},        {60, true}, {0, true}, {9, true, true}, {20, false, true},
                           {400},      {1000, true}};

template <class T>
T number(const Kind& kind, hard::Random& random) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kFraction = std::numeric_limits<T>::digits - 1, kBias = std::numeric_limits<T>::max_exponent - 1;
  const std::uint64_t bits = random.bits();
  const int most = std::min(kind.spread, kBias - 1);
  const int exponent = static_cast<int>(random.bits() % (2 * most + 1)) - most;
  if (kind.zeros && bits >> 61 < 3) return bits >> 60 & 1 ? T{0} : -T{0};
  if (kind.whole) return std::trunc(std::ldexp(static_cast<T>(static_cast<std::int32_t>(bits)), std::abs(exponent) - 31));
  const Bits fraction = static_cast<Bits>(bits) & ((Bits{1} << kFraction) - 1);
  const T value = std::ldexp(T{1} + std::ldexp(static_cast<T>(fraction), -kFraction), exponent);
  return bits >> 63 ? -value : value;
}

template <class T>
void expect_exact(const std::vector<T>& a, const std::vector<T>& b, std::size_t first, const std::string& what) {
  const std::size_t size = a.size() - std::min(first, a.size());
  const Array left(a.data() + a.size() - size, size, dtype_of<T>()), right(b.data() + b.size() - size, size, dtype_of<T>());
  ProductAccumulator dot, squares;
  Accumulator sum;
  for (std::size_t i = a.size() - size; i < a.size(); ++i) {
    dot.add(double{a[i]}, double{b[i]});
    squares.add(double{a[i]}, double{a[i]});
    sum.add(double{a[i]});
  }
  const core::DefaultFloatEnvironment environment;
  EXPECT_EQ(statistics::dot_cpu(left, right, 1), dot) << what;
  for (const bool alone : {true, false}) {
    statistics::CollectOptions options;
    options.fields = {.extrema = !alone, .sum = !alone, .squares = true};
    options.threads = 1;
    const Statistics found = statistics::collect_cpu(left, options);
    EXPECT_EQ(found.squares(), squares) << what << ", alone " << alone;
    if (!alone) {
      EXPECT_EQ(found.sum(), sum) << what;
    }
  }
}

class ProductsCpu : public test::AtSimdLevel {
 protected:
  template <class T>
  static void kinds_of_data() {
    hard::Random random(7);
    for (std::size_t kind = 0; kind != std::size(kKinds); ++kind) {
      for (const std::size_t size : {0, 1, 63, 64, 511, 513, 1024, 1091, 12345}) {
        std::vector<T> a(size), b(size);
        for (T& x : a) x = number<T>(kKinds[kind], random);
        for (T& x : b) x = number<T>(kKinds[kind], random);
        for (const std::size_t first : {0, 1}) {
          expect_exact(a, b, first, "kind " + std::to_string(kind) + ", " + std::to_string(size) + " from " + std::to_string(first));
        }
      }
    }
  }

  // Blocks of one kind after another, with what is not finite among them.
  template <class T>
  static void changing_data() {
    hard::Random random(8);
    for (int round = 0; round < 12; ++round) {
      std::vector<T> a, b;
      while (a.size() < 40000) {
        const Kind left = kKinds[random.bits() % std::size(kKinds)],
                   right = random.bits() % 2 ? left : kKinds[random.bits() % std::size(kKinds)];
        const std::size_t run = 1 + random.bits() % (random.bits() % 4 == 0 ? 6000 : 700);
        for (std::size_t i = 0; i < run; ++i) {
          a.push_back(number<T>(left, random));
          b.push_back(number<T>(right, random));
        }
        if (round % 3 == 2 && random.bits() % 3 == 0) {
          (random.bits() % 2 ? a : b).back() = random.bits() % 2 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
        }
      }
      expect_exact(a, b, 0, "round " + std::to_string(round));
    }
  }
};

TEST_P(ProductsCpu, KindsOfFloats) { kinds_of_data<float>(); }
TEST_P(ProductsCpu, KindsOfDoubles) { kinds_of_data<double>(); }
TEST_P(ProductsCpu, ChangingFloats) { changing_data<float>(); }
TEST_P(ProductsCpu, ChangingDoubles) { changing_data<double>(); }

// Products that round to zero though their factors are none, among zeros.
TEST_P(ProductsCpu, TinyProductsAmongZeros) {
  for (const double tiny : {0x1p-540, -0x1p-540, 0x1p-1074}) {
    for (const std::size_t at : {0, 77, 300, 1500, 4000}) {
      std::vector<double> a(4096), b(4096);
      for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = i % 4 == 0 ? 1 : i % 4 == 1 ? -1 : 0;
        b[i] = i % 4 < 2 ? 1 : i % 4 == 2 ? 0 : 5;
      }
      a[at] = b[at] = tiny;
      expect_exact(a, b, 0, std::to_string(at));
    }
  }
}

// The extremes of blocks of which all are zeros or above, or below: which zero is there is seen in each of them.
TEST_P(ProductsCpu, ExtremesAmongZeros) {
  hard::Random random(9);
  constexpr std::size_t kSize = 20000;
  const auto check = [&]<class T>(T sign) {
    for (const std::size_t at : {0, 300, 5001, 12345, 19999}) {
      std::vector<T> data(kSize);
      for (T& x : data) x = random.bits() % 2 ? sign * T(0) : sign * std::abs(number<T>({3}, random));
      data[at] = -sign * T(0);
      const core::DefaultFloatEnvironment environment;
      statistics::CollectOptions options;
      options.fields = {.extrema = true, .sum = true, .squares = true};
      options.threads = 1;
      const Statistics found = statistics::collect_cpu(Array(data), options);
      const Extremum extremum = sign > 0 ? found.min() : found.max();
      EXPECT_EQ(extremum.index, at);
      EXPECT_EQ(std::signbit(std::get<double>(extremum.value.number)), sign > 0);
    }
  };
  check(1.0F);
  check(-1.0F);
  check(1.0);
  check(-1.0);
}

struct Halves {
  DType type;
  std::vector<std::uint16_t> bits;

  double at(std::size_t i) const { return type == DType::float16 ? double{core::Float16{bits[i]}} : double{core::BFloat16{bits[i]}}; }
  Array array(std::size_t first, std::size_t count) const { return Array(bits.data() + first, count, type); }
};

enum class Signs { any, positive, negative };

// Exponents from `lowest` to `highest`, in runs of narrower ones, which plain sums are exact for or not.
Halves halves(DType type, Signs signs, int lowest, int highest, hard::Random& random) {
  const int fraction = type == DType::float16 ? 10 : 7, bias = type == DType::float16 ? 15 : 127;
  Halves data{type, {}};
  while (data.bits.size() < 60000) {
    const int spread = 1 + static_cast<int>(random.bits() % (highest - lowest + 1));
    const int first = lowest + bias + static_cast<int>(random.bits() % (highest - lowest + 2 - spread));
    const std::size_t run = 1 + random.bits() % 20000;
    for (std::size_t i = 0; i < run; ++i) {
      const auto exponent = static_cast<std::uint64_t>(first + static_cast<int>(random.bits() % spread));
      const bool negative = signs == Signs::any ? random.bits() % 2 != 0 : signs == Signs::negative;
      const std::uint64_t magnitude = exponent << fraction | (random.bits() & ((1 << fraction) - 1));
      data.bits.push_back(static_cast<std::uint16_t>(std::uint64_t{negative} << 15 | magnitude));
    }
  }
  return data;
}

void expect_exact(const Halves& data, bool finite, const std::string& what) {
  const std::size_t size = data.bits.size(), half = size / 2;
  Accumulator sum;
  ProductAccumulator squares, dot;
  std::size_t least = 0, greatest = 0;
  const auto below = [&](std::size_t i, std::size_t j) {  // -0.0 is less than 0.0
    const double a = data.at(i), b = data.at(j);
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  };
  for (std::size_t i = 0; i < size; ++i) {
    sum.add(data.at(i));
    squares.add(data.at(i), data.at(i));
    if (below(i, least)) least = i;
    if (below(greatest, i)) greatest = i;
  }
  for (std::size_t i = 0; i < half; ++i) dot.add(data.at(i), data.at(half + i));
  const core::DefaultFloatEnvironment environment;
  EXPECT_EQ(statistics::dot_cpu(data.array(0, half), data.array(half, half), 1), dot) << what;
  statistics::CollectOptions options;
  options.threads = 1;
  options.fields = {.extrema = true, .sum = true, .squares = true};
  const Statistics found = statistics::collect_cpu(data.array(0, size), options);
  EXPECT_EQ(found.sum(), sum) << what;
  EXPECT_EQ(found.squares(), squares) << what;
  if (finite) {
    EXPECT_EQ(found.min().index, least) << what;
    EXPECT_EQ(found.min().value, (Value{data.at(least), data.type})) << what;
    EXPECT_EQ(found.max().index, greatest) << what;
    EXPECT_EQ(found.max().value, (Value{data.at(greatest), data.type})) << what;
  }
  options.fields = {.extrema = false, .sum = false, .squares = true};
  EXPECT_EQ(statistics::collect_cpu(data.array(0, size), options).squares(), squares) << what;
}

// 16-bit floats: of plain sums that are exact, others, and others again. The least and the greatest products of bfloat16 are no floats.
TEST_P(ProductsCpu, Halves) {
  hard::Random random(10);
  struct Range {
    DType type;
    int lowest, highest;
  };
  for (const auto& [type, lowest, highest] :
       {Range{DType::float16, -2, 2}, Range{DType::float16, -15, 14}, Range{DType::bfloat16, -2, 2}, Range{DType::bfloat16, -16, 15},
        Range{DType::bfloat16, -127, -40}, Range{DType::bfloat16, 40, 126}, Range{DType::bfloat16, -127, 126}}) {
    for (const Signs signs : {Signs::any, Signs::positive, Signs::negative}) {
      const std::string what = std::to_string(static_cast<int>(type)) + ", from " + std::to_string(lowest) + ", signs " +
                               std::to_string(static_cast<int>(signs));
      Halves data = halves(type, signs, lowest, highest, random);
      expect_exact(data, true, what);
      // Extremes that occur once, and late: the least magnitude, the greatest, and a zero beyond all others.
      const auto [low, high] = std::ranges::minmax_element(data.bits);
      const std::uint16_t less = std::max<std::uint16_t>(*low, 1) - 1, more = *high + 1, zero = signs == Signs::positive ? 0x8000 : 0;
      for (const std::uint16_t extreme : {less, more, zero}) {
        data.bits[20000 + random.bits() % 40000] = extreme;
        expect_exact(data, true, what + ", an extreme");
      }
      // An infinity here, a NaN there.
      const std::uint16_t infinity = type == DType::float16 ? 0x7c00 : 0x7f80;
      data.bits[random.bits() % data.bits.size()] = infinity;
      expect_exact(data, false, what + ", an infinity");
      data.bits[random.bits() % data.bits.size()] = infinity + 1;
      expect_exact(data, false, what + ", a NaN");
    }
  }
}

TEST_P(ProductsCpu, HalvesThatAreNegativeZeros) {
  for (const DType type : {DType::float16, DType::bfloat16})
    expect_exact(Halves{type, std::vector<std::uint16_t>(60000, 0x8000)}, true, "");
}

// More than two doubles hold of many blocks: each is exact for itself.
TEST_P(ProductsCpu, BlocksFarApart) {
  for (const DType type : {DType::bfloat16, DType::float32}) {
    hard::Random random(11);
    Halves data{DType::bfloat16, {}};
    for (int block = 0; block < 24; ++block) {
      const auto exponent = static_cast<std::uint64_t>(127 + (block % 3 - 1) * 60);
      for (std::size_t i = 0; i < 16384; ++i) {
        data.bits.push_back(static_cast<std::uint16_t>((random.bits() & 0x8000) | exponent << 7 | (random.bits() & 0x7f)));
      }
    }
    if (type == DType::bfloat16) {
      expect_exact(data, true, "bfloat16");
    } else {
      std::vector<float> floats(data.bits.size());
      for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(data.at(i));
      expect_exact(floats, floats, 0, "float32");
    }
  }
}

template <class T>
using Widest = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

// The greatest magnitudes, which running sums have the least room for, and random ones. The longest array has more vectors of 64 bytes than
// are added up in one go.
template <class T>
void expect_integer_products(hard::Random& random) {
  using Limits = std::numeric_limits<T>;
  for (const std::size_t size : {0, 1, 63, 64, 8191, 8192, 40000, 300001}) {
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<T> a(size), b(size);
      ProductAccumulator expected;
      for (std::size_t i = 0; i < size; ++i) {
        a[i] = kind == 0 ? static_cast<T>(random.bits()) : kind == 1 ? Limits::max() : Limits::min();
        b[i] = kind == 0 ? static_cast<T>(random.bits()) : kind == 3 ? Limits::min() : Limits::max();
        expected.add(Widest<T>{a[i]}, Widest<T>{b[i]});
      }
      const core::DefaultFloatEnvironment environment;
      EXPECT_EQ(statistics::dot_cpu(Array(a), Array(b), 1), expected) << size << ", kind " << kind;
    }
  }
}

// Sum, squares, extremes and zeros in one loop: several blocks, what is left behind them, and at odd addresses.
template <class T>
void expect_integer_statistics(hard::Random& random) {
  using Limits = std::numeric_limits<T>;
  for (const std::size_t size : {100, 16384, 70001}) {
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<T> data(size);
      for (T& x : data)
        x = kind == 0 ? static_cast<T>(random.bits()) : kind == 1 ? Limits::max() : kind == 2 ? Limits::min() : random.bits() % 2;
      if (kind == 4) data[size / 3] = Limits::max(), data[size / 2] = Limits::min();
      Accumulator sum;
      ProductAccumulator squares;
      std::uint64_t nonzeros = 0;
      for (const T x : data) sum.add(Widest<T>{x}), squares.add(Widest<T>{x}, Widest<T>{x}), nonzeros += x != 0;
      const auto index_of = [&](auto which) { return static_cast<std::uint64_t>(which - data.begin()); };
      std::vector<std::byte> bytes(size * sizeof(T) + 1);
      std::memcpy(bytes.data() + 1, data.data(), size * sizeof(T));
      for (const Array& array : {Array(data), Array(bytes.data() + 1, size, dtype_of<T>())}) {
        const core::DefaultFloatEnvironment environment;
        for (const bool all : {true, false}) {
          statistics::CollectOptions options;
          options.fields = {.extrema = all, .sum = all, .squares = true, .nonzeros = all};
          options.threads = 1;
          const Statistics found = statistics::collect_cpu(array, options);
          const std::string what = std::to_string(size) + ", kind " + std::to_string(kind);
          EXPECT_EQ(found.squares(), squares) << what;
          if (!all) continue;
          EXPECT_EQ(found.sum(), sum) << what;
          EXPECT_EQ(found.min().index, index_of(std::ranges::min_element(data))) << what;
          EXPECT_EQ(found.max().index, index_of(std::ranges::max_element(data))) << what;
          EXPECT_EQ(found.nonzero_count(), nonzeros) << what;
        }
        EXPECT_EQ(reduction::sum_cpu(array, 1), sum);
      }
    }
  }
}

TEST_P(ProductsCpu, StatisticsOfIntegers) {
  hard::Random random(13);
  expect_integer_statistics<std::int8_t>(random);
  expect_integer_statistics<std::uint8_t>(random);
  expect_integer_statistics<std::int16_t>(random);
  expect_integer_statistics<std::uint16_t>(random);
  expect_integer_statistics<std::int32_t>(random);
  expect_integer_statistics<std::uint32_t>(random);
  expect_integer_statistics<std::int64_t>(random);
  expect_integer_statistics<std::uint64_t>(random);
}

TEST_P(ProductsCpu, Integers) {
  hard::Random random(12);
  expect_integer_products<std::int8_t>(random);
  expect_integer_products<std::uint8_t>(random);
  expect_integer_products<std::int16_t>(random);
  expect_integer_products<std::uint16_t>(random);
  expect_integer_products<std::int32_t>(random);
  expect_integer_products<std::uint32_t>(random);
  expect_integer_products<std::int64_t>(random);
  expect_integer_products<std::uint64_t>(random);
}

INSTANTIATE_TEST_SUITE_P(Levels, ProductsCpu, testing::ValuesIn(test::simd_levels()), test::AtSimdLevel::name);

}  // namespace
}  // namespace samesum
