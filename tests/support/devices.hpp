// The devices on which the tests of patterns run.
#pragma once

#include <samesum/device.hpp>
#include <samesum/options.hpp>

#include <utility>
#include <vector>

namespace samesum::test {

/// Every device of this machine. Where the environment variable SAMESUM_TEST_QUEUES is "own", instead those with kernels, each on a queue
/// or stream of the test's own: an OpenCL queue in its own context, a stream of CUDA's primary context.
const std::vector<Device>& devices();

/// Whether devices() are on the test's own queues: then tests of the CPU alone need not be repeated.
bool on_own_queues();

/// Options with this device, and a report.
inline Options on(const Device& device, Options options, Report* report = nullptr) {
  options.device = device;
  if (report != nullptr) options.report = report;
  return options;
}

}  // namespace samesum::test
