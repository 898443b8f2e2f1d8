// Extremes of arrays on a device that runs kernels (extremes.cl).
#pragma once

#include "core/view.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "reduce/device/launcher.hpp"
#include "tuning/record.hpp"

#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace samesum::statistics {

/// The extremes of an array in device memory: prepared once, launched any number of times, one launch at a time.
class DeviceExtremes {
 public:
  /// `elements`: the size for which it is to be fast.
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  DeviceExtremes(device::Device& device, DType type, const Tuning& options, std::uint64_t elements, ops::Extrema ends = {});

  /// Builds all kernels that a launch may need, with those for strided arrays if `strided`: launches then build nothing.
  void prepare_all(bool strided);

  /// Enqueues the search; the ExtremaRecord goes to `record`, or to where result() finds it. Allocates nothing, waits for nothing. Builds
  /// the kernel for the first strided array, or for the first one that is much larger than expected, unless prepare_all() has.
  void launch(const device::Run& data, const device::Place* record = nullptr);
  /// Waits for the last launch without a `record`, and returns what it found.
  ExtremaRecord result();

  /// "groups=264 group_size=256 loads=2"
  std::string text() const;
  /// The entry of the last launch's kernel; before the first launch, of the one to be expected.
  std::string_view entry() const noexcept { return entry_; }

 private:
  static constexpr std::string_view kSearch = "extremes", kSmall = "extremes_small";

  device::Device& device_;
  DType type_;
  tuning::Shape shape_;
  std::string_view entry_ = kSearch;
  reduction::Launcher search_, small_;
  device::Memory slots_, schedule_;
  device::Place result_;
};

/// What the kernels are made from (entries extremes and extremes_finish).
device::Source extremes_source(DType type, const tuning::Shape& shape, ops::Extrema ends, bool strided);

/// Converts a record of `count` elements to contents of Statistics, and back.
Statistics::Contents contents_of(const ExtremaRecord& record, std::uint64_t count, DType type, bool places = true);
ExtremaRecord record_of(const Statistics::Contents& contents, View data, ops::Extrema ends = {});

}  // namespace samesum::statistics
