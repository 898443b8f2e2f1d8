// Every kernel of every pattern, built for a device as the patterns build them.
#pragma once

#include "device/device.hpp"

namespace samesum::test {

/// Kernels of every type of element, with all that patterns can be asked for; or a few of each file, for doubles and 32-bit integers:
/// kernels of other types differ from theirs in a conversion.
enum class Kernels { all, few };

/// Builds the kernels of every pattern on `device`, in the shapes that the patterns choose for it.
void build_every_kernel(device::Device& device, Kernels which = Kernels::all);

}  // namespace samesum::test
