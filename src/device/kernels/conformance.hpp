// Conformance of a device, by measurement: the specification allows deviations, and drivers report capabilities that do not work.
#pragma once

#include "device/device.hpp"

#include <vector>

namespace samesum::device {

/// Runs conformance.cl on a device that has just been opened and compares every bit with the host's result. A wrong result becomes a
/// missing capability with the reason; capabilities that the device lacks already are not tested. The outcome is stored in the kernel
/// cache, so that only the first process runs it.
std::vector<Missing> check_conformance(Device& device);

}  // namespace samesum::device
