// The OpenCL backend: any OpenCL 1.2 device, through the ICD loader, which is loaded at run time.
#pragma once

#include "device/device.hpp"

namespace samesum::device::opencl {

Probe probe();
std::shared_ptr<Device> open(std::uint32_t index);
/// The device of the caller's queue (a cl_command_queue), working in that queue.
std::shared_ptr<Device> open_on_queue(void* queue);

}  // namespace samesum::device::opencl
