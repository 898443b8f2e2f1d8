// Summing files, on one device or on all.
#pragma once

#include "input/input.hpp"
#include "output/result.hpp"

#include <samesum/device.hpp>
#include <samesum/source.hpp>

#include <string>
#include <vector>

namespace samesum::cli {

/// The results of one of several devices.
struct DeviceSum {
  DeviceInfo device;
  std::vector<NamedSum> sums;  ///< one for each file
  std::string failure;         ///< why there is no sum; empty if there is one

  double seconds() const noexcept;
};

/// Whether `selector` (or SAMESUM_DEVICE, for "auto") means every device.
bool means_all(const std::string& selector);

/// The sums of `sources` on one device; throws on failure.
DeviceSum sum_on(const Device& device, const std::vector<NamedSource>& sources, const Tuning& options);

/// The sums of `sources`, each chunk divided over all of `devices`.
DeviceSum sum_shared(const std::vector<Device>& devices, const std::vector<NamedSource>& sources, const Tuning& options);

/// The sums of `sources` on every usable device, in one pass; a failing device does not affect the others.
std::vector<DeviceSum> sum_everywhere(const std::vector<NamedSource>& sources, const Tuning& options);

/// Whether every device gave an answer, and all answers are equal accumulators.
bool all_agree(const std::vector<DeviceSum>& results);

/// A sentence on whether the answers of several devices agree.
Table::Cell verdict_on(const std::vector<DeviceSum>& results);

/// A line for each device: selector, total, bits, name; then one on whether they agree.
void print_devices(Output& out, const ResultOptions& options, const std::vector<DeviceSum>& results);
Json json_of(const ResultOptions& options, const std::vector<DeviceSum>& results);

}  // namespace samesum::cli
