// The sum's ladder, its textbook rungs, and the ceilings.
#include "ladder/histogram/bins.hpp"
#include "ladder/resident.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "ladder/ceiling/host_kernels.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/reduce/reference.hpp"
#include "ladder/reduce/textbook.hpp"
#include "ladder/timing.hpp"
#include "support/informative.hpp"
#include "support/process.hpp"

#include <samesum/bench.hpp>
#include <samesum/error.hpp>
#include <samesum/plain_sum.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>

namespace samesum::bench {
namespace {

using test::ScopedVariable;

Effort little() {
  Effort effort;
  effort.runs = 3;
  effort.seconds = 0.01;
  return effort;
}

// Every device that runs kernels: usually PoCL.
std::vector<Device> kernel_devices() {
  std::vector<Device> devices;
  for (const DeviceInfo& info : list_devices().devices) {
    const Device device = Device::open(info.selector);
    if (device.info().has(Capability::kernels)) devices.push_back(device);
  }
  return devices;
}

device::Memory upload(device::Device& device, Array data) {
  const device::Memory memory = device.allocate(std::max<std::uint64_t>(data.bytes(), 16));
  if (data.bytes() != 0) device.write(memory, 0, data.data(), data.bytes());
  return memory;
}

// --- the rungs -----------------------------------------------------------------------------------------------------------------

struct Shape {
  std::uint64_t rows, columns;
};
constexpr Shape kShapes[] = {{0, 0},   {0, 5},    {1, 1},   {1, 2},      {2, 1},     {1, 3},     {3, 5},
                             {1, 777}, {1023, 1}, {17, 33}, {129, 1025}, {5, 20011}, {1, 70001}, {512, 512}};

// Sums arrays of every shape with the variant, and checks the error bound; sums of integers are exact, as no addition rounds.
template <class Real>
void check_textbook(std::string_view name, const Device& opened, const reduction::TextbookOptions& options) {
  device::Device& device = opened.implementation();
  const std::lock_guard lock(device.mutex());
  const DType type = sizeof(Real) == 4 ? DType::float32 : DType::float64;
  for (const auto [rows, columns] : kShapes) {
    SCOPED_TRACE(fmt::format("{} on {}: {} {} x {}, group_size={} groups={} tile={}", name, opened.info().selector, name_of(type), rows,
                             columns, options.group_size, options.groups, options.tile));
    const std::uint64_t size = rows * columns;
    std::vector<Real> integers(size);
    for (std::uint64_t i = 0; i < size; ++i) integers[i] = static_cast<Real>(static_cast<std::int64_t>(i * 2654435761 % 64) - 20);
    const auto expected = std::accumulate(integers.begin(), integers.end(), 0.0);
    ASSERT_TRUE(size == 0 || test::informative(expected));
    const Data lognormal(DataKind::lognormal, type, size, 7);

    reduction::TextbookSum exact(name, device, type, upload(device, Array(std::span<const Real>(integers))), rows, columns, options);
    for (int launch = 0; launch < 3; ++launch) {  // a ticket or a cleared result must have been restored
      exact.launch();
      EXPECT_EQ(exact.result(), expected);
    }
    reduction::TextbookSum rounded(name, device, type, upload(device, lognormal.view()), rows, columns, options);
    rounded.launch();
    const Reference reference(lognormal.view());
    const double error = reference.error_of(rounded.result());
    const double bound = error_bound(type, size, rounded.plan().depth, reference.magnitude);
    EXPECT_TRUE(error <= bound) << error << " > " << bound;
    EXPECT_LE(bound, 0.1 * reference.magnitude) << "a bound that says nothing";
  }
}

class Textbook : public testing::TestWithParam<std::string_view> {};

TEST(Ladder, LimitsRegistersByTheGroupsOfAComputeUnit) {
  EXPECT_EQ(bench::resident_for(0, 256), 1u);
  EXPECT_EQ(bench::resident_for(64, 256), 4u);
  EXPECT_EQ(bench::resident_for(255, 1024), 1u);
  const DeviceInfo info = Device::open("cpu").info();
  for (const std::uint32_t registers : {0u, 32u}) {
    const std::uint32_t size = bench::histogram_group_size(info, 0);
    const std::pair<std::string, std::string> wanted("RESIDENT", std::to_string(bench::resident_for(registers, size)));
    const auto defines = bench::histogram_source(info, 0, nullptr, registers).defines;
    EXPECT_EQ(std::ranges::count(defines, wanted), 1) << wanted.second;
  }
}

TEST_P(Textbook, SumsEveryShapeWithEveryGroupSize) {
  for (const Device& device : kernel_devices()) {
    for (const std::uint32_t group_size : {0u, 1u, 7u, 100u, device.info().max_group_size}) {
      if (group_size == 1 && GetParam() == "tree_passes") continue;
      if (!reduction::why_no_textbook(GetParam(), device.info(), DType::float32).empty()) continue;
      try {
        check_textbook<float>(GetParam(), device, {group_size});
      } catch (const Error& error) {  // a kernel may take smaller groups than the device, as its registers allow
        ASSERT_EQ(group_size, device.info().max_group_size) << error.what();
        const std::string text = error.what(), limit = "this kernel takes 1 to ";
        const std::size_t at = text.find(limit);
        ASSERT_NE(at, std::string::npos) << text;
        check_textbook<float>(GetParam(), device, {static_cast<std::uint32_t>(std::stoul(text.substr(at + limit.size())))});
      }
    }
    if (reduction::why_no_textbook(GetParam(), device.info(), DType::float64).empty()) {
      check_textbook<double>(GetParam(), device, {});
      check_textbook<double>(GetParam(), device, {7, 3, 3});
    }
  }
}

TEST_P(Textbook, SumsWithAnyNumberOfGroupsAndAnyTile) {
  for (const Device& device : kernel_devices()) {
    if (!reduction::why_no_textbook(GetParam(), device.info(), DType::float32).empty()) continue;
    for (const std::uint32_t groups : {1u, 3u, 1000u}) check_textbook<float>(GetParam(), device, {100, groups, 2 + groups % 5});
  }
}

// All but the one that leaves a barrier out.
std::vector<std::string_view> right_variants() {
  std::vector<std::string_view> names(reduction::textbook_variants().begin(), reduction::textbook_variants().end());
  std::erase(names, reduction::kMissingBarrier);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Textbook, testing::ValuesIn(right_variants()),
                         [](const auto& variant) { return std::string(variant.param); });

TEST(TextbookOptions, AreChecked) {
  for (const Device& opened : kernel_devices()) {
    device::Device& device = opened.implementation();
    const std::lock_guard lock(device.mutex());
    const std::vector<float> values(16, 1.0f);
    const device::Memory memory = upload(device, Array(values));
    const auto make = [&](std::string_view name, reduction::TextbookOptions options) {
      reduction::TextbookSum(name, device, DType::float32, memory, 4, 4, options);
    };
    EXPECT_THROW(make("tree_passes", {1}), Error);
    EXPECT_THROW(make("tree_passes", {opened.info().max_group_size + 1}), Error);
    EXPECT_THROW(make("tile_passes", {0, 0, 1}), Error);
    EXPECT_THROW(make("quick_sum", {}), Error);
  }
}

// --- the rounds ----------------------------------------------------------------------------------------------------------------

// Each element that a round leaves is the sum of its tile. The elements are small integers, so every sum is exact.
TEST(SumRounds, LeaveTheSumsOfTheTiles) {
  constexpr std::uint64_t kRows = 37, kColumns = 53, kPitch = 61;
  std::vector<float> with_gaps(kRows * kPitch, NAN);  // a kernel that reads a gap is found out
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t c = 0; c < kColumns; ++c) with_gaps[r * kPitch + c] = static_cast<float>((r * 31 + c * 7) % 17) - 5;
  }
  const Array matrix(with_gaps.data(), {kRows, kColumns}, DType::float32, {kPitch * 4, 4});
  for (const Device& device : kernel_devices()) {
    for (const char* method : {"tree_passes", "tile_passes"}) {
      LadderOptions options;
      options.group_size = 32;
      options.block_columns = options.tile = 8;
      options.tile_rows = 4;
      options.result_align = 5;
      const std::vector<RoundSums> rounds = sum_rounds(device, method, matrix, options);
      ASSERT_EQ(rounds.size(), 3u) << method;  // 37 x 53, 10 x 7, 3 x 1, 1 x 1
      std::uint64_t rows = kRows, columns = kColumns;
      std::vector<double> before;
      for (std::uint64_t r = 0; r < kRows; ++r) before.insert(before.end(), &with_gaps[r * kPitch], &with_gaps[r * kPitch] + kColumns);
      for (const RoundSums& round : rounds) {
        const std::uint64_t high = columns == 1 ? 32 : 4, wide = columns == 1 ? 1 : 8;
        ASSERT_EQ(round.rows, (rows + high - 1) / high);
        ASSERT_EQ(round.columns, (columns + wide - 1) / wide);
        EXPECT_EQ(round.pitch, (round.columns + 4) / 5 * 5);
        std::vector<double> expected(round.rows * round.columns, 0);
        for (std::uint64_t i = 0; i < rows * columns; ++i) expected[i / columns / high * round.columns + i % columns / wide] += before[i];
        ASSERT_EQ(round.values, expected) << method;
        rows = round.rows;
        columns = round.columns;
        before = round.values;
      }
      EXPECT_EQ(rows * columns, 1u);
    }
    EXPECT_TRUE(sum_rounds(device, "tree_passes", Array(std::vector<float>{3}.data(), 1, DType::float32)).empty());
    EXPECT_THROW(sum_rounds(device, "single_pass", matrix), Error);
    LadderOptions nothing;
    nothing.result_align = 0;
    EXPECT_THROW(sum_rounds(device, "tile_passes", matrix, nothing), Error);
    const Array overlapping(with_gaps.data(), {kRows, kColumns}, DType::float32, {40, 4});
    EXPECT_THROW(sum_rounds(device, "tile_passes", overlapping), Error);
  }
  EXPECT_THROW(sum_rounds(Device::open("cpu"), "tile_passes", matrix), Error);
}

TEST(SumLadder, TakesRowsWithGaps) {
  constexpr std::uint64_t kRows = 29, kColumns = 70, kPitch = 96;
  std::vector<double> with_gaps(kRows * kPitch, NAN);
  for (std::uint64_t i = 0; i < with_gaps.size(); ++i) {
    if (i % kPitch < kColumns) with_gaps[i] = 1.0 / static_cast<double>(i + 1);
  }
  const Array matrix(with_gaps.data(), {kRows, kColumns}, DType::float64, {kPitch * 8, 8});
  for (const DeviceInfo& info : list_devices().devices) {
    LadderOptions options;
    options.effort = little();
    const Ladder ladder = sum_ladder(Device::open(info.selector), matrix, options);
    EXPECT_EQ(ladder.pitch, kPitch);
    EXPECT_TRUE(test::informative(ladder.exact_sum));
    for (const LadderRow& row : ladder.rungs) {
      const bool host = row.where.starts_with("cpu,");
      const bool passes = row.name == "tree_passes" || row.name == "tile_passes";
      EXPECT_EQ(row.verdict, host || (passes && info.has(Capability::fp64)) ? Verdict::right : Verdict::skipped) << row.name << row.reason;
    }
  }
}

// --- the references ------------------------------------------------------------------------------------------------------------

TEST(Reference, IsTheExactSum) {
  const std::vector<double> values = {1e300, 1.0, -1e300, 0x1p-1074, -3.0};
  const Reference reference{Array(values)};
  EXPECT_EQ(reference.sum.round(), -2.0);
  EXPECT_EQ(reference.sum.count(), 5u);
  EXPECT_GE(reference.magnitude, 2e300);
  EXPECT_EQ(reference.error_of(-2.0), 0x1p-1074);
  EXPECT_EQ(reference.error_of(1.0), 3.0);
  EXPECT_TRUE(std::isnan(reference.error_of(std::nan(""))));
}

TEST(ErrorBound, HoldsAndIsNotIdle) {
  for (const DType type : {DType::float32, DType::float64}) {
    const Data data(DataKind::uniform, type, 100000);
    const Reference reference(data.view());
    const double bound = error_bound(type, 100000, 99999, reference.magnitude);
    const double sum = plain_sum_forward(data.view());
    EXPECT_LE(reference.error_of(sum), bound);
    EXPECT_GT(reference.error_of(sum), 0);
    // The bound detects a single element left out of a shallow tree.
    EXPECT_GT(reference.error_of(reference.sum.round() + 0.5), error_bound(type, 100000, 17, reference.magnitude));
  }
  EXPECT_EQ(error_bound(DType::float32, 1, 1, 1.0), 0);
  EXPECT_TRUE(std::isinf(error_bound(DType::float32, 2, 1, 3.5e38)));
  EXPECT_TRUE(std::isinf(error_bound(DType::float64, 2, 1, std::nan(""))));
  // Where gamma is undefined, the bound is that for any order.
  EXPECT_NEAR(error_bound(DType::float32, 1u << 30, 1u << 30, 1.0), 64.0, 1e-3);
}

// --- data ----------------------------------------------------------------------------------------------------------------------

TEST(Data, IsAFunctionOfTheIndex) {
  for (const DataKind kind : {DataKind::uniform, DataKind::normal, DataKind::lognormal, DataKind::bits, DataKind::zeros}) {
    EXPECT_EQ(parse_data_kind(name_of(kind)), kind);
    for (const DType type : {DType::float32, DType::float64}) {
      const Data large(kind, type, 100001), small(kind, type, 777), other(kind, type, 777, 2);
      EXPECT_EQ(std::memcmp(large.view().data(), small.view().data(), small.view().bytes()), 0);
      EXPECT_NE(std::memcmp(small.view().data(), other.view().data(), small.view().bytes()), 0);
      const Accumulator sum = Reference(large.view()).sum;
      EXPECT_EQ(sum.nan_count() + sum.positive_infinities() + sum.negative_infinities(), 0u);
    }
  }
  EXPECT_THROW(parse_data_kind("gaussian"), Error);
}

TEST(Data, HasTheMomentsThatItSays) {
  constexpr std::uint64_t kSize = 1 << 18;
  const auto mean = [](DataKind kind) { return Reference(Data(kind, DType::float32, kSize).view()).sum.round() / kSize; };
  EXPECT_NEAR(mean(DataKind::uniform), 0.5, 0.005);
  EXPECT_NEAR(mean(DataKind::zeros), 0.25, 0.005);
  EXPECT_NEAR(mean(DataKind::normal), 0, 0.01);
  const Data normal(DataKind::normal, DType::float64, kSize), lognormal(DataKind::lognormal, DType::float64, kSize);
  double squares = 0, logarithms = 0;
  for (std::uint64_t i = 0; i < kSize; ++i) {
    squares += std::pow(static_cast<const double*>(normal.view().data())[i], 2);
    logarithms += std::pow(std::log(static_cast<const double*>(lognormal.view().data())[i]), 2);
  }
  EXPECT_NEAR(squares / kSize, 1, 0.02);
  EXPECT_NEAR(logarithms / kSize, 9, 0.2);
}

// --- timing --------------------------------------------------------------------------------------------------------------------

TEST(Timing, SummarizesByQuantiles) {
  std::vector<double> samples(101);
  std::iota(samples.rbegin(), samples.rend(), 0.0);
  const Statistics statistics = summarize(samples);
  EXPECT_EQ(statistics.median, 50);
  EXPECT_EQ(statistics.low, 10);
  EXPECT_EQ(statistics.high, 90);
  EXPECT_EQ(statistics.runs, 101u);
  EXPECT_EQ(summarize({3.0}).high, 3);
  EXPECT_EQ(summarize({1.0, 2.0}).median, 1.5);
}

TEST(Timing, FindsTheFastestThatRuns) {
  const auto constant = [](double seconds) { return Timer([seconds](std::uint32_t calls) { return seconds * calls; }); };
  const Timer refused = [](std::uint32_t) -> double { throw Error(ErrorKind::device, "too large"); };
  EXPECT_EQ(fastest_of({constant(3e-4), refused, constant(1e-4), constant(2e-4), refused}), 2u);
  EXPECT_THROW(fastest_of({refused, refused}), Error);
  const Paired paired = measure_in_turns(constant(4e-4), constant(1e-4), little());
  EXPECT_DOUBLE_EQ(paired.ratio.median, 0.25);
  EXPECT_DOUBLE_EQ(measure(constant(5e-9), little()).median, 5e-9);
}

// --- ceilings ------------------------------------------------------------------------------------------------------------------

TEST(Ceiling, HostReadsEveryByteOnce) {
  std::vector<unsigned char> bytes(5000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 167 + i / 251);
  for (const std::uint32_t streams : {1u, 2u, 4u}) {
    for (std::size_t size = 0; size < 4900; size = size * 9 / 8 + 1) {
      std::uint64_t expected = 0;
      for (std::size_t at = 0; at < size; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + 3 + at, std::min<std::size_t>(8, size - at));
        expected ^= word;
      }
      EXPECT_EQ(read_bits(bytes.data() + 3, size, {streams, 512}), expected) << size;
    }
  }
}

// One element differs: a kernel that reads it finds the unlikely word and stores it.
TEST(Ceiling, KernelsReadEveryElement) {
  for (const Device& opened : kernel_devices()) {
    device::Device& device = opened.implementation();
    const std::lock_guard lock(device.mutex());
    constexpr std::uint64_t kWords = 1044;
    const device::Memory memory = device.allocate(kWords * 4), sink = device.allocate(4);
    const auto check = [&](const device::Kernel& kernel, device::Grid grid, std::uint64_t words, std::vector<device::Argument> arguments) {
      for (std::uint64_t at = 0; at < words; at += 1 + at % 41) {
        std::vector<std::uint32_t> values(kWords, 0);
        values[at] = 12345;
        const std::uint32_t zero = 0;
        device.write(memory, 0, values.data(), kWords * 4);
        device.write(sink, 0, &zero, 4);
        device.launch(kernel, grid, arguments);
        std::uint32_t found = 0;
        device.read(sink, 0, &found, 4);
        EXPECT_EQ(found, 12345u) << kernel.name << ", word " << at << " of " << words;
      }
    };
    for (const std::uint32_t width : {4u, 8u, 16u}) {
      for (const std::uint32_t unroll : {1u, 8u}) {
        const device::Kernel kernel = device::build(device, ceiling_source(16), fmt::format("read_{}x{}", width, unroll));
        const std::uint64_t count = kWords * 4 / width;
        for (const std::uint64_t run : {std::uint64_t{0}, (count / 3 / (16 * unroll) + 1) * 16 * unroll}) {
          check(kernel, {3, 16}, kWords, {memory, count, run, std::uint32_t{12345}, sink});
        }
      }
    }
    if (!opened.info().is_cpu) continue;
    for (const std::uint32_t unroll : {1u, 4u}) {
      const device::Kernel kernel = device::build(device, {{"ladder/ceiling/ceiling_cpu.cl"}, {}}, fmt::format("read_run_{}", unroll));
      check(kernel, {3, 1}, kWords / 8 * 8, {memory, kWords / 8, std::uint32_t{12345}, sink});
    }
  }
}

TEST(Ceiling, IsPositiveOnEveryDevice) {
  std::vector<Device> devices = kernel_devices();
  devices.push_back(Device::open("cpu"));
  for (const Device& device : devices) {
    CeilingOptions options;
    options.sizes = {4096, 100000};
    options.atomics = device.info().has(Capability::kernels);
    options.effort = little();
    std::vector<std::string> told;
    options.effort.progress = [&](std::string_view what) { told.emplace_back(what); };
    const Ceiling ceiling = measure_ceiling(device, options);
    EXPECT_EQ(ceiling.device.selector, device.info().selector);
    EXPECT_GE(ceiling.reads.size(), 2u);
    for (const ReadRate& read : ceiling.reads) {
      EXPECT_GT(read.bytes_per_second, 1e3);
      EXPECT_LT(read.bytes_per_second, 1e14);
      EXPECT_FALSE(read.configuration.empty());
    }
    EXPECT_GE(ceiling.arithmetic.size(), device.info().has(Capability::fp64) ? 2u : 1u);
    for (const ArithmeticRate& rate : ceiling.arithmetic) {
      EXPECT_GT(rate.operations_per_second, 1e5);
      EXPECT_LT(rate.operations_per_second, 1e16);
    }
    EXPECT_EQ(ceiling.latencies.size(), 2u);
    for (const Latency& latency : ceiling.latencies) EXPECT_GT(latency.seconds.median, 0);
    EXPECT_EQ(ceiling.atomics.size(), options.atomics ? 7u : 0u);
    for (const AtomicRate& rate : ceiling.atomics) {
      EXPECT_GT(rate.latency.median, 1e-10) << rate.memory << " " << rate.addresses;
      EXPECT_GT(rate.operations_per_second, 1e5) << rate.memory << " " << rate.addresses;
    }
    EXPECT_FALSE(told.empty());
  }
}

TEST(Ceiling, RefusesWhatDoesNotFit) {
  CeilingOptions options;
  options.atomics = true;
  EXPECT_THROW(measure_ceiling(Device::open("cpu"), options), Error) << "it runs no kernels";
  options.atomics = false;
  options.sizes = {std::uint64_t{1} << 60};
  EXPECT_THROW(measure_ceiling(Device::open("cpu"), options), Error);
  options.sizes = {0};
  EXPECT_THROW(measure_ceiling(Device::open("cpu"), options), Error);
}

// --- the ladder ----------------------------------------------------------------------------------------------------------------

LadderOptions quick() {
  LadderOptions options;
  options.effort = little();
  return options;
}

TEST(Ladder, EveryRungIsRight) {
  std::vector<Device> devices = kernel_devices();
  devices.push_back(Device::open("cpu"));
  for (const Device& device : devices) {
    for (const DType type : {DType::float32, DType::float64}) {
      const Data data(DataKind::normal, type, 101 * 77);
      const Ladder ladder = sum_ladder(device, data.view().reshaped({101, 77}), quick());
      EXPECT_EQ(ladder.rungs.size(), sum_rungs(device).size());
      EXPECT_EQ(ladder.exact_sum, Reference(data.view()).sum.round());
      for (const LadderRow& row : ladder.rungs) {
        if (row.name == reduction::kMissingBarrier) continue;
        const auto expected = row.reason.empty() ? Verdict::right : Verdict::skipped;
        EXPECT_EQ(row.verdict, expected) << device.info().selector << " " << row.name << ": " << row.reason;
        if (row.verdict != Verdict::right) continue;
        EXPECT_TRUE(row.error <= row.bound || row.exact) << row.name;
        EXPECT_GT(row.seconds.median, 0) << row.name;
        EXPECT_DOUBLE_EQ(row.bytes_per_second * row.seconds.median, static_cast<double>(data.view().bytes())) << row.name;
        EXPECT_GT(row.ceiling_fraction.median, 0) << row.name;
      }
    }
  }
}

TEST(Ladder, ShowsTheRoundsOfPasses) {
  for (const Device& device : kernel_devices()) {
    const Data data(DataKind::uniform, DType::float32, 100 * 40);
    LadderOptions options = quick();
    options.rungs = {"tree_passes", "tile_passes"};
    options.group_size = 64;
    options.tile = 10;
    const Ladder ladder = sum_ladder(device, data.view().reshaped({100, 40}), options);
    ASSERT_EQ(ladder.rungs.size(), 2u);
    const std::vector<Round>& tree = ladder.rungs[0].rounds;  // tiles of 8 x 8
    ASSERT_EQ(tree.size(), 3u);
    EXPECT_EQ(tree[0].rows, 100u);
    EXPECT_EQ(tree[0].result_rows, 13u);
    EXPECT_EQ(tree[0].result_columns, 5u);
    EXPECT_EQ(tree[1].rows, 13u);
    EXPECT_EQ(tree[2].result_columns, 1u);
    const std::vector<Round>& tile = ladder.rungs[1].rounds;
    ASSERT_EQ(tile.size(), 2u);
    EXPECT_EQ(tile[0].result_rows, 10u);
    EXPECT_EQ(tile[0].result_columns, 4u);
    EXPECT_GT(tile[1].seconds.median, 0);
  }
}

TEST(Ladder, TakesDataThatOnlyExactSumsCanTake) {
  for (const Device& device : kernel_devices()) {
    const Data data(DataKind::bits, DType::float32, 4096);
    for (const LadderRow& row : sum_ladder(device, data.view().reshaped({64, 64}), quick()).rungs) {
      if (row.name == reduction::kMissingBarrier) continue;
      const bool lacks_fence = row.name == "single_pass" && !device.info().has(Capability::device_fence);
      const auto expected = row.exact ? Verdict::right : lacks_fence ? Verdict::skipped : Verdict::not_comparable;
      EXPECT_EQ(row.verdict, expected) << row.name << ": " << row.reason;
    }
  }
}

TEST(Ladder, TakesTheSmallest) {
  for (const Device& device : kernel_devices()) {
    const std::vector<float> one = {2.5f};
    for (const LadderRow& row : sum_ladder(device, Array(one).reshaped({1, 1}), quick()).rungs) {
      if (row.name == reduction::kMissingBarrier) continue;
      EXPECT_TRUE(row.verdict == Verdict::right || row.verdict == Verdict::skipped) << row.name << ": " << row.reason;
      if (row.verdict == Verdict::right) {
        EXPECT_EQ(row.value, 2.5) << row.name;
      }
    }
    for (const LadderRow& row : sum_ladder(device, Array(std::span<const float>()).reshaped({0, 7}), quick()).rungs) {
      if (row.name == reduction::kMissingBarrier) continue;
      EXPECT_TRUE(row.verdict == Verdict::right || row.verdict == Verdict::skipped) << row.name << ": " << row.reason;
    }
  }
}

TEST(Ladder, SaysWhyItSkipsARung) {
  const ScopedVariable mask("SAMESUM_MASK", "device_fence,int64_atomics");
  for (const Device& device : kernel_devices()) {
    const Data data(DataKind::uniform, DType::float64, 1000);
    std::set<std::string> skipped;
    for (const LadderRow& row : sum_ladder(device, data.view().reshaped({10, 100}), quick()).rungs) {
      if (row.name == reduction::kMissingBarrier) continue;
      EXPECT_TRUE(row.verdict == Verdict::right || row.verdict == Verdict::skipped) << row.name << ": " << row.reason;
      if (row.verdict == Verdict::skipped) {
        skipped.insert(row.name);
        EXPECT_FALSE(row.reason.empty());
      }
    }
    EXPECT_TRUE(skipped.contains("single_pass"));
    EXPECT_TRUE(skipped.contains("grid_stride_atomic"));
  }
}

TEST(Ladder, RefusesWhatCannotBe) {
  const std::vector<float> values(12);
  const Device cpu = Device::open("cpu");
  EXPECT_THROW(sum_ladder(cpu, Array(values).reshaped({5, 2}), quick()), Error);
  LadderOptions unknown = quick();
  unknown.rungs = {"quick_sum"};
  EXPECT_THROW(sum_ladder(cpu, Array(values).reshaped({3, 4}), unknown), Error);
  for (const Device& device : kernel_devices()) {
    LadderOptions large = quick();
    large.group_size = device.info().max_group_size + 1;
    EXPECT_THROW(sum_ladder(device, Array(values).reshaped({3, 4}), large), Error);
  }
}

}  // namespace
}  // namespace samesum::bench
