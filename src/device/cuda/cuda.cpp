#include "device/cuda/cuda.hpp"

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/in_driver.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <optional>
#include <utility>

namespace samesum::device::cuda {
namespace {

// Pascal: the oldest architecture with atomic addition of float64.
constexpr int kOldest = 60;

void check(const Driver& driver, CUresult code, std::string_view call) {
  if (code != CUDA_SUCCESS) driver.fail(code, call, {});
}

CUresult initialize(const Driver& driver) {
  const InDriver call("cuInit", "CUDA");
  return driver.cuInit(0);
}

int attribute(const Driver& driver, CUdevice device, int which) {
  int value = 0;
  check(driver, driver.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

// 12040: of the CUDA release that the driver supports.
int version_of(const Driver& driver) {
  int version = 0;
  check(driver, driver.cuDriverGetVersion(&version), "cuDriverGetVersion");
  return version;
}

// The major version of the CUDA release that the driver supports.
int release(const Driver& driver, int* minor = nullptr) {
  const int version = version_of(driver);
  if (minor != nullptr) *minor = version % 1000 / 10;
  return version / 1000;
}

// "580.65.06 (CUDA 13.0)"; the driver API gives only the CUDA version.
std::string driver_version(const Driver& driver) {
  int minor = 0;
  const int major = release(driver, &minor);
  std::string module;
  std::ifstream("/sys/module/nvidia/version") >> module;
  return module.empty() ? fmt::format("CUDA {}.{}", major, minor) : fmt::format("{} (CUDA {}.{})", module, major, minor);
}

DeviceInfo describe(const Driver& driver, CUdevice device, std::uint32_t index) {
  DeviceInfo info;
  std::array<char, 256> name{};
  check(driver, driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
  std::size_t bytes = 0;
  check(driver, driver.cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  info.selector = fmt::format("cuda:{}", index);
  info.name = name.data();
  info.platform = "CUDA";
  info.driver = driver_version(driver);
  info.compute_units = static_cast<std::uint32_t>(attribute(driver, device, kMultiprocessorCount));
  info.max_group_size = static_cast<std::uint32_t>(attribute(driver, device, kMaxThreadsPerBlock));
  info.local_bytes = static_cast<std::uint64_t>(attribute(driver, device, kMaxSharedMemoryPerBlock));
  info.memory_bytes = bytes;
  info.max_allocation_bytes = bytes;
  return info;
}

/// What is known of a device without opening it.
struct Candidate {
  CUdevice device = 0;
  DeviceInfo info;
  CompilerChoice compiler;
  ShippedChoice shipped;
  std::string unusable;  // why it cannot be used; empty where it can
};

Candidate look_at(const Driver& driver, std::uint32_t index) {
  Candidate candidate;
  check(driver, driver.cuDeviceGet(&candidate.device, static_cast<int>(index)), "cuDeviceGet");
  candidate.info = describe(driver, candidate.device, index);
  const int major = attribute(driver, candidate.device, kComputeCapabilityMajor);
  const int minor = attribute(driver, candidate.device, kComputeCapabilityMinor);
  const int capability = 10 * major + minor;
  candidate.compiler = choose_compiler(capability, release(driver));
  candidate.shipped = choose_shipped(capability, version_of(driver));
  if (capability < kOldest) {
    candidate.unusable = fmt::format("its compute capability is {}.{}, where 6.0 is needed", major, minor);
  } else if (attribute(driver, candidate.device, kComputeMode) == kComputeModeProhibited) {
    candidate.unusable = "its compute mode is 'prohibited': an administrator can change that with nvidia-smi -c 0";
  } else if (candidate.compiler.library.empty() && candidate.shipped.empty()) {
    candidate.unusable = candidate.compiler.reason;
  }
  return candidate;
}

// An error's own message and code, without the context, on one line.
std::string one_line(const Error& error) {
  const std::string_view text = error.what();
  return fmt::format("{} ({})", text.substr(0, text.find('\n')), error.context().code);
}

}  // namespace

Probe probe() {
  Probe found;
  const auto& [driver, reason] = load_driver();
  if (driver == nullptr) {
    found.absent.push_back({"cuda", reason});
    return found;
  }
  int count = 0;
  CUresult code = initialize(*driver);
  if (code == CUDA_SUCCESS) code = driver->cuDeviceGetCount(&count);
  if (code == CUDA_SUCCESS && count == 0) code = kNoDevice;
  if (code != CUDA_SUCCESS) {
    found.absent.push_back({"cuda", fmt::format("{}: {}", driver->name_of(code), driver->explain(code))});
    return found;
  }
  for (std::uint32_t index = 0; index < static_cast<std::uint32_t>(count); ++index) {
    const std::string selector = fmt::format("cuda:{}", index);
    try {
      Candidate candidate = look_at(*driver, index);
      if (candidate.unusable.empty()) {
        found.devices.push_back(std::move(candidate.info));
      } else {
        found.absent.push_back({selector, fmt::format("{}: {}", candidate.info.name, candidate.unusable)});
      }
    } catch (const Error& error) {
      found.absent.push_back({selector, one_line(error)});
    }
  }
  return found;
}

namespace {

std::shared_ptr<Device> open(std::uint32_t index, std::optional<CUstream> stream) {
  Error::Context where;
  where.device = fmt::format("cuda:{}", index);
  const auto& [driver, reason] = load_driver();
  if (driver == nullptr) throw Error(ErrorKind::device, reason, std::move(where));
  if (const CUresult code = initialize(*driver); code != CUDA_SUCCESS) driver->fail(code, "cuInit", std::move(where));
  Candidate candidate = look_at(*driver, index);
  if (!candidate.unusable.empty()) {
    where.device = label(candidate.info);
    throw Error(ErrorKind::device, candidate.unusable, std::move(where));
  }
  return std::make_shared<CudaDevice>(*driver, candidate.device, std::move(candidate.info), std::move(candidate.compiler),
                                      std::move(candidate.shipped), stream);
}

}  // namespace

std::shared_ptr<Device> open(std::uint32_t index) { return open(index, std::nullopt); }

std::shared_ptr<Device> open_on_stream(std::uint32_t index, void* stream) { return open(index, static_cast<CUstream>(stream)); }

std::optional<void*> stream_of(const Device& device) {
  const auto* const own = dynamic_cast<const CudaDevice*>(&device);
  return own != nullptr ? std::optional<void*>(own->stream()) : std::nullopt;
}

}  // namespace samesum::device::cuda
