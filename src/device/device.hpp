// The seam: all that a pattern may ask of a device, and all that a backend must provide. Arrows go one way: patterns know this file,
// backends implement it, and neither knows the other.
#pragma once

#include "device/mutex.hpp"
#include "device/plans.hpp"

#include <samesum/device.hpp>

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

/// Device memory; freed with its last copy. `handle` is the backend's own (a cl_mem, a CUdeviceptr, a host pointer).
struct Memory {
  std::shared_ptr<void> handle;
  std::uint64_t bytes = 0;
  const void* on_host = nullptr;  ///< where the host reads it, of allocate_result() where kernels write to the host's memory
};

/// A kernel of a loaded program, and the program with it.
struct Kernel {
  std::shared_ptr<void> handle;
  std::string name;
  /// Whether it waits itself for the launches ahead of it (the dialect's after_launches()), so that a device may start it before these end.
  bool early = false;
};

/// One kernel argument. Sizes are those of the dialect: int and uint 32 bits, long and ulong 64.
using Argument = std::variant<Memory, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

/// How many groups of how many work-items.
struct Grid {
  std::uint32_t groups = 1;
  std::uint32_t group_size = 1;
  /// All groups are resident at once, or the launch fails: where the device can promise that (it knows its resident_groups()).
  bool together = false;
  /// Local memory of a group, for a kernel that takes it by DYNLOCAL; at most launch_local_bytes().
  std::uint32_t local_bytes = 0;
};

/// A point in a device's queue.
struct Mark {
  std::shared_ptr<void> handle;
};

/// Launches that can be made again as one.
struct Recording {
  std::shared_ptr<void> handle;
};

/// The outcome of a compilation: what load() takes, and the compiler's log, which comes back in any case.
struct Binary {
  std::string bytes;
  std::string log;
};

/// The dialect that a device's compiler takes: decides the prelude.
enum class Language { opencl_c, cuda };

/// A program that device::build() has built: what compile() yielded, and the kernels loaded from it, by entry.
struct Built {
  Binary binary;
  std::map<std::string, Kernel, std::less<>> kernels;
};

/// An open device: one in-order queue. Every function throws Error (device) with the driver's code by name where the driver fails.
class Device {
 public:
  virtual ~Device() = default;

  const DeviceInfo& info() const noexcept { return info_; }
  /// Held by a pattern for the whole of one operation: a device that runs kernels does one after the other.
  Mutex& mutex() noexcept { return mutex_; }
  /// Replaces what the device says of itself: for what a conformance run or a mask takes away, before the device is shared.
  void restrict_to(DeviceInfo info) { info_ = std::move(info); }
  /// The programs that device::build() keeps for this device, by source; guarded by mutex().
  std::map<std::string, Built, std::less<>>& built() noexcept { return built_; }

  /// What calls have left to later ones; guarded by mutex().
  Plans& plans() noexcept { return plans_; }

  /// Whether device::build() may take programs from the disk, and keep them there.
  bool cached() const noexcept { return cached_; }

  // memory
  virtual Memory allocate(std::uint64_t bytes) = 0;
  /// For the few words that a kernel leaves and the host reads next: where the device can, in the host's memory, so that no copy follows
  /// the kernel. Kernels write there; atomics, and what kernels read again, belong elsewhere.
  virtual Memory allocate_result(std::uint64_t bytes) { return allocate(bytes); }
  /// The caller's own memory, which stays the caller's; throws Error (usage) where it cannot be used.
  virtual Memory wrap(void* memory, std::uint64_t bytes);
  /// By how many bytes `memory` begins behind a multiple of 16.
  virtual std::uint32_t misalignment(const Memory&) const { return 0; }
  virtual void write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) = 0;  // `from` is free on return
  virtual void read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) = 0;         // waits

  // kernels: only where info().has(Capability::kernels)
  virtual Language language() const = 0;
  /// Everything beside the source that decides what compile() yields: compiler, its version, options, driver, device.
  virtual std::string compiler_identity() const = 0;
  virtual Binary compile(const std::string& source) = 0;
  /// The kernel `name` of a program that compile() yielded, now or in an earlier process.
  virtual Kernel load(const Binary& binary, const std::string& name) = 0;
  virtual void launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) = 0;
  /// What Grid::local_bytes may be: more than info().local_bytes, which bounds local variables, where the device has more for a launch.
  virtual std::uint64_t launch_local_bytes() const { return info_.local_bytes; }
  /// Whether resident_groups() is known: where it is not, no kernel can be held to few registers either.
  virtual bool knows_residency() const { return true; }
  /// Groups of this size that can be resident at once; nothing where the device cannot know.
  virtual std::optional<std::uint32_t> resident_groups(const Kernel& kernel, std::uint32_t group_size) = 0;

  /// Whether kernels may have clusters of groups (the dialect's CLUSTERED).
  virtual bool has_clusters() const { return false; }
  /// Clusters of so many groups of this size that can be resident at once, of a kernel that has them; 0: none can.
  virtual std::uint32_t resident_clusters(const Kernel&, std::uint32_t /*group_size*/, std::uint32_t /*groups*/) { return 0; }

  // recordings: what is launched between begin and end is not run, but kept, to be replayed as often as wanted
  /// False where the device has no such thing: nothing has begun then.
  virtual bool begin_recording() { return false; }
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

/// @throws Error (usage) where groups of `wanted` work-items are more than `most`, which a kernel takes on the device.
void check_group_size(const DeviceInfo& info, std::uint32_t wanted, std::uint32_t most);

/// What a backend found: devices in the order of their indices, or why there is none.
struct Probe {
  std::vector<DeviceInfo> devices;
  std::vector<Absence> absent;
};

/// "opencl:0 (NVIDIA H100)": a device in messages and in Error::Context.
inline std::string label(const DeviceInfo& info) { return info.selector + " (" + info.name + ")"; }

/// A backend: how to look for its devices, and how to open one of them. Probing is cheap: nothing is compiled.
struct Backend {
  std::string_view name;  // "cpu", "opencl", "cuda"
  Probe (*probe)();
  std::shared_ptr<Device> (*open)(std::uint32_t index);
};

/// All backends, in the order in which devices are listed.
std::span<const Backend> backends();

}  // namespace samesum::device
