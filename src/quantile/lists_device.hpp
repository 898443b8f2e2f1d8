// Ranks of many lists on a device: kernels find the keys, the host makes numbers of them.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "groups/axes.hpp"
#include "quantile/between.hpp"

#include <samesum/device.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace samesum::selection {

/// Whether kernels select the elements along these axes.
bool selects_on_device(const groups::AxisProblem& problem, const Options& options);

/// Of each list the number of its NaNs; then for each quantile the keys, of all lists, at its position below (Position::below), then those behind
/// them. A list with NaNs has the ranks of its other elements if they are skipped.
std::vector<std::uint64_t> keys_on_device(const groups::AxisProblem& problem, std::span<const Fraction> quantiles, QuantileMethod method,
                                          NanPolicy nan);

/// The source of their kernel, entry `select_lists`. `alone`: each list has one work-item.
device::Source lists_source(DType type, std::uint32_t group_size, bool alone);

}  // namespace samesum::selection
