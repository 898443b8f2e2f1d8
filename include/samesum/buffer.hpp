// Memory of a device: samesum's, or the caller's own.
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>

#include <cstdint>
#include <memory>

namespace samesum SAMESUM_EXPORT {

/// Global memory of a device. A cheap handle: copies share the memory.
class Buffer {
 public:
  /// New memory, freed with the last copy of the handle.
  /// @throws Error (device) if the allocation fails.
  Buffer(const Device& device, std::uint64_t bytes);

  /// Wraps existing memory without a copy; the caller frees it, after its last use here.
  /// CUDA: an address in device, managed or pinned host memory, with any alignment. OpenCL: a cl_mem of the device's own context (see
  /// Device::on_opencl_queue), which is retained. CPU: an address in host memory.
  /// @throws Error (usage) if `memory` is not such memory or is smaller, as far as the driver can tell (a released cl_mem goes
  /// undetected).
  static Buffer wrap(const Device& device, void* memory, std::uint64_t bytes);

  std::uint64_t bytes() const noexcept;   ///< its size
  const Device& device() const noexcept;  ///< the device whose memory it is
  /// Writes; `from` may be reused on return. @throws Error (usage) for bytes outside of the buffer.
  void write(const void* from, std::uint64_t bytes, std::uint64_t offset = 0) const;
  /// Reads, after all work launched before has completed. @throws Error (usage) for bytes outside of the buffer.
  void read(void* to, std::uint64_t bytes, std::uint64_t offset = 0) const;

  struct SAMESUM_HIDDEN State;
  const State& state() const noexcept { return *state_; }  ///< for the library's own use

 private:
  explicit Buffer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// The arrays that a plan is made for.
enum class Layout {
  contiguous,  ///< adjacent elements; the first may lie at any offset
  strided,     ///< with any stride
};

}  // namespace samesum
