// Capability masks: a crippled device in a test stands for the devices that nobody at hand has.
#pragma once

#include <samesum/device.hpp>

#include <string>

namespace samesum::device {

/// Narrows `info` by the environment variable SAMESUM_MASK, a list of capability names and of limits such as
/// "fp64,int64_atomics,local=32768,group=256,allocation=67108864". Devices that run no kernels are left alone.
/// @throws Error (usage) for a word that is neither.
void apply_mask(DeviceInfo& info);

/// The mask in force, as written; empty without one.
std::string current_mask();

}  // namespace samesum::device
