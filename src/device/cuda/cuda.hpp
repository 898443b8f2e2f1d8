// The CUDA backend: NVIDIA GPUs through the driver API and NVRTC, both loaded at run time.
#pragma once

#include "device/device.hpp"

namespace samesum::device::cuda {

Probe probe();
std::shared_ptr<Device> open(std::uint32_t index);
/// The device `index` on the caller's stream (a CUstream).
std::shared_ptr<Device> open_on_stream(std::uint32_t index, void* stream);
/// The stream of a device of this backend (a CUstream, which may be null), for NVIDIA's libraries; no value for others.
std::optional<void*> stream_of(const Device& device);

}  // namespace samesum::device::cuda
