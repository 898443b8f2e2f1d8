// The OpenCL backend: any OpenCL 1.2 device, through the ICD loader, which is loaded at run time.
#pragma once

#include "device/device.hpp"

namespace samesum::device::opencl {

Probe probe();
std::shared_ptr<Device> open(std::uint32_t index);

}  // namespace samesum::device::opencl
