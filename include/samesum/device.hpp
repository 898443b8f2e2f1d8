// Devices: what there is to compute on, what each can do, and how to choose one.
#pragma once

#include <samesum/export.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::device {
class Device;  // the seam between patterns and backends; not part of the public interface
}

namespace samesum SAMESUM_EXPORT {

/// What a device may or may not be able to do. No code of samesum depends on the backend or the vendor: it tests these capabilities. Some
/// are read from the driver; the others are found by running a small conformance kernel when the device is opened.
enum class Capability {
  kernels,        ///< compiles and runs kernels (the CPU backend runs host functions instead)
  fp64,           ///< float64 arithmetic
  int64_atomics,  ///< 64-bit integer atomics in global memory
  subgroups,      ///< sub-groups of 32 work-items: shuffles, votes, sums
  device_fence,   ///< memory fences that order one work-group's writes for another's reads, within one launch
  unfused,        ///< a*b+c is rounded twice when written as two operations
  division,       ///< correctly rounded float32 division
  square_root,    ///< correctly rounded float32 square root
  fma,            ///< correctly rounded fused multiply-add when asked for
  denormals,      ///< float32 denormals are preserved, as operands and as results
};

/// "fp64", "int64_atomics", …: the names used by `samesum devices` and by the variable SAMESUM_MASK.
std::string_view name_of(Capability capability) noexcept;

/// A capability that a device lacks, and why.
struct Missing {
  Capability capability;
  std::string reason;
};

/// What is known of a device.
struct DeviceInfo {
  std::string selector;  ///< "cpu", "opencl:0", "cuda:1": opens exactly this device
  std::string name;      ///< as the driver names it
  std::string platform;  ///< the OpenCL platform, "CUDA", or "host"
  std::string driver;    ///< driver version
  bool is_cpu = false;   ///< executes on the host's own processor (the CPU backend, and OpenCL devices of type CPU)
  std::uint32_t compute_units = 0;
  std::uint32_t max_group_size = 0;        ///< work-items
  std::uint64_t local_bytes = 0;           ///< local memory of a work-group
  std::uint64_t memory_bytes = 0;          ///< global memory
  std::uint64_t max_allocation_bytes = 0;  ///< largest single allocation
  std::vector<Missing> missing;            ///< capabilities that it lacks

  bool has(Capability capability) const noexcept;  ///< whether the device has it
  /// Why it lacks `capability`; empty if it has it.
  std::string_view why_not(Capability capability) const noexcept;
};

/// A backend or a device that cannot be used here, and why.
struct Absence {
  std::string selector;
  std::string reason;
};

/// Everything found on this machine.
struct DeviceList {
  std::vector<DeviceInfo> devices;  ///< usable ones: "cpu" first, then OpenCL, then CUDA
  std::vector<Absence> absent;
};

/// An open device. A cheap handle: copies share the device. A handle and its copies may be used from several threads at once; calls on one
/// device run one after the other, except on the CPU, where they run concurrently.
class Device {
 public:
  /// Opens what `selector` names: "cpu", "opencl:0", "cuda:0", a backend and part of a device's or platform's name in any case
  /// ("opencl:nvidia"), or a backend alone ("cuda": its first device). "auto" (or an empty selector): as choose_device() for 0 bytes, which
  /// is the CPU unless SAMESUM_DEVICE is set. "all" names several devices: see open_devices.
  /// @throws Error (usage) if nothing matches; the message lists the devices that exist.
  static Device open(std::string_view selector);

  /// The CUDA device `ordinal`, working on the caller's stream (a CUstream or cudaStream_t; null: the default stream) in the device's
  /// primary context, which CUDA's runtime uses too. Enqueued work can be captured into the caller's CUDA graph; the device must be opened
  /// before the capture begins. The stream must outlive the handle and its copies.
  /// @throws Error (usage) if there is no such device; Error (device) if the stream does not belong to it.
  static Device on_cuda_stream(void* stream, std::uint32_t ordinal = 0);

  /// The OpenCL device of the caller's command queue (a cl_command_queue), working in that queue and its context. The queue is retained.
  /// Times are reported only if it was created with CL_QUEUE_PROFILING_ENABLE.
  /// @throws Error (usage) if `queue` is not a command queue (as far as Buffer::wrap can tell), runs out of order, or belongs to a
  /// device that samesum cannot use.
  static Device on_opencl_queue(void* queue);

  /// Work enqueued on this device from now on waits, on the device, for `event` of another queue: a CUevent or cudaEvent_t that was
  /// recorded, or a cl_event of the same context. The calling thread does not wait.
  /// @throws Error (usage) if the device has no queue (the CPU), or `event` is null; Error (device) if the driver does not take it.
  void wait_for(void* event) const;
  /// An event that completes with all work enqueued on this device so far, for other queues to wait for. On CUDA `event` is recorded, or a
  /// new one if it is null; on OpenCL `event` must be null. The caller releases a new event (cuEventDestroy, clReleaseEvent).
  /// @throws Error as wait_for().
  void* record(void* event = nullptr) const;

  const DeviceInfo& info() const noexcept;  ///< name, limits and capabilities

  explicit Device(std::shared_ptr<device::Device> implementation) : implementation_(std::move(implementation)) {}
  device::Device& implementation() const noexcept { return *implementation_; }  ///< for the library's own use

 private:
  std::shared_ptr<device::Device> implementation_;
};

/// Probes every backend. An unavailable backend does not throw: it is listed as an Absence.
DeviceList list_devices();

/// The device for `bytes` of data in host memory. "auto" (or an empty selector) takes the value of the environment variable SAMESUM_DEVICE
/// if that is set, and otherwise decides by size: GPUs are not even probed if the CPU would be faster, start-up and transfer
/// included. Any other selector: Device::open.
Device choose_device(std::string_view selector, std::uint64_t bytes);

/// All devices that `selector` names: all usable ones for "all", those of a list ("cuda:0,cuda:1"), otherwise the one of choose_device.
std::vector<Device> open_devices(std::string_view selector, std::uint64_t bytes);

}  // namespace samesum
