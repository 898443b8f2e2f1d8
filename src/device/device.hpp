// The seam: everything that a pattern may use of a device, and everything that a backend must provide. Dependencies go one way: patterns
// use this file, backends implement it, and neither depends on the other.
#pragma once

#include "device/mutex.hpp"
#include "device/plans.hpp"

#include <samesum/device.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace samesum::device {

/// Device memory, freed with its last copy. `handle` is specific to the backend (a cl_mem, a CUdeviceptr, a host pointer).
struct Memory {
  std::shared_ptr<void> handle;
  std::uint64_t bytes = 0;
  const void* on_host = nullptr;  ///< where the host reads it, of allocate_result() where kernels write to the host's memory
};

/// A kernel of a loaded program; holds the program.
struct Kernel {
  std::shared_ptr<void> handle;
  std::string name;
  /// Whether the kernel itself waits for preceding launches (the dialect's grid_dependency_wait()), so that the device may start it before
  /// they end.
  bool early = false;
};

/// One kernel argument. Sizes are those of the dialect: ushort 16 bits, int and uint 32, long and ulong 64.
using Argument = std::variant<Memory, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

/// The shape of a launch: the number of groups and of work-items in each.
struct Grid {
  std::uint32_t groups = 1;
  std::uint32_t group_size = 1;
  /// All groups must be resident at once, or the launch fails; only for devices that know their resident_groups().
  bool together = false;
  /// Local memory of a group, for a kernel that declares it by DYNLOCAL; at most launch_local_bytes().
  std::uint32_t local_bytes = 0;
  /// Along the second and the third axis, for kernels of users; `groups` and `group_size` are those along the first.
  std::array<std::uint32_t, 2> more_groups = {1, 1}, more_items = {1, 1};
};

/// A point in a device's queue.
struct Mark {
  std::shared_ptr<void> handle;
};

/// Launches that can be repeated as one.
struct Recording {
  std::shared_ptr<void> handle;
};

/// The result of a compilation: what load() takes (the binary, or the source where no binary is wanted), and the compiler's log, which may
/// be non-empty on success too.
struct Binary {
  std::string bytes;
  std::string log = {};
  std::string ptx = {};   ///< CUDA's, after want_binaries()
  std::string arch = {};  ///< of what ships with samesum: what it was compiled for
};

/// The language of a device's compiler: decides which prelude is used.
enum class Language { opencl_c, cuda };

/// A program built by device::build(): the result of compile(), and the kernels loaded from it, by entry.
struct Built {
  Binary binary;
  bool compiled = false;  ///< by this process, rather than found
  std::map<std::string, Kernel, std::less<>> kernels;
};

/// An open device: one in-order queue. Every function throws Error (device) with the driver's code by name where a driver call fails.
class Device {
 public:
  virtual ~Device() = default;

  const DeviceInfo& info() const noexcept { return info_; }
  /// Locked by a pattern for a whole operation: a device that runs kernels executes one operation at a time.
  Mutex& mutex() noexcept { return mutex_; }
  /// Replaces the reported properties by restricted ones (after a conformance run, or by a mask), before the device is shared.
  void restrict_to(DeviceInfo info) { info_ = std::move(info); }
  /// The programs that device::build() caches for this device, by source; guarded by mutex().
  std::map<std::string, Built, std::less<>>& built() noexcept { return built_; }

  /// Plans of earlier calls, for reuse; guarded by mutex().
  Plans& plans() noexcept { return plans_; }

  /// Whether device::build() may use the disk cache.
  bool cached() const noexcept { return cached_; }

  // memory
  virtual Memory allocate(std::uint64_t bytes) = 0;
  /// For the few words that a kernel leaves and the host reads next: where the device can, in the host's memory, so that no copy follows
  /// the kernel. Kernels write there; atomics, and what kernels read again, belong elsewhere.
  virtual Memory allocate_result(std::uint64_t bytes) { return allocate(bytes); }
  /// The caller's own memory, which stays the caller's; throws Error (usage) where it cannot be used.
  virtual Memory wrap(void* memory, std::uint64_t bytes);
  /// The memory from byte `offset` on, as a kernel's argument; shares the allocation. @throws Error (usage) where a kernel's argument
  /// cannot begin there.
  virtual Memory from(const Memory& memory, std::uint64_t offset);
  /// Where `memory` begins, if it has an address; else null.
  virtual const void* address_of([[maybe_unused]] const Memory& memory) const { return nullptr; }
  /// The start of `memory` modulo 16, in bytes.
  virtual std::uint32_t misalignment(const Memory&) const { return 0; }
  virtual void write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) = 0;  // `from` may be reused on return
  virtual void read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) = 0;         // waits

  // kernels: only where info().has(Capability::kernels)
  virtual Language language() const = 0;
  /// Everything beside the source that determines the result of compile(): compiler, its version, options, driver, device.
  virtual std::string compiler_identity() const = 0;
  virtual Binary compile(const std::string& source) = 0;
  /// The same, of what was compiled before samesum was packed, the best first; none where it is not among that.
  virtual std::vector<Binary> shipped(const std::string&) { return {}; }
  /// From now on compile() gives the program's binary even where there is no disk cache, and PTX where there is such: to be shown.
  virtual void want_binaries() {}
  /// The kernel `name` of a program compiled by compile(), in this process or an earlier one.
  virtual Kernel load(const Binary& binary, const std::string& name) = 0;
  virtual void launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) = 0;
  /// The maximum of Grid::local_bytes: it may exceed info().local_bytes, which bounds local variables.
  virtual std::uint64_t launch_local_bytes() const { return info_.local_bytes; }
  /// Whether resident_groups() is known; where it is not, the number of registers of a kernel cannot be limited either.
  virtual bool knows_residency() const { return true; }
  /// The number of groups of this size that can be resident at once; no value where the device cannot tell.
  virtual std::optional<std::uint32_t> resident_groups(const Kernel& kernel, std::uint32_t group_size) = 0;

  // recordings: launches between begin and end are recorded instead of run, and can be replayed any number of times
  /// False where the device cannot record: then no recording has begun.
  virtual bool begin_recording() { return false; }
  virtual bool is_recording() { return false; }  // this device, or the caller its stream: what is enqueued may run any number of times
  virtual Recording end_recording() { return {}; }
  virtual void replay(const Recording&) {}

  // events of the caller's other queues (Device::wait_for(), Device::record())
  virtual void wait_for(void* event);
  virtual void* record(void* event);

  // time
  virtual Mark mark() = 0;
  virtual double seconds_between(const Mark& from, const Mark& to) = 0;  // waits for `to`
  virtual void finish() = 0;

 protected:
  DeviceInfo info_;
  bool cached_ = true;

 private:
  Mutex mutex_{info_};
  std::map<std::string, Built, std::less<>> built_;
  Plans plans_;
};

/// @throws Error (usage) where `wanted` work-items per group exceed `most`, the kernel's maximum on the device.
void check_group_size(const DeviceInfo& info, std::uint32_t wanted, std::uint32_t most);

/// The result of probing a backend: devices in the order of their indices, or why there is none.
struct Probe {
  std::vector<DeviceInfo> devices;
  std::vector<Absence> absent;
};

/// "opencl:0 (NVIDIA H100)": a device in messages and in Error::Context.
inline std::string label(const DeviceInfo& info) { return info.selector + " (" + info.name + ")"; }

/// A backend: functions to list its devices and to open one of them. Probing is cheap: nothing is compiled.
struct Backend {
  std::string_view name;  // "cpu", "opencl", "cuda"
  Probe (*probe)();
  std::shared_ptr<Device> (*open)(std::uint32_t index);
};

/// All backends, in the order in which devices are listed.
std::span<const Backend> backends();

}  // namespace samesum::device
