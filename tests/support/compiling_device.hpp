// A device that compiles for CUDA by the real NVRTC and never runs: no GPU is needed.
#pragma once

#include "device/cuda/nvrtc.hpp"
#include "device/device.hpp"
#include "device/kernels/hash.hpp"
#include "device/kernels/program.hpp"

#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace samesum::device {
/// Patterns build for it what they build for a GPU of that compute capability. What the assembler says of each kernel is checked and
/// printed.
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
  /// A source that has several entries, or that several patterns share, is compiled once.
  Binary compile(const std::string& source) override {
    const auto [place, is_new] = compiled_.try_emplace(hash_of({source}));
    if (is_new) place->second = compile_anew(source);
    return place->second;
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

  /// Each `.cl` file of the library was among what was compiled, but for kernels for OpenCL devices that are CPUs.
  void expect_every_file() const {
    static const std::set<std::string_view> opencl_only{"ladder/ceiling/ceiling_cpu.cl", "pairs/pairs_cpu.cl"};
    for (const std::string_view file : kernel_files()) {
      if (!file.ends_with(".cl") || opencl_only.count(file) != 0) continue;
      EXPECT_EQ(files_.count(std::string(file)), 1u) << file << " was not compiled: have test::build_every_kernel() build it";
    }
  }

 private:
  Binary compile_anew(const std::string& source) {
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

  // The limit for an entry's spilled registers: a few. The exact sums spill more where digits are too far apart for a sub-group and one
  // work-item rounds them, once at a kernel's end; as a separate function that cost every sum 0.2 µs on an H100, called or not. Sums by
  // index of doubles with squares, and one kind of prefixes, spill some for sm_121.
  static int most_spilled(const std::string& name) {
    static const std::set<std::string> none{"pairs_blocks", "pairs_combine", "pairs_exact", "barriers", "neighbour_sums"};
    return name == "statistics" || name == "small_sum"          ? 256
           : name == "sums_by_index" || name == "scan_prefixes" ? 128
           : none.count(name) != 0                              ? 0
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
  std::map<std::string, Binary> compiled_;  // by the hash of the source
};

/// Tests that need NVRTC, and are skipped without.
class WithNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    constexpr int kAnyDriver = 13;
    const cuda::CompilerChoice choice = cuda::choose_compiler(90, kAnyDriver);
    if (choice.library.empty()) GTEST_SKIP() << choice.reason;
    nvrtc_ = &choice.nvrtc();
    setenv("SAMESUM_CACHE", "0", 1);
  }
  void TearDown() override { unsetenv("SAMESUM_CACHE"); }

  const cuda::Nvrtc* nvrtc_ = nullptr;
};

}  // namespace samesum::device
