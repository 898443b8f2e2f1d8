// Every kernel of every pattern, built for a device as the patterns build them.
#pragma once

#include "device/device.hpp"

namespace samesum::test {

/// Builds the kernels of every pattern for every type of element on `device`, in the shapes that the patterns choose for it. Without
/// `rest`, kernels that share their code with others are left out, and those for bytes and floats that are not needed; without `pairs`,
/// those of pairs.
void build_every_kernel(device::Device& device, bool rest = true, bool pairs = true);

}  // namespace samesum::test
