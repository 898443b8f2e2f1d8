// Large transfers between pageable host memory and a GPU.
#pragma once

#include "device/cuda/context.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace samesum::device::cuda {

/// Double-buffered transfers: while one pinned buffer is transferred, all cores copy to or from the other. The driver itself copies
/// pageable memory with one core.
class Staging {
 public:
  static constexpr std::uint64_t kSlotBytes = std::uint64_t{16} << 20;
  /// Below this size the driver's own copy is as fast.
  static constexpr std::uint64_t kWorthwhileBytes = std::uint64_t{1} << 20;
  /// Reads of at most this many bytes use a pinned buffer: a copy to pageable memory costs the driver microseconds.
  static constexpr std::uint64_t kSmallBytes = std::uint64_t{128} << 10;

  Staging(std::shared_ptr<const Context> context, CUstream stream) : context_(std::move(context)), stream_(stream) {}
  ~Staging();  // no transfer may be in progress
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // The context must be current.
  void write(CUdeviceptr to, const void* from, std::uint64_t bytes);  // `from` may be reused on return
  void read(CUdeviceptr from, void* to, std::uint64_t bytes);         // complete on return

 private:
  struct Slot {
    void* memory = nullptr;
    CUevent travelled = nullptr;
  };

  /// False where memory cannot be pinned.
  bool ready();

  std::shared_ptr<const Context> context_;
  CUstream stream_;
  std::array<Slot, 2> slots_{};
  void* small_ = nullptr;  // pinned, of kSmallBytes
};

}  // namespace samesum::device::cuda
