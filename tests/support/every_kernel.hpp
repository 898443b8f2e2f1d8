// Every kernel of every pattern, built for a device as the patterns build them.
#pragma once

#include "device/device.hpp"

namespace samesum::test {

/// Has `device` build the kernels of every pattern for every type of element, in the shapes that the patterns choose for it. Without `rest`
/// those are left out that share their code with others, and what bytes and floats do not need; without `pairs`, those of pairs.
void build_every_kernel(device::Device& device, bool rest = true, bool pairs = true);

}  // namespace samesum::test
