#include "device/cuda/cuda.hpp"

#include <samesum/error.hpp>

#include <dlfcn.h>

namespace samesum::device::cuda {
namespace {

constexpr const char* kNoDriver = "libcuda.so.1 is not there: no NVIDIA driver";

bool driver_there() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

}  // namespace

Probe probe() {
  Probe found;
  found.absent.push_back({"cuda", driver_there() ? "the CUDA backend is not part of this build" : kNoDriver});
  return found;
}

std::shared_ptr<Device> open(std::uint32_t index) {
  throw Error(ErrorKind::device, "cuda:" + std::to_string(index) + " cannot be opened: " + probe().absent.front().reason);
}

}  // namespace samesum::device::cuda
