// A GPU's context, and two ways to call the driver in it: with errors thrown, and, for destructors, ignored.
#pragma once

#include "device/cuda/driver_api.hpp"

#include <string>
#include <string_view>

namespace samesum::device::cuda {

/// A GPU's primary context, which the CUDA runtime of the same process shares. Every object in the context holds a reference to it.
class Context {
 public:
  /// @throws Error (device) where the driver cannot create it.
  Context(const Driver& driver, CUdevice device, std::string label);
  ~Context() { driver_.cuDevicePrimaryCtxRelease(device_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const noexcept { return driver_; }
  CUcontext handle() const noexcept { return handle_; }
  const std::string& label() const noexcept { return label_; }

  /// Throws where `code` is a failure. A kernel's failure is reported by any later call, so the message names the latest kernel.
  void check(CUresult code, std::string_view call) const {
    if (code != CUDA_SUCCESS) fail(code, call);
  }
  void note_launch(std::string_view kernel) { last_kernel_ = kernel; }

 private:
  [[noreturn]] void fail(CUresult code, std::string_view call) const;

  const Driver& driver_;
  CUdevice device_;
  CUcontext handle_ = nullptr;
  std::string label_;
  std::string last_kernel_;
};

/// Makes a context current on this thread, and restores the previous one at the end of its scope: the caller may use CUDA too.
class Current {
 public:
  explicit Current(const Context& context) : context_(context) {
    context.check(context.driver().cuCtxPushCurrent(context.handle()), "cuCtxPushCurrent");
  }
  ~Current() {
    CUcontext popped = nullptr;
    context_.driver().cuCtxPopCurrent(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Context& context_;
};

/// Runs `release` in the context, and ignores errors: when the driver is shutting down there is nothing to release. For destructors.
template <typename Release>
void quietly(const Context& context, Release release) noexcept {
  const Driver& driver = context.driver();
  if (driver.cuCtxPushCurrent(context.handle()) != CUDA_SUCCESS) return;
  release(driver);
  CUcontext popped = nullptr;
  driver.cuCtxPopCurrent(&popped);
}

}  // namespace samesum::device::cuda
