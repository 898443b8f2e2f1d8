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

/// The extremes of data that lie in device memory, prepared once and launched as often as one likes. One launch at a time.
class DeviceExtremes {
 public:
  /// `elements`: for so many, or about so many, it is to be fast.
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  DeviceExtremes(device::Device& device, DType type, const Tuning& options, std::uint64_t elements, ops::Extrema ends = {});

  /// Builds all that a launch may take, of arrays with strides too where these are `strided`: launches then build nothing.
  void prepare_all(bool strided);

  /// Enqueues the search; the ExtremaRecord goes to `record`, or to where result() finds it. Allocates nothing, waits for nothing; builds
  /// what the first array with a stride takes, or of many more elements than were announced, unless prepare_all() has.
  void launch(const device::Run& data, const device::Place* record = nullptr);
  /// What the last launch found that had no other place; waits for it.
  ExtremaRecord result();

  /// "groups=264 group_size=256 loads=2"
  std::string text() const;
  /// The kernel of the last launch, or the first to be expected.
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

/// A record of so many elements as contents of Statistics, and the other way round.
Statistics::Contents contents_of(const ExtremaRecord& record, std::uint64_t count, DType type, bool places = true);
ExtremaRecord record_of(const Statistics::Contents& contents, View data, ops::Extrema ends = {});

}  // namespace samesum::statistics
