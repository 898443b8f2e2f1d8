// The self-test: does this device, with this driver, give the right bits?
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The hash over all results of the self-test: the same on every device where nothing is wrong.
inline constexpr std::uint64_t kSelftestHash = 0xee35dec17ca6cbc2;

/// What the self-test found on one device.
struct SelftestResult {
  DeviceInfo device;
  std::uint64_t hash = 0;  ///< XXH3-64 over every accumulator and every rounded sum; kSelftestHash where all is right
  std::uint64_t sums = 0;  ///< that were computed
  double seconds = 0;
  std::vector<std::string> failures;  ///< the case, and what came out instead; at most a dozen

  bool passed() const noexcept { return failures.empty() && hash == kSelftestHash; }
  /// One line: the findings, the device and what it can do, the library's version.
  std::string json() const;
};

/// Sums a fixed set of hard cases (cancellation, ties, denormals, infinities, NaNs, every exponent; up to 2^20 + 7 elements) on
/// `device` with every variant, and compares each with the same elements added one by one on the host. Takes seconds.
/// A device that fails is a finding, not an exception.
SelftestResult selftest(const Device& device);

}  // namespace samesum
