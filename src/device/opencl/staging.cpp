#include "device/opencl/staging.hpp"

#include "device/memory/parallel_copy.hpp"

#include <algorithm>
#include <utility>

namespace samesum::device::opencl {
cl_int Staging::Slot::wait() {
  if (travelled == nullptr) return CL_SUCCESS;
  const cl_int code = api().clWaitForEvents(1, &travelled);
  api().clReleaseEvent(std::exchange(travelled, nullptr));
  return code;
}

Staging::~Staging() {
  for (Slot& slot : slots_) {
    slot.wait();
    if (slot.buffer != nullptr) api().clReleaseMemObject(slot.buffer);
  }
}

bool Staging::ready(cl_context context, cl_command_queue queue) {
  for (Slot& slot : slots_) {
    cl_int code = CL_SUCCESS;
    if (slot.buffer == nullptr) slot.buffer = api().clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, kSlotBytes, nullptr, &code);
    if (code != CL_SUCCESS) return false;
    if (slot.memory == nullptr) {
      void* mapped =
          api().clEnqueueMapBuffer(queue, slot.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, kSlotBytes, 0, nullptr, nullptr, &code);
      if (code != CL_SUCCESS) return false;
      slot.memory = static_cast<char*>(mapped);  // stays mapped as long as the buffer lives
    }
  }
  return true;
}

cl_int Staging::write(cl_command_queue queue, cl_mem to, std::size_t offset, const char* from, std::size_t bytes) {
  for (std::size_t done = 0, turn = 0; done < bytes; done += kSlotBytes, ++turn) {
    const std::size_t size = std::min(kSlotBytes, bytes - done);
    Slot& slot = slots_[turn % 2];
    if (const cl_int code = slot.wait(); code != CL_SUCCESS) return code;
    parallel_copy(slot.memory, from + done, size);
    const cl_int code = api().clEnqueueWriteBuffer(queue, to, CL_FALSE, offset + done, size, slot.memory, 0, nullptr, &slot.travelled);
    if (code != CL_SUCCESS) return code;
    api().clFlush(queue);
  }
  return CL_SUCCESS;
}

cl_int Staging::read(cl_command_queue queue, cl_mem from, std::size_t offset, char* to, std::size_t bytes) {
  const std::size_t turns = (bytes + kSlotBytes - 1) / kSlotBytes;
  const auto size = [=](std::size_t turn) { return std::min(kSlotBytes, bytes - turn * kSlotBytes); };
  const auto send = [&](std::size_t turn) {
    Slot& slot = slots_[turn % 2];
    if (const cl_int code = slot.wait(); code != CL_SUCCESS) return code;
    const cl_int code =
        api().clEnqueueReadBuffer(queue, from, CL_FALSE, offset + turn * kSlotBytes, size(turn), slot.memory, 0, nullptr, &slot.travelled);
    api().clFlush(queue);
    return code;
  };
  cl_int code = send(0);
  for (std::size_t turn = 0; turn < turns && code == CL_SUCCESS; ++turn) {
    if (turn + 1 < turns) code = send(turn + 1);
    Slot& slot = slots_[turn % 2];
    if (code == CL_SUCCESS) code = slot.wait();
    if (code == CL_SUCCESS) parallel_copy(to + turn * kSlotBytes, slot.memory, size(turn));
  }
  return code;
}

}  // namespace samesum::device::opencl
