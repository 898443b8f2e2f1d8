// The CUDA backend: NVIDIA GPUs through the driver API and NVRTC, both loaded at run time.
#pragma once

#include "device/device.hpp"

namespace samesum::device::cuda {

Probe probe();
std::shared_ptr<Device> open(std::uint32_t index);

}  // namespace samesum::device::cuda
