// Every hard case on every device of this machine, with every variant, several group sizes and both policies on NaNs: compared with the
// accumulator of the elements added one by one, and with the oracles' bits.
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include "device/device.hpp"
#include "reduce/sum_device.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/informative.hpp"
#include "support/oracle.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace samesum {
namespace {

using hard::Case;
using test::Expected;
using test::result_of;

__extension__ typedef __int128 Int128;  // no standard name for it

constexpr NanPolicy kPolicies[] = {NanPolicy::propagate, NanPolicy::skip};

using test::devices;
using test::on;

// The options that are tried on a device for an array of that length. Fewer for long arrays, and for all types but two that share their
// code with the others: each group size of each type is a compilation.
std::vector<Tuning> options_for(const Device& device, DType type, std::uint64_t length) {
  const bool all_shapes = type == DType::float32 || type == DType::float64;
  std::vector<Tuning> all;
  for (const SumVariant& variant : sum_variants(device)) {
    Tuning options;
    options.variant = variant.name;
    all.push_back(options);
    if (!device.info().has(Capability::kernels)) {
      if (variant.name == "exact_digits") continue;  // one thread, whatever is asked for
      for (const std::uint32_t threads : {1u, 2u, 3u}) {
        options.threads = threads;
        all.push_back(options);
      }
      continue;
    }
    const std::uint32_t most = std::min(device.info().max_group_size, 1024u);
    const std::pair<std::uint32_t, std::uint32_t> shapes[] = {{most, 1}, {64, 3}, {33, 2}, {1, 1}};  // group size, groups
    for (const auto& [group_size, groups] : shapes) {
      if (group_size > most || (group_size == 1 && length > 1000) || (group_size == 33 && length > 70000)) continue;
      if (!all_shapes && (group_size != 33 || length > 2000)) continue;
      options.group_size = group_size;
      options.groups = groups;
      all.push_back(options);
    }
  }
  return all;
}

std::string describe(const Device& device, const Tuning& options, Array data) {
  return device.info().selector + ", " + options.variant + ", group size " + std::to_string(options.group_size) + ", groups " +
         std::to_string(options.groups) + ", threads " + std::to_string(options.threads) + ", " + std::to_string(data.size()) +
         " elements at byte " + std::to_string(reinterpret_cast<std::uintptr_t>(data.data()) % 64);
}

class Sum : public testing::TestWithParam<std::tuple<DType, Case>> {};

TEST_P(Sum, IsRightEverywhere) {
  const auto& [type, hard_case] = GetParam();
  for (const std::uint64_t length : hard::lengths()) {
    const auto data = hard::make(hard_case, type, length);
    const Array view = data.view();
    const Accumulator reference = test::add_each(view);
    for (const NanPolicy nan : kPolicies) ASSERT_EQ(result_of(reference, nan), test::gmp_oracle(view, nan)) << length;
    for (const Device& device : devices()) {
      for (const Tuning& options : options_for(device, view.type(), length)) {
        const Accumulator sum = accumulate(view, {.device = device, .tuning = options});
        ASSERT_EQ(sum, reference) << describe(device, options, view) << "\ngives " << result_of(sum) << "\ninstead of "
                                  << result_of(reference);
      }
    }
  }
}

TEST_P(Sum, OfMisalignedViewsIsRight) {
  const auto& [type, hard_case] = GetParam();
  for (std::size_t offset = 1; offset < 64; ++offset) {
    const auto data = hard::make(hard_case, type, 100 + 37 * offset, offset);
    const Accumulator reference = test::add_each(data.view());
    for (const Device& device : devices()) {
      for (const SumVariant& variant : sum_variants(device)) {
        Tuning options;
        options.variant = variant.name;
        ASSERT_EQ(accumulate(data.view(), {.device = device, .tuning = options}), reference) << describe(device, options, data.view());
      }
    }
  }
}

TEST_P(Sum, IsRoundedOnceOnTheDevice) {
  const auto& [type, hard_case] = GetParam();
  for (const Device& handle : devices()) {
    if (!handle.info().has(Capability::kernels)) continue;
    device::Device& device = handle.implementation();
    const std::lock_guard lock(device.mutex());
    reduction::DeviceSum sum(device, type, {}, 5000);
    const auto memory = device.allocate(5000 * size_of(type));
    for (const std::uint64_t length : {0, 1, 2, 3, 5, 31, 257, 1025, 4999}) {
      const auto data = hard::make(hard_case, type, length);
      if (length != 0) device.write(memory, 0, data.view().data(), data.view().bytes());
      for (const NanPolicy nan : kPolicies) {
        sum.launch(memory, length, nan);
        const auto result = sum.result();
        const Expected rounded{std::bit_cast<std::uint64_t>(result.record.value), std::bit_cast<std::uint32_t>(result.record.value32),
                               result.accumulator.nan_count()};
        ASSERT_EQ(rounded, test::mpfr_oracle(data.view(), nan)) << handle.info().selector << ", " << length << " elements";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Sum,
                         testing::Combine(testing::Values(DType::float16, DType::bfloat16, DType::float32, DType::float64),
                                          testing::ValuesIn(hard::cases().begin(), hard::cases().end())),
                         [](const auto& parameter) {
                           return std::string(name_of(std::get<0>(parameter.param))) + "_" + std::string(std::get<1>(parameter.param).name);
                         });

// Integers: random ones, and ones that overflow 64 bits as early as possible.
class IntegerSum : public testing::TestWithParam<DType> {};

TEST_P(IntegerSum, IsRightEverywhere) {
  const DType type = GetParam();
  const int bits = static_cast<int>(8 * size_of(type));
  const std::uint64_t least = is_signed(type) ? std::uint64_t{1} << (bits - 1) : 0;
  const std::uint64_t most = ~least & (~std::uint64_t{0} >> (64 - bits));
  hard::Random random(7);
  for (const std::uint64_t length : {0, 1, 2, 3, 15, 16, 17, 33, 127, 129, 1023, 1025, 4097, 8193, 65537, 300007}) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<std::uint64_t> patterns(length);
      for (auto& pattern : patterns) pattern = kind == 0 ? random.bits(bits) : kind == 1 ? least : kind == 2 ? most : random.bits(1);
      const hard::Data data(patterns, type, kind * size_of(type));
      const Array view = data.view();
      const Accumulator reference = test::add_each(view);
      Int128 exact = 0;
      for (const std::uint64_t pattern : patterns) {
        exact += is_signed(type) ? static_cast<Int128>(static_cast<std::int64_t>(pattern << (64 - bits)) >> (64 - bits)) : pattern;
      }
      for (const Device& device : devices()) {
        for (const Tuning& options : options_for(device, view.type(), length)) {
          const Accumulator sum = accumulate(view, {.device = device, .tuning = options});
          ASSERT_EQ(sum, reference) << describe(device, options, view) << ", kind " << kind;
        }
      }
      if (length == 0) continue;
      EXPECT_EQ(reference.result_type(), is_signed(type) ? DType::int64 : DType::uint64);
      if (is_signed(type) ? exact == static_cast<std::int64_t>(exact) : exact == static_cast<Int128>(static_cast<std::uint64_t>(exact))) {
        EXPECT_EQ(is_signed(type) ? static_cast<std::uint64_t>(reference.to_int64()) : reference.to_uint64(),
                  static_cast<std::uint64_t>(exact));
      } else {
        EXPECT_THROW(is_signed(type) ? static_cast<void>(reference.to_int64()) : static_cast<void>(reference.to_uint64()), Error);
      }
    }
  }
}

// Checks a kernel's record of a sum of integers.
void expect_record(const SumRecord& record, const Accumulator& reference, DType type) {
  EXPECT_EQ(record.value, reference.round());
  EXPECT_EQ(record.value32, reference.round_to_float());
  std::int64_t integer = 0;
  bool fits = true;
  try {
    integer = is_signed(type) ? reference.to_int64() : static_cast<std::int64_t>(reference.to_uint64());
  } catch (const Error&) {
    fits = false;
  }
  EXPECT_EQ(record.overflow, fits ? 0u : 1u) << name_of(type) << ", " << reference.round();
  EXPECT_EQ(record.integer, integer) << name_of(type);
}

TEST_P(IntegerSum, IsRoundedOnTheDevice) {
  const DType type = GetParam();
  hard::Random random(8);
  for (const Device& handle : devices()) {
    if (!handle.info().has(Capability::kernels)) continue;
    device::Device& device = handle.implementation();
    const std::lock_guard lock(device.mutex());
    reduction::DeviceSum sum(device, type, {}, 3000);
    const auto memory = device.allocate(3000 * size_of(type));
    const int bits = static_cast<int>(8 * size_of(type));
    const std::uint64_t least = is_signed(type) ? std::uint64_t{1} << (bits - 1) : 0;
    for (const std::uint64_t length : {1, 2, 31, 257, 2999, 10001, 10002, 10003}) {
      // The last lengths are one or two of the extremes: around the limits of 64 bits.
      std::vector<std::uint64_t> patterns(length % 10000 == length ? length : length - 10000);
      for (auto& pattern : patterns) pattern = length < 10000 ? random.bits(bits) : least;
      const hard::Data data(patterns, type);
      device.write(memory, 0, data.view().data(), data.view().bytes());
      sum.launch(memory, patterns.size());
      const auto result = sum.result();
      const Accumulator reference = test::add_each(data.view());
      expect_record(result.record, reference, type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerSum,
                         testing::Values(DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64,
                                         DType::uint64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(SumFunction, RoundsByThePolicy) {
  const std::vector<float> values = {1.0f, std::numeric_limits<float>::quiet_NaN(), 0x1p-60f};
  Options skip;
  skip.nan = NanPolicy::skip;
  for (const Device& device : devices()) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sum(values, {.device = device})), 0x7ff8000000000000u);
    EXPECT_EQ(sum(values, on(device, skip)), 1.0);
  }
  EXPECT_TRUE(std::isnan(sum(values)));
  EXPECT_EQ(sum(values, skip), 1.0);
}

TEST(SumFunction, OfNothingIsPositiveZero) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum(std::span<const float>())), 0u);
  const Array nothing(nullptr, 0, DType::float64);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum(nothing).as_double()), 0u);
  for (const Device& device : devices()) EXPECT_EQ(std::bit_cast<std::uint64_t>(sum(nothing, {.device = device}).as_double()), 0u);
}

// Every variant is reported by its name, with the requested groups, and within the time of the call.
TEST(SumFunction, ReportsWhatItDid) {
  const std::vector<double> values(1000, 1.5);
  for (const Device& device : devices()) {
    for (const SumVariant& variant : sum_variants(device)) {
      Tuning options;
      options.variant = variant.name;
      const bool has_groups = device.info().has(Capability::kernels);
      if (has_groups) options.group_size = 32, options.groups = 3;
      Report report;
      report.seconds = report.upload_seconds = -1;
      const auto start = std::chrono::steady_clock::now();
      EXPECT_EQ(accumulate(std::span<const double>(values), {.device = device, .report = &report, .tuning = options}).round(), 1500.0);
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
      EXPECT_EQ(report.device, device.info().selector);
      EXPECT_EQ(report.variant, variant.name);
      EXPECT_EQ(report.bytes, 8000u);
      EXPECT_GT(report.seconds, 0);
      EXPECT_EQ(report.upload_seconds > 0, has_groups);
      EXPECT_LE(report.seconds + report.upload_seconds, 1.5 * wall.count() + 0.01);
      if (!has_groups) continue;
      EXPECT_NE(report.configuration.find("groups=3 group_size=32"), std::string::npos) << report.configuration;
    }
  }
}

// On a device that allocates little, arrays of the host are uploaded in chunks, of which the last is shorter.
TEST(Chunks, OfAnArrayAreTheWhole) {
  if (test::on_own_queues()) GTEST_SKIP() << "masks are for devices that are opened by their name";
  constexpr std::uint64_t kChunk = (1 << 20) / sizeof(float), kSize = 2 * kChunk + 1001;
  std::vector<float> values(2 * kSize);  // twice what is looked at
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(1 + i * 7919 % 10007) / 64;
  values[kSize - 2] = -3;
  values[kSize - 5] = 1000;
  const std::span<const float> a(values.data(), kSize), b(values.data() + 100, kSize);
  const Device cpu = Device::open("cpu");
  const Statistics expected = collect(a, {}, {.device = cpu});
  const double product = dot(a, b, {.device = cpu}).round(), total = sum(a, {.device = cpu});
  ASSERT_TRUE(test::informative(product) && test::informative(total));
  ASSERT_EQ(expected.min().index, kSize - 2);
  const test::ScopedVariable mask("SAMESUM_MASK", "allocation=1048576");
  for (const DeviceInfo& info : list_devices().devices) {
    if (!info.has(Capability::kernels)) continue;
    const Device device = Device::open(info.selector);
    ASSERT_EQ(device.info().max_allocation_bytes, kChunk * sizeof(float));
    EXPECT_EQ(collect(a, {}, {.device = device}).contents(), expected.contents()) << info.selector;
    EXPECT_EQ(sum(a, {.device = device}), total) << info.selector;
    EXPECT_EQ(dot(a, b, {.device = device}).round(), product) << info.selector;
  }
}

TEST(SumFunction, RefusesUnknownVariantsAndGroupSizes) {
  const std::vector<float> values(10, 1.0f);
  for (const Device& device : devices()) {
    Tuning options;
    options.variant = "no_such_variant";
    try {
      accumulate(std::span<const float>(values), {.device = device, .tuning = options});
      FAIL() << "an unknown variant was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("no_such_variant"), std::string::npos) << error.what();
    }
    if (!device.info().has(Capability::kernels)) continue;
    options = {};
    options.group_size = 1 << 20;
    try {
      accumulate(std::span<const float>(values), {.device = device, .tuning = options});
      FAIL() << "a group size that no device has was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  }
}

}  // namespace
}  // namespace samesum
