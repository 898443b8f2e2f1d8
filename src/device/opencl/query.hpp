// The OpenCL devices of this machine: which there are, and what each says of itself.
#pragma once

#include "device/device.hpp"
#include "device/opencl/api.hpp"

#include <string>
#include <string_view>
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

/// What PoCL cannot do without and has not: "; PoCL keeps … in the folder F, where this process cannot write: …". Empty where it has it, or
/// `platform` is another one. It says nothing itself where it lists no device, or builds nothing, for that.
std::string pocl_trouble(std::string_view platform);

}  // namespace samesum::device::opencl
