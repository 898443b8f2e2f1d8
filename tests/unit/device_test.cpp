// Devices: selection, masks, conformance, and the OpenCL and CPU backends behind the seam.
#include "device/device.hpp"
#include "device/cpu/cpu.hpp"
#include "device/in_driver.hpp"
#include "device/kernels/conformance.hpp"
#include "device/kernels/program.hpp"
#include "device/opencl/build_log.hpp"
#include "device/opencl/opencl.hpp"
#include "device/opencl/query.hpp"
#include "device/opencl/staging.hpp"
#include "support/process.hpp"

#include <samesum/device.hpp>
#include <samesum/driver_calls.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

namespace samesum {
namespace {

using device::Argument;
using device::Binary;
using device::Grid;
using device::Kernel;
using device::Memory;
using test::ScopedFolder;
using test::ScopedVariable;

// The message of the error of kind `kind` that `action` throws.
template <typename Action>
std::string message_of(ErrorKind kind, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// --- selectors ---------------------------------------------------------------------------------------------------------------

TEST(Selectors, NameDevices) {
  EXPECT_EQ(Device::open("cpu").info().selector, "cpu");
  EXPECT_EQ(Device::open("CPU:0").info().selector, "cpu");
  const DeviceList list = list_devices();
  ASSERT_FALSE(list.devices.empty());
  EXPECT_EQ(list.devices[0].selector, "cpu");
  for (const DeviceInfo& info : list.devices) {
    EXPECT_EQ(Device::open(info.selector).info().name, info.name);
    if (info.selector != "opencl:0") continue;
    EXPECT_EQ(Device::open("opencl").info().selector, "opencl:0");
    EXPECT_EQ(Device::open("OpenCL:" + info.platform.substr(2, 6)).info().selector, "opencl:0");
    EXPECT_EQ(Device::open("opencl:" + info.name).info().selector, "opencl:0");
  }
}

TEST(Selectors, WrongOnesAreAnsweredWithWhatThereIs) {
  for (const char* wrong :
       {"gpu", "opencl:99", "opencl:no such device", "cuda:99", "cpu:1", "opencl:-1", ":", "cpu:99999999999999", "all"}) {
    const std::string message = message_of(ErrorKind::usage, [&] { Device::open(wrong); });
    EXPECT_TRUE(contains(message, fmt::format("no device '{}'", wrong))) << message;
    EXPECT_TRUE(contains(message, "this machine has cpu (")) << message;
  }
}

TEST(Selectors, AutoGoesBySizeAndEnvironment) {
  const ScopedVariable none("SAMESUM_DEVICE", std::nullopt);
  EXPECT_EQ(choose_device("auto", 1 << 20).info().selector, "cpu");
  EXPECT_EQ(choose_device("", 0).info().selector, "cpu");
  EXPECT_EQ(open_devices("auto", 0).size(), 1u);
  EXPECT_EQ(open_devices("all", 0).size(), list_devices().devices.size());
  EXPECT_THROW(choose_device("all", 0), Error);
  const ScopedVariable all("SAMESUM_DEVICE", "all");
  EXPECT_EQ(open_devices("auto", 0).size(), list_devices().devices.size());
  EXPECT_EQ(open_devices("cpu", 0).size(), 1u);
  const ScopedVariable wrong("SAMESUM_DEVICE", "nonsense");
  EXPECT_THROW(choose_device("auto", 0), Error);
  EXPECT_EQ(choose_device("cpu", 0).info().selector, "cpu");
}

TEST(Selectors, AutoOpens) {
  {
    const ScopedVariable none("SAMESUM_DEVICE", std::nullopt);
    for (const char* selector : {"auto", "Auto", ""}) EXPECT_EQ(Device::open(selector).info().selector, "cpu");
  }
  for (const DeviceInfo& info : list_devices().devices) {
    const ScopedVariable chosen("SAMESUM_DEVICE", info.selector);
    EXPECT_EQ(Device::open("auto").info().selector, info.selector);
  }
  const ScopedVariable all("SAMESUM_DEVICE", "all");
  EXPECT_TRUE(contains(message_of(ErrorKind::usage, [] { Device::open("auto"); }), "names several devices"));
}

TEST(Selectors, OpenADeviceOnce) {
  std::set<device::Device*> opened;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (const Device& device : open_devices("all", 0)) {
        const std::lock_guard lock(mutex);
        opened.insert(&device.implementation());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(opened.size(), list_devices().devices.size());
}

TEST(DriverCalls, AreListedWhileTheyLast) {
  const std::string label = "opencl:7 (slow)";
  EXPECT_TRUE(driver_calls().empty());
  {
    const device::InDriver outer("clBuildProgram", label);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::thread([&] {
      const device::InDriver inner("clFinish", label);
      const std::vector<DriverCall> calls = driver_calls();
      ASSERT_EQ(calls.size(), 2u);
      EXPECT_EQ(calls[0].name, "clBuildProgram");
      EXPECT_EQ(calls[0].device, label);
      EXPECT_GE(calls[0].seconds, 0.005);
      EXPECT_EQ(calls[1].name, "clFinish");
    }).join();
    EXPECT_EQ(driver_calls().size(), 1u);
  }
  EXPECT_TRUE(driver_calls().empty());
}

TEST(Capabilities, HaveNamesAndReasons) {
  const DeviceInfo cpu = Device::open("cpu").info();
  EXPECT_FALSE(cpu.has(Capability::kernels));
  EXPECT_EQ(cpu.why_not(Capability::kernels), "runs host functions");
  EXPECT_TRUE(cpu.has(Capability::fp64));
  EXPECT_EQ(cpu.why_not(Capability::fp64), "");
  EXPECT_TRUE(cpu.is_cpu);
  EXPECT_GE(cpu.compute_units, 1u);
  EXPECT_EQ(name_of(Capability::int64_atomics), "int64_atomics");
}

// --- the CPU backend -----------------------------------------------------------------------------------------------------------

TEST(CpuBackend, HasMemoryAndTimeButNoKernels) {
  device::Device& cpu = Device::open("cpu").implementation();
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5} << 20}) {
    const Memory memory = cpu.allocate(bytes);
    EXPECT_EQ(memory.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.handle.get()) % 4096, 0u);
    EXPECT_THROW(cpu.write(memory, bytes, "x", 1), Error);
    EXPECT_THROW(cpu.read(memory, ~std::uint64_t{0}, nullptr, 2), Error);
  }
  const Memory memory = cpu.allocate(8);
  cpu.write(memory, 2, "abcd", 4);
  char text[5] = {};
  cpu.read(memory, 2, text, 4);
  EXPECT_STREQ(text, "abcd");
  EXPECT_THROW(cpu.allocate(~std::uint64_t{0}), Error);
  EXPECT_THROW(cpu.allocate(std::uint64_t{1} << 62), Error);

  const auto from = cpu.mark();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(cpu.seconds_between(from, cpu.mark()), 0.002);

  const std::string message = message_of(ErrorKind::device, [&] {
    device::build(cpu, {{"device/kernels/conformance.cl"}, {}}, "conformance");
  });
  EXPECT_TRUE(contains(message, "runs host functions")) << message;
  EXPECT_THROW(cpu.compile(""), Error);
}

// --- the OpenCL backend --------------------------------------------------------------------------------------------------------

class OpenClTest : public testing::Test {
 protected:
  void SetUp() override {
    const device::Probe probe = device::opencl::probe();
    if (probe.devices.empty()) GTEST_SKIP() << (probe.absent.empty() ? "no OpenCL device" : probe.absent[0].reason);
    device_ = device::opencl::open(0);
  }

  Kernel kernel(const std::string& source, const std::string& name) { return device_->load(device_->compile(source), name); }

  std::shared_ptr<device::Device> device_;
};

TEST_F(OpenClTest, MovesMemory) {
  std::vector<unsigned char> data(3 << 20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 + i / 256);
  const Memory memory = device_->allocate(data.size());
  device_->write(memory, 0, data.data(), data.size());
  std::vector<unsigned char> back(data.size() - 5);
  device_->read(memory, 3, back.data(), back.size() - 3);
  EXPECT_EQ(std::memcmp(back.data(), data.data() + 3, back.size() - 3), 0);
  EXPECT_THROW(device_->read(memory, 1, back.data(), data.size()), Error);
  EXPECT_THROW(device_->write(memory, ~std::uint64_t{0}, data.data(), 2), Error);
  const Memory empty = device_->allocate(0);
  device_->read(empty, 0, nullptr, 0);
  EXPECT_THROW(device_->allocate(device_->info().max_allocation_bytes + 1), Error);
}

TEST_F(OpenClTest, WrapsNothingThatIsNoBuffer) {
  std::vector<float> values(64, 1.5f);
  std::vector<std::uint64_t> zeros(64, 0), small(64, 8);
  void* const others[] = {nullptr,
                          reinterpret_cast<void*>(std::uintptr_t{1}),
                          reinterpret_cast<void*>(std::uintptr_t{0x7fff0000}),
                          values.data(),
                          zeros.data(),
                          small.data(),
                          reinterpret_cast<void*>(~std::uintptr_t{7})};
  for (void* const other : others) {
    const std::string message = message_of(ErrorKind::usage, [&] { device_->wrap(other, 4); });
    EXPECT_TRUE(contains(message, "no cl_mem") && contains(message, device_->info().selector)) << message;
    EXPECT_TRUE(contains(message_of(ErrorKind::usage, [&] { Device::on_opencl_queue(other); }), "no cl_command_queue"));
  }
}

TEST_F(OpenClTest, PassesArgumentsOfEveryType) {
  if (!device_->info().has(Capability::fp64)) GTEST_SKIP() << device_->info().why_not(Capability::fp64);
  const Kernel take = kernel(R"(
    __kernel void take(__global long* out, int i, uint u, long l, ulong ul, float f, double d) {
      out[get_global_id(0)] = get_global_id(0) == 0 ? i : get_global_id(0) == 1 ? u : get_global_id(0) == 2 ? l
                            : get_global_id(0) == 3 ? (long)ul : get_global_id(0) == 4 ? as_int(f) : as_long(d);
    })",
                             "take");
  const Memory out = device_->allocate(6 * 8);
  const Argument arguments[] = {out, std::int32_t{-1}, 0xffffffffu, std::int64_t{-2}, ~std::uint64_t{0}, 1.5f, -0.0};
  device_->launch(take, {3, 2}, arguments);
  std::int64_t results[6] = {};
  device_->read(out, 0, results, sizeof results);
  const std::int64_t right[6] = {-1, 0xffffffff, -2, -1, 0x3fc00000, std::numeric_limits<std::int64_t>::min()};
  EXPECT_TRUE(std::equal(std::begin(results), std::end(results), std::begin(right)));
}

TEST_F(OpenClTest, LoadsABinaryOfAnEarlierProcess) {
  const char* source = "__kernel void first(__global int* p) { *p = 1; } __kernel void second(__global int* p) { *p += 41; }";
  const Binary binary = device_->compile(source);
  device_ = device::opencl::open(0);  // without the programs that were compiled
  const Memory memory = device_->allocate(4);
  for (const char* name : {"first", "second"}) {
    const Kernel loaded = device_->load(binary, name);
    device_->launch(loaded, {1, 1}, std::vector<Argument>{memory});
  }
  int result = 0;
  device_->read(memory, 0, &result, sizeof result);
  EXPECT_EQ(result, 42);
  // Not a truncated one: PoCL aborts at those; the cache must not pass any to a driver.
  EXPECT_THROW(device_->load({"this is no binary", ""}, "first"), Error);
  const std::string message = message_of(ErrorKind::device, [&] { device_->load(binary, "third"); });
  EXPECT_TRUE(contains(message, "CL_INVALID_KERNEL_NAME") && contains(message, "third")) << message;
}

TEST_F(OpenClTest, SaysWhatWasWrong) {
  const std::string log = message_of(ErrorKind::device, [&] { device_->compile("__kernel void f() { nonsense }"); });
  EXPECT_TRUE(contains(log, "CL_BUILD_PROGRAM_FAILURE") && contains(log, "nonsense") && contains(log, "opencl:0 (")) << log;

  const Kernel k = kernel("__kernel void f(__global int* p, int i) { *p = i; }", "f");
  const Memory memory = device_->allocate(4);
  const auto launch = [&](Grid grid, std::vector<Argument> arguments) {
    return message_of(ErrorKind::device, [&] { device_->launch(k, grid, arguments); });
  };
  EXPECT_TRUE(contains(launch({1, 1}, {memory}), "takes 2 arguments, not 1"));
  EXPECT_TRUE(contains(launch({1, 1}, {memory, 1, 2}), "takes 2 arguments, not 3"));
  EXPECT_TRUE(contains(launch({1, 1}, {memory, std::int64_t{1}}), "set argument 1"));
  EXPECT_TRUE(contains(launch({1, 1 << 30}, {memory, 1}), "groups=1 group_size=1073741824"));
  EXPECT_TRUE(contains(launch({0, 1}, {memory, 1}), "groups=0"));

  // A build log has file and line.
  const std::string message = message_of(ErrorKind::device, [&] {
    device::build(*device_, {{"device/kernels/conformance.cl"}, {{"CONFORMANCE_FLOAT32", "1 +"}}}, "conformance");
  });
  EXPECT_TRUE(contains(message, "device/kernels/conformance.cl:")) << message;
}

TEST_F(OpenClTest, MarksMeasureTheDevicesTime) {
  const Kernel spin = kernel(
      "__kernel void spin(__global uint* p, uint n) { uint x = *p; for (uint i = 0; i < n; ++i) x = x * 1664525u + 1013904223u; *p = x; }",
      "spin");
  const Memory memory = device_->allocate(4);
  const auto run = [&](std::uint32_t steps) {
    const auto from = device_->mark();
    const auto start = std::chrono::steady_clock::now();
    device_->launch(spin, {1, 1}, std::vector<Argument>{memory, steps});
    const auto to = device_->mark();
    const double seconds = device_->seconds_between(from, to);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LE(seconds, wall * 1.1 + 1e-4);
    return std::pair(seconds, wall);
  };
  run(1000);
  const auto [seconds, wall] = run(50'000'000);
  EXPECT_GE(seconds, 0.5 * wall) << "marks: " << seconds << " s, wall: " << wall << " s";
}

TEST_F(OpenClTest, KnowsResidencyOnlyWhereGroupsAreThreads) {
  const Kernel k = kernel("__kernel void f(__global int* p) { *p = 1; }", "f");
  const auto resident = device_->resident_groups(k, 1);
  if (device_->info().is_cpu) {
    EXPECT_EQ(resident, device_->info().compute_units);
  } else {
    EXPECT_FALSE(resident);
  }
}

TEST(OpenClAbsence, WithoutALoaderIsAReason) {
  if (!test::in_child()) return test::run_in_children({{"SAMESUM_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so"}});
  const DeviceList list = list_devices();
  ASSERT_FALSE(list.absent.empty());
  EXPECT_EQ(list.absent[0].selector, "opencl");
  EXPECT_TRUE(contains(list.absent[0].reason, "/nonexistent/libOpenCL.so")) << list.absent[0].reason;
  EXPECT_TRUE(contains(message_of(ErrorKind::usage, [] { Device::open("opencl:0"); }), "SAMESUM_OPENCL_LIBRARY"));
  EXPECT_EQ(choose_device("auto", std::uint64_t{1} << 50).info().selector.substr(0, 6) == "opencl", false);
}

TEST(OpenClAbsence, WithoutAFunctionIsAReason) {
  if (!test::in_child()) return test::run_in_children({{"SAMESUM_OPENCL_LIBRARY", "libm.so.6"}});
  EXPECT_TRUE(contains(list_devices().absent.at(0).reason, "has no function cl")) << list_devices().absent.at(0).reason;
}

TEST(OpenClAbsence, WithoutAPlatformIsAReason) {
  if (!device::opencl::probe().devices.empty() && !test::in_child()) {
    return test::run_in_children({{"OCL_ICD_VENDORS", "/nonexistent"}, {"OCL_ICD_FILENAMES", ""}});
  }
  EXPECT_TRUE(device::opencl::probe().devices.empty());
  EXPECT_FALSE(device::opencl::probe().absent.at(0).reason.empty());
}

// --- masks ---------------------------------------------------------------------------------------------------------------------

class MaskTest : public OpenClTest {};

TEST_F(MaskTest, TakeCapabilitiesAway) {
  const DeviceInfo whole = Device::open("opencl:0").info();
  const ScopedVariable mask("SAMESUM_MASK", "fp64, int64_atomics,device_fence,subgroups,local=32768,group=256,allocation=67108864,");
  const Device masked = Device::open("opencl:0");
  for (const DeviceInfo& info : {masked.info(), list_devices().devices.at(1)}) {
    for (const Capability capability : {Capability::fp64, Capability::int64_atomics, Capability::device_fence, Capability::subgroups}) {
      EXPECT_FALSE(info.has(capability));
      EXPECT_EQ(info.why_not(capability), whole.has(capability) ? "masked by SAMESUM_MASK" : whole.why_not(capability));
    }
    EXPECT_EQ(info.local_bytes, std::min<std::uint64_t>(whole.local_bytes, 32768));
    EXPECT_EQ(info.max_group_size, std::min(whole.max_group_size, 256u));
    EXPECT_EQ(info.max_allocation_bytes, std::min<std::uint64_t>(whole.max_allocation_bytes, 67108864));
  }
  EXPECT_TRUE(Device::open("cpu").info().has(Capability::fp64)) << "what runs no kernels is not masked";

  // The device is restricted, and so are the kernels' defines.
  device::Device& device = masked.implementation();
  EXPECT_THROW(device.allocate(67108865), Error);
  const Kernel small = device.load(device.compile("__kernel void f(__global int* p) { *p = 1; }"), "f");
  EXPECT_THROW(device.launch(small, {1, 257}, std::vector<Argument>{device.allocate(4)}), Error);
  const Binary hungry = device.compile(
      "__kernel void f(__global int* p) { __local int a[10000]; a[get_local_id(0)] = *p; barrier(CLK_LOCAL_MEM_FENCE); *p = a[*p]; }");
  EXPECT_TRUE(contains(message_of(ErrorKind::device, [&] { device.load(hungry, "f"); }), "of local memory"));
  for (const char* section : {"CONFORMANCE_ATOMICS", "CONFORMANCE_FENCE"}) {
    EXPECT_THROW(device::build(device, {{"device/kernels/conformance.cl"}, {{section, "1"}}}, "conformance"), Error) << section;
  }
}

TEST_F(MaskTest, LeaveTheUnmaskedDeviceAlone) {
  {
    const ScopedVariable mask("SAMESUM_MASK", "fma");
    EXPECT_FALSE(Device::open("opencl:0").info().has(Capability::fma));
  }
  EXPECT_TRUE(Device::open("opencl:0").info().has(Capability::fma));
}

TEST_F(MaskTest, RefuseUnknownWords) {
  for (const char* wrong : {"fp46", "local", "local=", "local=0", "local=-1", "local=1k", "kernels", "groups=4", "fp64=1"}) {
    const ScopedVariable mask("SAMESUM_MASK", wrong);
    const std::string message = message_of(ErrorKind::usage, [] { list_devices(); });
    EXPECT_TRUE(contains(message, "SAMESUM_MASK") && contains(message, wrong)) << message;
    EXPECT_THROW(Device::open("opencl:0"), Error);
  }
}

// --- conformance ---------------------------------------------------------------------------------------------------------------

// A device that alters the source before it compiles it.
class AlteredDevice final : public device::Device {
 public:
  AlteredDevice(std::shared_ptr<device::Device> real, std::vector<std::pair<std::string, std::string>> changes)
      : real_(std::move(real)), changes_(std::move(changes)) {
    info_ = real_->info();
  }

  int compiled = 0;

  Memory allocate(std::uint64_t bytes) override { return real_->allocate(bytes); }
  void write(const Memory& to, std::uint64_t at, const void* from, std::uint64_t n) override { real_->write(to, at, from, n); }
  void read(const Memory& from, std::uint64_t at, void* to, std::uint64_t n) override { real_->read(from, at, to, n); }
  device::Language language() const override { return real_->language(); }
  std::string compiler_identity() const override {
    std::string identity = real_->compiler_identity();
    for (const auto& [what, with] : changes_) identity += "\n" + what + "\n" + with;
    return identity;
  }
  Binary compile(const std::string& source) override {
    ++compiled;
    std::string altered = source;
    for (const auto& [what, with] : changes_) {
      const std::size_t at = altered.find(what);
      EXPECT_NE(at, std::string::npos) << what;
      if (at != std::string::npos) altered.replace(at, what.size(), with);
    }
    return real_->compile(altered);
  }
  Kernel load(const Binary& binary, const std::string& name) override { return real_->load(binary, name); }
  void launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) override { real_->launch(kernel, grid, arguments); }
  std::optional<std::uint32_t> resident_groups(const Kernel& kernel, std::uint32_t size) override {
    return real_->resident_groups(kernel, size);
  }
  device::Mark mark() override { return real_->mark(); }
  double seconds_between(const device::Mark& from, const device::Mark& to) override { return real_->seconds_between(from, to); }
  void finish() override { real_->finish(); }

 private:
  std::shared_ptr<device::Device> real_;
  std::vector<std::pair<std::string, std::string>> changes_;
};

class ConformanceTest : public OpenClTest {
 protected:
  ScopedFolder folder_;
  ScopedVariable cache_{"SAMESUM_CACHE_DIR", folder_.path()};
};

TEST_F(ConformanceTest, FindsWhatADeviceGetsWrong) {
  const std::string flush = "(((as_uint(x * y) & 0x7f800000u) == 0) ? 0.0f : x * y)";
  const struct {
    Capability capability;
    std::string what, with, reason;
  } faults[] = {
      {Capability::unfused, "as_uint(x * y + z)", "as_uint(fma(x, y, z))", " + "},
      {Capability::division, "x / y", "x * (1 / y)", " / "},
      {Capability::square_root, "sqrt(as_float(in32[i] & 0x7fffffffu))", "as_float(as_uint(sqrt(fabs(x))) + (i == 201))", "sqrt(|"},
      {Capability::fma, "as_uint(fma(x, y, z))", "as_uint(x * y + z)", "fma("},
      {Capability::denormals, "as_uint(mul_rn_f32(x, y))", "as_uint" + flush, " is 0x0, not 0x"},
      {Capability::fp64, "as_ulong(u * v)", "as_ulong((float)u * v)", "conformance: 0.1 * 0.2 is 0x"},
      {Capability::int64_atomics, "(ulong)(i + 1) * 0x1ffffffffUL", "(uint)(i + 1) * 0xffffffffu", "atomic additions came to"},
      {Capability::device_fence, "    fence_device();", "    no_such_fence;", "no_such_fence"},
      {Capability::kernels, "as_uint(add_rn_f32(x, y))", "0", "conformance: 1 + 3 is 0x0, not 0x40800000"},
      {Capability::kernels, "float x = as_float(in32[i]);", "nonsense", "nonsense"},
  };
  for (const auto& fault : faults) {
    if (!device_->info().has(fault.capability)) continue;
    AlteredDevice altered(device_, {{fault.what, fault.with}});
    const auto missing = check_conformance(altered);
    ASSERT_EQ(missing.size(), 1u) << fault.with;
    EXPECT_EQ(missing[0].capability, fault.capability) << missing[0].reason;
    EXPECT_TRUE(contains(missing[0].reason, "conformance: ") && contains(missing[0].reason, fault.reason)) << missing[0].reason;
  }
}

// A device may report sub-groups: their operations must be correct.
TEST_F(ConformanceTest, BelievesNoSubgroupsByName) {
  const std::string no_subgroups = "#define SUBGROUP 1\n#endif";
  const std::string wrong = R"(
#define SUBGROUP 32
FN uint subgroup_shuffle(uint value, uint lane) { return value; }
FN long subgroup_shuffle64(long value, uint lane) { return value; }
FN uint subgroup_ballot(int condition) { return condition; }
FN void subgroup_sync(void) {}
FN uint subgroup_min_u32(uint value) { return value; }
FN uint subgroup_max_u32(uint value) { return value; }
FN int subgroup_max_s32(int value) { return value; }
FN int subgroup_add_s32(int value) { return value; }
FN uint subgroup_add_u32(uint value) { return value; }
FN long subgroup_add_s64(long value) { return value; }
#endif)";
  const struct {
    std::string with, reason;
  } faults[] = {{no_subgroups, "subgroup_shuffle"}, {wrong, "conformance: sub-groups of 32: shuffle: work-item 0 has 0x3f800000, not 0x"}};
  for (const auto& fault : faults) {
    AlteredDevice altered(device_, {{no_subgroups, fault.with}});
    DeviceInfo info = altered.info();
    std::erase_if(info.missing, [](const Missing& missing) { return missing.capability == Capability::subgroups; });
    altered.restrict_to(std::move(info));
    const auto missing = check_conformance(altered);
    ASSERT_EQ(missing.size(), 1u);
    EXPECT_EQ(missing[0].capability, Capability::subgroups);
    // Where functions are missing, a linker may name any of them.
    EXPECT_TRUE(contains(missing[0].reason, fault.reason) || contains(missing[0].reason, "extern function 'subgroup_"))
        << missing[0].reason;
  }
}

TEST_F(ConformanceTest, RunsOnceForAllProcesses) {
  AlteredDevice first(device_, {{"x / y", "x * (1 / y)"}});
  const auto missing = check_conformance(first);
  EXPECT_EQ(first.compiled, 1);
  AlteredDevice second(device_, {{"x / y", "x * (1 / y)"}});
  const auto again = check_conformance(second);
  EXPECT_EQ(second.compiled, 0);
  EXPECT_TRUE(second.built().empty()) << "nothing is built where the outcome is known";
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].capability, missing.at(0).capability);
  EXPECT_EQ(again[0].reason, missing.at(0).reason);
}

// Tested separately, as a device that is the host's processor does not use it.
TEST_F(OpenClTest, StagingMovesEveryByte) {
  namespace ocl = device::opencl;
  const ocl::Api& api = ocl::api();
  const cl_device_id id = ocl::findings().devices.at(0).id;
  cl_int code = CL_SUCCESS;
  const cl_context context = api.clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
  const cl_command_queue queue = api.clCreateCommandQueue(context, id, 0, &code);
  constexpr std::size_t kSlot = ocl::Staging::kSlotBytes;
  constexpr std::size_t kMax = 3 * kSlot + 1;
  const cl_mem buffer = api.clCreateBuffer(context, CL_MEM_READ_WRITE, kMax + 3, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  {
    ocl::Staging staging;
    ASSERT_TRUE(staging.ready(context, queue));
    ASSERT_TRUE(staging.ready(context, queue));
    unsigned char seed = 0;
    for (const std::size_t bytes : {std::size_t{1}, kSlot - 1, kSlot, kSlot + 1, 2 * kSlot, kMax}) {
      std::vector<char> data(bytes), back(bytes);
      ++seed;
      for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(seed + i * 31 + i / 4096);
      ASSERT_EQ(staging.write(queue, buffer, 3, data.data(), bytes), CL_SUCCESS);
      std::vector<char> sent = data;
      data.assign(bytes, 0);  // write() has completed
      ASSERT_EQ(staging.read(queue, buffer, 3, back.data(), bytes), CL_SUCCESS);
      EXPECT_TRUE(back == sent) << bytes;
    }
    std::vector<char> data(kSlot);
    EXPECT_NE(staging.write(queue, buffer, kMax, data.data(), kSlot), CL_SUCCESS);
    EXPECT_NE(staging.read(queue, buffer, kMax, data.data(), kSlot), CL_SUCCESS);
  }
  api.clReleaseMemObject(buffer);
  api.clReleaseCommandQueue(queue);
  api.clReleaseContext(context);
}

TEST(OpenClBuildLog, PointsAtFiles) {
  const std::string source = "#line 1 \"defines\"\n#define A 1\n#line 1 \"a.cl\"\nfirst\nsecond\n\n#line 1 \"b.cl\"\nlast\n";
  const auto with_files = [&](std::string_view log) { return device::opencl::with_files(log, source); };
  EXPECT_EQ(with_files("<kernel>:5:24: error: x\n<kernel>:8:1: note"), "a.cl:2:24: error: x\nb.cl:1:1: note");
  EXPECT_EQ(with_files("<kernel>:2: x"), "defines:1: x");
  EXPECT_EQ(with_files("x\ninput.cl:4:1: warning: y"), "x\na.cl:1:1: warning: y");
  EXPECT_EQ(with_files("a.cl:3: x <kernel>: y"), "a.cl:3: x <kernel>: y");
  EXPECT_EQ(with_files("<kernel>:99999999999999999999: x"), "<kernel>:99999999999999999999: x");
  EXPECT_EQ(with_files(""), "");
  EXPECT_EQ(device::opencl::with_files("<kernel>:5: x", ""), "<kernel>:5: x");
}

TEST_F(OpenClTest, ProcessesThatStartTogetherDoNotDisturbEachOther) {
  if (test::in_child()) {
    const DeviceInfo info = Device::open("opencl:0").info();
    EXPECT_TRUE(info.has(Capability::kernels)) << info.why_not(Capability::kernels);
    return;
  }
  const ScopedFolder folder;
  const std::string empty = folder.path() + "/cache";
  test::run_in_children({{"SAMESUM_CACHE_DIR", empty}}, 3);
  for (const auto& entry : std::filesystem::directory_iterator(empty)) EXPECT_EQ(entry.path().extension(), ".kernel");
}

}  // namespace
}  // namespace samesum
