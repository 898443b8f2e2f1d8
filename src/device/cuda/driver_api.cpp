#include "device/cuda/driver_api.hpp"
#include "core/setting.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

#include <cstdlib>

namespace samesum::device::cuda {
namespace {

/// The usual cause of `code`, and what to do; switches by value, as named by the driver's header (CUresult).
std::string_view likely_cause(CUresult code) {
  switch (code) {
    case 1:
      return "an argument is out of range: see the configuration";
    case 2:
      return "the device's memory is used up: free some, or give the data in smaller parts";
    case 4:
      return "the process is ending";
    case 34:
      return "this libcuda.so is the toolkit's stub: remove its folder from LD_LIBRARY_PATH";
    case 46:
      return "another process holds the device in exclusive mode";
    case 100:
      return "no GPU that this process may use: see nvidia-smi and CUDA_VISIBLE_DEVICES";
    case 101:
      return "there is no such device: see `samesum devices`";
    case 200:
    case 209:
      return "the compiled kernel is not for this GPU, or its compiler is newer than the driver: update the driver, or set "
             "SAMESUM_NVRTC_LIBRARY to an older libnvrtc";
    case 218:
    case 222:
      return "the compiler is newer than the driver: update the driver, or set SAMESUM_NVRTC_LIBRARY to an older libnvrtc";
    case 214:
      return "the GPU's memory has an error that could not be corrected: see nvidia-smi";
    case 500:
      return "the program has no kernel of this name";
    case 700:
    case 716:
    case 718:
    case 719:
      return "a kernel read or wrote outside its memory; the device is unusable until this process ends";
    case 701:
      return "a group of this size wants more registers or local memory than a multiprocessor has: choose a smaller one";
    case 720:
      return "that number of groups of this kernel cannot be resident at once";
    case 702:
      return "a kernel ran longer than the display's watchdog allows: choose a GPU without a display";
    case 802:
      return "the system is not ready: on NVSwitch machines nvidia-fabricmanager must be running";
    case 803:
      return "the driver's library and kernel module differ in version: restart after the driver's update";
    case 804:
      return "the CUDA compatibility package does not support this GPU: remove it from LD_LIBRARY_PATH";
    case 999:
      return "the driver has no device files or is in a bad state: see nvidia-smi and dmesg";
    default:
      return {};
  }
}

DriverOrReason load() {
  const std::string named = core::setting("SAMESUM_CUDA_LIBRARY");
  const bool overridden = !named.empty();
  const char* const library = overridden ? named.c_str() : "libcuda.so.1";
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    if (overridden) return {nullptr, fmt::format("SAMESUM_CUDA_LIBRARY names {}, which cannot be loaded: {}", library, dlerror())};
    return {nullptr, "libcuda.so.1 is not there: no NVIDIA driver"};
  }
  static Driver driver;
  const char* lacking = nullptr;
  // dlsym returns an object pointer; it is copied into the function pointer as bytes, as POSIX recommends.
  const auto load_symbol = [&](auto& function, const char* symbol) {
    *reinterpret_cast<void**>(&function) = dlsym(handle, symbol);
    if (function == nullptr) lacking = symbol;
  };
#define SAMESUM_CUDA_LOAD(name, symbol, parameters) load_symbol(driver.name, symbol);
  SAMESUM_CUDA_DRIVER(SAMESUM_CUDA_LOAD)
#undef SAMESUM_CUDA_LOAD
  if (lacking != nullptr) {
    return {nullptr, fmt::format("{} has no function {}: the NVIDIA driver is older than CUDA 11.8, update it", library, lacking)};
  }
  return {&driver, {}};
}

}  // namespace

std::string Driver::name_of(CUresult code) const {
  const char* name = nullptr;
  return cuGetErrorName(code, &name) == CUDA_SUCCESS && name != nullptr ? std::string(name) : fmt::format("CUresult {}", code);
}

std::string Driver::explain(CUresult code) const {
  const char* text = nullptr;
  std::string words = cuGetErrorString(code, &text) == CUDA_SUCCESS && text != nullptr ? text : "an unknown error";
  const std::string_view cause = likely_cause(code);
  return cause.empty() ? words : fmt::format("{}; {}", words, cause);
}

void Driver::fail(CUresult code, std::string_view call, Error::Context context) const {
  context.code = name_of(code);
  throw Error(ErrorKind::device, fmt::format("{} failed: {}", call, explain(code)), std::move(context));
}

const DriverOrReason& load_driver() {
  static const DriverOrReason loaded = load();
  return loaded;
}

}  // namespace samesum::device::cuda
