// Large transfers between pageable host memory and a device with its own memory.
#pragma once

#include "device/opencl/api.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace samesum::device::opencl {

/// Double-buffered transfers: while one pinned buffer is transferred, all cores copy to or from the other. The driver itself copies
/// pageable memory with one core. A transfer is in the order of the queue that is passed to each function.
class Staging {
 public:
  static constexpr std::size_t kSlotBytes = std::size_t{16} << 20;
  /// Below this size the driver's own copy is as fast.
  static constexpr std::uint64_t kWorthwhileBytes = std::uint64_t{1} << 20;

  Staging() = default;
  ~Staging();  // no transfer may be in progress
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Pins the buffers at the first call; false where memory cannot be pinned.
  bool ready(cl_context context, cl_command_queue queue);

  // Require ready(). They return an error code.
  cl_int write(cl_command_queue queue, cl_mem to, std::size_t offset, const char* from, std::size_t bytes);  // `from` reusable on return
  cl_int read(cl_command_queue queue, cl_mem from, std::size_t offset, char* to, std::size_t bytes);         // complete on return

 private:
  struct Slot {
    cl_mem buffer = nullptr;
    char* memory = nullptr;
    cl_event travelled = nullptr;

    cl_int wait();
  };

  std::array<Slot, 2> slots_{};
};

}  // namespace samesum::device::opencl
