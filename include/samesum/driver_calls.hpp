// Drivers that do not return.
#pragma once

#include <samesum/export.hpp>

#include <string>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// A call into a driver that has not returned.
struct DriverCall {
  std::string name;    ///< "clBuildProgram"
  std::string device;  ///< "opencl:0 (…)"; the backend alone before a device is open
  double seconds = 0;  ///< since it began
};

/// The calls into drivers in which threads of this process are at the moment, the longest ones first; of those that may take long:
/// compilations, transfers, waiting for a device. A driver that hangs can be told from one that works by nothing but the time, and its call
/// cannot be ended: a program that must not wait for ever looks here from another thread. O(calls).
std::vector<DriverCall> driver_calls();

}  // namespace samesum
