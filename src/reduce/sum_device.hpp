// The exact sum on a device that runs kernels (sum_exact.cl).
#pragma once

#include "core/view.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "reduce/few_exponents.hpp"
#include "reduce/window_device.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/plan.hpp>
#include <samesum/sum.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace samesum::reduce {

/// A configuration of the exact kernel: changes speed, never a bit.
struct SumConfiguration {
  std::uint32_t groups = 0;  // at most: small data take fewer
  std::uint32_t group_size = 0;
  std::uint32_t columns = 0;
  std::uint32_t loads = 0;  // of 16 bytes, that a work-item has in flight
  bool strided = false;     // the elements do not follow one another
  bool in_float64 = false;  // float16 is added up in float64
  bool kept = false;        // so little data that a good part of them may stay in the cache (kept.h)

  std::string text() const;
};

/// What a launch leaves in device memory.
struct DeviceSumResult {
  Accumulator accumulator;
  SumRecord record{};  // rounded on the device; not where it went to another place
};

/// The exact sum of data that lie in device memory, prepared once and launched as often as one likes. One launch at a time.
class DeviceSum {
 public:
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  /// `elements`: for so many, or about so many, it is to be fast.
  DeviceSum(device::Device& device, DType type, const Tuning& options, std::uint64_t elements);

  /// Builds and allocates all that a launch may take, of arrays with strides too where these are `strided`: launches then do neither.
  void prepare_all(bool strided);

  /// Enqueues the sum of `data`; the SumRecord goes to `record`, or to where result() finds it. Waits for nothing. Builds and allocates
  /// where the first array with a stride comes, or one of many more elements than were announced, unless prepare_all() has.
  /// @throws Error (usage) where there are too many elements for so small groups: beyond 2^32 tiles of theirs.
  void launch(const device::Run& data, NanPolicy nan = NanPolicy::propagate, const device::Place* record = nullptr);
  /// Of the first `count` elements of `data`, contiguous.
  void launch(const device::Memory& data, std::uint64_t count, NanPolicy nan = NanPolicy::propagate) {
    launch({data, count, static_cast<std::int64_t>(size_of(type_)), 0}, nan);
  }
  /// Waits for the last launch.
  DeviceSumResult result();

  /// Of the last launch, or the first to be expected: "exact_bins", or the kernel for little data; "groups=264 group_size=1024 columns=32".
  std::string_view variant() const { return in_window_ ? window_->entry() : "exact_bins"; }
  std::string configuration() const { return in_window_ ? window_->text() : configuration_.text(); }

 private:
  struct Kernels {
    device::Kernel sum;
    device::Kernel finish;  // the second launch, where one is needed
  };
  void prepare_any(std::uint64_t elements);
  Kernels build();
  void launched(std::uint64_t count, bool in_window);
  const Kernels& kernels_for(bool strided);
  // In `result_`: behind entries, and the word that a window's kernel has there.
  std::uint64_t record_offset() const { return std::uint64_t{8} * (entries_ + 1); }

  device::Device& device_;
  Tuning options_;
  SumConfiguration configuration_;
  std::optional<DeviceWindow> window_;  // for little data
  FewExponents few_exponents_;          // where that is for these alone
  bool in_window_ = false;              // the last launch
  bool unread_ = false;                 // its result
  Kernels kernels_;
  Kernels strided_kernels_;
  device::Memory merged_;  // what the groups hand on, to the one that finishes
  device::Memory schedule_;
  device::Memory result_;
  DType type_;
  std::uint32_t entries_;
  std::uint64_t tile_elements_ = 0;
  std::uint64_t count_ = 0;
};

/// The source of the exact kernel for `type`: entries sum_exact and sum_exact_finish.
device::Source sum_exact_source(DType type, const SumConfiguration& configuration);

/// The exact sum of data in host memory on `device`, in chunks that fit into it.
Accumulator sum_on_device(View data, device::Device& device, const Tuning& options, Report* report);

}  // namespace samesum::reduce
