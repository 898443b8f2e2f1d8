// A GPU that runs nothing, and notes the texts that it is to compile.
#pragma once

#include "device/device.hpp"
#include "device/kernels/conformance.hpp"
#include "tuning/tables.hpp"
#include "warm/calls.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace samesum::warming {

/// Its memory is all zeros, whatever is written. What it is made of is all in which GPUs differ that decides texts.
class NotingDevice final : public device::Device {
 public:
  NotingDevice(std::uint64_t launch_local_bytes, std::uint32_t compute_units, const std::string& kind = "GPU")
      : launch_local_bytes_(launch_local_bytes) {
    info_.selector = "cuda:0";
    info_.name = "NVIDIA " + kind;
    info_.platform = "CUDA";
    info_.compute_units = compute_units;
    info_.max_group_size = 1024;
    info_.local_bytes = 48 << 10;
    info_.memory_bytes = info_.max_allocation_bytes = std::uint64_t{16} << 30;
    cached_ = false;
  }

  std::set<std::string> texts;

  device::Memory allocate(std::uint64_t bytes) override { return {std::shared_ptr<void>(std::calloc(bytes + 1, 1), std::free), bytes}; }
  void write(const device::Memory&, std::uint64_t, const void*, std::uint64_t) override {}
  void read(const device::Memory&, std::uint64_t, void* to, std::uint64_t bytes) override { std::memset(to, 0, bytes); }
  device::Language language() const override { return device::Language::cuda; }
  std::string compiler_identity() const override { return {}; }
  device::Binary compile(const std::string& text) override {
    texts.insert(text);
    return {"noted"};
  }
  device::Kernel load(const device::Binary&, const std::string& name) override { return {std::make_shared<int>(), name}; }
  void launch(const device::Kernel&, device::Grid, std::span<const device::Argument>) override {}
  std::uint64_t launch_local_bytes() const override { return launch_local_bytes_; }
  std::optional<std::uint32_t> resident_groups(const device::Kernel&, std::uint32_t) override { return 264; }
  device::Mark mark() override { return {}; }
  double seconds_between(const device::Mark&, const device::Mark&) override { return 1e-3; }
  void finish() override {}

 private:
  std::uint64_t launch_local_bytes_;
};

/// The programs that are compiled if a GPU with this local memory and these compute units is opened and plain calls run on it: a GPU of
/// each kind for which a table of shapes ships, and one of no such kind.
inline std::set<std::string> texts_of_calls(std::uint64_t launch_local_bytes, std::uint32_t compute_units) {
  std::set<std::string> kinds = {"GPU"}, texts;
  for (const tuning::Table& table : tuning::shipped_tables()) {
    if (!table.is_cpu) kinds.insert(table.names.begin(), table.names.end());
  }
  for (const std::string& kind : kinds) {
    const auto noting = std::make_shared<NotingDevice>(launch_local_bytes, compute_units, kind);
    device::check_conformance(*noting);
    for (const Call& call : plain_calls(samesum::Device(noting))) call.run();
    texts.merge(noting->texts);
  }
  return texts;
}

}  // namespace samesum::warming
