// A device with all capabilities that runs no kernels: for tests of what is compiled and allocated, and when.
#pragma once

#include "device/device.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace samesum::test {

/// What was made so far: of a plan nothing more once it exists.
struct Made {
  int compilations = 0, loads = 0, allocations = 0;
  bool operator==(const Made&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Made& made) {
    return out << made.compilations << " compilations, " << made.loads << " loads, " << made.allocations << " allocations";
  }
};

/// Memory is the host's, initially zero; launches do not change it.
class ListingDevice final : public device::Device {
 public:
  ListingDevice() {
    info_.selector = "listing:0";
    info_.name = "a device of a test";
    info_.compute_units = 132;
    info_.max_group_size = 1024;
    info_.local_bytes = 48 << 10;
    info_.memory_bytes = info_.max_allocation_bytes = std::uint64_t{1} << 36;
    cached_ = false;
  }

  Made made;
  int launches = 0, waits = 0;
  std::vector<std::string> texts;  // of all compilations

  device::Memory allocate(std::uint64_t bytes) override {
    ++made.allocations;
    return {std::shared_ptr<void>(std::calloc(bytes + 1, 1), std::free), bytes};
  }
  void write(const device::Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) override {
    std::memcpy(static_cast<char*>(to.handle.get()) + offset, from, bytes);
  }
  void read(const device::Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) override {
    ++waits;
    std::memcpy(to, static_cast<const char*>(from.handle.get()) + offset, bytes);
  }
  device::Language language() const override { return device::Language::cuda; }
  std::string compiler_identity() const override { return "none"; }
  device::Binary compile(const std::string& text) override {
    ++made.compilations;
    texts.push_back(text);
    return {"nothing", ""};
  }
  device::Kernel load(const device::Binary&, const std::string& name) override {
    ++made.loads;
    return {std::make_shared<int>(), name};
  }
  void launch(const device::Kernel&, device::Grid, std::span<const device::Argument>) override { ++launches; }
  std::optional<std::uint32_t> resident_groups(const device::Kernel&, std::uint32_t) override { return 264; }
  device::Mark mark() override { return {}; }
  double seconds_between(const device::Mark&, const device::Mark&) override { return 0; }
  void finish() override { ++waits; }
};

}  // namespace samesum::test
