// The CUDA backend with fakes of the driver and its compiler: the calls, their arguments, and the handling of failures.
#include "device/cuda/cuda.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/kernels/program.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/plan.hpp"

#include "support/every_kernel.hpp"
#include "support/fake_cuda.hpp"
#include "support/process.hpp"

#include <samesum/error.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

namespace samesum::device::cuda {
namespace {

using test::FakeCuda;
using test::FakeNvrtc;

constexpr const char* kProgram = "kernel add plid\nkernel all pilipd\n";

std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  std::uint32_t state = 12345;
  for (unsigned char& byte : data) byte = static_cast<unsigned char>((state = state * 1664525 + 1013904223) >> 24);
  return data;
}

/// The control interface of the fake at `path`.
template <typename Fake>
Fake* open_fake(const std::string& path, const char* symbol) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Fake* (*)()>(dlsym(library, symbol))();
}

/// The error that `action` throws.
template <typename Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::usage, "");
}

class CudaBackend : public testing::Test {
 protected:
  void SetUp() override {
    const char* fakes = std::getenv("SAMESUM_FAKES");
    if (fakes == nullptr) GTEST_SKIP() << "SAMESUM_FAKES does not name the folder of the stand-ins (ctest sets it)";
    const std::string driver = std::string(fakes) + "/libfake_cuda.so";
    compiler_ = std::string(fakes) + "/libfake_nvrtc.so";
    setenv("SAMESUM_CUDA_LIBRARY", driver.c_str(), 1);
    setenv("SAMESUM_NVRTC_LIBRARY", compiler_.c_str(), 1);
    setenv("SAMESUM_KERNELS", "0", 1);
    nvrtc_ = open_fake<FakeNvrtc>(compiler_, "fake_nvrtc");
    fake_ = open_fake<FakeCuda>(driver, "fake_cuda");
    ASSERT_TRUE(fake_ != nullptr && nvrtc_ != nullptr) << dlerror();
    *fake_ = FakeCuda{};
    *nvrtc_ = FakeNvrtc{};
    const DriverOrReason& loaded = load_driver();
    ASSERT_NE(loaded.driver, nullptr) << loaded.reason;
    Dl_info found{};
    dladdr(reinterpret_cast<void*>(loaded.driver->cuInit), &found);
    if (!std::filesystem::equivalent(found.dli_fname, driver)) GTEST_SKIP() << "this process has loaded the real driver already";
  }

  void TearDown() override {
    unsetenv("SAMESUM_CUDA_LIBRARY");
    unsetenv("SAMESUM_NVRTC_LIBRARY");
    unsetenv("SAMESUM_KERNELS");
    if (fake_ == nullptr) return;
    EXPECT_EQ(nvrtc_->live_programs, 0);
    EXPECT_TRUE(fake_->complaints.empty()) << fake_->complaints.front();
    EXPECT_EQ(fake_->current_contexts, 0);
    for (const auto& [kind, count] : fake_->live) EXPECT_EQ(count, 0) << "left behind: " << kind;
  }

  std::string compiler_;
  FakeCuda* fake_ = nullptr;
  FakeNvrtc* nvrtc_ = nullptr;
};

TEST_F(CudaBackend, ListsWhatTheDriverReports) {
  fake_->device_count = 2;
  const Probe found = probe();
  ASSERT_EQ(found.devices.size(), 2u);
  const DeviceInfo& info = found.devices[1];
  EXPECT_EQ(info.selector, "cuda:1");
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.platform, "CUDA");
  EXPECT_NE(info.driver.find("CUDA 13.0"), std::string::npos);
  EXPECT_EQ(info.compute_units, 132u);
  EXPECT_EQ(info.max_group_size, 1024u);
  EXPECT_EQ(info.local_bytes, 49152u);
  EXPECT_EQ(info.memory_bytes, std::uint64_t{80} << 30);
  EXPECT_TRUE(info.missing.empty());
  EXPECT_TRUE(fake_->live.empty()) << "probing makes no context";
}

TEST_F(CudaBackend, AbsenceHasAReason) {
  fake_->failures["cuInit"] = 100;
  EXPECT_NE(probe().absent.at(0).reason.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
  fake_->failures.clear();

  fake_->device_count = 0;
  EXPECT_NE(probe().absent.at(0).reason.find("CUDA_ERROR_NO_DEVICE"), std::string::npos);
  fake_->device_count = 1;

  fake_->compute_mode = 2;
  EXPECT_NE(probe().absent.at(0).reason.find("prohibited"), std::string::npos);
  fake_->compute_mode = 0;

  fake_->capability = 52;
  EXPECT_NE(probe().absent.at(0).reason.find("6.0 is needed"), std::string::npos);
  fake_->capability = 70;  // older than all that this compiler supports
  EXPECT_NE(probe().absent.at(0).reason.find("pip install nvidia-cuda-nvrtc-cu12"), std::string::npos);
  fake_->capability = 90;

  fake_->driver_version = 12080;
  EXPECT_NE(probe().absent.at(0).reason.find("newer than the driver"), std::string::npos);
  fake_->driver_version = 13000;

  setenv("SAMESUM_NVRTC_LIBRARY", "/nowhere/libnvrtc.so", 1);
  const Probe found = probe();
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.absent.at(0).selector, "cuda:0");
  EXPECT_NE(found.absent.at(0).reason.find("SAMESUM_NVRTC_LIBRARY: /nowhere/libnvrtc.so cannot be loaded"), std::string::npos);
  EXPECT_NE(error_of([] { open(0); }).context().device.find("Fake GPU"), std::string::npos);
}

TEST_F(CudaBackend, AFailingDriverCallIsAnAbsence) {
  for (const char* call :
       {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDriverGetVersion"}) {
    fake_->failures = {{call, 101}};
    const Probe found = probe();
    EXPECT_TRUE(found.devices.empty()) << call;
    EXPECT_NE(found.absent.at(0).reason.find("CUDA_ERROR_INVALID_DEVICE"), std::string::npos) << call;
  }
}

TEST_F(CudaBackend, OpensNoDeviceThatIsNotThere) {
  EXPECT_EQ(error_of([] { open(7); }).context().code, "CUDA_ERROR_INVALID_DEVICE");
}

TEST_F(CudaBackend, TransfersOfEverySizeArriveWhole) {
  const auto device = open(0);
  const std::size_t slot = std::size_t{16} << 20;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1023}, std::size_t{1} << 20, slot - 1, slot, slot + 1, 3 * slot + 4099}) {
    const auto data = pattern(bytes + 3);
    const Memory memory = device->allocate(bytes + 7);
    device->write(memory, 5, data.data() + 3, bytes);
    std::vector<unsigned char> back(bytes);
    device->read(memory, 5, back.data(), bytes);
    EXPECT_TRUE(std::memcmp(back.data(), data.data() + 3, bytes) == 0) << bytes;
  }
  EXPECT_LT(fake_->largest_pageable_copy, std::uint64_t{1} << 20) << "big transfers go through pinned memory";
  EXPECT_EQ(fake_->live["pinned memory"], 3);  // two slots for large transfers, and one for small reads
}

TEST_F(CudaBackend, AWriteLeavesItsSourceFree) {
  const auto device = open(0);
  const std::size_t bytes = (std::size_t{40} << 20) + 11;
  const auto data = pattern(bytes);
  auto source = data;
  const Memory memory = device->allocate(bytes);
  device->write(memory, 0, source.data(), bytes);
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(0));  // before anything waits
  device->write(memory, 0, source.data(), 0);
  std::vector<unsigned char> back(bytes);
  device->read(memory, 0, back.data(), bytes);
  EXPECT_TRUE(back == data);
}

TEST_F(CudaBackend, TakesMemoryOfTheCallers) {
  const auto device = open(0);
  const auto data = pattern(1000);
  const Memory memory = device->allocate(data.size());
  device->write(memory, 0, data.data(), data.size());
  auto* const address = static_cast<char*>(memory.handle.get());
  const Memory part = device->wrap(address + 3, data.size() - 3);
  EXPECT_EQ(device->misalignment(part), (device->misalignment(memory) + 3) % 16);
  std::vector<unsigned char> back(data.size() - 3);
  device->read(part, 0, back.data(), back.size());
  EXPECT_TRUE(std::equal(back.begin(), back.end(), data.begin() + 3));
  EXPECT_THROW(device->wrap(address + 3, data.size() - 2), Error);
  int ordinary = 0;
  EXPECT_THROW(device->wrap(&ordinary, sizeof ordinary), Error);
}

TEST_F(CudaBackend, WithoutPinnedMemoryTransfersGoTheSlowWay) {
  const auto device = open(0);
  fake_->failures["cuMemHostAlloc"] = 2;
  const auto data = pattern(std::size_t{3} << 20);
  const Memory memory = device->allocate(data.size());
  device->write(memory, 0, data.data(), data.size());
  std::vector<unsigned char> back(data.size());
  device->read(memory, 0, back.data(), back.size());
  EXPECT_TRUE(back == data);
  fake_->failures.clear();
}

TEST_F(CudaBackend, TransfersStayWithinTheAllocation) {
  const auto device = open(0);
  const Memory memory = device->allocate(100);
  char byte[8] = {};
  EXPECT_NE(std::string(error_of([&] { device->write(memory, 93, byte, 8); }).what()).find("100 bytes allocated"), std::string::npos);
  EXPECT_NE(std::string(error_of([&] { device->read(memory, ~std::uint64_t{0}, byte, 8); }).what()).find("not all within"),
            std::string::npos);
  const Memory none = device->allocate(0);
  EXPECT_EQ(none.handle, nullptr);
  device->write(none, 0, byte, 0);
}

TEST_F(CudaBackend, LaunchesWithTheArgumentsAsTheyAre) {
  const auto device = open(0);
  const Kernel kernel = device->load(device->compile(kProgram), "all");
  const Memory memory = device->allocate(64);
  const Argument arguments[] = {memory, std::int32_t{-2}, std::uint64_t{0x123456789abcdef0}, std::uint32_t{0xfffffff1}, Memory{}, -0.0};
  device->launch(kernel, {132, 1024}, arguments);
  ASSERT_EQ(fake_->launches.size(), 1u);
  const test::FakeLaunch& launch = fake_->launches[0];
  EXPECT_EQ(launch.kernel, "all");
  EXPECT_EQ(launch.groups, 132u);
  EXPECT_EQ(launch.group_size, 1024u);
  EXPECT_EQ(launch.shared_bytes, 0u);
  const auto value = [&]<typename T>(std::size_t i, T) {
    T read{};
    EXPECT_EQ(launch.arguments[i].size(), sizeof read);
    std::memcpy(&read, launch.arguments[i].data(), sizeof read);
    return read;
  };
  EXPECT_EQ(value(0, std::uint64_t{}), reinterpret_cast<std::uint64_t>(memory.handle.get()));
  EXPECT_EQ(value(1, std::int32_t{}), -2);
  EXPECT_EQ(value(2, std::uint64_t{}), 0x123456789abcdef0u);
  EXPECT_EQ(value(3, std::uint32_t{}), 0xfffffff1u);
  EXPECT_EQ(value(4, std::uint64_t{}), 0u);
  EXPECT_EQ(value(5, std::uint64_t{}), 0x8000000000000000u);
  EXPECT_EQ(device->resident_groups(kernel, 256), 8u * 132);
  EXPECT_THROW(device->launch(kernel, {1, 1}, std::vector<Argument>(513, 1.0f)), Error);
}

TEST_F(CudaBackend, LaunchesAlongThreeAxesWithAnAddressWithinMemory) {
  const auto device = open(0);
  const Kernel kernel = device->load(device->compile("kernel halves ph\n"), "halves");
  const Memory memory = device->allocate(64);
  Grid grid{2, 8};
  grid.local_bytes = 96;
  grid.more_groups = {3, 5};
  grid.more_items = {4, 7};
  const Argument arguments[] = {device->from(memory, 6), std::uint16_t{0x3c01}};
  device->launch(kernel, grid, arguments);
  const test::FakeLaunch& launch = fake_->launches.back();
  EXPECT_EQ(launch.groups, 2u);
  EXPECT_EQ(launch.group_size, 8u);
  EXPECT_EQ(launch.shared_bytes, 96u);
  EXPECT_EQ(launch.more, (std::array<unsigned, 4>{3, 5, 4, 7}));
  std::uint64_t address = 0;
  std::memcpy(&address, launch.arguments[0].data(), sizeof address);
  EXPECT_EQ(address, reinterpret_cast<std::uint64_t>(memory.handle.get()) + 6);
  EXPECT_EQ(launch.arguments[1], (std::vector<unsigned char>{0x01, 0x3c}));
  EXPECT_EQ(device->from(memory, 6).bytes, 58u);
  EXPECT_THROW(device->from(memory, 65), Error);
}

TEST_F(CudaBackend, LaunchesAllGroupsTogetherOrNone) {
  const auto device = open(0);
  const Kernel kernel = device->load(device->compile(kProgram), "add");
  const std::vector<Argument> arguments{Memory{}, std::int64_t{1}, 2, 3.0};
  device->launch(kernel, {16, 256, true}, arguments);
  device->launch(kernel, {16, 256}, arguments);
  ASSERT_EQ(fake_->launches.size(), 2u);
  EXPECT_TRUE(fake_->launches[0].together);
  EXPECT_FALSE(fake_->launches[1].together);
  const Error error = error_of([&] { device->launch(kernel, {132 * 8 + 1, 256, true}, arguments); });
  EXPECT_NE(std::string(error.what()).find("cannot be resident at once"), std::string::npos) << error.what();
  EXPECT_EQ(fake_->launches.size(), 2u);
}

// A kernel that itself waits for preceding launches may start before these end; not where it is compiled for a GPU that cannot wait.
TEST_F(CudaBackend, StartsEarlyWhatWaitsItself) {
  const auto launched_early = [&](bool waits) {
    const auto device = open(0);
    Kernel kernel = device->load(device->compile(kProgram), "add");
    kernel.early = waits;
    const Argument arguments[] = {Memory{}, std::int64_t{1}, std::int32_t{2}, 3.0};
    device->launch(kernel, {1, 32}, arguments);
    return fake_->launches.back().early;
  };
  EXPECT_TRUE(launched_early(true));
  EXPECT_FALSE(launched_early(false));
  fake_->capability = 80;
  EXPECT_FALSE(launched_early(true));
}

// build() decides by file, so that a file's kernels all wait, or none.
TEST(EarlyKernels, AllOfAFileWaitOrNone) {
  int files = 0;
  for (const std::string_view file : kernel_files()) {
    const auto times = [text = kernel_file(file)](std::string_view words) {
      int count = 0;
      for (std::size_t at = 0; (at = text.find(words, at)) != std::string_view::npos; at += words.size()) ++count;
      return count;
    };
    if (file.starts_with("device/dialect/") || times("grid_dependency_wait()") == 0) continue;
    EXPECT_EQ(times("grid_dependency_wait();"), times("\nKERNEL ")) << file;
    ++files;
  }
  EXPECT_EQ(files, 13);
}

// The kernels of every pattern, and launches of histograms from few to many bins, as on the device's own stream.
TEST_F(CudaBackend, AStreamOfTheCallersHasAllOfTheDevice) {
  const test::ScopedVariable uncached("SAMESUM_CACHE", "0");
  const auto histograms = [&](const std::shared_ptr<Device>& device) {
    fake_->launches.clear();
    const Memory data = device->allocate(16);
    for (const std::uint64_t bins : {256, 10'000, 16'384, 50'000, 65'536, 1'000'000}) {
      for (const DType type : {DType::float32, DType::uint16}) {
        const binning::Plan plan(Bins::even(0, 1 << 20, bins), type);
        binning::DeviceHistogram counted(*device, {&plan}, 1 << 28);
        counted.launch(data, 4);
      }
    }
    return fake_->launches;
  };
  const Driver& driver = *load_driver().driver;
  CUcontext context = nullptr, popped = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(driver.cuInit(0), 0);
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(driver.cuCtxPushCurrent(context), 0);
  ASSERT_EQ(driver.cuStreamCreate(&stream, kStreamNonBlocking), 0);
  {
    const auto own = open(0), callers = open_on_stream(0, stream);
    EXPECT_EQ(callers->launch_local_bytes(), own->launch_local_bytes());
    const auto expected = histograms(own), found = histograms(callers);
    ASSERT_EQ(found.size(), expected.size());
    bool more = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].groups, expected[i].groups) << i;
      EXPECT_EQ(found[i].group_size, expected[i].group_size) << i;
      EXPECT_EQ(found[i].shared_bytes, expected[i].shared_bytes) << i;
      more = more || found[i].shared_bytes > 49152;
    }
    EXPECT_TRUE(more) << "no histogram took more local memory than a kernel has unasked";
    test::build_every_kernel(*callers);
    EXPECT_GT(callers->built().size(), 100u);
  }
  EXPECT_EQ(driver.cuStreamDestroy(stream), 0);
  driver.cuCtxPopCurrent(&popped);
  driver.cuDevicePrimaryCtxRelease(0);
}

TEST_F(CudaBackend, ReplaysWhatItRecorded) {
  const auto device = open(0);
  const Kernel kernel = device->load(device->compile(kProgram), "add");
  const std::vector<Argument> arguments{Memory{}, std::int64_t{1}, 2, 3.0};
  ASSERT_TRUE(device->begin_recording());
  device->launch(kernel, {1, 32}, arguments);
  device->launch(kernel, {2, 32}, arguments);
  const Recording recording = device->end_recording();
  EXPECT_EQ(fake_->launches.size(), 0u);
  for (int i = 0; i < 3; ++i) device->replay(recording);
  ASSERT_EQ(fake_->launches.size(), 6u);
  EXPECT_EQ(fake_->launches[4].groups, 1u);
  EXPECT_EQ(fake_->launches[5].groups, 2u);
}

// What is recorded may run again and again: it clears the counts that it adds to, whatever ran before.
TEST_F(CudaBackend, RecordedHistogramsClearTheirCounts) {
  const test::ScopedVariable uncached("SAMESUM_CACHE", "0");
  const auto device = open(0);
  const Memory data = device->allocate(1 << 20);
  const binning::Plan plan(Bins::even(0, 1, 256), DType::float32);
  binning::DeviceHistogram histogram(*device, {&plan}, 1 << 18);
  const auto launches_of = [&](bool recorded) {
    fake_->launches.clear();
    if (recorded) {
      EXPECT_TRUE(device->begin_recording());
    }
    histogram.clear();
    histogram.launch(data, 1 << 18);
    if (recorded) device->replay(device->end_recording());
    return fake_->launches.size();
  };
  EXPECT_GE(launches_of(false), 1u);
  EXPECT_EQ(launches_of(false), 1u);  // adds to the counts that the launch before has cleared
  EXPECT_EQ(launches_of(true), 2u);
  EXPECT_EQ(launches_of(true), 2u);
  EXPECT_EQ(launches_of(false), 1u);
}

TEST_F(CudaBackend, MarksMeasureTheStream) {
  const auto device = open(0);
  const Kernel kernel = device->load(device->compile(kProgram), "add");
  const Mark start = device->mark();
  const Argument arguments[] = {Memory{}, std::int64_t{1}, std::int32_t{2}, 3.0};
  for (int i = 0; i < 3; ++i) device->launch(kernel, {1, 32}, arguments);
  EXPECT_DOUBLE_EQ(device->seconds_between(start, device->mark()), 0.003);
  device->finish();
}

TEST_F(CudaBackend, CompilesForTheDevice) {
  const auto device = open(0);
  EXPECT_EQ(device->language(), Language::cuda);
  const Binary binary = device->compile(kProgram);
  EXPECT_EQ(binary.bytes, kProgram);
  EXPECT_EQ(binary.log, "compiled");
  EXPECT_EQ(binary.ptx, "") << "nobody has asked for it";
  EXPECT_EQ(nvrtc_->options.at(0), "-arch=sm_90");
  const std::string identity = device->compiler_identity();
  for (const std::string& option : nvrtc_->options) EXPECT_NE(identity.find(option), std::string::npos) << option;
  EXPECT_NE(identity.find("NVRTC 13.0"), std::string::npos);
  EXPECT_NE(identity.find("CUDA 13.0"), std::string::npos);

  device->want_binaries();
  EXPECT_EQ(device->compile(kProgram).bytes, kProgram);
  EXPECT_EQ(device->compile(kProgram).ptx, std::string("PTX\n") + kProgram);

  const Error error = error_of([&] { device->compile("#error"); });
  EXPECT_EQ(error.context().code, "NVRTC_ERROR_COMPILATION");
  EXPECT_EQ(error.context().build_log, "kernel(1): error: #error");
  EXPECT_EQ(error.context().device, "cuda:0 (Fake GPU)");
}

TEST_F(CudaBackend, AnOlderCompilerYieldsPtxOfTheNearestArchitecture) {
  fake_->capability = 103;
  const auto device = open(0);
  EXPECT_EQ(device->compile(kProgram).bytes, std::string("PTX\n") + kProgram);
  EXPECT_EQ(nvrtc_->options.at(0), "-arch=compute_90");
  device->load(device->compile(kProgram), "add");
}

TEST_F(CudaBackend, SearchesWherePipPutsTheCompiler) {
  const auto home = std::filesystem::temp_directory_path() / ("samesum_nvrtc_" + std::to_string(getpid()));
  const auto folder = home / ".local/lib/python3.11/site-packages/nvidia/cu99/lib";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(compiler_, folder / "libnvrtc.so.99", std::filesystem::copy_options::overwrite_existing);
  const std::string library = (folder / "libnvrtc.so.99").string();
  auto* compiler = open_fake<FakeNvrtc>(library, "fake_nvrtc");  // a copy, with its own state
  ASSERT_NE(compiler, nullptr);
  compiler->major = 99;
  compiler->capabilities = {995};
  unsetenv("SAMESUM_NVRTC_LIBRARY");
  const char* old_home = std::getenv("HOME");
  const std::string kept = old_home == nullptr ? "" : old_home;
  setenv("HOME", home.c_str(), 1);
  const CompilerChoice choice = choose_compiler(995, 99);
  setenv("HOME", kept.c_str(), 1);
  EXPECT_EQ(choice.library, library) << choice.reason;
  EXPECT_EQ(choice.arch, "sm_995");
  EXPECT_NE(choice.identity.find(library), std::string::npos) << choice.identity;
  std::filesystem::remove_all(home);
}

// Whether the process has loaded this library.
bool is_loaded(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

TEST_F(CudaBackend, AKnownCompilerIsLoadedWhenItCompiles) {
  const test::ScopedFolder folder;
  const test::ScopedVariable cache("SAMESUM_CACHE_DIR", folder.path());
  const test::ScopedVariable on("SAMESUM_CACHE", std::nullopt);
  // Makes a choice, and renames the library: to a path that this process has not loaded from.
  const std::string library = folder.path() + "/libnvrtc.so";
  std::filesystem::copy_file(compiler_, library);
  const test::ScopedVariable named("SAMESUM_NVRTC_LIBRARY", library);
  const auto in_child = [&](int (*action)(const std::string&)) {
    const pid_t child = fork();
    if (child == 0) _exit(action(library));
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const auto first = [](const std::string& path) { return open(0) != nullptr && is_loaded(path) ? 0 : 1; };
  const auto later = [](const std::string& path) {
    const auto device = open(0);
    if (is_loaded(path)) return 1;
    return device->compile(kProgram).bytes == kProgram && is_loaded(path) ? 0 : 2;
  };
  EXPECT_EQ(in_child(later), 1) << "nothing was known yet";
  EXPECT_EQ(in_child(later), 0);
  EXPECT_NE(open(0)->compiler_identity().find(library), std::string::npos);

  // Another file at this path is another compiler.
  std::filesystem::copy_file(compiler_, library + ".new");
  std::filesystem::rename(library + ".new", library);
  EXPECT_EQ(in_child(first), 0);
  std::filesystem::remove(library);
  EXPECT_THROW(open(0), Error);
}

TEST_F(CudaBackend, ErrorsNameDeviceKernelAndCause) {
  const auto device = open(0);
  fake_->failures = {{"cuMemAlloc_v2", 2}};
  Error error = error_of([&] { device->allocate(12345); });
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_EQ(error.context().code, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(error.context().device, "cuda:0 (Fake GPU)");
  EXPECT_NE(std::string(error.what()).find("cuMemAlloc of 12345 bytes failed: out of memory; the device's memory is used up"),
            std::string::npos)
      << error.what();

  fake_->failures = {{"cuModuleLoadDataEx", 200}};
  error = error_of([&] { device->load({kProgram, ""}, "add"); });
  EXPECT_EQ(error.context().build_log, "the loader's log");
  EXPECT_EQ(error.context().kernel, "add");
  fake_->failures.clear();
  EXPECT_EQ(error_of([&] { device->load({"not a program", ""}, "add"); }).context().code, "CUDA_ERROR_INVALID_IMAGE");
  EXPECT_EQ(error_of([&] { device->load({kProgram, ""}, "no_such"); }).context().code, "CUDA_ERROR_NOT_FOUND");

  const Kernel kernel = device->load({kProgram, ""}, "add");
  const Argument arguments[] = {Memory{}, std::int64_t{1}, std::int32_t{2}, 3.0};
  fake_->failures = {{"cuLaunchKernelEx", 701}};
  error = error_of([&] { device->launch(kernel, {7, 1024}, arguments); });
  EXPECT_EQ(error.context().kernel, "add");
  EXPECT_EQ(error.context().configuration.find("7 groups of 1024; 42 registers"), 0u) << error.context().configuration;
  EXPECT_NE(std::string(error.what()).find("choose a smaller one"), std::string::npos);

  fake_->failures = {{"cuStreamSynchronize", 700}};
  error = error_of([&] { device->finish(); });
  EXPECT_EQ(error.context().kernel, "add, or one before it");
  EXPECT_EQ(error.context().code, "CUDA_ERROR_ILLEGAL_ADDRESS");
  fake_->failures.clear();
}

TEST_F(CudaBackend, EveryFailingCallIsAnErrorAndLeavesNothingBehind) {
  const auto data = pattern(std::size_t{33} << 20);
  const auto everything = [&] {
    const auto device = open(0);
    const Memory memory = device->allocate(data.size());
    device->write(memory, 0, data.data(), data.size());
    device->write(memory, 0, data.data(), 10);
    const Kernel kernel = device->load(device->compile(kProgram), "add");
    const Argument arguments[] = {memory, std::int64_t{1}, std::int32_t{2}, 3.0};
    const Mark start = device->mark();
    device->launch(kernel, {1, 32}, arguments);
    device->resident_groups(kernel, 32);
    device->seconds_between(start, device->mark());
    device->finish();
    std::vector<unsigned char> back(data.size());
    device->read(memory, 0, back.data(), back.size());
  };
  const char* const calls[] = {"cuInit",
                               "cuDriverGetVersion",
                               "cuDeviceGet",
                               "cuDeviceGetName",
                               "cuDeviceGetAttribute",
                               "cuDeviceTotalMem_v2",
                               "cuDevicePrimaryCtxRetain",
                               "cuCtxPushCurrent_v2",
                               "cuMemAlloc_v2",
                               "cuMemcpyHtoDAsync_v2",
                               "cuMemcpyDtoHAsync_v2",
                               "cuStreamCreate",
                               "cuStreamSynchronize",
                               "cuEventCreate",
                               "cuEventRecord",
                               "cuEventSynchronize",
                               "cuEventElapsedTime",
                               "cuModuleLoadDataEx",
                               "cuModuleGetFunction",
                               "cuLaunchKernelEx",
                               "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                               "nvrtcCreateProgram",
                               "nvrtcCompileProgram",
                               "nvrtcGetProgramLogSize",
                               "nvrtcGetProgramLog",
                               "nvrtcGetCUBINSize",
                               "nvrtcGetCUBIN"};
  for (const char* call : calls) {
    fake_->failures = nvrtc_->failures = {{call, 1}};
    EXPECT_THROW(everything(), Error) << call;
    fake_->failures.clear();
    nvrtc_->failures.clear();
    EXPECT_EQ(nvrtc_->live_programs, 0) << call;
    EXPECT_EQ(fake_->current_contexts, 0) << call;
    fake_->complaints.clear();  // a stream on which waiting failed is destroyed with work left
    for (const auto& [kind, count] : fake_->live) EXPECT_EQ(count, 0) << call << " leaves behind: " << kind;
  }
  everything();
}

TEST_F(CudaBackend, DestructorsBearADriverThatIsGone) {
  auto device = open(0);
  Memory memory = device->allocate(std::size_t{2} << 20);
  const auto data = pattern(memory.bytes);
  device->write(memory, 0, data.data(), data.size());
  Kernel kernel = device->load(device->compile(kProgram), "add");
  Mark mark = device->mark();
  for (const char* call : {"cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRelease_v2"}) fake_->failures[call] = 4;
  device.reset();
  memory = {};
  kernel = {};
  mark = {};
  fake_->live.clear();  // an unloaded driver has released everything
}

TEST_F(CudaBackend, WorksFromAnyThreadAndOutlivesItsDevice) {
  Memory memory;
  std::thread([&] { memory = open(0)->allocate(1000); }).join();
  EXPECT_EQ(fake_->live["stream"], 0);
  EXPECT_EQ(fake_->live["context"], 1);
  std::thread([&] { memory = {}; }).join();
  EXPECT_EQ(fake_->live["context"], 0);
}

}  // namespace
}  // namespace samesum::device::cuda
