// Communicators of NCCL, with a fake of it and of the CUDA driver: what is called, on which stream; and how failures are told.
#include "device/cuda/cuda.hpp"
#include "support/fake_cuda.hpp"
#include "support/fake_nccl.hpp"
#include "support/process.hpp"

#include <samesum/array.hpp>
#include <samesum/error.hpp>
#include <samesum/kernel.hpp>
#include <samesum/nccl.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::FakeNccl;

template <class Call>
std::string message_of(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == kind ? error.what() : std::string("of another kind: ") + error.what();
  }
  return "nothing was thrown";
}

// Libraries are loaded once a process: so each case has its own.
TEST(Nccl, AddsUpIntegersOnTheStreamOfTheDevice) {
  const char* const fakes = std::getenv("SAMESUM_FAKES");
  if (fakes == nullptr) GTEST_SKIP() << "SAMESUM_FAKES does not name the folder of the stand-ins (ctest sets it)";
  const std::string folder = fakes;
  if (!test::in_child()) {
    test::run_in_children({{"SAMESUM_CUDA_LIBRARY", folder + "/libfake_cuda.so"},
                           {"SAMESUM_NVRTC_LIBRARY", folder + "/libfake_nvrtc.so"},
                           {"SAMESUM_NCCL_LIBRARY", folder + "/libfake_nccl.so"},
                           {"SAMESUM_KERNELS", "0"},
                           {"SAMESUM_CACHE", "0"}});
    return;
  }
  void* const library = dlopen((folder + "/libfake_nccl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  FakeNccl& fake = *reinterpret_cast<FakeNccl* (*)()>(dlsym(library, "fake_nccl"))();
  {
    const auto ranks = nccl::Communicator::of_gpus({0, 1});
    EXPECT_EQ(ranks.size(), 2u);
    EXPECT_EQ(fake.live, 2);
    const Device device(device::cuda::open(0));  // past the conformance kernel, which the fake does not run
    const Buffer words(device, 64);
    ranks[1].all_reduce(words, 6, 16);
    ASSERT_EQ(fake.calls.size(), 1u);
    const FakeNccl::Call call = fake.calls.front();
    EXPECT_EQ(call.count, 6u);
    EXPECT_EQ(call.type, 4) << "ncclInt64";
    EXPECT_EQ(call.operation, 0) << "ncclSum";
    EXPECT_EQ(call.from, call.to);
    EXPECT_NE(call.stream, nullptr) << "the device's own stream";
    EXPECT_EQ(*static_cast<int*>(call.communicator), 1);
    int own = 7;
    nccl::Communicator::wrap(&own).all_reduce(words, 8);
    EXPECT_EQ(fake.calls.back().communicator, &own);
    EXPECT_EQ(static_cast<char*>(fake.calls.back().to) + 16, call.to);
    nccl::Sum products(device, DType::float64, nccl::Sum::Of::products), floats(device, DType::float32);
    products.all_reduce(ranks[0]);
    EXPECT_EQ(fake.calls.back().count, 144u);
    floats.all_reduce(ranks[0]);
    EXPECT_EQ(fake.calls.back().count, 20u);

    // A whole sum can be recorded: kernels and NCCL's calls only.
    void* const cuda = dlopen((folder + "/libfake_cuda.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    test::FakeCuda& driver = *reinterpret_cast<test::FakeCuda* (*)()>(dlsym(cuda, "fake_cuda"))();
    const Buffer x(device, 4000), result(device, 8);
    const auto whole_sum = [&] {
      floats.assign(Array(x, 1000, DType::float32));
      floats.all_reduce(ranks[0]);
      floats.round(result);
    };
    driver.launches.clear();
    const auto live = driver.live;
    const auto recording = record(device, whole_sum);
    ASSERT_TRUE(recording);
    EXPECT_TRUE(driver.launches.empty()) << "recorded, not run";
    recording->replay();
    std::vector<std::string> names;
    for (const test::FakeLaunch& launch : driver.launches) names.push_back(launch.kernel);
    EXPECT_EQ(names, (std::vector<std::string>{"small_sum", "words_add", "words_round"}));
    EXPECT_EQ(driver.live.at("memory"), live.at("memory"));
    EXPECT_TRUE(driver.complaints.empty());
    // A recording that fails ends: what comes next runs.
    EXPECT_THROW(record(device, [&] { floats.add(Array(x, 1000, DType::float64)); }), Error);
    driver.launches.clear();
    floats.clear();
    EXPECT_EQ(driver.launches.size(), 1u);

    fake.result = 5;
    EXPECT_NE(
        message_of(ErrorKind::device, [&] { floats.all_reduce(ranks[0]); }).find("ncclAllReduce failed: invalid usage (what happened)"),
        std::string::npos);
    EXPECT_NE(message_of(ErrorKind::device, [] { nccl::Communicator::of_gpus({3}); }).find("ncclCommInitAll failed"), std::string::npos);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { ranks[0].all_reduce(Buffer(Device::open("cpu"), 8), 1); }).find("the words lie on cpu"),
              std::string::npos);
    EXPECT_NE(message_of(ErrorKind::usage, [] { nccl::Communicator::of_gpus({}); }).find("no GPUs"), std::string::npos);
  }
  EXPECT_EQ(fake.live, 0);
}

TEST(Nccl, SaysWhereThereIsNone) {
  if (!test::in_child()) {
    test::run_in_children({{"SAMESUM_NCCL_LIBRARY", "/nowhere/libnccl.so.2"}});
    return;
  }
  EXPECT_NE(message_of(ErrorKind::device, [] { nccl::Communicator::of_gpus({0}); })
                .find("NCCL is not there: SAMESUM_NCCL_LIBRARY names it, and /nowhere/libnccl.so.2 cannot be loaded"),
            std::string::npos);
}

}  // namespace
}  // namespace samesum
