// Products: the fixed association against a direct recursive definition, integers against GMP.
#include <samesum/bench_reduce.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include "core/half.hpp"
#include "core/visit.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/simd_levels.hpp"

#include <gmp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace samesum {
namespace {

using test::devices;
using test::on;

std::uint64_t bits(double value) { return std::isnan(value) ? 0x7ff8000000000000u : std::bit_cast<std::uint64_t>(value); }

bool multiplies(const Device& device, DType type) {
  if (!device.info().has(Capability::kernels) || is_integer(type)) return true;
  return device.info().has(type == DType::float64 ? Capability::fp64 : Capability::denormals);
}

// The definition: the tree over [first, first + 2^level), of which leaves from `size` on are missing.
template <class T>
std::optional<T> definition(const std::vector<T>& leaves, std::size_t first, int level) {
  if (first >= leaves.size()) return std::nullopt;
  if (level == 0) return leaves[first];
  const auto left = definition(leaves, first, level - 1);
  const auto right = definition(leaves, first + (std::size_t{1} << (level - 1)), level - 1);
  return right ? *left * *right : left;
}

template <class T>
std::uint64_t expected_bits(const std::vector<T>& leaves) {
  return bits(definition(leaves, 0, 24).value_or(T{1}));
}

template <class T>
std::vector<T> leaves_of(Array data, bool skip) {
  std::vector<T> leaves(data.size());
  core::visit(data.type(), [&](auto element) {
    if constexpr (!std::is_integral_v<decltype(element)>) {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        std::memcpy(&element, static_cast<const std::byte*>(data.data()) + i * sizeof element, sizeof element);
        leaves[i] = static_cast<T>(element);
        if (skip && std::isnan(leaves[i])) leaves[i] = 1;
      }
    }
  });
  return leaves;
}

// Numbers around 1, above it where the product so far is below and the reverse: so products of any part of them neither overflow nor
// vanish, and every rounding has an effect.
template <class T>
std::vector<T> near_one(std::size_t size) {
  hard::Random random(size);
  std::vector<T> values(size);
  double product = 1;
  for (auto& value : values) {
    const double some = 1 + static_cast<double>(random.bits(30)) * 0x1p-31;
    value = static_cast<T>(product > 1 ? 1 / some : some);
    product *= static_cast<double>(value);
  }
  return values;
}

template <class T>
void check_sizes(const std::vector<std::size_t>& sizes) {
  for (const Device& device : devices()) {
    const DType type = sizeof(T) == 4 ? DType::float32 : DType::float64;
    if (!multiplies(device, type)) {
      EXPECT_THROW(product(Array(near_one<T>(5000).data(), 5000, type), {.device = device}), Error);
      continue;
    }
    for (const std::size_t size : sizes) {
      const auto values = near_one<T>(size);
      const Value found = product(Array(values.data(), size, type), {.device = device});
      ASSERT_EQ(found.type, type);
      if (size != 0) {
        ASSERT_TRUE(test::informative(found.as_double(), 1)) << size;
      }
      ASSERT_EQ(bits(found.as_double()), expected_bits(values)) << device.info().selector << ", " << size;
    }
  }
}

TEST(Product, IsTheTreesAtEverySize) {
  std::vector<std::size_t> all;
  for (std::size_t size = 0; size <= 5000; ++size) all.push_back(size);
  for (const Device& device : devices()) {
    if (device.info().has(Capability::kernels)) continue;
    for (const std::size_t size : all) {
      const auto values = near_one<float>(size);
      ASSERT_EQ(bits(product(std::span<const float>(values), {.device = device}).as_double()), expected_bits(values)) << size;
    }
  }
  std::erase_if(all, [](std::size_t size) { return size > 600 && size % 37 != 1; });
  check_sizes<float>(all);
}

TEST(Product, IsTheTreesAtLargeSizes) {
  check_sizes<float>({65535, 65536, 65537, 100003, 1048575, 1500007});
  check_sizes<double>({1, 2, 3, 1000, 1023, 1024, 1025, 4097, 70001, 1000003});
}

TEST(Product, IsTheTreesWithEveryInstructionSet) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    check_sizes<float>({1024, 5000});
    check_sizes<double>({1024, 5000});
    for (const DType type : {DType::float16, DType::bfloat16}) {
      std::vector<std::uint16_t> halves;
      for (const float x : near_one<float>(5000)) {
        halves.push_back(type == DType::float16 ? core::Float16::truncate(x).bits : core::BFloat16::truncate(x).bits);
      }
      halves[123] = 0x7fff;  // a NaN of both
      const Array data(halves.data(), halves.size(), type);
      for (const NanPolicy nan : {NanPolicy::skip, NanPolicy::propagate}) {
        const Value found = product(data, {.nan = nan, .device = Device::open("cpu")});
        EXPECT_EQ(bits(found.as_double()), expected_bits(leaves_of<float>(data, nan == NanPolicy::skip)));
      }
    }
    if (HasFatalFailure()) break;
  }
  simd::restrict_to(best);
}

TEST(Product, OfSeveralPiecesIsOneTree) {
  class Pieces final : public Source {
   public:
    Pieces(const std::vector<float>& values, std::uint64_t piece) : values_(values), piece_(piece) {}
    std::optional<Array> next() override {
      if (first_ == values_.size()) return std::nullopt;
      const std::uint64_t count = std::min<std::uint64_t>(piece_++ * 37 % 9001, values_.size() - first_);
      const Array view(values_.data() + first_, count, DType::float32);
      first_ += count;
      return view;
    }

    std::string_view format() const noexcept override { return "pieces"; }

   private:
    const std::vector<float>& values_;
    std::uint64_t piece_, first_ = 0;
  };
  const auto values = near_one<float>(300007);
  for (const Device& device : devices()) {
    if (!multiplies(device, DType::float32)) continue;
    for (const std::uint64_t piece : {1, 100, 1024}) {
      Pieces pieces(values, piece);
      ASSERT_EQ(bits(product(pieces, {.device = device}).as_double()), expected_bits(values)) << device.info().selector << ", " << piece;
    }
  }
}

// Worked on where it lies, from any element on, behind others that came from the host: one tree over all.
TEST(Product, OfAnArrayInDeviceMemoryIsTheTrees) {
  const auto values = near_one<float>(150011);
  const Array host = values;
  for (const Device& device : devices()) {
    if (!multiplies(device, DType::float32)) continue;
    const Buffer buffer(device, host.bytes());
    buffer.write(host.data(), host.bytes());
    for (const std::uint64_t first : {0, 1, 4, 8191}) {
      for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{8192}, std::uint64_t{70000}, 150011 - first}) {
        const Array there(buffer, count, DType::float32, 4 * first);
        const std::vector<float> part(values.begin() + static_cast<std::ptrdiff_t>(first),
                                      values.begin() + static_cast<std::ptrdiff_t>(first + count));
        const std::string what = device.info().selector + ", " + std::to_string(count) + " from " + std::to_string(first);
        ASSERT_EQ(bits(product(there).as_double()), expected_bits(part)) << what;
        Product running({.device = device}, DType::float32);
        running.append(host.part(0, first));
        running.append(there);
        const std::vector<float> all(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first + count));
        ASSERT_EQ(bits(running.value().as_double()), expected_bits(all)) << what;
      }
    }
    const Array every_third(buffer, 50000, DType::float32, 0, 12);
    std::vector<float> third;
    for (std::size_t i = 0; i < 150000; i += 3) third.push_back(values[i]);
    ASSERT_EQ(bits(product(every_third).as_double()), expected_bits(third)) << device.info().selector;
  }
}

TEST(IntegerProductInDeviceMemory, IsExact) {
  std::vector<std::int32_t> values(100003, -1);
  for (std::size_t i = 0; i < 30; ++i) values[i * 3331 + 5] = 2 + static_cast<std::int32_t>(i % 3);
  const Array host = values;
  for (const Device& device : devices()) {
    const Buffer buffer(device, host.bytes());
    buffer.write(host.data(), host.bytes());
    for (const std::uint64_t first : {0, 3, 4}) {
      const Array there(buffer, 100003 - first, DType::int32, 4 * first);
      EXPECT_EQ(product(there), product(host.part(first, 100003 - first), {.device = Device::open("cpu")})) << device.info().selector;
    }
    std::vector<std::int32_t> large(100003, 3);
    buffer.write(large.data(), host.bytes());
    const Array three(buffer, 100003, DType::int32);
    EXPECT_THROW(product(three), Error) << device.info().selector;  // 3^100003
    Product running({.device = device}, DType::int32);
    running.append(three.part(0, 200));
    Product on_host({.device = Device::open("cpu")}, DType::int32);
    on_host.append(Array(large).part(0, 200));
    EXPECT_EQ(running.digits(), on_host.digits()) << device.info().selector;
  }
}

TEST(IntegerProductInDeviceMemory, OfFewElementsThatLieApart) {
  const std::vector<std::int32_t> values{3, 11, 13, 17, 5, 19, 23, 29, 7, 31, 37, 41};
  for (const Device& device : devices()) {
    const Buffer buffer(device, 4 * values.size());
    buffer.write(values.data(), 4 * values.size());
    for (const auto& [count, expected] : std::vector<std::pair<std::uint64_t, std::int64_t>>{{1, 3}, {2, 15}, {3, 105}}) {
      const Array apart(buffer, count, DType::int32, 0, 16);
      EXPECT_EQ(product(apart), (Value{expected, DType::int64})) << device.info().selector << ", " << count;
    }
  }
}

TEST(Product, OfFewerElementsThanATileIsMeasured) {
  const auto values = near_one<float>(10);
  bench::ReduceBenchOptions options;
  options.operations = {"product"};
  options.effort.runs = options.effort.least_runs = 1;
  for (const Device& device : devices()) {
    if (!multiplies(device, DType::float32)) continue;
    for (const auto& row : bench::measure_reductions(device, std::span<const float>(values), options).rows) {
      EXPECT_EQ(row.verdict, bench::Verdict::right) << row.where << ": " << row.reason;
    }
  }
}

class HardProduct : public testing::TestWithParam<std::tuple<DType, hard::Case>> {};

TEST_P(HardProduct, IsTheTreesEverywhere) {
  const auto& [type, hard_case] = GetParam();
  for (const std::uint64_t length : {0, 1, 5, 100, 5000, 9001}) {
    const auto data = hard::make(hard_case, type, length, length % 5);
    for (const bool skip : {false, true}) {
      const std::uint64_t expected =
          type == DType::float64 ? expected_bits(leaves_of<double>(data.view(), skip)) : expected_bits(leaves_of<float>(data.view(), skip));
      Options options;
      options.nan = skip ? NanPolicy::skip : NanPolicy::propagate;
      for (const Device& device : devices()) {
        if (!multiplies(device, type)) continue;
        ASSERT_EQ(bits(product(data.view(), on(device, options)).as_double()), expected) << device.info().selector << ", " << length;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, HardProduct,
                         testing::Combine(testing::Values(DType::float16, DType::bfloat16, DType::float32, DType::float64),
                                          testing::ValuesIn(hard::cases().begin(), hard::cases().end())),
                         [](const auto& parameter) {
                           return std::string(name_of(std::get<0>(parameter.param))) + "_" + std::string(std::get<1>(parameter.param).name);
                         });

std::string decimal(const mpz_t number) {
  std::string text(mpz_sizeinbase(number, 10) + 2, '\0');
  mpz_get_str(text.data(), 10, number);
  text.resize(std::strlen(text.c_str()));
  return text;
}

// The error message where there is no product.
std::string refusal_of(Array data, const Device& device) {
  try {
    return "accepted: " + std::to_string(product(data, {.device = device}).as_double());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_answer);
    return error.what();
  }
}

// The value at the end of such a message.
std::string exact_value(const std::string& message) {
  const std::string mark = "it is exactly ";
  const std::size_t at = message.find(mark);
  return at == std::string::npos ? message : message.substr(at + mark.size());
}

class IntegerProduct : public testing::TestWithParam<DType> {};

TEST_P(IntegerProduct, IsExactOrAnError) {
  const DType type = GetParam();
  const int width = static_cast<int>(8 * size_of(type));
  hard::Random random(9);
  mpz_t exact, factor;
  mpz_inits(exact, factor, nullptr);
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t length = round < 30 ? round : 2000 + 977 * round;
    std::vector<std::uint64_t> patterns(length, 1);
    const int factors = round % 12;
    for (int i = 0; i < factors && length != 0; ++i) {
      patterns[random.below(length)] = round % 3 == 0 ? random.bits(width) : random.bits(7);
    }
    if (round % 7 == 3 && length != 0) patterns[random.below(length)] = 0;
    const hard::Data data(patterns, type);
    mpz_set_ui(exact, 1);
    for (const std::uint64_t pattern : patterns) {
      if (is_signed(type)) {
        mpz_set_si(factor, static_cast<std::int64_t>(pattern << (64 - width)) >> (64 - width));
      } else {
        mpz_set_ui(factor, pattern);
      }
      mpz_mul(exact, exact, factor);
    }
    const bool fits = is_signed(type) ? mpz_fits_slong_p(exact) != 0 : mpz_fits_ulong_p(exact) != 0;
    for (const Device& device : devices()) {
      if (!fits) {
        EXPECT_EQ(exact_value(refusal_of(data.view(), device)), decimal(exact)) << device.info().selector << ", " << round;
        continue;
      }
      const Value found = product(data.view(), {.device = device});
      if (is_signed(type)) {
        ASSERT_EQ(found, (Value{std::int64_t{mpz_get_si(exact)}, DType::int64})) << device.info().selector << ", " << round;
      } else {
        ASSERT_EQ(found, (Value{std::uint64_t{mpz_get_ui(exact)}, DType::uint64})) << device.info().selector << ", " << round;
      }
    }
  }
  mpz_clears(exact, factor, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerProduct,
                         testing::Values(DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64,
                                         DType::uint64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(Product, OfIntegersDoesNotOverflowOnTheWay) {
  const std::vector<std::int64_t> values = {std::int64_t{1} << 40, std::int64_t{1} << 40, 0};
  const std::vector<std::int64_t> least = {std::numeric_limits<std::int64_t>::min(), -1, -1};
  const std::vector<std::int64_t> too_large = {std::numeric_limits<std::int64_t>::min(), -1};
  for (const Device& device : devices()) {
    EXPECT_EQ(product(std::span<const std::int64_t>(values), {.device = device}), (Value{std::int64_t{0}, DType::int64}));
    EXPECT_EQ(product(std::span<const std::int64_t>(least), {.device = device}), (Value{least[0], DType::int64}));
    EXPECT_EQ(refusal_of(std::span<const std::int64_t>(too_large), device),
              "the product does not fit into int64: it is exactly 9223372036854775808");
  }
}

// The lowest 64 bits of the magnitude are zero, yet no factor is.
TEST(Product, ThatIsAMultipleOf2To64IsNoZero) {
  constexpr std::int64_t k32 = std::int64_t{1} << 32;
  const std::vector<std::int64_t> two = {k32, k32}, least(2, std::numeric_limits<std::int64_t>::min()), with_zero = {k32, k32, 0};
  const std::vector<std::int64_t> negative = {k32, -k32, 3};
  std::vector<std::int64_t> far_apart(300'000, 1), twos(64, 2);  // enough for several threads and groups
  far_apart.front() = far_apart[150'000] = far_apart[290'000] = far_apart.back() = k32;
  std::vector<std::uint8_t> bytes(20, 128), many(100'000, 1);
  for (std::size_t i = 0; i < 64; ++i) many[1500 * i] = 2;
  for (const Device& device : devices()) {
    const auto value = [&](Array data) { return exact_value(refusal_of(data, device)); };
    EXPECT_EQ(value(std::span<const std::int64_t>(two)), "18446744073709551616") << device.info().selector;
    EXPECT_EQ(value(std::span<const std::int64_t>(least)), "85070591730234615865843651857942052864");
    EXPECT_EQ(value(std::span<const std::int64_t>(negative)), "-55340232221128654848");
    EXPECT_EQ(value(std::span<const std::int64_t>(far_apart)), "340282366920938463463374607431768211456");
    EXPECT_EQ(value(std::span<const std::int64_t>(twos)), "18446744073709551616");
    EXPECT_EQ(value(std::span<const std::uint8_t>(bytes)), "1393796574908163946345982392040522594123776");
    EXPECT_EQ(value(std::span<const std::uint8_t>(many)), "18446744073709551616");
    EXPECT_EQ(product(std::span<const std::int64_t>(with_zero), {.device = device}), (Value{std::int64_t{0}, DType::int64}));
  }
}

// All digits, of a product in pieces, against GMP.
TEST(Product, HasAllDigits) {
  hard::Random random(5);
  mpz_t exact, factor;
  mpz_inits(exact, factor, nullptr);
  for (const std::uint64_t count : {0, 1, 2, 100, 3000}) {
    std::vector<std::int64_t> values(count);
    for (auto& value : values) value = static_cast<std::int64_t>(random.bits(64) | 1);
    mpz_set_ui(exact, 1);
    for (const std::int64_t value : values) {
      mpz_set_si(factor, value);
      mpz_mul(exact, exact, factor);
    }
    for (const Device& device : devices()) {
      Product product({.device = device}, DType::int64);
      for (std::uint64_t first = 0; first < count; first += 777) {
        product.append(std::span<const std::int64_t>(values).subspan(first, std::min<std::uint64_t>(777, count - first)));
      }
      EXPECT_EQ(product.digits(), decimal(exact)) << device.info().selector << ", " << count;
      const std::vector<std::int64_t> zero = {7, 0};
      product.append(std::span<const std::int64_t>(zero));
      EXPECT_EQ(product.digits(), "0");
    }
  }
  mpz_clears(exact, factor, nullptr);
}

TEST(Product, SaysHowLargeItIs) {
  const Device cpu = Device::open("cpu");
  Product product({.device = cpu}, DType::int64);
  const std::vector<std::int64_t> large(1000, std::numeric_limits<std::int64_t>::min());
  const auto refusal = [&](const auto& action) -> std::string {
    try {
      action();
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  };
  product.append(std::span<const std::int64_t>(large));
  EXPECT_NE(refusal([&] { product.value(); }).find("a number of 63001 bits"), std::string::npos);
  EXPECT_EQ(product.digits().size(), 18965u);
  for (int i = 0; i < 20; ++i) product.append(std::span<const std::int64_t>(large));
  EXPECT_NE(refusal([&] { product.value(); }).find("more than 1048576 bits"), std::string::npos);
  EXPECT_NE(refusal([&] { product.digits(); }).find("more than 1048576 bits"), std::string::npos);
  const std::vector<std::int64_t> zero = {0};
  product.append(std::span<const std::int64_t>(zero));
  EXPECT_EQ(product.value(), (Value{std::int64_t{0}, DType::int64}));
  const std::vector<double> real = {0.5};
  EXPECT_NE(refusal([&] { product.append(std::span<const double>(real)); }).find("mixed"), std::string::npos);
  Product floats({.device = cpu}, DType::float64);
  EXPECT_NE(refusal([&] { floats.digits(); }).find("integers"), std::string::npos);
}

// Chunks as those of a text: exact while all are integers, otherwise doubles by the tree over all of them.
TEST(Product, OfIntegersAndDoublesIsTheTrees) {
  hard::Random random(6);
  std::vector<double> all;
  for (const Device& device : devices()) {
    if (!multiplies(device, DType::float64)) continue;
    all.clear();
    Product product({.device = device});
    EXPECT_EQ(product.value(), (Value{1.0, DType::float64}));
    const std::vector<std::int64_t> small = {3, -5};
    const std::vector<std::uint64_t> large = {~std::uint64_t{0}};
    product.append(std::span<const std::int64_t>(small));
    EXPECT_EQ(product.value(), (Value{std::int64_t{-15}, DType::int64}));
    all = {3, -5};
    for (int i = 0; i < 40; ++i) {
      std::vector<std::int64_t> integers(random.below(3000));
      for (auto& value : integers) value = random.bits(10) == 0 ? 3 : 1 - 2 * static_cast<std::int64_t>(random.bits(1));
      product.append(std::span<const std::int64_t>(integers));
      all.insert(all.end(), integers.begin(), integers.end());
      const auto reals = near_one<double>(random.below(3000) + i);
      product.append(std::span<const double>(reals));
      all.insert(all.end(), reals.begin(), reals.end());
    }
    product.append(std::span<const std::uint64_t>(large));
    all.push_back(0x1p64);
    EXPECT_EQ(bits(product.value().as_double()), expected_bits(all)) << device.info().selector;
    Product unsigned_alone({.device = device});
    unsigned_alone.append(std::span<const std::uint64_t>(large));
    EXPECT_EQ(unsigned_alone.value(), (Value{large[0], DType::uint64}));
  }
}

}  // namespace
}  // namespace samesum
