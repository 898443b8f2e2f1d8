// One pass over an array on a device that runs kernels (statistics.cl).
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "reduce/window_device.hpp"
#include "statistics/collect.hpp"
#include "statistics/extremes_device.hpp"

#include <samesum/statistics.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace samesum::statistics {

/// What a kernel is made for.
struct KernelShape {
  DType type = DType::float32;
  Fields fields = {};
  bool dot = false;  ///< `fields.squares` are products a·b
  std::uint32_t group_size = 0;
  std::uint32_t groups = 0;  ///< at most: small data take fewer
  std::uint32_t loads = 0;   ///< of 16 bytes, that a work-item has in flight
  std::uint32_t steps = 1;   ///< of so many loads, after which a group draws again
  std::uint32_t columns = 0;
  bool windows = false;  ///< sums in registers, where these are exact

  std::string text() const;
};

/// A pass over data that lie in device memory, prepared once and launched as often as one likes. One launch at a time. Where extremes alone
/// are wanted, or one sum of little data, the kernel is theirs.
class DevicePass {
 public:
  /// `elements`: for so many, or about so many, it is to be fast.
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  DevicePass(device::Device& device, DType type, const CollectOptions& options, bool dot, std::uint64_t elements);

  /// Builds and allocates all that a launch may take: launches then do neither.
  void prepare_all();

  /// Enqueues a pass over `a`, and over as many elements of `b` for a dot product (else it is not looked at). Waits for nothing. Builds and
  /// allocates where what comes is not what was announced, unless prepare_all() has.
  /// At most kMostElements; arrays that are contiguous, and lie alike where they are two, are faster.
  void launch(const device::Run& a, const device::Run& b);
  static constexpr std::uint64_t kMostElements = std::uint64_t{1} << 31;
  /// Waits for the last launch. Of a dot product, Contents::squares are the products.
  Statistics::Contents result();

  /// The kernel of the last launch, or the first to be expected; "groups=528 group_size=256 columns=32".
  std::string_view entry() const { return extremes_ ? extremes_->entry() : in_window_ ? window_->entry() : kEntry; }
  std::string configuration() const { return extremes_ ? extremes_->shape().text() : in_window_ ? window_->text() : shape_.text(); }

 private:
  static constexpr std::string_view kEntry = "statistics";

  void prepare();
  reduce::Terms terms() const;
  Statistics::Contents sum_of_window();

  device::Device& device_;
  KernelShape shape_;
  std::uint32_t groups_;  // asked for; 0: chosen
  std::optional<DeviceExtremes> extremes_;
  std::optional<reduce::DeviceWindow> window_;
  bool in_window_ = false;  // the last launch
  device::Kernel kernel_;
  device::Kernel combine_;
  device::Memory records_;
  device::Memory merged_;
  device::Memory result_;
  device::Memory schedule_;
  device::Memory window_result_;
  std::uint64_t count_ = 0;
};

/// What the kernels are made from (entries statistics and statistics_combine).
device::Source pass_source(const KernelShape& shape);

}  // namespace samesum::statistics
