// Plans as kernels of several axes and of tiles take them (plan_parameters.h).
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "groups/index/device/group_device.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/plan.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::binning {

/// Thresholds and trie of a plan in a device's memory. Requires that the device's mutex is held while it is made.
class DevicePlan {
 public:
  /// `plan` must outlive this object, and its bins' formula, if any, must not fail.
  DevicePlan(device::Device& device, const Plan& plan);

  /// The source of `file`, after what it includes; `defines` beside those of the plan.
  device::Source source(std::string_view file, std::vector<std::pair<std::string, std::string>> defines) const;
  /// Appends PLAN_PARAMETERS.
  void add_to(std::vector<device::Argument>& arguments) const;

  static std::uint32_t group_size(const DeviceInfo& info) noexcept { return info.is_cpu ? 16 : info.max_group_size < 256 ? 64 : 256; }

 private:
  template <class Key, class Real>
  void add_typed(std::vector<device::Argument>& arguments) const;

  const Plan& plan_;
  bool doubles_ = false;  // whether kernels have parameters of that type
  std::uint32_t group_size_;
  Guess guess_ = Guess::pattern;
  Trie trie_;
  device::Memory thresholds_, words_;
};

/// The slots of samples as indices of their weights; valid as long as `plan` is.
groups::Indexing index_of_samples(const DevicePlan& plan);

}  // namespace samesum::binning
