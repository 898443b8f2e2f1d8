// The exact sum on a device that runs kernels.
#pragma once

#include "core/view.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "reduce/device/collect_device.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/plan.hpp>
#include <samesum/sum.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace samesum::reduce {

/// What a launch leaves in device memory.
struct DeviceSumResult {
  Accumulator accumulator;
  SumRecord record{};  // rounded on the device; not where it went to another place
};

/// The exact sum of data that lie in device memory: a pass that collects nothing else, prepared once and launched as often as one likes.
/// One launch at a time.
class DeviceSum {
 public:
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  /// `elements`: for so many, or about so many, it is to be fast.
  DeviceSum(device::Device& device, DType type, const Tuning& options, std::uint64_t elements);

  /// Builds and allocates all that a launch may take, of arrays with strides too where these are `strided`: launches then do neither.
  void prepare_all(bool strided) { pass_.prepare_all(strided); }

  /// Enqueues the sum of `data`; the SumRecord goes to `record`, or to where result() finds it. Waits for nothing. Builds and allocates
  /// where the first array with a stride comes, or one of many more elements than were announced, unless prepare_all() has.
  /// @throws Error (usage) where there are too many elements for so small groups: beyond 2^32 tiles of theirs.
  void launch(const device::Run& data, NanPolicy nan = NanPolicy::propagate, const device::Place* record = nullptr) {
    pass_.launch(data, data, nan, record);
  }
  /// Of the first `count` elements of `data`, contiguous.
  void launch(const device::Memory& data, std::uint64_t count, NanPolicy nan = NanPolicy::propagate) {
    launch(device::Run{data, count, element_, 0}, nan);
  }
  /// Waits for the last launch.
  DeviceSumResult result();

  /// Of the last launch, or the first to be expected: "exact_bins", or the kernel for little data; "groups=264 group_size=1024 columns=32".
  std::string_view variant() const;
  std::string configuration() const { return pass_.configuration(); }

 private:
  statistics::DevicePass pass_;
  std::int64_t element_;
};

/// The exact sum of data in host memory on `device`, in chunks that fit into it.
Accumulator sum_on_device(View data, device::Device& device, const Tuning& options, Report* report);

}  // namespace samesum::reduce
