// Every row of the tables that ship, of those for the devices at hand: contiguous arrays, such that begin an element off, and strided ones,
// of sizes around its tile, give the results of the CPU.
#include "tuning/tables.hpp"

#include "selftest/cases.hpp"

#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/tune.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samesum::tuning {
namespace {

// What a row is for: an operation whose plan takes it, with the rows that it needs beside.
struct Use {
  samesum::Operation operation;
  bool two_arrays;
  std::optional<Operation> without;  // the family of small arrays, which would be taken first
};

Use use_of(const Record& row) {
  switch (row.operation) {
    case Operation::small_sum:
      return {ops::sum, false, {}};
    case Operation::small_squares:
      return {Fields{.extrema = false, .sum = false, .squares = true}, false, {}};
    case Operation::small_dot:
      return {ops::dot, true, {}};
    case Operation::extrema:
      return {ops::Extrema{.indices = !row.without_indices}, false, {}};
    case Operation::sum:
    case Operation::sum_in_bins:
      return {ops::sum, false, Operation::small_sum};
    case Operation::dot:
    case Operation::dot_in_bins:
      return {ops::dot, true, Operation::small_dot};
    case Operation::count:
      return {Fields{.extrema = false, .sum = false, .squares = false, .nonzeros = true}, false, {}};
  }
  return {ops::sum, false, {}};
}

std::vector<std::byte> bytes_of(const Result& result) {
  return std::visit(
      [](const auto& value) -> std::vector<std::byte> {
        if constexpr (requires { value.serialize(); }) return value.serialize();
        return {};
      },
      result);
}

// The same elements in the memory of two devices.
struct Pair {
  Buffer there, on_cpu;
};

void enqueue(Plan& plan, bool two_arrays, const Array& array) { two_arrays ? plan.enqueue(array, array) : plan.enqueue(array); }

// Of one row and type: whether arrays were compared; if not, `why` says what the device has in the row's place.
bool run_row(const Device& device, const Record& row, DType type, std::size_t number, std::string& why) {
  const Use use = use_of(row);
  std::vector<Record> records;
  const auto add = [&](Operation operation, const Shape& shape) {
    Record& record = records.emplace_back();
    record.operation = operation;
    record.types.set(static_cast<std::size_t>(type));
    record.without_indices = row.without_indices;
    record.shape = shape;
  };
  if (use.without) add(*use.without, Shape{});
  add(row.operation, row.shape);
  const Override only(records);
  const std::uint64_t element = size_of(type), tile = std::uint64_t{row.shape.group_size} * row.shape.loads * 16 / element;
  const std::string what =
      device.info().selector + " " + std::string(name_of(row.operation)) + " " + std::string(name_of(type)) + " " + row.shape.text();
  try {
    Plan plan(device, use.operation, type, 2 * tile, {}, Layout::strided);
    const std::string configuration = plan.configuration() + " ";
    const bool is_pass = configuration.find("columns=") != std::string::npos;
    why = what + " became " + configuration;
    if (configuration.find("group_size=" + std::to_string(row.shape.group_size) + " ") == std::string::npos) return false;
    if (row.operation != Operation::count && is_pass != use.without.has_value()) return false;
    const Device cpu = Device::open("cpu");
    Plan expected(cpu, use.operation, type, 2 * tile, {}, Layout::strided);
    for (const std::uint64_t size : {std::uint64_t{1}, tile - 1, tile, tile + 1, 3 * tile + 7}) {
      const std::span<const hard::Case> cases = hard::cases();
      const hard::Case& one = cases[(number + size) % cases.size()];
      const std::uint64_t all = 3 * size + 1;
      const auto data = hard::make(one, type, all);
      const Pair memory{Buffer(device, all * element), Buffer(cpu, all * element)};
      memory.there.write(data.view().data(), all * element);
      memory.on_cpu.write(data.view().data(), all * element);
      for (const auto& [first, apart] : {std::pair(0, 1), std::pair(1, 1), std::pair(1, 3)}) {
        const std::uint64_t offset = static_cast<std::uint64_t>(first) * element;
        const auto stride = static_cast<std::int64_t>(element) * apart;
        enqueue(plan, use.two_arrays, Array(memory.there, size, type, offset, stride));
        enqueue(expected, use.two_arrays, Array(memory.on_cpu, size, type, offset, stride));
        EXPECT_EQ(bytes_of(plan.result()), bytes_of(expected.result()))
            << what << ", " << one.name << ", " << size << " elements from element " << first << " on, every " << apart;
      }
    }
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device) << what << ": " << error.what();
    why = what + ": " + error.what();
    return false;
  }
}

class TuningTables : public testing::TestWithParam<Operation> {};

TEST_P(TuningTables, HaveRowsThatAffectNoBit) {
  bool tables = false;
  for (const Device& device : open_devices("all", 0)) {
    if (!device.info().has(Capability::kernels)) continue;
    for (const Table& table : shipped_tables()) {
      const TuneMatch match = match_of(table, device.info());
      if (match > TuneMatch::device_class) continue;
      int rows = 0, ran = 0;
      std::string why;
      for (std::size_t i = 0; i < table.records.size(); ++i) {
        const Record& row = table.records[i];
        if (row.operation != GetParam() || row.shape.group_size == 0) continue;
        // A type of those that it is for, another one for each row.
        std::vector<DType> types;
        for (const DType type : kDTypes) {
          if (row.types.test(static_cast<std::size_t>(type))) types.push_back(type);
        }
        if (types.empty()) continue;
        ++rows;
        if (run_row(device, row, types[i % types.size()], i, why)) ++ran;
      }
      if (rows == 0) continue;
      tables = true;
      std::printf("%s, table %s: %d of %d rows of %s ran\n", device.info().selector.c_str(), table.kind.c_str(), ran, rows,
                  std::string(name_of(GetParam())).c_str());
      // Kernels of small sums need sub-groups: a device without them takes the other kernels instead.
      const bool small =
          std::ranges::count(std::array{Operation::small_sum, Operation::small_squares, Operation::small_dot}, GetParam()) != 0;
      if (small && !device.info().has(Capability::subgroups)) {
        EXPECT_EQ(ran, 0);
        continue;
      }
      EXPECT_TRUE(ran > 0 || match > TuneMatch::kind) << device.info().selector << ", " << table.kind << ": " << why;
    }
  }
  if (!tables) GTEST_SKIP() << "no device here for which a table has such rows";
}

INSTANTIATE_TEST_SUITE_P(All, TuningTables,
                         testing::Values(Operation::small_sum, Operation::small_squares, Operation::small_dot, Operation::extrema,
                                         Operation::sum, Operation::dot, Operation::sum_in_bins, Operation::dot_in_bins, Operation::count),
                         [](const auto& one) { return std::string(name_of(one.param)); });

}  // namespace
}  // namespace samesum::tuning
