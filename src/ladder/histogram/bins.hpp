// The source of the histogram's ladder for a number of bins.
#pragma once

#include "device/kernels/program.hpp"

#include <samesum/device.hpp>
#include <samesum/histogram.hpp>

#include <cstdint>
#include <string>

namespace samesum::bench {

/// The work-items of a group of the textbook's kernels: `wanted`, or 0 for the default. @throws Error (usage) for more than the device
/// runs.
std::uint32_t histogram_group_size(const DeviceInfo& info, std::uint32_t wanted);

/// ladder.cl's entries for bins by a formula of bytes; null: a bin for each byte.
device::Source histogram_source(const DeviceInfo& info, std::uint32_t group_size, const Bins* bins, std::uint32_t registers = 0);

/// A user's kernel `histogram` instead, for `count` bins; where there are `bins` it has bin_of().
device::Source own_histogram_source(const std::string& text, const DeviceInfo& info, std::uint32_t group_size, std::uint32_t count,
                                    const Bins* bins = nullptr, std::uint32_t registers = 0);

}  // namespace samesum::bench
