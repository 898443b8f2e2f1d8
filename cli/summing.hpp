// Summing files, on one device or on all.
#pragma once

#include "result.hpp"

#include <samesum/device.hpp>
#include <samesum/source.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace samesum::cli {

/// An input by its name, to be opened when its turn comes.
struct NamedSource {
  std::string name;
  std::function<std::unique_ptr<Source>()> open;
};

/// Which files, and what they are where they do not say it themselves. "-" is standard input.
struct Input {
  std::vector<std::string> files;
  std::string dtype;   ///< of raw numbers; empty: there are none
  std::string column;  ///< the rest is of text: see TextOptions
  bool header = false, no_header = false;
  std::vector<std::string> missing;
  std::uint32_t threads = 0;

  /// @throws Error (usage) where they make no sense, or not together.
  InputOptions options() const;
  std::vector<NamedSource> sources() const;
  /// Bytes of all elements that can be summed where they lie. Opens every file, so that a bad one is found before a long sum is begun;
  /// pipes and standard input are left alone.
  std::uint64_t resident_bytes() const;
};

void add_options(CLI::App& command, Input& input);

/// As long as it lives, a file that is cut short while it is read (SIGBUS) ends the program with a message and exit code 2.
class ReadingGuard {
 public:
  explicit ReadingGuard(const std::string& path) noexcept;
  ~ReadingGuard();
  ReadingGuard(const ReadingGuard&) = delete;
  ReadingGuard& operator=(const ReadingGuard&) = delete;
};

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
DeviceSum sum_on(const Device& device, const std::vector<NamedSource>& sources, const SumOptions& options);

/// The sums of `sources` on every usable device, in one pass; a device that fails does not keep the others from trying.
std::vector<DeviceSum> sum_everywhere(const std::vector<NamedSource>& sources, const SumOptions& options);

/// Whether every device gave an answer, and all the same one: equal accumulators.
bool all_agree(const std::vector<DeviceSum>& results);

/// A line for each device: selector, total, bits, name; then one on whether they agree.
void print_devices(Output& out, const ResultOptions& options, const std::vector<DeviceSum>& results);
Json json_of(const ResultOptions& options, const std::vector<DeviceSum>& results);

}  // namespace samesum::cli
