// Capability masks: they take capabilities away from a device, so that tests cover devices that are not at hand.
#pragma once

#include <samesum/device.hpp>

#include <string>

namespace samesum::device {

/// Restricts `info` by the environment variable SAMESUM_MASK, a list of capability names and of limits such as
/// "fp64,int64_atomics,local=32768,group=256,allocation=67108864". Devices that run no kernels are unaffected.
/// @throws Error (usage) for a word that is neither.
void apply_mask(DeviceInfo& info);

/// The active mask, as written; empty without one.
std::string current_mask();

}  // namespace samesum::device
