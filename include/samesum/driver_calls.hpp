// Calls into drivers that have not returned.
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

/// The calls into drivers that threads of this process are in at the moment, longest first; only calls that may take long are listed:
/// compilations, transfers, waiting for a device. A hanging driver differs from a working one only by the time it takes, and its call
/// cannot be ended: a program that must not wait for ever can check here from another thread. O(calls).
std::vector<DriverCall> driver_calls();

}  // namespace samesum
