#include "device/cuda/context.hpp"

#include "device/in_driver.hpp"

#include <fmt/format.h>

#include <utility>

namespace samesum::device::cuda {

Context::Context(const Driver& driver, CUdevice device, std::string label) : driver_(driver), device_(device), label_(std::move(label)) {
  const InDriver call("cuDevicePrimaryCtxRetain", label_);
  check(driver.cuDevicePrimaryCtxRetain(&handle_, device), "cuDevicePrimaryCtxRetain");
}

void Context::fail(CUresult code, std::string_view call) const {
  Error::Context context;
  context.device = label_;
  constexpr CUresult kFirstOfKernels = 700;  // CUDA_ERROR_ILLEGAL_ADDRESS; higher codes are kernel failures too
  if (code >= kFirstOfKernels && !last_kernel_.empty()) context.kernel = fmt::format("{}, or one before it", last_kernel_);
  driver_.fail(code, call, std::move(context));
}

}  // namespace samesum::device::cuda
