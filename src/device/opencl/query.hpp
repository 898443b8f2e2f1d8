// The OpenCL devices of this machine: which there are, and what each says of itself.
#pragma once

#include "device/device.hpp"
#include "device/opencl/api.hpp"

#include <string>
#include <vector>

namespace samesum::device::opencl {

/// A device that can be opened.
struct Found {
  cl_device_id id = nullptr;
  DeviceInfo info;
  std::string options;   ///< for clBuildProgram
  std::string compiler;  ///< versions of platform, device and language
};

struct Findings {
  std::vector<Found> devices;
  std::vector<Absence> absent;
};

/// All devices of all platforms; looked for once.
const Findings& findings();

}  // namespace samesum::device::opencl
