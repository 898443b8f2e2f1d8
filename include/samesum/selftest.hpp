// The self-test: does this device, with this driver, give the right bits?
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The hash over all results of the self-test: the same on every device that works correctly.
inline constexpr std::uint64_t kSelftestHash = 0xee35dec17ca6cbc2;

/// What the self-test found on one device.
struct SelftestResult {
  DeviceInfo device;
  std::uint64_t hash = 0;  ///< XXH3-64 over every accumulator and every rounded sum; kSelftestHash if all are right
  std::uint64_t sums = 0;  ///< computed
  double seconds = 0;
  std::vector<std::string> failures;  ///< the case and the wrong result; at most 12

  bool passed() const noexcept { return failures.empty() && hash == kSelftestHash; }  ///< whether all bits are right
  /// One line: the results, the device and its capabilities, the library's version.
  std::string json() const;
};

/// Sums a fixed set of hard cases (cancellation, ties, denormals, infinities, NaNs, every exponent; up to 2^20 + 7 elements) on
/// `device` with every variant, and compares each with the same elements added one by one on the host. Takes seconds.
/// A device that fails is a finding, not an exception.
SelftestResult selftest(const Device& device);

}  // namespace samesum
