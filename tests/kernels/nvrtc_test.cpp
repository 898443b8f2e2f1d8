// Every kernel, as built for CUDA devices, compiled by the real NVRTC; no GPU is needed.
#include "device/cuda/nvrtc.hpp"
#include "device/kernels/program.hpp"
#include "reduce/sum_device.hpp"
#include "support/every_kernel.hpp"

#include <samesum/error.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

namespace samesum::device {
namespace {

/// Kernels for OpenCL devices that are CPUs.
const std::set<std::string> kOpenclOnly{"ladder/ceiling/ceiling_cpu.cl", "pairs/pairs_cpu.cl"};

/// A device that compiles and never runs, so that patterns build for it what they build for a GPU.
class CompilingDevice final : public Device {
 public:
  CompilingDevice(const cuda::Nvrtc& nvrtc, int capability) : nvrtc_(nvrtc), arch_("sm_" + std::to_string(capability)) {
    info_.selector = arch_;
    info_.name = "compiler only";
    info_.compute_units = 132;
    info_.max_group_size = 1024;
    info_.local_bytes = 49152;
    info_.memory_bytes = info_.max_allocation_bytes = std::uint64_t{1} << 30;
  }

  Memory allocate(std::uint64_t bytes) override { return {std::shared_ptr<void>(std::calloc(bytes, 1), std::free), bytes}; }
  void write(const Memory&, std::uint64_t, const void*, std::uint64_t) override {}
  void read(const Memory&, std::uint64_t, void* to, std::uint64_t bytes) override { std::memset(to, 0, bytes); }

  Language language() const override { return Language::cuda; }
  std::string compiler_identity() const override { return nvrtc_.identity() + arch_; }
  Binary compile(const std::string& source) override {
    static const std::regex marker("#line 1 \"([^\"]+\\.cl)\"");
    for (std::sregex_iterator file(source.begin(), source.end(), marker), end; file != end; ++file) files_.insert((*file)[1]);
    try {
      Binary binary = nvrtc_.compile(source, arch_);
      report(binary.log);
      return binary;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      throw;
    }
  }
  Kernel load(const Binary& binary, const std::string& name) override {
    EXPECT_NE(binary.bytes.find(".text." + name), std::string::npos) << "no entry " << name;
    return {std::make_shared<int>(), name};
  }
  void launch(const Kernel&, Grid, std::span<const Argument>) override {}
  std::optional<std::uint32_t> resident_groups(const Kernel&, std::uint32_t) override { return 264; }

  Mark mark() override { return {}; }
  double seconds_between(const Mark&, const Mark&) override { return 1e-3; }
  void finish() override {}

  const std::set<std::string>& files() const noexcept { return files_; }

 private:
  // The limit for an entry's spilled registers: a few. The exact sums spill more where digits are too far apart for a sub-group and one
  // work-item rounds them, once at a kernel's end; as a separate function that cost every sum 0.2 µs on an H100, called or not. Sums by
  // index of doubles with squares, and one kind of prefixes, spill some for sm_121.
  static int most_spilled(const std::string& name) {
    static const std::set<std::string> none{"pairs_blocks", "pairs_combine", "pairs_exact", "barriers", "neighbour_sums"};
    return name == "statistics" || name == "sums_by_index" || name == "scan_prefixes" ? 128
           : name == "small_sum"                                                      ? 256
           : none.count(name) != 0                                                    ? 0
                                                                                      : 64;
  }

  // Checks the assembler's output on each entry: no warnings, and few spilled registers.
  void report(const std::string& log) const {
    static const std::regex entry("entry function '(\\w+)'");
    static const std::regex spills("(\\d+) bytes spill stores");
    static const std::regex use("Used (\\d+) registers(?:.*?(\\d+) bytes smem)?");
    static const std::regex doubt("\\): warning #(?!177)|ptxas warning");  // 177: unused, as a variable of a masked part is
    EXPECT_FALSE(std::regex_search(log, doubt)) << log;
    std::istringstream lines(log);
    std::string name;
    int spilled = 0;
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_search(line, match, entry)) name = match[1];
      if (std::regex_search(line, match, spills)) spilled = std::stoi(match[1]);
      if (std::regex_search(line, match, use)) {
        EXPECT_LE(spilled, most_spilled(name)) << arch_ << " " << name;
        std::cout << "  " << arch_ << " " << name << ": " << match[1] << " registers, " << spilled << " bytes spilled, "
                  << (match[2].matched ? match[2].str() : "0") << " bytes of local memory\n";
      }
    }
  }

  const cuda::Nvrtc& nvrtc_;
  std::string arch_;
  std::set<std::string> files_;
};

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    constexpr int kAnyDriver = 13;
    const cuda::CompilerChoice choice = cuda::choose_compiler(90, kAnyDriver);
    if (choice.library.empty()) GTEST_SKIP() << choice.reason;
    nvrtc_ = &choice.nvrtc();
    setenv("SAMESUM_CACHE", "0", 1);
  }
  void TearDown() override { unsetenv("SAMESUM_CACHE"); }

  std::string ptx(const std::string& body) const {
    const std::string kernel = "KERNEL void k(GLOBAL float* x, GLOBAL double* y, GLOBAL uint* z) {\n" + body + "\n}\n";
    return nvrtc_->compile(assemble(Language::cuda, {}) + kernel, "compute_80").bytes;
  }

  const cuda::Nvrtc* nvrtc_ = nullptr;
};

TEST_F(Nvrtc, CompilesEveryKernelForEveryGeneration) {
  std::cout << nvrtc_->identity() << "\n";
  const std::vector<int>& known = nvrtc_->capabilities();
  std::set<int> generations{std::max(60, known.front()), known.back()};
  for (const int capability : {70, 80, 90}) {
    if (std::find(known.begin(), known.end(), capability) != known.end()) generations.insert(capability);
  }
  std::set<std::string> compiled = kOpenclOnly;
  for (const int capability : generations) {
    CompilingDevice device(*nvrtc_, capability);
    // Generations differ in the prelude and in the assembler, which a few kernels of each file show.
    test::build_every_kernel(device, capability == 90 ? test::Kernels::all : test::Kernels::few);
    compiled.insert(device.files().begin(), device.files().end());
  }
  for (const std::string_view file : kernel_files()) {
    if (!file.ends_with(".cl")) continue;
    EXPECT_EQ(compiled.count(std::string(file)), 1u) << file << " was not compiled: build it here too";
  }
}

TEST_F(Nvrtc, CompilesForCrippledDevices) {
  CompilingDevice device(*nvrtc_, 90);
  DeviceInfo info = device.info();
  info.local_bytes = 24 << 10;
  for (const Capability capability : {Capability::device_fence, Capability::int64_atomics, Capability::subgroups}) {
    info.missing.push_back({capability, "masked"});
  }
  device.restrict_to(info);
  for (const DType type : {DType::float32, DType::float64}) reduction::DeviceSum(device, type, {}, 1 << 20);
}

TEST_F(Nvrtc, KeepsEveryRounding) {
  const std::string code = ptx("x[0] = x[1] * x[2] + x[3]; x[4] = x[5] / x[6]; x[7] = sqrt(x[8]); y[0] = y[1] * y[2] + y[3];");
  EXPECT_EQ(code.find("fma.rn"), std::string::npos) << code;
  EXPECT_NE(code.find("div.rn.f32"), std::string::npos) << code;
  EXPECT_NE(code.find("sqrt.rn.f32"), std::string::npos) << code;
  EXPECT_EQ(code.find(".ftz"), std::string::npos) << code;
  EXPECT_NE(ptx("x[0] = fma(x[1], x[2], x[3]);").find("fma.rn.f32"), std::string::npos);
}

TEST_F(Nvrtc, GivesPtxBesideMachineCode) {
  const std::string kernel = assemble(Language::cuda, {}) + "KERNEL void k(GLOBAL float* x) { x[0] = fma(x[1], x[2], x[3]); }\n";
  const Binary both = nvrtc_->compile(kernel, "sm_90", {}, true), alone = nvrtc_->compile(kernel, "sm_90");
  EXPECT_EQ(both.bytes.substr(1, 3), "ELF");
  EXPECT_EQ(alone.bytes.substr(1, 3), "ELF");
  EXPECT_NE(both.ptx.find("fma.rn.f32"), std::string::npos) << both.ptx;
  EXPECT_EQ(alone.ptx, "");
}

// A processor of this family orders memory more strictly than requested, so no run here would detect a missing order.
TEST_F(Nvrtc, KeepsEveryMemoryOrder) {
  const std::string barrier(kernel_file("samesum/device/grid_barrier.h"));
  const auto of = [&](const std::string& body) {
    return nvrtc_->compile(barrier + "\nGRID_KERNEL void k(GRID_GLOBAL unsigned int* p) {\n" + body + "\n}\n", "compute_80").bytes;
  };
  const auto has = [](const std::string& code, std::string_view instruction) { return code.find(instruction) != std::string::npos; };
  EXPECT_TRUE(has(of("grid_store_release(p, 1);"), "st.release.gpu"));
  EXPECT_TRUE(has(of("p[1] = grid_load_acquire(p);"), "ld.acquire.gpu"));
  EXPECT_TRUE(has(of("p[1] = grid_add(p, 1);"), "atom.acq_rel.gpu"));
  EXPECT_TRUE(has(ptx("fence_device();"), "fence.acq_rel.gpu"));
  EXPECT_TRUE(has(ptx("z[1] = atomic_add_ordered_global32(z, 1);"), "atom.acq_rel.gpu"));
  EXPECT_TRUE(has(ptx("atomic_merge_global64((GLOBAL ulong*)y, 1);"), "red.relaxed.gpu")) << "counted words need no order";
}

TEST_F(Nvrtc, RefusesWhatOpenclReadsOtherwise) {
  for (const char* body : {"float4 v; v = (float4)(1.0f, 2.0f, 3.0f, 4.0f); x[0] = v.x;", "float v = (1.0f, 2.0f); x[0] = v;"}) {
    try {
      ptx(body);
      ADD_FAILURE() << body;
    } catch (const Error& error) {
      EXPECT_FALSE(error.context().build_log.empty());
      EXPECT_EQ(error.context().code, "NVRTC_ERROR_COMPILATION");
    }
  }
}

}  // namespace
}  // namespace samesum::device
