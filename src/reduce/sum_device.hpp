// The exact sum on a device that runs kernels.
#pragma once

#include "core/view.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/term.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/plan.hpp>
#include <samesum/sum.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace samesum::reduction {

/// What a launch leaves in device memory.
struct DeviceSumResult {
  Accumulator accumulator;
  SumRecord record{};  // rounded on the device; not where it went to another place
};

/// The exact sum of data that lie in device memory: a pass that collects nothing else (DevicePass has what each function does).
class DeviceSum {
 public:
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  /// `elements`: the size, or the approximate size, for which the shape is chosen.
  DeviceSum(device::Device& device, DType type, const Tuning& tuning, std::uint64_t elements)
      : pass_(device, type, statistics::collect_options(statistics::kSumAlone, tuning), false, elements),
        element_(static_cast<std::int64_t>(size_of(type))) {}

  void prepare_all(bool strided) { pass_.prepare_all(strided); }
  void launch(const device::Run& data, NanPolicy nan = NanPolicy::propagate, const device::Place* record = nullptr) {
    pass_.launch(data, data, nan, record);
  }
  /// Of the first `count` elements of `data`, contiguous.
  void launch(const device::Memory& data, std::uint64_t count, NanPolicy nan = NanPolicy::propagate) {
    launch(device::Run{data, count, element_, 0}, nan);
  }
  /// Waits for the last launch.
  DeviceSumResult result() {
    Accumulator sum = pass_.result().sum;
    return {std::move(sum), pass_.record()};
  }
  std::string configuration() const { return pass_.configuration(); }

 private:
  statistics::DevicePass pass_;
  std::int64_t element_;
};

/// The sum's variant that the kernel `entry` is: "exact_bins", or the kernel for small arrays.
inline std::string variant_of(const std::string& entry) { return entry == "statistics" ? "exact_bins" : entry; }

/// The exact sum of terms, at least one, of which a launch takes `most` or fewer; done(positions) after each launch.
Accumulator sum_of_terms(statistics::Terms& terms, const Tuning& tuning, std::uint64_t most, Report* report,
                         const std::function<void(std::uint64_t)>& done);

/// The exact sum of an array in host memory, in chunks that fit into the device; of one in the device's memory. `report`, where given, is
/// completed.
Accumulator sum_on_device(View data, device::Device& device, const Tuning& tuning, Report* report);
Accumulator sum_on_device(const device::Run& data, DType type, device::Device& device, const Tuning& tuning, Report* report);

}  // namespace samesum::reduction
