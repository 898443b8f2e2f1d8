// The exact sum of an array.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/device.hpp>
#include <samesum/types.hpp>
#include <samesum/view.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum {

/// How a sum is to be done. But for the policy on NaNs, none of it changes a bit of the answer.
struct SumOptions {
  NanPolicy nan = NanPolicy::propagate;
  std::string variant = "auto";  ///< a row of the variants table of kind `answer`; "auto" takes the best
  std::uint32_t group_size = 0;  ///< work-items of a group on a device that runs kernels; 0: the variant's own
  std::uint32_t groups = 0;      ///< work-groups; 0: as many as the device holds at once
  std::uint32_t threads = 0;     ///< threads of the CPU backend; 0: as many as pay for the size, at most all cores
};

/// How a sum was done: what --verbose prints.
struct SumReport {
  std::string device;  ///< selector
  std::string variant;
  std::string configuration;  ///< "groups=264 group_size=1024"
  std::uint64_t bytes = 0;
  double upload_seconds = 0;  ///< host to device; 0 where nothing is moved
  double seconds = 0;         ///< the summing itself

  /// Adds the bytes and the times of what was summed later, in the same way.
  SumReport& operator+=(const SumReport& later) {
    bytes += later.bytes;
    upload_seconds += later.upload_seconds;
    seconds += later.seconds;
    return *this;
  }
};

/// A way to compute the exact sum: a name for SumOptions::variant, and what it does.
struct SumVariant {
  std::string_view name;
  std::string_view description;
};

/// The variants that can run on `device`, the one that "auto" takes first. All give the same bits.
std::vector<SumVariant> sum_variants(const Device& device);

/// The exact sum of `data` as an accumulator: merge it with others, serialize it, round it.
/// O(n) time; O(1) memory on the CPU; on other devices data in host memory goes through in chunks of bounded size.
/// May be called from several threads at once; `data` is only read, `report` is this call's own.
/// @throws Error (usage) for an unknown variant or a group size that the device cannot run; Error (device) where the device fails.
Accumulator accumulate(View data, const Device& device, const SumOptions& options = {}, SumReport* report = nullptr);

/// The sum of `data`, correctly rounded: the real-number sum of the elements, rounded once to the nearest double, ties to even.
/// The same bits on every device, with every option. Empty data: +0.0.
double sum(View data, const Device& device, const SumOptions& options = {});
/// The same on the device that `choose_device("auto", data.bytes())` names, with no set-up cost for small arrays.
double sum(View data);

}  // namespace samesum
