// An open NVIDIA GPU.
#pragma once

#include "device/cuda/context.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/cuda/staging.hpp"
#include "device/device.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::device::cuda {

class CudaDevice final : public Device {
 public:
  /// On a stream of its own, or on the caller's `stream` (which may be null: the default stream) of the primary context.
  /// @throws Error (device) where the driver cannot create the context, or the stream belongs to another one.
  CudaDevice(const Driver& driver, CUdevice device, DeviceInfo info, CompilerChoice compiler, ShippedChoice shipped,
             std::optional<CUstream> stream = {});
  ~CudaDevice() override;

  Memory allocate(std::uint64_t bytes) override;
  Memory allocate_result(std::uint64_t bytes) override;
  Memory wrap(void* memory, std::uint64_t bytes) override;
  Memory from(const Memory& memory, std::uint64_t offset) override;
  const void* address_of(const Memory& memory) const override { return memory.handle.get(); }
  std::uint32_t misalignment(const Memory& memory) const override;
  void write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) override;
  void read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) override;

  CUstream stream() const noexcept { return stream_; }

  Language language() const override { return Language::cuda; }
  std::string compiler_identity() const override;
  Binary compile(const std::string& source) override;
  void want_binaries() override { with_ptx_ = true; }
  std::vector<Binary> shipped(const std::string& source) override;
  Kernel load(const Binary& binary, const std::string& name) override;
  void launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) override;
  std::uint64_t launch_local_bytes() const override;
  std::optional<std::uint32_t> resident_groups(const Kernel& kernel, std::uint32_t group_size) override;

  bool begin_recording() override;
  bool is_recording() override;
  Recording end_recording() override;
  void replay(const Recording& recording) override;

  void wait_for(void* event) override;
  void* record(void* event) override;
  Mark mark() override;
  double seconds_between(const Mark& from, const Mark& to) override;
  void finish() override;

 private:
  const Driver& driver() const noexcept { return context_->driver(); }

  std::shared_ptr<Context> context_;
  CompilerChoice compiler_;
  ShippedChoice shipped_;
  bool starts_early_;                 // kernels that wait on the device for preceding launches
  std::uint64_t static_local_bytes_;  // per group, for local variables; dynamic local memory may exceed it
  std::uint64_t dynamic_local_bytes_;
  CUstream stream_ = nullptr;
  bool own_stream_;
  bool with_ptx_ = false;
  std::optional<Staging> staging_;
};

}  // namespace samesum::device::cuda
