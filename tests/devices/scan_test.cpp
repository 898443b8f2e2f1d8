// Scans on every device: the bits of the reduction of each prefix alone, by big integers for sums.
#include "core/visit.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"
#include "support/scans.hpp"
#include "support/simd_levels.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>
#include <samesum/sum.hpp>

#include <gmp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::bits_of;
using test::message_of;
using test::There;

// All prefix sums, by one big integer in units of 2^-1074.
template <class U>
std::vector<U> oracle(const std::vector<double>& x, bool skip) {
  mpz_t units, term;
  mpz_inits(units, term, nullptr);
  std::vector<U> sums;
  bool nan = false, positive = false, negative = false, any = false, only_negative_zeros = true;
  for (const double value : x) {
    nan |= std::isnan(value);
    positive |= value == std::numeric_limits<double>::infinity();
    negative |= value == -std::numeric_limits<double>::infinity();
    if (!std::isnan(value)) {
      any = true;
      only_negative_zeros &= value == 0 && std::signbit(value);
    }
    if (std::isfinite(value) && value != 0) {
      int exponent = 0;
      const double fraction = std::frexp(value, &exponent);
      mpz_set_d(term, std::ldexp(fraction, 53));
      if (exponent - 53 + 1074 >= 0) {
        mpz_mul_2exp(term, term, static_cast<unsigned long>(exponent - 53 + 1074));
      } else {
        mpz_tdiv_q_2exp(term, term, static_cast<unsigned long>(53 - 1074 - exponent));
      }
      mpz_add(units, units, term);
    }
    const test::Expected expected = test::gmp_round(units);
    double result = std::bit_cast<double>(expected.float64);
    float narrow = std::bit_cast<float>(expected.float32);
    std::optional<double> special;
    if ((nan && !skip) || (positive && negative)) {
      special = std::bit_cast<double>(std::uint64_t{0x7ff8} << 48);
    } else if (positive || negative) {
      special = positive ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    } else if (any && only_negative_zeros) {
      special = -0.0;
    }
    if (special) narrow = static_cast<float>(result = *special);
    sums.push_back(std::is_same_v<U, double> ? static_cast<U>(result) : static_cast<U>(narrow));
  }
  mpz_clears(units, term, nullptr);
  return sums;
}

std::vector<double> numbers_of(const Array& data) {
  std::vector<double> numbers(data.size());
  for (std::uint64_t i = 0; i < data.size(); ++i) numbers[i] = test::number_at(data, i);
  return numbers;
}

template <class U>
void expect_same(const std::vector<U>& expected, std::span<const U> found) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(bits_of(found[i]), bits_of(expected[i])) << found[i] << " instead of " << expected[i] << " at " << i;
  }
}

template <class U>
void check_sums(const Array& data, const Array& there, NanPolicy nan, const Options& options) {
  const Scan what{.float32 = std::is_same_v<U, float>};
  Options with = options;
  with.nan = nan;
  const std::vector<U> expected = oracle<U>(numbers_of(data), nan == NanPolicy::skip);
  expect_same<U>(expected, scan(there, what, with).as<U>());
  if (data.size() == 0 || ::testing::Test::HasFatalFailure()) return;
  std::vector<U> before = expected;
  std::rotate(before.begin(), before.end() - 1, before.end());
  before[0] = 0;
  Scan exclusive = what;
  exclusive.exclusive = true;
  expect_same<U>(before, scan(there, exclusive, with).as<U>());
}

class ScanOfType : public testing::TestWithParam<DType> {};

TEST_P(ScanOfType, SumsOfPrefixesAreCorrectlyRounded) {
  const DType type = GetParam();
  const std::uint64_t sizes[] = {0, 1, 2, 7, 8, 9, 255, 256, 257, 1000};
  std::size_t turn = 0;
  for (const hard::Case& hard_case : hard::cases()) {
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t size = sizes[turn++ % std::size(sizes)];
      const auto made = hard::make(hard_case, type, size, turn % 3 == 0 ? size_of(type) : 0);
      const Array host(made.view().data(), size, type);
      const NanPolicy nan = turn % 2 == 0 ? NanPolicy::propagate : NanPolicy::skip;
      for (const Device& device : test::devices()) {
        SCOPED_TRACE(std::string(hard_case.name) + ", " + std::to_string(size) + " on " + device.info().selector);
        // Two programs of each type; of 16-bit floats, which differ in a conversion alone, one.
        const There there(device, host);
        for (const Array& data : {host, *there.array}) {
          if (turn % 2 != 0) {
            check_sums<double>(host, data, nan, {.device = device});
          } else if (size_of(type) > 2 || device.info().selector == "cpu") {
            check_sums<float>(host, data, nan, {.device = device});
          }
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, ScanOfType, testing::Values(DType::float16, DType::bfloat16, DType::float32, DType::float64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

// Data for each way that a tile can go, and for changes from one to another.
std::vector<double> ugly(int kind, std::size_t size) {
  hard::Random random(static_cast<std::uint64_t>(kind) + 17);
  std::vector<double> x(size);
  const auto uniform = [&] { return static_cast<double>(random.bits(53)) * 0x1p-53; };
  for (std::size_t i = 0; i < size; ++i) {
    const double sign = random.bits(1) != 0 ? -1 : 1;
    switch (kind) {
      case 0:  // uniform
        x[i] = uniform();
        break;
      case 1:  // a walk that often is 0
        x[i] = sign;
        break;
      case 2:  // wide
        x[i] = sign * std::ldexp(uniform() + 0.5, random.between(-300, 300));
        break;
      case 3:  // ties: halves beyond 2^53, now and then with something tiny
        x[i] = i == 0 ? 0x1p53 : i % 100 == 37 ? sign * 0x1p-600 : 0.5 * static_cast<double>(random.below(7));
        break;
      case 4:  // whatever is added is taken away again
        x[i] = i % 2 == 0 ? std::ldexp(uniform(), random.between(-40, 40)) : -x[i - 1];
        break;
      case 5:  // cancellation to the smallest numbers
        x[i] = i % 4 == 0 ? 1e300 : i % 4 == 2 ? -1e300 : std::ldexp(sign, -1074 + random.between(0, 60));
        break;
      case 6:  // sums beyond the range, and back
        x[i] = i % 6 < 3 ? std::numeric_limits<double>::max() * uniform() : -x[i - 3];
        break;
      case 7:  // quiet parts and great jumps
        x[i] = i % 700 == 650 ? std::ldexp(sign, random.between(60, 200)) : uniform() - 0.5;
        break;
      case 8:  // zeros of both signs in front, then denormals
        x[i] = i < 300 ? -0.0 : i < 310 ? 0.0 : std::ldexp(sign, -1074 + random.between(0, 3));
        break;
      default:  // NaNs and one infinity at last
        x[i] = i % 97 == 50    ? std::numeric_limits<double>::quiet_NaN()
               : i == size - 5 ? -std::numeric_limits<double>::infinity()
                               : uniform() - 0.3;
    }
  }
  return x;
}

TEST(ScanTest, UglyDataInEveryInstructionSet) {
  const simd::Level best = simd::detect();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    for (int kind = 0; kind < 10; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind) + ", level " + std::to_string(static_cast<int>(level)));
      const std::vector<double> x = ugly(kind, 2500);
      const NanPolicy nan = kind % 2 == 0 ? NanPolicy::propagate : NanPolicy::skip;
      check_sums<double>(x, x, nan, {});
      check_sums<float>(x, x, nan, {});
      const std::vector<float> narrow(x.begin(), x.end());
      check_sums<double>(narrow, narrow, nan, {});
      check_sums<float>(narrow, narrow, nan, {});
      if (HasFatalFailure()) break;
    }
    simd::restrict_to(best);
  }
}

// Numbers of any width and exponents, cancelled and repeated in part, beside the accumulator.
TEST(ScanTest, RandomData) {
  hard::Random random(11);
  int useful = 0;
  const auto check = [&](auto element) {
    using T = decltype(element);
    const int most = sizeof(T) == 4 ? 120 : 1000;
    std::vector<T> x(1 + random.below(700));
    const int spans[] = {0, 3, 20, 45, 60, 110, most};
    const int span = spans[random.below(7)], width = random.between(1, 53), mode = random.between(0, 4);
    const int base = random.below(3) == 0 ? -most - 50 : random.between(span - most, most - span);
    for (std::size_t i = 0; i < x.size(); ++i) {
      double value = std::ldexp(static_cast<double>(random.bits(width) + 1), base - width + random.between(-span, span));
      if (random.bits(1) != 0) value = -value;
      if (mode == 1) value = std::abs(value);
      if (mode == 2 && i % 2 != 0) value = -static_cast<double>(x[i - 1]);
      if (mode == 3 && i > 2 && random.below(2) == 0) value = -static_cast<double>(x[i - 1]) - static_cast<double>(x[i - 2]);
      if (mode == 4 && i > 2 && random.below(3) == 0) value = 0.5 * static_cast<double>(x[i - 3]);
      x[i] = static_cast<T>(value);
      if (!std::isfinite(x[i])) x[i] = 1;
    }
    Accumulator sum;
    std::vector<double> wide;
    std::vector<float> narrow;
    for (const T value : x) {
      sum.add(value);
      wide.push_back(sum.round());
      narrow.push_back(sum.round_to_float());
    }
    useful += test::informative(std::span<const double>(wide)) ? 1 : 0;
    SCOPED_TRACE("span " + std::to_string(span) + ", width " + std::to_string(width) + ", mode " + std::to_string(mode));
    expect_same<double>(wide, scan(x).template as<double>());
    expect_same<float>(narrow, scan(x, {.float32 = true}).template as<float>());
  };
  for (int i = 0; i < 500 && !HasFatalFailure(); ++i) {
    check(float{});
    check(double{});
  }
  EXPECT_GT(useful, 500) << "of 1000: others are of numbers that vanish, or of sums that cancel";
}

// Arrays of many blocks: the same bits for any number of threads, and those of sum() at places.
TEST(ScanTest, BlocksAndThreads) {
  for (int kind = 0; kind < 10; ++kind) {
    const std::vector<double> x = ugly(kind, (std::size_t{1} << 18) + 12345);
    const NanPolicy nan = kind == 9 ? NanPolicy::skip : NanPolicy::propagate;
    const Values one = scan(x, {}, {.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = 1}});
    for (const std::uint32_t threads : {2u, 3u}) {
      const Values several = scan(x, {}, {.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = threads}});
      ASSERT_EQ(std::memcmp(one.data(), several.data(), one.array().bytes()), 0) << kind << " by " << threads;
    }
    const Values before = scan(x, {.exclusive = true}, {.nan = nan, .device = Device::open("cpu"), .tuning = {.threads = 2}});
    ASSERT_EQ(std::memcmp(one.data(), before.as<double>().data() + 1, 8 * (x.size() - 1)), 0) << kind;
    for (std::size_t i = 1000; i < x.size(); i += 40001) {
      ASSERT_EQ(bits_of(one.as<double>()[i]), bits_of(sum(std::span(x).first(i + 1), {.nan = nan}))) << kind << " at " << i;
    }
  }
}

// Many tiles of a device, with and without results that it leaves to the host.
TEST(ScanTest, TilesOnDevices) {
  for (const Device& device : test::devices()) {
    for (const int kind : {0, 1, 4, 7, 8, 9}) {
      SCOPED_TRACE("kind " + std::to_string(kind) + " on " + device.info().selector);
      const std::vector<double> x = ugly(kind, 30001);
      const std::vector<float> narrow(x.begin(), x.end());
      for (const Array& data : {Array(x), Array(narrow)}) {
        const There there(device, data);
        for (const bool float32 : {false, true}) {
          const NanPolicy nan = float32 ? NanPolicy::skip : NanPolicy::propagate;  // not every program there is
          for (const bool exclusive : {false, true}) {
            const Scan what{.exclusive = exclusive, .float32 = float32};
            const Values found = scan(*there.array, what, {.nan = nan});
            const Values expected = scan(data, what, {.nan = nan, .device = Device::open("cpu")});
            ASSERT_EQ(std::memcmp(found.data(), expected.data(), expected.array().bytes()), 0);
          }
        }
      }
    }
  }
}

// Sums a little above the middle between two floats, where the double nearest to them is that middle, and the last bits of both floats
// vary. At the end are some that two doubles do not hold.
TEST(ScanTest, AboveTheMiddleBetweenTwoFloats) {
  std::vector<float> x;
  for (const float first : {16777214.0f, 16777206.0f, 16777232.0f}) {
    x.insert(x.end(), {first, first > 0x1p24f ? 1.0f : 0.5f, 0x1p-100f, -0x1p-100f, first > 0x1p24f ? -1.0f : -0.5f, -first});
  }
  x.insert(x.end(), {0x1p100f, 0x1p20f, 0x1p-100f});
  for (const Device& device : test::devices()) {
    SCOPED_TRACE(device.info().selector);
    const There there(device, x);
    check_sums<float>(x, *there.array, NanPolicy::propagate, {.device = device});
  }
}

// What the device keeps to itself: all but sums that span more than six doubles hold.
TEST(ScanTest, StaysOnTheDevice) {
  std::vector<double> wide = ugly(0, 5000), ends = ugly(9, 5000);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = std::ldexp(wide[i] - 0.5, static_cast<int>(i * 37 % 101) - 50);
  const std::vector<double> wider = ugly(2, 5000), apart = {1, 0x1p-53, 0x1p-160, -0x1p-270, 0x1p-380, -0x1p-490, 0x1p-600, -0x1p-710};
  std::vector<std::int64_t> integers(5000);
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = i % 2 == 0 ? (std::int64_t{1} << 62) - 3 : 1 - (std::int64_t{1} << 62);
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels) || !device.info().has(Capability::fp64)) continue;
    const auto where = [&](const Array& data, const Scan& what) {
      SCOPED_TRACE(device.info().selector);
      const There there(device, data);
      Report report;
      const Values found = scan(*there.array, what, {.report = &report});
      const Values expected = scan(data, what, {.device = Device::open("cpu")});
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.array().bytes()), 0);
      return report.device;
    };
    const std::string here = device.info().selector;
    EXPECT_EQ(where(wide, {}), here);
    EXPECT_EQ(where(wide, {.exclusive = true, .offsets = {0, 0, 1, 2, 17, 31, 32, 33, 64, 1000, 4999, 5000}}), here);
    EXPECT_EQ(where(Array(wide.data(), {40, 125}, DType::float64), {.axis = 1}), here);
    EXPECT_EQ(where(Array(wide.data(), {5000, 1}, DType::float64), {.exclusive = true, .axis = 1}), here);
    EXPECT_EQ(where(Array(wide.data(), {10, 100, 5}, DType::float64), {.axis = 1}), here);
    EXPECT_EQ(where(ends, {}), here) << "NaNs and infinities";
    EXPECT_EQ(where(Array(ends.data(), {100, 50}, DType::float64), {.axis = 1}), here);
    EXPECT_EQ(where(wider, {}), here);
    EXPECT_EQ(where(apart, {}), "cpu") << "a tie that the seventh number decides";
    EXPECT_EQ(where(integers, {}), here);
    EXPECT_EQ(where(Array(integers.data(), {1000, 5}, DType::int64), {.exclusive = true, .axis = 0}), here);
    EXPECT_EQ(where(ends, {.operation = ScanOperation::max, .offsets = {0, 40, 51, 77}}), here);
    EXPECT_EQ(where(Array(ends.data(), {50, 100}, DType::float64), {.operation = ScanOperation::min, .axis = 0}), here);
    EXPECT_EQ(where(Array(ends.data(), {50, 100}, DType::float64), {.operation = ScanOperation::count_nonzero, .axis = 1}), here);
  }
}

// Along every axis of arrays of any layout: the scan of each line.
TEST(ScanTest, AxesAndLayouts) {
  const std::vector<double> x = ugly(7, 60000);
  const std::vector<float> narrow(x.begin(), x.end());
  const float* const at = narrow.data();
  const std::vector<Array> arrays = {
      Array(at, {300, 70}, DType::float32),
      Array(at, {3, 2100, 5}, DType::float32),
      Array(at, {5, 3, 1200}, DType::float32),
      Array(at, {200, 30}, DType::float32).transposed(),
      Array(at, {40, 60}, DType::float32).slice(0, 39, 40, -1),
      Array(at, {9, 33}, DType::float32, {8, 132}),
      Array(reinterpret_cast<const std::byte*>(at) + 2, {33, 37}, DType::float32),
      Array(x.data(), {1100, 21}, DType::float64),
      Array(x.data(), {0, 3}, DType::float64),
      Array(x.data(), {3, 0}, DType::float64),
  };
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const Array& data = arrays[k];
    const std::vector<Device> devices = data.contiguous() && k != 6 ? test::devices() : std::vector<Device>{};
    for (std::int64_t axis = -1; axis < static_cast<std::int64_t>(data.rank()); ++axis) {
      for (const bool exclusive : {false, true}) {
        const Scan what{.exclusive = exclusive, .axis = axis};
        const Values found = scan(data, what, {.tuning = {.threads = 2}});
        for (const Device& device : devices) {
          const There there(device, data);
          const Values same = scan(*there.array, what);
          ASSERT_EQ(std::memcmp(same.data(), found.data(), found.array().bytes()), 0) << k << ", axis " << axis;
        }
        const auto number = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(data.rank()) : axis);
        // Lines as arrays of one axis, of the data and of the results.
        std::vector<Array> lines{data}, results{found.array()};
        std::size_t gone = 0;
        for (std::size_t other = 0; other < data.rank(); ++other) {
          if (other == number) continue;
          std::vector<Array> next, next_results;
          for (std::size_t line = 0; line < lines.size(); ++line) {
            for (std::uint64_t i = 0; i < data.shape()[other]; ++i) {
              next.push_back(lines[line].at(other - gone, i));
              next_results.push_back(results[line].at(other - gone, i));
            }
          }
          lines = std::move(next);
          results = std::move(next_results);
          ++gone;
        }
        for (std::size_t line = 0; line < lines.size(); ++line) {
          const Values alone = scan(lines[line], {.exclusive = exclusive});
          for (std::uint64_t i = 0; i < alone.size(); ++i) {
            ASSERT_EQ(bits_of(test::number_at(results[line], i)), bits_of(alone.as<double>()[i]))
                << k << ", axis " << axis << ", line " << line << " at " << i;
          }
        }
      }
    }
  }
  const std::vector<std::uint16_t> halves = {0x3c00, 0x0001, 0xbc00, 0x7bff};  // 1, the smallest, -1, the greatest
  const Values sums = scan(Array(halves.data(), {4, 1}, DType::float16), {.axis = 0});
  EXPECT_EQ(sums.as<double>()[2], 0x1p-24);
  EXPECT_EQ(sums.as<double>()[3], 65504 + 0x1p-24);
}

TEST(ScanTest, Segments) {
  const std::vector<double> x = ugly(0, 400000);
  const std::vector<std::uint64_t> offsets = {0, 0, 1, 5, 300, 300, 812, 390000, 400000};
  for (const Device& device : test::devices()) {
    const Values found = scan(x, {.offsets = offsets}, {.device = device, .tuning = {.threads = 2}});
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const std::uint64_t first = offsets[k], end = k + 1 < offsets.size() ? offsets[k + 1] : x.size();
      const Values alone = scan(std::span(x).subspan(first, end - first));
      for (std::uint64_t i = first; i < end; ++i) ASSERT_EQ(bits_of(found.as<double>()[i]), bits_of(alone.as<double>()[i - first])) << i;
    }
  }
  message_of([&] { scan(x, {.offsets = {1, 2}}); }, ErrorKind::usage);
  message_of([&] { scan(x, {.offsets = {0, 3, 2}}); }, ErrorKind::usage);
  message_of([&] { scan(x, {.offsets = {0, 400001}}); }, ErrorKind::usage);
  message_of([&] { scan(x, {.axis = 0, .offsets = {0}}); }, ErrorKind::usage);
  message_of([&] { scan(x, {.axis = 1}); }, ErrorKind::usage);
  message_of([&] { scan(x, {.operation = ScanOperation::min, .exclusive = true}); }, ErrorKind::usage);
}

TEST(ScanTest, ResultsInTheCallersMemory) {
  const std::vector<float> x = {1, 0x1p-30F, 3};
  std::vector<double> to(3), apart(6);
  scan(x, {}, Array(to));
  EXPECT_EQ(to, (std::vector<double>{1, 1 + 0x1p-30, 4 + 0x1p-30}));
  message_of([&] { scan(to, {}, Array(to)); }, ErrorKind::usage);
  message_of([&] { scan(x, {}, Array(x)); }, ErrorKind::usage);
  message_of([&] { scan(x, {}, Array(apart.data(), 3, DType::float64, 16)); }, ErrorKind::usage);
  for (const Device& device : test::devices()) {
    const There there(device, x);
    Buffer buffer(device, 32);
    scan(*there.array, {}, Array(buffer, 3, DType::float64, 8));
    buffer.read(to.data(), 24, 8);
    EXPECT_EQ(to, (std::vector<double>{1, 1 + 0x1p-30, 4 + 0x1p-30}));
    message_of([&] { scan(x, {}, Array(buffer, 3, DType::float64)); }, ErrorKind::usage);
  }
  // The same memory by two handles, and by one and an address.
  const Device cpu = Device::open("cpu");
  std::vector<double> memory = {1, 2, 3, 4};
  const Array all(Buffer::wrap(cpu, memory.data(), 24), 3, DType::float64);
  message_of([&] { scan(all, {}, Array(Buffer::wrap(cpu, memory.data() + 1, 24), 3, DType::float64)); }, ErrorKind::usage);
  message_of([&] { scan(all, {}, Array(memory.data() + 1, 3, DType::float64)); }, ErrorKind::usage);
}

}  // namespace
}  // namespace samesum
