// The devices that the tests of patterns run on.
#pragma once

#include <samesum/device.hpp>
#include <samesum/options.hpp>

#include <utility>
#include <vector>

namespace samesum::test {

/// Every device of this machine. Where the environment variable SAMESUM_TEST_QUEUES is "own", those with kernels instead, each on a queue
/// or stream of the caller's own: an OpenCL queue in a context of its own, a stream of CUDA's primary context.
const std::vector<Device>& devices();

/// Whether devices() are on queues of the caller's own: then what concerns the CPU alone need not run once more.
bool on_own_queues();

/// Options with this device, and a report.
inline Options on(const Device& device, Options options, Report* report = nullptr) {
  options.device = device;
  if (report != nullptr) options.report = report;
  return options;
}

}  // namespace samesum::test
