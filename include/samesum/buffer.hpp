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
  /// @throws Error (device) where the device has no such room.
  Buffer(const Device& device, std::uint64_t bytes);

  /// Memory that exists already; nothing is copied, and it stays the caller's to free, after the last use here.
  /// CUDA: an address in device, managed or pinned host memory, with any alignment. OpenCL: a cl_mem of the device's own context (see
  /// Device::on_opencl_queue), which is retained. CPU: an address in host memory.
  /// @throws Error (usage) where `memory` is no such thing, as far as can be seen (not that a cl_mem was released before), or is smaller.
  static Buffer wrap(const Device& device, void* memory, std::uint64_t bytes);

  std::uint64_t bytes() const noexcept;
  const Device& device() const noexcept;
  /// `from` is free on return.
  void write(const void* from, std::uint64_t bytes, std::uint64_t offset = 0) const;
  /// Waits for all that was launched before.
  void read(void* to, std::uint64_t bytes, std::uint64_t offset = 0) const;

  struct SAMESUM_HIDDEN State;
  const State& state() const noexcept { return *state_; }

 private:
  explicit Buffer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Which arrays a plan is made for.
enum class Layout {
  contiguous,  ///< the elements follow one another; the first may lie anywhere
  strided,     ///< with any stride
};

}  // namespace samesum
