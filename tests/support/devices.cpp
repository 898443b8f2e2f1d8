#include "support/devices.hpp"

#include "device/cuda/driver_api.hpp"
#include "device/opencl/query.hpp"

#include <samesum/error.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace samesum::test {
namespace {

// Queues and streams are never released, as devices are not.
Device on_own_queue(const device::opencl::Found& found) {
  const device::opencl::Api& api = device::opencl::api();
  const cl_context context = api.clCreateContext(nullptr, 1, &found.id, nullptr, nullptr, nullptr);
  return Device::on_opencl_queue(api.clCreateCommandQueue(context, found.id, CL_QUEUE_PROFILING_ENABLE, nullptr));
}

Device on_own_stream(std::string_view selector) {
  const std::string_view number = selector.substr(selector.find(':') + 1);
  std::uint32_t ordinal = 0;
  std::from_chars(number.data(), number.data() + number.size(), ordinal);
  const device::cuda::Driver& driver = *device::cuda::load_driver().driver;
  device::cuda::CUcontext context = nullptr, popped = nullptr;
  device::cuda::CUstream stream = nullptr;
  driver.cuDevicePrimaryCtxRetain(&context, static_cast<int>(ordinal));
  driver.cuCtxPushCurrent(context);
  driver.cuStreamCreate(&stream, device::cuda::kStreamNonBlocking);
  driver.cuCtxPopCurrent(&popped);
  return Device::on_cuda_stream(stream, ordinal);
}

std::vector<Device> find() {
  std::vector<Device> found;
  if (!on_own_queues()) return open_devices("all", 0);
  for (const device::opencl::Found& one : device::opencl::findings().devices) found.push_back(on_own_queue(one));
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.selector.starts_with("cuda:")) found.push_back(on_own_stream(info.selector));
  }
  return found.empty() ? open_devices("all", 0) : found;
}

}  // namespace

bool on_own_queues() {
  const char* queues = std::getenv("SAMESUM_TEST_QUEUES");
  return queues != nullptr && std::string_view(queues) == "own";
}

const std::vector<Device>& devices() {
  static const auto* all = new std::vector<Device>(find());
  return *all;
}

}  // namespace samesum::test
