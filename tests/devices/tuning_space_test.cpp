// Shapes of kernels affect no bit: every candidate of the search gives the results of the CPU, on ugly data.
#include "ladder/tune/space.hpp"
#include "tuning/tables.hpp"

#include "selftest/cases.hpp"

#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/tune.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace samesum::tuning {
namespace {

std::vector<std::byte> bytes_of(const Result& result) {
  const auto bytes = [](const auto& value) -> std::vector<std::byte> {
    if constexpr (requires { value.serialize(); }) return value.serialize();
    return {};  // pairs, of which there are no shapes
  };
  return std::visit(bytes, result);
}

// Array and expected bytes of each of the hard cases.
struct Work {
  Work(const Device& device, const Tunable& tunable, DType type, std::uint64_t size) : two(tunable.two_arrays) {
    const Device cpu = Device::open("cpu");
    Plan on_cpu(cpu, tunable.operation, type, size);
    for (const hard::Case& one : hard::cases()) {
      const auto data = hard::make(one, type, size);
      names.emplace_back(one.name);
      const Array& here = arrays.emplace_back(Buffer(device, size * size_of(type)), size, type);
      here.buffer().write(data.view().data(), data.view().bytes());
      const Buffer there(cpu, size * size_of(type));
      there.write(data.view().data(), data.view().bytes());
      enqueue(on_cpu, Array(there, size, type));
      expected.push_back(bytes_of(on_cpu.result()));
    }
  }
  void enqueue(Plan& plan, const Array& array) const { two ? plan.enqueue(array, array) : plan.enqueue(array); }

  bool two;
  std::vector<std::string> names;
  std::vector<Array> arrays;
  std::vector<std::vector<std::byte>> expected;
};

// How many of the candidates ran; a device may lack the local memory or the registers for some.
int run_all(const Device& device, const Tunable& tunable, DType type, std::uint64_t size, std::size_t step) {
  const Work work(device, tunable, type, size);
  const std::vector<Candidate> all = candidates(device.info(), tunable.name, type, size * size_of(type));
  int ran = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    const Override only(all[i].records);
    const std::string what = std::string(device.info().selector) + " " + std::string(tunable.name) + " " + std::string(name_of(type)) + " " +
                             all[i].records.back().shape.text() + " of " + std::to_string(size);
    try {
      Plan plan(device, tunable.operation, type, size);
      if (!all[i].is_used(plan.configuration())) continue;
      for (std::size_t turn = 0; turn < 2 * work.arrays.size(); ++turn) {  // a launch may leave something behind for the next
        const std::size_t at = turn % work.arrays.size();
        work.enqueue(plan, work.arrays[at]);
        EXPECT_EQ(bytes_of(plan.result()), work.expected[at]) << what << ", " << work.names[at];
      }
      ++ran;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device) << what << ": " << error.what();
    }
  }
  return ran;
}

class TuningSpace : public testing::TestWithParam<std::tuple<std::size_t, DType>> {};

TEST_P(TuningSpace, AffectsNoBit) {
  const Tunable& tunable = tunables()[std::get<0>(GetParam())];
  const DType type = std::get<1>(GetParam());
  std::string skipped = "no device that runs kernels";
  for (const Device& device : open_devices("all", 0)) {
    if (!device.info().has(Capability::kernels)) continue;
    // Compilers take seconds for a kernel on a CPU, and up to a second for CUDA: a part of the space that is spread over it.
    const bool cpu = device.info().is_cpu;
    if (cpu && type != DType::float32) {
      skipped = "a CPU compiles a kernel for seconds: only float32 there";
      continue;
    }
    skipped.clear();
    const std::uint64_t size = cpu ? 3001 : 70001;
    const std::size_t count = candidates(device.info(), tunable.name, type, size * size_of(type)).size();
    EXPECT_GT(run_all(device, tunable, type, size, std::max<std::size_t>(count / (cpu ? 2 : 24), 1)), 0) << device.info().selector;
  }
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

INSTANTIATE_TEST_SUITE_P(All, TuningSpace,
                         testing::Combine(testing::Range<std::size_t>(0, tunables().size()),
                                          testing::Values(DType::float32, DType::float64, DType::int16)),
                         [](const auto& one) {
                           return std::string(tunables()[std::get<0>(one.param)].name) + "_" +
                                  std::string(name_of(std::get<1>(one.param)));
                         });

}  // namespace
}  // namespace samesum::tuning
