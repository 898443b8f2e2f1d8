// Atomic additions: how long one takes, and how many a device makes in a second.
#pragma once

#include <samesum/bench.hpp>

#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace samesum::bench {

/// atomics.cl for groups of `group_size` work-items.
device::Source atomics_source(std::uint32_t group_size);

/// Calls `found` with each rate. All additions of one launch have been checked to be there. Requires that the device's mutex is held.
void measure_atomics(device::Device& device, const Effort& effort, const std::function<void(const AtomicRate&)>& found);

}  // namespace samesum::bench
