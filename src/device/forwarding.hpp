// A device that forwards all calls to another one.
#pragma once

#include "device/device.hpp"

namespace samesum::device {

/// A base for devices that observe or change some functions of another one. It has its own programs, which do not use the disk cache, and
/// its own mutex: its creator must hold that of the other device.
class Forwarding : public Device {
 public:
  explicit Forwarding(Device& real) : real_(real) {
    info_ = real.info();
    cached_ = false;
  }

  Memory allocate(std::uint64_t bytes) override { return real_.allocate(bytes); }
  Memory allocate_result(std::uint64_t bytes) override { return real_.allocate_result(bytes); }
  Memory wrap(void* memory, std::uint64_t bytes) override { return real_.wrap(memory, bytes); }
  Memory from(const Memory& memory, std::uint64_t offset) override { return real_.from(memory, offset); }
  const void* address_of(const Memory& memory) const override { return real_.address_of(memory); }
  std::uint32_t misalignment(const Memory& memory) const override { return real_.misalignment(memory); }
  void write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) override {
    real_.write(to, offset, from, bytes);
  }
  void read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) override { real_.read(from, offset, to, bytes); }

  Language language() const override { return real_.language(); }
  std::string compiler_identity() const override { return real_.compiler_identity(); }
  Binary compile(const std::string& source) override { return real_.compile(source); }
  void want_binaries() override { real_.want_binaries(); }
  Kernel load(const Binary& binary, const std::string& name) override { return real_.load(binary, name); }
  void launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) override { real_.launch(kernel, grid, arguments); }
  std::uint64_t launch_local_bytes() const override { return real_.launch_local_bytes(); }
  bool knows_residency() const override { return real_.knows_residency(); }
  std::optional<std::uint32_t> resident_groups(const Kernel& kernel, std::uint32_t group_size) override {
    return real_.resident_groups(kernel, group_size);
  }

  bool begin_recording() override { return real_.begin_recording(); }
  Recording end_recording() override { return real_.end_recording(); }
  void replay(const Recording& recording) override { real_.replay(recording); }

  void wait_for(void* event) override { real_.wait_for(event); }
  void* record(void* event) override { return real_.record(event); }
  Mark mark() override { return real_.mark(); }
  double seconds_between(const Mark& from, const Mark& to) override { return real_.seconds_between(from, to); }
  void finish() override { real_.finish(); }

 protected:
  Device& real() const noexcept { return real_; }

 private:
  Device& real_;
};

}  // namespace samesum::device
