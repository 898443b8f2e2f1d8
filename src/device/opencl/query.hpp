// The OpenCL devices of this machine and their properties.
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
  bool ptx = false;      ///< whether the compiler takes PTX, and gives it as a program's binary: NVIDIA's
};

struct Findings {
  std::vector<Found> devices;
  std::vector<Absence> absent;
};

/// All devices of all platforms; queried once.
const Findings& findings();

/// What PoCL needs and lacks: "; PoCL keeps … in the folder F, where this process cannot write: …". Empty where nothing is lacking, or
/// `platform` is another one. PoCL itself does not report why it then lists no device or builds nothing.
std::string pocl_trouble(std::string_view platform);

}  // namespace samesum::device::opencl
