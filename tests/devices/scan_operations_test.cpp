// Scans of integers, products, extremes, counts and operators: the results of the reduction of each prefix alone.
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/placed.hpp"
#include "support/scans.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::bits_of;
using test::message_of;
using test::There;

template <class T>
void check_integers(const Device& device) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  hard::Random random(3);
  std::vector<T> x(5000);
  for (T& value : x) value = static_cast<T>(static_cast<T>(random.bits()) >> (sizeof(T) == 8 ? 14 : 0));
  std::vector<Wide> expected(x.size()), counts(x.size());
  std::partial_sum(x.begin(), x.end(), expected.begin(), [](Wide a, Wide b) { return static_cast<Wide>(a + b); });
  const There there(device, x);
  for (const Array& data : {Array(x), *there.array}) {
    const Values sums = scan(data, {}, {});
    expected[0] = x[0];
    Wide running = 0;
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(sums.as<Wide>()[i], running = static_cast<Wide>(running + x[i])) << i;
    const Values found = scan(data, {.operation = ScanOperation::count_nonzero}, {});
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(found.as<std::uint64_t>()[i], count += x[i] != 0) << i;
    const Values lows = scan(data, {.operation = ScanOperation::min}, {}), highs = scan(data, {.operation = ScanOperation::max}, {});
    T low = x[0], high = x[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(lows.as<T>()[i], low = std::min(low, x[i])) << i;
      ASSERT_EQ(highs.as<T>()[i], high = std::max(high, x[i])) << i;
    }
  }
}

TEST(ScanOperationsTest, Integers) {
  const Device cpu = Device::open("cpu");
  check_integers<std::int8_t>(cpu);
  check_integers<std::uint8_t>(cpu);
  check_integers<std::int16_t>(cpu);
  check_integers<std::uint16_t>(cpu);
  check_integers<std::uint32_t>(cpu);
  check_integers<std::uint64_t>(cpu);
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    check_integers<std::uint8_t>(device);
    check_integers<std::int32_t>(device);
    check_integers<std::int64_t>(device);
  }
}

TEST(ScanOperationsTest, IntegersThatDoNotFitAreErrorsWithTheirPlace) {
  for (const Device& device : test::devices()) {
    std::vector<std::int64_t> x(300000, 0);
    x[5] = x[77777] = std::numeric_limits<std::int64_t>::max() / 2 + 1;
    x[200000] = -7;
    for (const std::uint32_t threads : {1u, 2u}) {
      const Options options{.device = device, .tuning = {.threads = threads}};
      EXPECT_NE(message_of([&] { scan(x, {}, options); }, ErrorKind::no_answer).find("at index 77777"), std::string::npos);
      x[60000] = -1;
      EXPECT_EQ(scan(x, {}, options).as<std::int64_t>()[77777], std::numeric_limits<std::int64_t>::max());
      x[60000] = 0;
    }
    const std::vector<std::uint64_t> whole = {std::numeric_limits<std::uint64_t>::max(), 0, 1};
    EXPECT_NE(message_of([&] { scan(whole, {}, {.device = device}); }, ErrorKind::no_answer).find("at index 2"), std::string::npos);
    // Of the last element an exclusive result takes no account.
    EXPECT_EQ(scan(whole, {.exclusive = true}, {.device = device}).as<std::uint64_t>()[2], whole[0]);
  }
  std::vector<std::int64_t> factors(200000, 1);
  factors[3] = -1;
  factors[100000] = std::numeric_limits<std::int64_t>::min() / 2;
  factors[150000] = 2;
  const Scan product{.operation = ScanOperation::product};
  EXPECT_EQ(scan(std::span(factors).first(150000), product, {.tuning = {.threads = 2}}).as<std::int64_t>()[149999], std::int64_t{1} << 62);
  EXPECT_NE(message_of([&] { scan(factors, product, {.tuning = {.threads = 2}}); }, ErrorKind::no_answer).find("at index 150000"),
            std::string::npos);
  factors[150000] = 0;
  std::fill(factors.begin() + 150001, factors.end(), 1000);
  EXPECT_EQ(scan(factors, product, {.tuning = {.threads = 2}}).as<std::int64_t>().back(), 0);
}

TEST(ScanOperationsTest, ProductsAndExtremesAreThoseOfThePrefixes) {
  hard::Random random(8);
  std::vector<double> x(9000);
  for (double& value : x) value = std::exp2(static_cast<double>(random.bits(53)) * 0x1p-52 - 1);  // the logarithms cancel
  x[8800] = std::numeric_limits<double>::quiet_NaN();
  x[8900] = -0.0;
  const std::vector<float> narrow(x.begin(), x.end());
  for (const Array& data : {Array(x), Array(narrow)}) {
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
      const Options options{.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = 2}};
      const Values products = scan(data, {.operation = ScanOperation::product}, options);
      const Values lows = scan(data, {.operation = ScanOperation::min}, options),
                   highs = scan(data, {.operation = ScanOperation::max}, options);
      const Values counts = scan(data, {.operation = ScanOperation::count_nonzero}, options);
      for (const std::size_t i : {40u, 1000u, 8799u}) ASSERT_TRUE(test::informative(test::number_at(products.array(), i), 1));
      for (std::size_t i = 0; i < x.size(); i += i < 40 ? 1 : 331) {
        const Array prefix = data.part(0, i + 1);
        EXPECT_EQ(bits_of(test::number_at(products.array(), i)), bits_of(product(prefix, options).as_double())) << i;
        EXPECT_EQ(bits_of(test::number_at(lows.array(), i)), bits_of(min(prefix, options).value.as_double())) << i;
        EXPECT_EQ(bits_of(test::number_at(highs.array(), i)), bits_of(max(prefix, options).value.as_double())) << i;
        EXPECT_EQ(counts.as<std::uint64_t>()[i], count_nonzero(prefix, options)) << i;
      }
    }
  }
  const std::vector<float> nothing(3, std::numeric_limits<float>::quiet_NaN());
  message_of([&] { scan(nothing, {.operation = ScanOperation::max}, {.nan = NanPolicy::skip}); }, ErrorKind::no_answer);
  EXPECT_EQ(scan(nothing, {}, {.nan = NanPolicy::skip}).as<double>()[2], 0);
}

TEST(ScanOperationsTest, OperatorsGiveWhatReduceGives) {
  std::vector<double> x(9001);
  hard::Random random(1);
  for (double& value : x) value = static_cast<double>(random.bits(53)) * 0x1p-53 - 0.5;
  const Operator odd{Formula("a - b/3"), {FormulaParameter("", 2.0).value}};  // neither associative nor commutative
  const Values found = scan(x, odd, {}, {.tuning = {.threads = 2}});
  for (std::size_t i = 0; i < x.size(); i += i < 70 ? 1 : 97) {
    EXPECT_EQ(found.as<double>()[i], reduce(std::span(x).first(i + 1), odd)[0].as_double()) << i;
  }
  const Values before = scan(x, odd, {.exclusive = true});
  EXPECT_EQ(before.as<double>()[0], 2);
  EXPECT_EQ(before.as<double>()[4098], found.as<double>()[4097]);

  const std::vector<std::int32_t> numbers = {12, 18, 27, 5, 10};
  const Operator gcd{Formula("gcd(a, b)")};
  const Values gcds = scan(numbers, gcd, {.offsets = {0, 3, 3}});
  EXPECT_EQ(std::vector<std::int64_t>(gcds.as<std::int64_t>().begin(), gcds.as<std::int64_t>().end()),
            (std::vector<std::int64_t>{12, 6, 3, 5, 5}));
  message_of([&] { scan(numbers, gcd, {.exclusive = true}); }, ErrorKind::usage);
  message_of([&] { scan(numbers, Operator(Formula("a / (b - 18)"))); }, ErrorKind::no_answer);
  Operator finished = gcd;
  finished.finish = Formula("a + 1");
  message_of([&] { scan(numbers, finished); }, ErrorKind::usage);
}

}  // namespace
}  // namespace samesum
