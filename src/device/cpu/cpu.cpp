#include "device/cpu/cpu.hpp"
#include "core/threads/parallel.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace samesum::device::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return "unknown processor";
}

DeviceInfo describe() {
  DeviceInfo info;
  info.selector = "cpu";
  info.name = processor_name();
  info.platform = "host";
  info.is_cpu = true;
  info.compute_units = core::all_cores();
  info.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  info.max_allocation_bytes = info.memory_bytes;
  for (const Capability of_kernels : {Capability::kernels, Capability::subgroups})
    info.missing.push_back({of_kernels, "runs host functions"});
  return info;
}

class CpuDevice final : public Device {
 public:
  CpuDevice() { info_ = describe(); }

  Memory allocate(std::uint64_t bytes) override {
    if (bytes > info_.max_allocation_bytes) fail(fmt::format("cannot allocate {} bytes: this machine's memory is smaller", bytes));
    // Large buffers are aligned for huge pages: with 4 KiB pages, address translation limits the read rate.
    const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kPage;
    const std::uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* block = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (block == nullptr) fail(fmt::format("cannot allocate {} bytes of host memory", bytes));
    if (alignment == kHugePage) madvise(block, rounded, MADV_HUGEPAGE);
    return {std::shared_ptr<void>(block, std::free), bytes};
  }

  const void* address_of(const Memory& memory) const override { return memory.handle.get(); }
  Memory wrap(void* memory, std::uint64_t bytes) override {
    if (memory == nullptr && bytes != 0) {
      throw Error(ErrorKind::usage, fmt::format("a null pointer was given as the address of {} bytes", bytes));
    }
    return {std::shared_ptr<void>(std::shared_ptr<void>(), memory), bytes};
  }

  void write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) override {
    std::memcpy(at(to, offset, bytes), from, bytes);
  }

  void read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) override {
    std::memcpy(to, at(from, offset, bytes), bytes);
  }

  Language language() const override { no_kernels(); }
  std::string compiler_identity() const override { no_kernels(); }
  Binary compile(const std::string&) override { no_kernels(); }
  Kernel load(const Binary&, const std::string&) override { no_kernels(); }
  void launch(const Kernel&, Grid, std::span<const Argument>) override { no_kernels(); }
  std::optional<std::uint32_t> resident_groups(const Kernel&, std::uint32_t) override { no_kernels(); }

  Mark mark() override { return {std::make_shared<Clock::time_point>(Clock::now())}; }

  double seconds_between(const Mark& from, const Mark& to) override {
    const auto time = [](const Mark& mark) { return *static_cast<const Clock::time_point*>(mark.handle.get()); };
    return std::chrono::duration<double>(time(to) - time(from)).count();
  }

  void finish() override {}

 private:
  [[noreturn]] void fail(std::string message) const {
    Error::Context context;
    context.device = label(info_);
    throw Error(ErrorKind::device, std::move(message), std::move(context));
  }

  [[noreturn]] void no_kernels() const { fail("this device runs host functions, not kernels"); }

  std::byte* at(const Memory& memory, std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > memory.bytes || bytes > memory.bytes - offset) {
      fail(fmt::format("{} bytes at offset {} lie outside an allocation of {} bytes", bytes, offset, memory.bytes));
    }
    return static_cast<std::byte*>(memory.handle.get()) + offset;
  }
};

}  // namespace

Probe probe() { return {{describe()}, {}}; }

std::shared_ptr<Device> open(std::uint32_t) { return std::make_shared<CpuDevice>(); }

}  // namespace samesum::device::cpu
