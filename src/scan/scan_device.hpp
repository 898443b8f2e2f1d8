// Prefix sums on devices that run kernels (scan.cl).
#pragma once

#include "device/kernels/program.hpp"

#include <samesum/array.hpp>
#include <samesum/options.hpp>

#include <cstdint>

namespace samesum::prefix {

struct DeviceScan {
  DType type = DType::float64;  ///< of the elements
  bool float32 = false;         ///< results of floats
  bool skip = false;            ///< NaNs
  std::uint32_t group_size = 256;
  std::uint32_t items = 16;  ///< elements of a work-item, at most 16
};

/// Whether there are kernels for it: sums of float32 and float64, and of integers of up to 32 bits, fewer than 2^31.
bool device_scans(DType type, std::uint64_t size, const DeviceInfo& info);

/// Kernels "scan_totals", "scan_before" and "scan_prefixes".
device::Source scan_source(const DeviceScan& scan);

/// Sums of the prefixes of `data`, which lies on a device without gaps, into memory of that device. False where one of them cannot be
/// computed in this way: then the results are none.
bool scan_on_device(const Array& data, bool float32, bool exclusive, NanPolicy nan, const Array& to);

}  // namespace samesum::prefix
