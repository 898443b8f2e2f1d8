// Big transfers between ordinary host memory and a device with memory of its own.
#pragma once

#include "device/opencl/api.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace samesum::device::opencl {

/// Two pinned buffers: while one travels, all cores copy into or out of the other. A driver copies ordinary memory with one core.
/// A transfer is in the queue's order; each function takes the queue that is in use.
class Staging {
 public:
  static constexpr std::size_t kSlotBytes = std::size_t{16} << 20;
  /// Under this size the driver's own way is as fast.
  static constexpr std::uint64_t kWorthwhileBytes = std::uint64_t{1} << 20;

  Staging() = default;
  ~Staging();  // nothing may be travelling
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Pins the buffers, at the first call; false where that cannot be done.
  bool ready(cl_context context, cl_command_queue queue);

  // After ready(). They return an error's code.
  cl_int write(cl_command_queue queue, cl_mem to, std::size_t offset, const char* from, std::size_t bytes);  // `from` is free on return
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
