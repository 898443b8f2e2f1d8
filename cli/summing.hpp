// Summing files, on one device or on all.
#pragma once

#include "result.hpp"

#include <samesum/array_file.hpp>
#include <samesum/device.hpp>

#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// Which files, of which type where they are raw.
struct Input {
  std::vector<std::string> files;
  std::string dtype;  ///< empty: .npy only

  ArrayFile open(const std::string& file) const;
  /// Bytes of all elements. Opens every file, so that a bad one is found before a long sum is begun.
  std::uint64_t bytes() const;
};

/// As long as it lives, a file that is cut short while it is read (SIGBUS) ends the program with a message and exit code 2.
class ReadingGuard {
 public:
  explicit ReadingGuard(const std::string& path) noexcept;
  ~ReadingGuard();
  ReadingGuard(const ReadingGuard&) = delete;
  ReadingGuard& operator=(const ReadingGuard&) = delete;
};

std::vector<NamedSum> sum_files(const Input& input, const Device& device, const SumOptions& options);

/// What one of several devices had to say.
struct DeviceSum {
  DeviceInfo device;
  std::vector<NamedSum> sums;
  std::string failure;  ///< why there is no sum; else empty

  double seconds() const noexcept;
};

/// Whether `selector` (with SAMESUM_DEVICE behind "auto") means every device.
bool means_all(const std::string& selector);

/// The sums of `input` on every usable device; a device that fails does not keep the others from trying.
std::vector<DeviceSum> sum_everywhere(const Input& input, const SumOptions& options);

/// Whether every device gave an answer, and all the same one: equal accumulators.
bool all_agree(const std::vector<DeviceSum>& results);

/// A line for each device: selector, total, bits, name; then one on whether they agree.
void print_devices(Output& out, const ResultOptions& options, const std::vector<DeviceSum>& results);
Json json_of(const ResultOptions& options, const std::vector<DeviceSum>& results);

}  // namespace samesum::cli
