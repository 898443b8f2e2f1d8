// The devices that the tests of patterns run on.
#pragma once

#include <samesum/device.hpp>

#include <vector>

namespace samesum::test {

/// Every device of this machine. Where the environment variable SAMESUM_TEST_QUEUES is "own", those with kernels instead, each on a queue
/// or stream of the caller's own: an OpenCL queue in a context of its own, a stream of CUDA's primary context.
const std::vector<Device>& devices();

/// Whether devices() are on queues of the caller's own: then what concerns the CPU alone need not run once more.
bool on_own_queues();

}  // namespace samesum::test
