// What a device gets wrong, found by asking it: the specification allows a lot, and drivers promise more than they keep.
#pragma once

#include "device/device.hpp"

#include <vector>

namespace samesum::device {

/// Runs conformance.cl on a device that has just been opened and compares every bit with the host's. What it does not get right
/// comes back as a missing capability with the reason; capabilities that it lacks already are not tried. The outcome is kept with
/// the built kernels, so that only a first process pays for it.
std::vector<Missing> check_conformance(Device& device);

}  // namespace samesum::device
