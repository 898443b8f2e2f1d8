// The devices of this machine, and the resolution of selectors.
#include <samesum/device.hpp>
#include <samesum/error.hpp>

#include "core/float_environment.hpp"
#include "core/setting.hpp"
#include "device/capability.hpp"
#include "device/cpu/cpu.hpp"
#include "device/cuda/cuda.hpp"
#include "device/device.hpp"
#include "device/kernels/conformance.hpp"
#include "device/opencl/opencl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <ranges>

namespace samesum::device {

void check_group_size(const DeviceInfo& info, std::uint32_t wanted, std::uint32_t most) {
  if (wanted <= most) return;
  throw Error(ErrorKind::usage,
              fmt::format("a group size of {} is too large: {} runs groups of 1 to {} work-items here", wanted, info.selector, most));
}

Memory Device::from(const Memory&, std::uint64_t) {
  throw Error(ErrorKind::usage, fmt::format("{} runs no kernels that could be given memory", label(info_)));
}

Memory Device::wrap(void*, std::uint64_t) {
  throw Error(ErrorKind::usage, fmt::format("{} takes no memory of the caller's own", label(info_)));
}

void Device::wait_for(void*) {
  throw Error(ErrorKind::usage,
              fmt::format("{} has no queue whose work could wait for an event: its work is done when a call returns", label(info_)));
}

void* Device::record(void*) {
  throw Error(ErrorKind::usage,
              fmt::format("{} has no queue in which an event could be recorded: its work is done when a call returns", label(info_)));
}

std::span<const Backend> backends() {
  static constexpr Backend kBackends[] = {
      {"cpu", cpu::probe, cpu::open},
      {"opencl", opencl::probe, opencl::open},
      {"cuda", cuda::probe, cuda::open},
  };
  return kBackends;
}

}  // namespace samesum::device

namespace samesum {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// "cpu (AMD EPYC), opencl:0 (…); without cuda: no driver": the end of a message about a selector.
std::string what_there_is() {
  const DeviceList list = list_devices();
  std::string text = "this machine has ";
  for (const DeviceInfo& info : list.devices) text += (&info == list.devices.data() ? "" : ", ") + device::label(info);
  for (const Absence& absence : list.absent) text += fmt::format("; no {}: {}", absence.selector, absence.reason);
  return text;
}

[[noreturn]] void no_match(std::string_view selector, std::string_view why) {
  const bool by_variable = lower(core::setting("SAMESUM_DEVICE")) == selector;
  throw Error(ErrorKind::usage,
              fmt::format("no device '{}'{}: {}; {}", selector, by_variable ? ", which the environment variable SAMESUM_DEVICE names" : "",
                          why, what_there_is()));
}

struct Location {
  const device::Backend* backend;
  std::uint32_t index;
};

std::uint32_t index_of(const DeviceInfo& info) {
  const std::size_t colon = info.selector.find(':');
  return colon == std::string::npos ? 0 : static_cast<std::uint32_t>(std::stoul(info.selector.substr(colon + 1)));
}

// Probes only the backend that `selector` (in lower case) names: "opencl:0" must not load CUDA.
Location locate(const std::string& selector) {
  const std::size_t colon = selector.find(':');
  const std::string backend_name = selector.substr(0, colon);
  const auto all = device::backends();
  const auto backend = std::find_if(all.begin(), all.end(), [&](const auto& b) { return b.name == backend_name; });
  if (backend == all.end()) no_match(selector, "a selector is auto, cpu, opencl, opencl:0, opencl:NAME, cuda, cuda:0 or cuda:NAME");

  const device::Probe probe = backend->probe();
  const std::string wanted = colon == std::string::npos ? "" : selector.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool by_number = error == std::errc() && end == wanted.data() + wanted.size();
  for (const DeviceInfo& info : probe.devices) {
    const bool matches = by_number ? index_of(info) == number : lower(info.name + '\n' + info.platform).find(wanted) != std::string::npos;
    if (matches) return {&*backend, index_of(info)};
  }
  no_match(selector, probe.devices.empty() ? fmt::format("there is no {} device", backend_name)
                                           : fmt::format("no {} device has that {}", backend_name, by_number ? "number" : "name"));
}

// Devices are opened once for each selector and mask, and never destroyed, as drivers may be unloaded at exit.
class Registry {
 public:
  static Registry& instance() {
    static auto* registry = new Registry;
    return *registry;
  }

  std::shared_ptr<device::Device> open(std::string_view selector) {
    const core::DefaultFloatEnvironment environment;
    const std::lock_guard lock(mutex_);
    const std::string mask = '\n' + device::current_mask();
    auto& by_alias = devices_[lower(selector) + mask];
    if (by_alias != nullptr) return by_alias;
    const Location location = locate(lower(selector));
    auto& device = devices_[fmt::format("{}:{}", location.backend->name, location.index) + mask];
    if (device == nullptr) device = open(location);
    return by_alias = device;
  }

 private:
  static std::shared_ptr<device::Device> open(const Location& location) {
    auto device = location.backend->open(location.index);
    if (!device->info().has(Capability::kernels)) return device;
    DeviceInfo info = device->info();
    const auto failures = device::check_conformance(*device);
    info.missing.insert(info.missing.end(), failures.begin(), failures.end());
    device::apply_mask(info);
    // A device that was named must not be replaced silently by another one.
    if (!info.has(Capability::kernels)) {
      throw Error(ErrorKind::device, fmt::format("kernels do not run on it: {}", info.why_not(Capability::kernels)),
                  {.device = device::label(info), .kernel = {}, .configuration = {}, .code = {}, .build_log = {}});
    }
    device->restrict_to(std::move(info));
    return device;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<device::Device>> devices_;
};

// The cost model of "auto", for data in host memory. It favours the CPU, which has no start-up time.
constexpr double kCpuBytesPerSecond = 10e9;       // of one core
constexpr double kGpuStartSeconds = 0.3;          // loading the driver, creating a context, loading kernels
constexpr double kTransferBytesPerSecond = 12e9;  // from pageable memory; overlaps with the GPU's work

Device cpu_device() {
  static const Device device = Device::open("cpu");
  return device;
}

bool gpu_may_win(std::uint64_t bytes) {
  const double one_core = static_cast<double>(bytes) / kCpuBytesPerSecond;
  if (one_core <= kGpuStartSeconds) return false;
  return kGpuStartSeconds + static_cast<double>(bytes) / kTransferBytesPerSecond < one_core / cpu_device().info().compute_units;
}

// CUDA first, then OpenCL: the reverse of the order of backends.
Device choose_automatically(std::uint64_t bytes) {
  if (!gpu_may_win(bytes)) return cpu_device();
  for (const device::Backend& backend : std::views::reverse(device::backends())) {
    for (const DeviceInfo& info : backend.probe().devices) {
      if (info.is_cpu) continue;
      try {
        return Device::open(info.selector);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::device) throw;  // the CPU replaces a device that fails to open
      }
    }
  }
  return cpu_device();
}

// `selector` in lower case; "auto" is replaced by SAMESUM_DEVICE where that is set.
std::string resolve(std::string_view selector) {
  std::string resolved = lower(selector);
  if (resolved.empty() || resolved == "auto") {
    resolved = lower(core::setting("SAMESUM_DEVICE"));
    if (resolved.empty()) resolved = "auto";
  }
  return resolved;
}

}  // namespace

Device Device::open(std::string_view selector) {
  if (selector.empty() || lower(selector) == "auto") return choose_device(selector, 0);
  return Device(Registry::instance().open(selector));
}

// The properties of a device, conformance and mask included, do not depend on the queue: they are copied from the registry's device.
Device Device::on_cuda_stream(void* stream, std::uint32_t ordinal) {
  const core::DefaultFloatEnvironment environment;
  const DeviceInfo info = open(fmt::format("cuda:{}", ordinal)).info();
  const auto device = device::cuda::open_on_stream(ordinal, stream);
  device->restrict_to(info);
  return Device(device);
}

Device Device::on_opencl_queue(void* queue) {
  const core::DefaultFloatEnvironment environment;
  const auto device = device::opencl::open_on_queue(queue);
  device->restrict_to(open(device->info().selector).info());
  return Device(device);
}

void Device::wait_for(void* event) const {
  if (event == nullptr) throw Error(ErrorKind::usage, "no event was given to wait for");
  const device::Lock lock(implementation_->mutex());
  implementation_->wait_for(event);
}

void* Device::record(void* event) const {
  const device::Lock lock(implementation_->mutex());
  return implementation_->record(event);
}

const DeviceInfo& Device::info() const noexcept { return implementation_->info(); }

DeviceList list_devices() {
  const core::DefaultFloatEnvironment environment;
  DeviceList list;
  for (const device::Backend& backend : device::backends()) {
    device::Probe probe = backend.probe();
    for (DeviceInfo& info : probe.devices) {
      device::apply_mask(info);
      list.devices.push_back(std::move(info));
    }
    list.absent.insert(list.absent.end(), probe.absent.begin(), probe.absent.end());
  }
  return list;
}

Device choose_device(std::string_view selector, std::uint64_t bytes) {
  const core::DefaultFloatEnvironment environment;
  const std::string resolved = resolve(selector);
  if (resolved == "auto") return choose_automatically(bytes);
  if (resolved == "all") throw Error(ErrorKind::usage, "the selector 'all' names several devices where one is needed");
  return Device::open(resolved);
}

std::vector<Device> open_devices(std::string_view selector, std::uint64_t bytes) {
  const std::string resolved = resolve(selector);
  std::vector<Device> devices;
  if (resolved != "all") {
    for (std::size_t first = 0; first <= resolved.size();) {
      const std::size_t comma = std::min(resolved.find(',', first), resolved.size());
      devices.push_back(choose_device(resolved.substr(first, comma - first), bytes));
      first = comma + 1;
    }
    return devices;
  }
  for (const DeviceInfo& info : list_devices().devices) devices.push_back(Device::open(info.selector));
  return devices;
}

}  // namespace samesum
