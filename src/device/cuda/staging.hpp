// Big transfers between ordinary host memory and a GPU.
#pragma once

#include "device/cuda/context.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace samesum::device::cuda {

/// Two pinned buffers: while one travels, all cores copy into or out of the other. The driver itself copies ordinary memory with one core.
class Staging {
 public:
  static constexpr std::uint64_t kSlotBytes = std::uint64_t{16} << 20;
  /// Under this size the driver's own way is as fast.
  static constexpr std::uint64_t kWorthwhileBytes = std::uint64_t{1} << 20;
  /// Reads of at most so many bytes go through a pinned buffer of their own: a copy to ordinary memory costs the driver microseconds.
  static constexpr std::uint64_t kSmallBytes = std::uint64_t{128} << 10;

  Staging(std::shared_ptr<const Context> context, CUstream stream) : context_(std::move(context)), stream_(stream) {}
  ~Staging();  // nothing may be travelling
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // The context must be current.
  void write(CUdeviceptr to, const void* from, std::uint64_t bytes);  // `from` is free on return
  void read(CUdeviceptr from, void* to, std::uint64_t bytes);         // complete on return

 private:
  struct Slot {
    void* memory = nullptr;
    CUevent travelled = nullptr;
  };

  /// False where the system has no memory to pin.
  bool ready();

  std::shared_ptr<const Context> context_;
  CUstream stream_;
  std::array<Slot, 2> slots_{};
  void* small_ = nullptr;  // pinned, of kSmallBytes
};

}  // namespace samesum::device::cuda
