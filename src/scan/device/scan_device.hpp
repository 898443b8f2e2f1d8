// Scans on devices that run kernels (once.cl, scan.cl, columns.cl).
#pragma once

#include "device/kernels/program.hpp"
#include "scan/lines.hpp"

#include <samesum/array.hpp>
#include <samesum/options.hpp>
#include <samesum/scan.hpp>

#include <cstdint>
#include <optional>

namespace samesum::prefix {

struct DeviceScan {
  ScanOperation operation = ScanOperation::sum;
  DType type = DType::float64;  ///< of the elements
  bool float32 = false;         ///< results of sums of floats
  bool skip = false;            ///< NaNs
  bool once = false;            ///< in one launch; of floats, sums that two doubles hold
  bool wide = false;            ///< sums of floats that span more, with infinities and NaNs
  bool segments = false;        ///< scans that begin anew
  bool columns = false;         ///< along an axis that is not the last
  std::uint32_t group_size = 128;
  std::uint32_t items = 16;  ///< elements of a work-item, a power of two up to 32; with `wide` 8
};

/// Whether there are kernels for it: all but products, of all types, of integers that are narrower than 64 bits fewer than 2^31.
bool device_scans(ScanOperation operation, DType type, std::uint64_t size, const DeviceInfo& info);

/// The same, in one launch: `scan` with the shape that it has there, where the device has what that needs.
std::optional<DeviceScan> scan_once(DeviceScan scan, const DeviceInfo& info);

/// Bytes of what kernels keep for each tile, at most.
std::uint64_t prefix_bytes(const DeviceScan& scan);

/// With `once` the kernel "scan_once"; else "scan_totals", "scan_before" and "scan_prefixes"; for segments "scan_rows" and "scan_offsets" too; of columns "column_totals",
/// "columns_before" and "column_prefixes".
device::Source scan_source(const DeviceScan& scan);

/// The results of a scan of `data`, which lies on a device without gaps, into memory of that device. False where one of them is not known
/// there: then the results are none.
bool scan_on_device(const Array& data, const Scan& what, const Layout& layout, NanPolicy nan, const Array& to);

}  // namespace samesum::prefix
