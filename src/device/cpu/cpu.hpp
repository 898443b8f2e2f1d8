// The CPU backend: memory and time; patterns give it host functions where other devices get kernels.
#pragma once

#include "device/device.hpp"

namespace samesum::device::cpu {

Probe probe();
std::shared_ptr<Device> open(std::uint32_t index);

}  // namespace samesum::device::cpu
