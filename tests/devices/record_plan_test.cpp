// The records of statistics and dot products in device memory: the bits of Statistics and ProductAccumulator, on ugly data. Of elements,
// and of what formulas give.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/map_source.hpp>
#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>

#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/statistics_record.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::devices;
using test::expect_record;
using test::expect_sum;

void expect_extrema(const ExtremaRecord& record, const Array& host, bool asked, const std::string& what) {
  ExtremaRecord expected{0, ExtremaRecord::kNowhere, 0, ExtremaRecord::kNowhere, ExtremaRecord::kNowhere, record.nan_count};
  if (asked) {
    const Device cpu = Device::open("cpu");
    const std::uint64_t bytes = std::max<std::uint64_t>(host.bytes(), 8);
    Buffer there(cpu, bytes), to(cpu, sizeof expected);
    if (host.size() != 0) there.write(host.data(), host.bytes());
    Plan plan(cpu, ops::extrema, host.type(), host.size());
    plan.enqueue({there, host.size(), host.type()}, to);
    to.read(&expected, sizeof expected);
  }
  EXPECT_EQ(record, expected) << what;
}

constexpr Fields kAll{true, true, true, true};

class PlanRecords : public testing::TestWithParam<DType> {};

TEST_P(PlanRecords, HaveTheBitsOfStatistics) {
  const DType type = GetParam();
  const Device cpu = Device::open("cpu");
  for (const Device& device : devices()) {
    const bool slow = device.info().is_cpu && device.info().has(Capability::kernels);
    // Compilers take seconds for a pass on a CPU.
    if (slow && type != DType::float32 && type != DType::float64 && type != DType::uint64) continue;
    std::vector<Fields> asked{kAll};
    if (slow && type == DType::float32) asked.push_back({false, false, true, false});
    if (!slow) {
      asked.insert(asked.end(), {{true, false, false, false},
                                 {false, true, false, false},
                                 {false, false, true, false},
                                 {false, true, true, false},
                                 {true, true, false, false},
                                 {false, false, false, true},
                                 {true, false, true, true}});
    }
    const Buffer buffer(device, 5000 * size_of(type)), to(device, 256);
    for (const Fields& fields : asked) {
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        Plan plan(device, fields, type, 5000, {.nan = nan});
        for (const hard::Case& one : hard::cases()) {
          for (const std::uint64_t size : {0, 1, 2, 17, 1000, 4999}) {
            const auto data = hard::make(one, type, 5000);
            buffer.write(data.view().data(), 5000 * size_of(type));
            const std::uint64_t first = size % 2;
            const Array host = Array(data.view()).part(first, size);
            const std::string what = device.info().selector + ", " + std::string(name_of(type)) + ", " + std::string(one.name) + ", " +
                                     std::to_string(size) + (nan == NanPolicy::skip ? ", NaNs skipped" : "");
            plan.enqueue({buffer, size, type, first * size_of(type)}, to, 128);
            StatisticsRecord record;
            to.read(&record, sizeof record, 128);
            const Statistics expected = collect(host, fields, {.device = cpu});
            expect_record(record, expected, type, nan, what);
            expect_extrema(record.extrema, host, fields.extrema, what);
            ASSERT_FALSE(testing::Test::HasFailure()) << what;
            EXPECT_EQ(plan.result<Statistics>().count(), size) << what;
          }
        }
      }
    }
  }
}

TEST_P(PlanRecords, HaveTheBitsOfDotProducts) {
  const DType type = GetParam();
  const Device cpu = Device::open("cpu");
  for (const Device& device : devices()) {
    if (device.info().is_cpu && device.info().has(Capability::kernels) && type != DType::float32 && type != DType::int32) continue;
    constexpr std::uint64_t kSize = 5000;
    const Buffer buffer(device, kSize * size_of(type)), other(device, kSize * size_of(type)), to(device, 64);
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
      for (const std::uint32_t group_size : {0, 64}) {  // by the kernel for small arrays where there is one, and by that for large ones
        Plan plan(device, ops::dot, type, kSize, {.nan = nan, .tuning = {.group_size = group_size}});
        std::uint64_t turn = 0;
        for (const hard::Case& one : hard::cases()) {
          const auto a = hard::make(one, type, kSize), b = hard::make(hard::cases()[turn++ * 7 % hard::cases().size()], type, kSize);
          buffer.write(a.view().data(), a.view().bytes());
          other.write(b.view().data(), b.view().bytes());
          for (const std::uint64_t size : {0, 1, 17, 4999}) {
            const std::uint64_t first = size % 2 * size_of(type);
            plan.enqueue({buffer, size, type, first}, {other, size, type, first}, to, 8);
            SumRecord record;
            to.read(&record, sizeof record, 8);
            const ProductAccumulator expected =
                dot(Array(a.view()).part(size % 2, size), Array(b.view()).part(size % 2, size), {.device = cpu});
            const std::string what = device.info().selector + ", " + std::string(name_of(type)) + ", " + std::string(one.name) + ", " +
                                     std::to_string(size) + " in groups of " + std::to_string(group_size);
            expect_sum(record, expected, type, nan, what);
            EXPECT_EQ(plan.result<ProductAccumulator>(), expected) << what;
            ASSERT_FALSE(testing::Test::HasFailure()) << what;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PlanRecords,
                         testing::Values(DType::float32, DType::float64, DType::float16, DType::int32, DType::uint64, DType::int8),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

// A formula, its inputs by name and type, and what it gives.
struct OfFormula {
  const char* text;
  std::vector<std::pair<std::string, DType>> inputs;
  DType type;
};

TEST(FormulaPlans, HaveTheBitsOfCollect) {
  constexpr std::uint64_t kSize = 3000;
  const std::vector<OfFormula> formulas{{"x*y", {{"x", DType::float32}, {"y", DType::float64}}, DType::float64},
                                        {"n + m", {{"n", DType::int8}, {"m", DType::int16}}, DType::int64},
                                        {"(x - h)*(x - h)", {{"x", DType::float32}}, DType::float32},
                                        {"x > h", {{"x", DType::bfloat16}}, DType::uint8},
                                        {"i*x + y", {{"x", DType::float64}, {"y", DType::float16}}, DType::float64}};
  const Device cpu = Device::open("cpu");
  for (const Device& device : devices()) {
    const bool slow = device.info().is_cpu && device.info().has(Capability::kernels);
    if (device.info().has(Capability::kernels) && !device.info().has(Capability::fp64)) continue;
    for (std::size_t f = 0; f < (slow ? 2 : formulas.size()); ++f) {
      const OfFormula& of = formulas[f];
      const Formula formula(of.text);
      const std::vector<FormulaParameter> parameters =
          std::string(of.text).find('h') != std::string::npos ? std::vector<FormulaParameter>{{"h", 0.5}} : std::vector<FormulaParameter>{};
      std::vector<FormulaInput> inputs;
      std::vector<Buffer> buffers;
      for (const auto& [name, type] : of.inputs) {
        buffers.emplace_back(device, kSize * size_of(type));
        inputs.emplace_back(name, Array(nullptr, 1, type));
      }
      const Buffer to(device, 128);
      const NanPolicy nan = f % 2 == 0 ? NanPolicy::propagate : NanPolicy::skip;
      Plan plan(device, FormulaFields{formula, inputs, parameters, kAll}, kSize, {.nan = nan});
      constexpr Fields kSum{.extrema = false, .squares = false};
      Plan sum_alone(device, FormulaFields{formula, inputs, parameters, kSum}, kSize, {.nan = nan});
      std::uint64_t turn = f;
      for (const hard::Case& one : hard::cases()) {
        std::vector<hard::Data> data;
        for (std::size_t k = 0; k < inputs.size(); ++k, ++turn) {
          data.push_back(hard::make(k == 0 ? one : hard::cases()[turn * 7 % hard::cases().size()], of.inputs[k].second, kSize));
          buffers[k].write(data[k].view().data(), data[k].view().bytes());
        }
        for (const std::uint64_t size : {0, 1, 17, 1000, 2990}) {
          for (const std::uint64_t first : {0, 3}) {  // of the first array, the second one begins at its beginning
            for (const std::int64_t step : {1, -1}) {
              std::vector<Array> arrays;
              std::vector<FormulaInput> here;
              for (std::size_t k = 0; k < inputs.size(); ++k) {
                const DType type = of.inputs[k].second;
                const std::uint64_t begin = k == 0 ? first : 0;
                const auto part = [&](const Array& all) {
                  return step == 1 || size == 0 ? all.part(begin, size) : all.slice(0, begin + size - 1, size, -1);
                };
                arrays.push_back(part(Array(buffers[k], kSize, type)));
                here.emplace_back(of.inputs[k].first, part(Array(data[k].view())));
              }
              const std::string what = device.info().selector + ", " + of.text + ", " + std::string(one.name) + ", " +
                                       std::to_string(size) + " from " + std::to_string(first);
              plan.enqueue(arrays, to);
              const Statistics expected = collect(*map(formula, here, parameters), kAll, {.device = cpu});
              StatisticsRecord record;
              to.read(&record, sizeof record);
              expect_record(record, expected, of.type, nan, what);
              EXPECT_EQ(plan.result<Statistics>(), expected) << what;
              sum_alone.enqueue(arrays, to);
              SumRecord sum;
              to.read(&sum, sizeof sum);
              expect_sum(sum, expected.sum(), of.type, nan, what + ", the sum alone");
              sum_alone.enqueue(arrays);
              EXPECT_EQ(sum_alone.result<Statistics>().sum(), expected.sum()) << what;
              ASSERT_FALSE(testing::Test::HasFailure()) << what;
            }
          }
        }
      }
    }
  }
}

TEST(FormulaPlans, RefuseWhatTheyCannotDo) {
  for (const Device& device : devices()) {
    if (device.info().has(Capability::kernels) && !device.info().has(Capability::fp64)) continue;
    const auto of = [&](DType type) { return Array(nullptr, 1, type); };
    const auto make = [&](const char* text, const std::vector<FormulaInput>& inputs) {
      Plan(device, FormulaFields{Formula(text), inputs}, 100);
    };
    EXPECT_THROW(make("(x, x)", {{"x", of(DType::float32)}}), Error) << "two results";
    EXPECT_THROW(make("1", {{"x", of(DType::float32)}}), Error) << "no array";
    EXPECT_THROW(make("n*n", {{"n", of(DType::int64)}}), Error) << "it may overflow";
    EXPECT_THROW(make("x + z", {{"x", of(DType::float32)}}), Error) << "there is no z";
    if (device.info().is_cpu && device.info().has(Capability::kernels)) continue;
    Plan plan(device, FormulaFields{Formula("x*y"), {{"x", of(DType::float32)}, {"y", of(DType::float32)}}}, 100);
    const Buffer buffer(device, 400);
    const Array x(buffer, 10, DType::float32), nine(buffer, 9, DType::float32), wide(buffer, 10, DType::float64);
    EXPECT_THROW(static_cast<void>(plan.result()), Error) << "nothing was enqueued";
    EXPECT_THROW(plan.enqueue(x), Error) << "two arrays";
    EXPECT_THROW(plan.enqueue(x, nine), Error) << "of one shape";
    EXPECT_THROW(plan.enqueue(x, wide), Error) << "of the types";
    EXPECT_NO_THROW(plan.enqueue(x, x));
    EXPECT_EQ(plan.result<Statistics>().count(), 10u);
  }
}

}  // namespace
}  // namespace samesum
