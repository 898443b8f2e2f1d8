// Every kernel, as the library builds it for a driver that names every extension, through the front end of a compiler that has them all:
// clang's. Drivers are built on it, PoCL's too, and none of them is needed for most of what could be wrong with a kernel.
#include "device/device.hpp"
#include "device/kernels/conformance.hpp"
#include "device/kernels/program.hpp"
#include "device/opencl/opencl.hpp"
#include "support/every_kernel.hpp"
#include "support/process.hpp"

#include <samesum/error.hpp>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace samesum::device {
namespace {

/// Kernels for sub-groups, which no OpenCL device has.
const std::set<std::string> kOfSubgroups{"reduce/small/elements_integer.cl", "reduce/small/small_sum.cl",
                                         "reduce/small/sum_integers.cl",     "reduce/small/sums_float32.cl",
                                         "reduce/small/terms_float64.cl",    "reduce/extremes/extremes_small.cl"};

/// A device that records what it is given to compile, and never runs.
class NotingDevice final : public Device {
 public:
  explicit NotingDevice(DeviceInfo info) {
    info_ = std::move(info);
    cached_ = false;
  }

  Memory allocate(std::uint64_t bytes) override { return {std::shared_ptr<void>(std::calloc(bytes, 1), std::free), bytes}; }
  void write(const Memory&, std::uint64_t, const void*, std::uint64_t) override {}
  void read(const Memory&, std::uint64_t, void* to, std::uint64_t bytes) override { std::memset(to, 0, bytes); }
  Language language() const override { return Language::opencl_c; }
  std::string compiler_identity() const override { return "none"; }
  Binary compile(const std::string& source) override {
    sources.insert(source);
    return {source, {}};
  }
  Kernel load(const Binary&, const std::string& name) override { return {std::make_shared<int>(), name}; }
  void launch(const Kernel&, Grid, std::span<const Argument>) override {}
  bool knows_residency() const override { return info_.is_cpu; }
  std::optional<std::uint32_t> resident_groups(const Kernel&, std::uint32_t) override {
    return info_.is_cpu ? std::optional(info_.compute_units) : std::nullopt;
  }
  Mark mark() override { return {}; }
  double seconds_between(const Mark&, const Mark&) override { return 1e-3; }
  void finish() override {}

  std::set<std::string> sources;
};

// The fake driver that wraps the machine's own and reports every extension.
std::string fake() {
  const char* folder = std::getenv("SAMESUM_FAKES");
  const std::string path = folder == nullptr ? "" : std::string(folder) + "/libfake_opencl.so";
  return std::filesystem::exists(path) ? path : "";
}

const char* find_clang() {
  for (const char* path : {"/usr/bin/clang-15", "/usr/bin/clang", "/usr/bin/clang-14"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return nullptr;
}

// The standard output of a command.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  for (int letter; pipe != nullptr && (letter = std::fgetc(pipe.get())) != EOF;) output += static_cast<char>(letter);
  return output;
}

// clang's diagnostics for `sources` and a target, on all cores. One process takes many files, as most of the time for one file is the start
// of a process: that is what clang's driver runs for a file, as it shows by -###, with the others behind it.
std::string complaints(const char* clang, const char* target, const std::set<std::string>& sources) {
  const test::ScopedFolder folder;
  std::vector<std::string> files(std::max(std::thread::hardware_concurrency(), 1u));
  std::size_t count = 0;
  for (const std::string& source : sources) {
    const std::string file = fmt::format("{}/{}.cl", folder.path(), count);
    std::ofstream(file) << source;
    files[count++ % files.size()] += " " + file;
  }
  const std::string driver = output_of(fmt::format(
      "{} -x cl -cl-std=CL3.0 -D__OPENCL_VERSION__=300 -Xclang -cl-ext=+all --target={} -Xclang -finclude-default-header -Xclang "
      "-fdeclare-opencl-builtins -fsyntax-only -Werror {}/0.cl -### 2>&1 | tail -n 1",
      clang, target, folder.path()));
  // Without its file, and freeing the memory of each.
  const std::string command = std::regex_replace(driver, std::regex("\"-disable-free\"| \"[^\"]*\"\\s*$"), "");
  std::vector<std::string> logs(files.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < files.size(); ++i)
    threads.emplace_back([&, i] { logs[i] = output_of(command + files[i] + " 2>&1 || echo clang failed"); });
  for (std::thread& thread : threads) thread.join();
  return fmt::format("{}", fmt::join(logs, ""));
}

TEST(OpenclKernels, CompileForADriverThatNamesEveryExtension) {
  const char* const clang = find_clang();
  if (clang == nullptr) GTEST_SKIP() << "no clang, which PoCL brings along";
  if (fake().empty()) GTEST_SKIP() << "no driver to stand in front of";
  if (!test::in_child()) {
    return test::run_in_children({{"SAMESUM_OPENCL_LIBRARY", fake()}, {"FAKE_OPENCL", "claims gpu"}, {"SAMESUM_CACHE", "0"}});
  }
  // As the driver reports it, and with the results of the conformance kernel.
  DeviceInfo info = samesum::Device::open("opencl:0").info();
  EXPECT_FALSE(info.is_cpu);
  EXPECT_TRUE(info.has(Capability::fp64) && info.has(Capability::int64_atomics) && info.has(Capability::device_fence));
  EXPECT_NE(info.why_not(Capability::subgroups).find("sub-group"), std::string::npos);

  std::set<std::string> sources, of_gpus, compiled = kOfSubgroups;
  for (const bool cpu : {false, true}) {
    info.is_cpu = cpu;
    NotingDevice device(info);
    test::build_every_kernel(device);
    if (cpu) build(device, {{"ladder/ceiling/ceiling_cpu.cl"}, {}}, "read_run_1");
    if (!cpu) of_gpus = device.sources;
    sources.merge(device.sources);
  }
  static const std::regex marker("#line 1 \"([^\"]+\\.cl)\"");
  for (const std::string& source : sources) {
    for (std::sregex_iterator file(source.begin(), source.end(), marker), end; file != end; ++file) compiled.insert((*file)[1]);
  }
  for (const std::string_view file : kernel_files()) {
    if (!file.ends_with(".cl")) continue;
    EXPECT_EQ(compiled.count(std::string(file)), 1u) << file << " was not compiled: have test::build_every_kernel() build it";
  }
  EXPECT_GT(sources.size(), 100u);
  EXPECT_EQ(complaints(clang, "spir64", sources), "");
  // As NVIDIA's compiler takes them, which has PTX and so sub-groups.
  EXPECT_EQ(complaints(clang, "nvptx64 -DSAMESUM_PTX=900 -Dasm=__asm__", of_gpus), "");
}

}  // namespace
}  // namespace samesum::device
