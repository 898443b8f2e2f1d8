// Ranks of many lists on a device: kernels find the keys, the host makes numbers of them.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "groups/axes.hpp"
#include "quantile/between.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/by.hpp>
#include <samesum/device.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::selection {

/// Whether kernels select the elements along these axes.
bool selects_on_device(const groups::AxisProblem& problem, const Options& options);

/// What a device finds of lists.
struct FoundKeys {
  Values nans;  ///< uint32: how many each list has; empty if they are not skipped: then the keys of a list with NaNs are those of NaNs
  Values keys;  ///< of the size of the elements: for each quantile the keys, of all lists, at its position below (Position::below)
  bool both;    ///< then, each time, those behind them
};
FoundKeys keys_on_device(const groups::AxisProblem& problem, std::span<const Fraction> quantiles, QuantileMethod method, NanPolicy nan);

/// The same of groups, whose lists have different lengths.
struct FoundGroups {
  FoundKeys keys;                      ///< of floating-point types with `nans`
  std::vector<std::uint64_t> offsets;  ///< of the lists
};
/// None where the elements do not lie on a device that sorts them, or the index of one is outside. @throws Error (usage) as
/// groups::segments_of().
std::optional<FoundGroups> keys_on_device(const Array& data, const By& by, std::span<const Fraction> quantiles, QuantileMethod method,
                                          NanPolicy nan);

/// The source of the kernel of lists along axes, entry `select_lists`. `alone`: each list has one work-item.
device::Source lists_source(DType type, std::uint32_t group_size, bool alone);

}  // namespace samesum::selection
