#include "device/opencl/query.hpp"

#include "device/in_driver.hpp"
#include "device/memory/room.hpp"
#include "device/opencl/opencl.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

namespace samesum::device::opencl {
namespace {

std::string tidy(std::string text) {
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  std::size_t bytes = 0;
  check(api().clGetPlatformInfo(platform, what, 0, nullptr, &bytes), "ask a platform about itself");
  std::string text(bytes, '\0');
  check(api().clGetPlatformInfo(platform, what, bytes, text.data(), nullptr), "ask a platform about itself");
  return tidy(std::move(text));
}

std::string device_bytes(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  check(api().clGetDeviceInfo(device, what, 0, nullptr, &bytes), "ask a device about itself");
  std::string text(bytes, '\0');
  check(api().clGetDeviceInfo(device, what, bytes, text.data(), nullptr), "ask a device about itself");
  return text;
}

std::string device_text(cl_device_id device, cl_device_info what) { return tidy(device_bytes(device, what)); }

template <typename T>
T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  check(api().clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "ask a device about itself");
  return value;
}

// Whether a list of names separated by spaces contains `item`.
bool contains(const std::string& list, std::string_view item) {
  return (' ' + list + ' ').find(fmt::format(" {} ", item)) != std::string::npos;
}

// "OpenCL 3.0 CUDA": 30.
int version_of(const std::string& text) {
  int major = 0, minor = 0;
  return std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? 10 * major + minor : 0;
}

// Names of language versions or optional features, with spaces around each; only for devices of OpenCL 3.0.
std::string named_versions(cl_device_id device, cl_device_info what, cl_version least) {
  const std::string bytes = device_bytes(device, what);
  std::string names;
  for (std::size_t at = 0; at + sizeof(cl_name_version) <= bytes.size(); at += sizeof(cl_name_version)) {
    cl_name_version entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.version >= least) names += ' ' + tidy(std::string(entry.name, sizeof entry.name));
  }
  return names;
}

// Of cl_nv_device_attribute_query: CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, …_MINOR_NV.
constexpr cl_device_info kCapabilityMajor = 0x4000, kCapabilityMinor = 0x4001;

// The language version and options. OpenCL C 3.0 only where it has the device-scope fence that 1.2 lacks; never 2.0, which PoCL accepts and
// then has no atomics.
void choose_language(Found& found, int version, const std::string& extensions) {
  std::string features;
  if (version >= 30 && !named_versions(found.id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, CL_MAKE_VERSION(3, 0, 0)).empty()) {
    features = named_versions(found.id, CL_DEVICE_OPENCL_C_FEATURES, 0);
  }
  const bool fence = contains(features, "__opencl_c_atomic_order_acq_rel") && contains(features, "__opencl_c_atomic_scope_device");
  found.ptx = contains(extensions, "cl_nv_compiler_options") && contains(extensions, "cl_nv_device_attribute_query");
  found.options = fence ? "-cl-std=CL3.0" : "-cl-std=CL1.2";
  if (found.ptx) {
    const auto major = device_value<cl_uint>(found.id, kCapabilityMajor), minor = device_value<cl_uint>(found.id, kCapabilityMinor);
    found.options += fmt::format(" -cl-nv-verbose -DSAMESUM_PTX={}", 100 * major + 10 * minor);
    if (std::atoi(found.info.driver.c_str()) >= 570) found.options += " -DGRID_BARRIER_ACQUIRE_FENCE=1";  // see grid_barrier.h
  }

  auto& missing = found.info.missing;
  if (!fence && !found.ptx) missing.push_back({Capability::device_fence, "the driver's OpenCL C has no fence for the whole device"});
  missing.push_back(
      {Capability::subgroups, contains(extensions, "cl_khr_subgroup_shuffle")
                                  ? "OpenCL C does not say how many work-items a sub-group has, where samesum's kernels need 32"
                                  : "the driver's OpenCL C has no sub-group shuffles"});
}

void check_arithmetic(Found& found, const std::string& extensions) {
  auto& missing = found.info.missing;
  const auto single = device_value<cl_device_fp_config>(found.id, CL_DEVICE_SINGLE_FP_CONFIG);
  if ((single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0) {
    found.options += " -cl-fp32-correctly-rounded-divide-sqrt";
  } else {
    missing.push_back({Capability::division, "the driver does not promise correctly rounded float32 division"});
    missing.push_back({Capability::square_root, "the driver does not promise correctly rounded float32 square roots"});
  }
  if ((single & CL_FP_DENORM) == 0) missing.push_back({Capability::denormals, "the driver says that float32 denormals are flushed"});
  if (!contains(extensions, "cl_khr_fp64")) missing.push_back({Capability::fp64, "the driver has no cl_khr_fp64"});
  if (!contains(extensions, "cl_khr_int64_base_atomics")) {
    missing.push_back({Capability::int64_atomics, "the driver has no cl_khr_int64_base_atomics"});
  }
}

// Why a device cannot be used; empty where it can.
std::string obstacle(cl_device_id id, int version) {
  if (version < 12) return "it has OpenCL older than 1.2";
  if (!device_value<cl_bool>(id, CL_DEVICE_AVAILABLE)) return "the driver says that it is not available";
  if (!device_value<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE)) return "its platform has no compiler";
  if (!device_value<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE)) return "it is big-endian";
  return {};
}

void examine(cl_platform_id platform, cl_device_id id, const std::string& selector, Findings& findings) {
  const std::string version_text = device_text(id, CL_DEVICE_VERSION);
  const int version = version_of(version_text);
  if (const std::string why = obstacle(id, version); !why.empty()) {
    findings.absent.push_back({selector, fmt::format("{}: {}", device_text(id, CL_DEVICE_NAME), why)});
    return;
  }
  Found found;
  found.id = id;
  DeviceInfo& info = found.info;
  info.selector = selector;
  info.name = device_text(id, CL_DEVICE_NAME);
  info.platform = platform_text(platform, CL_PLATFORM_NAME);
  info.driver = device_text(id, CL_DRIVER_VERSION);
  info.is_cpu = (device_value<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  info.compute_units = device_value<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  std::size_t items[8] = {};
  check(api().clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, nullptr), "ask a device about itself");
  info.max_group_size = static_cast<std::uint32_t>(std::min(device_value<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE), items[0]));
  info.local_bytes = device_value<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
  info.memory_bytes = device_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation_bytes = device_value<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);

  const std::string extensions = device_text(id, CL_DEVICE_EXTENSIONS);
  choose_language(found, version, extensions);
  check_arithmetic(found, extensions);
  found.compiler = fmt::format("{}\n{}\n{}\n{}", platform_text(platform, CL_PLATFORM_VERSION), version_text,
                               device_text(id, CL_DEVICE_OPENCL_C_VERSION), device_text(id, CL_DEVICE_VENDOR));
  findings.devices.push_back(std::move(found));
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  const InDriver call("clGetDeviceIDs", "OpenCL");
  const cl_int code = api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || count == 0) return {};
  check(code, "list a platform's devices");
  std::vector<cl_device_id> ids(count);
  check(api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr), "list a platform's devices");
  return ids;
}

// The memory that drivers need to start: the libraries of their compilers, and for PoCL the stacks of one thread per core.
std::uint64_t needed_bytes() { return (std::uint64_t{256} << 20) + std::thread::hardware_concurrency() * (std::uint64_t{8} << 20); }

// Whether this process can write to `folder`, which is created if it does not exist, as PoCL does.
bool can_write(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  return !failure && access(folder.c_str(), W_OK | X_OK) == 0;
}

std::string no_device(std::string_view platform) {
  return fmt::format("the platform {} has no device{}", platform, pocl_trouble(platform));
}

// A device's index counts all devices of all platforms, unusable ones included.
Findings look() {
  Findings findings;
  const auto absent = [&](std::string selector, std::string reason) {
    findings.absent.push_back({std::move(selector), std::move(reason)});
    return findings;
  };
  if (!why_absent().empty()) return absent("opencl", why_absent());
  if (!has_room(needed_bytes())) {
    return absent("opencl", fmt::format("this process can have no {} MiB of memory more, without which drivers crash at their start: free "
                                        "memory, or raise its limit (ulimit -v)",
                                        needed_bytes() >> 20));
  }
  cl_uint count = 0;
  const InDriver call("clGetPlatformIDs", "OpenCL");
  const cl_int code = api().clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) {
    return absent("opencl", fmt::format("the loader found no platform: no driver is installed ({})", name_of_code(code)));
  }
  std::vector<cl_platform_id> platforms(count);
  if (api().clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return absent("opencl", "the loader lists no platforms");

  int index = 0;
  for (const cl_platform_id platform : platforms) {
    try {
      const auto ids = devices_of(platform);
      if (ids.empty()) absent("opencl", no_device(platform_text(platform, CL_PLATFORM_NAME)));
      for (const cl_device_id id : ids) examine(platform, id, fmt::format("opencl:{}", index++), findings);
    } catch (const Error& error) {
      absent("opencl", error.what());
    }
  }
  return findings;
}

}  // namespace

std::string pocl_trouble(std::string_view platform) {
  if (platform != "Portable Computing Language") return {};
  const auto variable = [](const char* name) { return std::string_view(std::getenv(name) == nullptr ? "" : std::getenv(name)); };
  const std::string_view own = variable("POCL_CACHE_DIR"), xdg = variable("XDG_CACHE_HOME"), home = variable("HOME");
  const std::string folder = !own.empty()    ? std::string(own)
                             : !xdg.empty()  ? fmt::format("{}/pocl/kcache", xdg)
                             : !home.empty() ? fmt::format("{}/.cache/pocl/kcache", home)
                                             : "/tmp/pocl/kcache";
  if (can_write(folder)) return {};
  return fmt::format("; PoCL builds its kernels in the folder {}, where this process cannot write: set POCL_CACHE_DIR to one where it can",
                     folder);
}

const Findings& findings() {
  static const auto* found = new Findings(look());
  return *found;
}

Probe probe() {
  Probe probe;
  for (const Found& found : findings().devices) probe.devices.push_back(found.info);
  probe.absent = findings().absent;
  return probe;
}

}  // namespace samesum::device::opencl
