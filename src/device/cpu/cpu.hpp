// The CPU backend: memory and timing. Patterns run host functions on it instead of kernels.
#pragma once

#include "device/device.hpp"

namespace samesum::device::cpu {

Probe probe();
std::shared_ptr<Device> open(std::uint32_t index);

}  // namespace samesum::device::cpu
