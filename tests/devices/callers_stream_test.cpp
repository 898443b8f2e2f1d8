// Every pattern on a CUDA stream of the caller's, with fakes of the driver and its compiler: all that it enqueues goes to that stream, and
// it launches what it launches on a stream of the device's own. Kernels do not run, so that results say nothing.
#include "device/cuda/cuda.hpp"
#include "device/cuda/driver_api.hpp"

#include "support/fake_cuda.hpp"
#include "support/process.hpp"

#include <samesum/axes.hpp>
#include <samesum/barrier.hpp>
#include <samesum/buffer.hpp>
#include <samesum/complex.hpp>
#include <samesum/error.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>
#include <samesum/samesum.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace samesum::test {

std::ostream& operator<<(std::ostream& out, const FakeLaunch& launch) {
  return out << launch.kernel << ", " << launch.groups << " groups of " << launch.group_size << ", " << launch.shared_bytes << " bytes";
}

}  // namespace samesum::test

namespace samesum {
namespace {

using test::FakeCuda;

constexpr std::uint64_t kRows = 300, kColumns = 1000, kSize = kRows * kColumns;

// The same call on data in the device's memory and in the host's.
struct Call {
  const char* name;
  std::function<void(const Device&, const Array&)> run;
};

Array matrix(const Array& data) { return data.reshaped({kRows, kColumns}); }

template <class Operation>
std::function<void(const Device&, const Array&)> plan_of(const Operation& operation, bool two = false) {
  return [=](const Device& device, const Array& data) {
    const Buffer copy(device, data.bytes());
    const Array there(copy, data.size(), data.type());
    Plan plan(device, operation, data.type(), data.size());
    two ? plan.enqueue(there, there) : plan.enqueue(there);
    plan.result();
  };
}

PairsProblem pairs_of(PairReduction reduction, PairAccuracy accuracy = PairAccuracy::fast) {
  PairsProblem problem{.f = PairFunction::sqdist, .reduction = reduction, .accuracy = accuracy, .components = 3};
  return problem;
}
std::function<void(const Device&, const Array&)> all_pairs(const PairsProblem& problem) {
  return
      [=](const Device& device, const Array& data) { pairs(data.slice(0, 0, 3000), data.slice(0, 0, 1500), problem, {.device = device}); };
}

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"sum", [](const Device& device, const Array& data) { accumulate(data, {.device = device}); }},
      {"sum of few", [](const Device& device, const Array& data) { sum(data.slice(0, 0, 100), {.device = device}); }},
      {"sum of every third", [](const Device& device, const Array& data) { sum(data.slice(0, 1, kSize / 3, 3), {.device = device}); }},
      {"sum of columns", [](const Device& device, const Array& data) { sum(matrix(data).slice(1, 2, 9), {.device = device}); }},
      {"dot", [](const Device& device, const Array& data) { dot(data, data, {.device = device}); }},
      {"statistics",
       [](const Device& device, const Array& data) {
         collect(data, {true, true, true, true}, {.device = device});
       }},
      {"extrema", [](const Device& device, const Array& data) { minmax(data, {.device = device}); }},
      {"extrema of few", [](const Device& device, const Array& data) { min(data.slice(0, 0, 100), {.device = device}); }},
      {"product", [](const Device& device, const Array& data) { product(data, {.device = device}); }},
      {"histogram", [](const Device& device, const Array& data) { histogram(data, Bins::even(0, 1, 256), {.device = device}); }},
      {"histogram of many bins",
       [](const Device& device, const Array& data) { histogram(data, Bins::even(0, 1, 100'000), {.device = device}); }},
      {"histogram by formula",
       [](const Device& device, const Array& data) {
         histogram(data, Bins::by_formula(Formula("int64(abs(x))"), 10), {.device = device});
       }},
      {"axes", [](const Device& device, const Array& data) { sum(matrix(data), Axes{0}, {.device = device}); }},
      {"the last axis", [](const Device& device, const Array& data) { mean(matrix(data), Axes{1}, {.device = device}); }},
      {"complex numbers",
       [](const Device& device, const Array& data) {
         accumulate(ComplexArray(data.reshaped({kSize / 2, 2})), {.device = device});
       }},
      {"operator", [](const Device& device, const Array& data) { reduce(data, Operator(Formula("max(a, b)")), {.device = device}); }},
      {"formula as a source",
       [](const Device& device, const Array& data) {
         accumulate(*map("x*x + 1", {{"x", data}}), {.device = device});
       }},
      {"map",
       [](const Device& device, const Array& data) {
         const Buffer to(device, data.bytes()), from(device, data.bytes());
         map(Formula("x*x"), {{"x", Array(from, data.size(), data.type())}}, {}, {Array(to, data.size(), data.type())});
         std::vector<std::byte> back(to.bytes());
         to.read(back.data(), back.size());
       }},
      {"pairs", all_pairs(pairs_of(PairReduction::sum))},
      {"compensated pairs", all_pairs(pairs_of(PairReduction::sum, PairAccuracy::compensated))},
      {"exact pairs", all_pairs(pairs_of(PairReduction::sum, PairAccuracy::exact))},
      {"nearest pairs", all_pairs(pairs_of(PairReduction::argmin))},
      {"plan of a sum", plan_of(ops::sum)},
      {"plan of extrema", plan_of(ops::extrema)},
      {"plan of statistics", plan_of(Fields())},
      {"plan of a dot product", plan_of(ops::dot, true)},
      {"plan of a histogram", plan_of(Bins::even(0, 3, 100))},
      {"a kernel behind the barrier",
       [](const Device& device, const Array&) {
         const Kernel kernel(device, "KERNEL void own(GLOBAL uint* state, GLOBAL uint* data) {}", "own");
         const Buffer data(device, 64);
         launch_grid(device, kernel, {data}).wait();
         finish(device);
       }},
  };
  return all;
}

class CallersStream : public testing::Test {
 protected:
  void SetUp() override {
    const char* fakes = std::getenv("SAMESUM_FAKES");
    if (fakes == nullptr) GTEST_SKIP() << "SAMESUM_FAKES does not name the folder of the stand-ins (ctest sets it)";
    const std::string path = std::string(fakes) + "/libfake_cuda.so";
    driver_.emplace("SAMESUM_CUDA_LIBRARY", path);
    compiler_.emplace("SAMESUM_NVRTC_LIBRARY", std::string(fakes) + "/libfake_nvrtc.so");
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    fake_ = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda"))();
    const device::cuda::DriverOrReason& loaded = device::cuda::load_driver();
    ASSERT_NE(loaded.driver, nullptr) << loaded.reason;
    Dl_info found{};
    dladdr(reinterpret_cast<void*>(loaded.driver->cuInit), &found);
    if (!std::filesystem::equivalent(found.dli_fname, path)) GTEST_SKIP() << "this process has loaded the real driver already";
    ASSERT_EQ(loaded.driver->cuInit(0), 0);
    device::cuda::CUcontext context = nullptr;
    ASSERT_EQ(loaded.driver->cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(loaded.driver->cuCtxPushCurrent(context), 0);
    ASSERT_EQ(loaded.driver->cuStreamCreate(&stream_, device::cuda::kStreamNonBlocking), 0);
  }

  void TearDown() override {
    if (stream_ == nullptr) return;
    const device::cuda::Driver& driver = *device::cuda::load_driver().driver;
    device::cuda::CUcontext popped = nullptr;
    EXPECT_EQ(driver.cuStreamDestroy(stream_), 0);
    EXPECT_EQ(driver.cuCtxPopCurrent(&popped), 0);
    driver.cuDevicePrimaryCtxRelease(0);
    EXPECT_TRUE(fake_->complaints.empty()) << fake_->complaints.front();
  }

  /// What a call launched, and the message of its error, if any.
  struct Seen {
    std::vector<test::FakeLaunch> launches;
    std::string error;
  };
  Seen see(const Call& call, const std::shared_ptr<device::Device>& on, DType type, bool in_device) {
    const std::vector<double> values(kSize, 1.5);  // whose bytes are numbers of any type
    const Device device(on);
    std::optional<Buffer> buffer;
    if (in_device) buffer.emplace(device, kSize * size_of(type));
    const Array data = in_device ? Array(*buffer, kSize, type) : Array(values.data(), kSize, type);
    fake_->launches.clear();
    fake_->enqueued.clear();
    Seen seen;
    try {
      call.run(device, data);
    } catch (const Error& error) {
      seen.error = error.what();
    }
    seen.launches = fake_->launches;
    return seen;
  }

  std::optional<test::ScopedVariable> driver_, compiler_;
  const test::ScopedVariable uncached_{"SAMESUM_CACHE", "0"};
  FakeCuda* fake_ = nullptr;
  device::cuda::CUstream stream_ = nullptr;
};

TEST_F(CallersStream, HasAllThatEveryPatternEnqueues) {
  const auto own = device::cuda::open(0), callers = device::cuda::open_on_stream(0, stream_);
  for (const DType type : {DType::float32, DType::float64}) {
    for (const Call& call : calls()) {
      for (const bool in_device : {true, false}) {
        SCOPED_TRACE(std::string(call.name) + (in_device ? ", in device memory, " : ", ") + std::string(name_of(type)));
        const Seen expected = see(call, own, type, in_device);
        EXPECT_EQ(fake_->enqueued.count(stream_), 0u);
        const Seen found = see(call, callers, type, in_device);
        EXPECT_FALSE(found.launches.empty()) << found.error;
        EXPECT_EQ(found.launches, expected.launches);
        EXPECT_EQ(found.error, expected.error);
        EXPECT_EQ(fake_->enqueued.size(), 1u) << "work on another stream";
        EXPECT_EQ(fake_->enqueued.count(stream_), 1u);
      }
    }
  }
}

// The groups and work-items that a call asks for are those of the launch.
TEST_F(CallersStream, LaunchesTheGroupsAskedFor) {
  const Device device(device::cuda::open_on_stream(0, stream_));
  const Buffer buffer(device, 8 * kSize);
  const Array data(buffer, kSize, DType::float64);
  for (const std::uint32_t groups : {3u, 20u}) {
    for (const std::uint32_t size : {64u, 256u}) {
      fake_->launches.clear();
      Report report;
      Tuning tuning;
      tuning.groups = groups;
      tuning.group_size = size;
      accumulate(data, {.device = device, .report = &report, .tuning = tuning});
      ASSERT_FALSE(fake_->launches.empty());
      EXPECT_EQ(fake_->launches.front().groups, groups) << fake_->launches.front();
      EXPECT_EQ(fake_->launches.front().group_size, size) << fake_->launches.front();
    }
  }
}

// What another stream has to wait for, and what waits for it.
TEST_F(CallersStream, HasTheEventsOfTheCaller) {
  const Device device(device::cuda::open_on_stream(0, stream_));
  fake_->enqueued.clear();
  void* const event = device.record();
  EXPECT_EQ(fake_->enqueued[stream_], 1u);
  device.wait_for(event);
  EXPECT_EQ(fake_->enqueued[stream_], 2u);
  EXPECT_EQ(fake_->enqueued.size(), 1u);
  EXPECT_EQ(device::cuda::load_driver().driver->cuEventDestroy(static_cast<device::cuda::CUevent>(event)), 0);
}

}  // namespace
}  // namespace samesum
