// Summing files, on one device or on all.
#pragma once

#include "input.hpp"
#include "result.hpp"

#include <samesum/device.hpp>
#include <samesum/source.hpp>

#include <string>
#include <vector>

namespace samesum::cli {

/// What one of several devices had to say.
struct DeviceSum {
  DeviceInfo device;
  std::vector<NamedSum> sums;  ///< one for each file
  std::string failure;         ///< why there is no sum; else empty

  double seconds() const noexcept;
};

/// Whether `selector` (with SAMESUM_DEVICE behind "auto") means every device.
bool means_all(const std::string& selector);

/// The sums of `sources` on one device. What fails is thrown.
DeviceSum sum_on(const Device& device, const std::vector<NamedSource>& sources, const Tuning& options);

/// The sums of `sources`, each chunk shared out over all of `devices`.
DeviceSum sum_shared(const std::vector<Device>& devices, const std::vector<NamedSource>& sources, const Tuning& options);

/// The sums of `sources` on every usable device, in one pass; a device that fails does not keep the others from trying.
std::vector<DeviceSum> sum_everywhere(const std::vector<NamedSource>& sources, const Tuning& options);

/// Whether every device gave an answer, and all the same one: equal accumulators.
bool all_agree(const std::vector<DeviceSum>& results);

/// What the answers of several devices come to, in a sentence.
Table::Cell verdict_on(const std::vector<DeviceSum>& results);

/// A line for each device: selector, total, bits, name; then one on whether they agree.
void print_devices(Output& out, const ResultOptions& options, const std::vector<DeviceSum>& results);
Json json_of(const ResultOptions& options, const std::vector<DeviceSum>& results);

}  // namespace samesum::cli
