// What several files of this folder share: counting bytes on any device (the basis for images and text), the slots of a histogram.
#pragma once

#include "core/view.hpp"

#include <samesum/histogram.hpp>

namespace samesum::binning {

/// The number of occurrences of each byte in each of `channels` interleaved channels: 256 numbers for each. data is of uint8.
std::vector<std::uint64_t> count_bytes(View data, std::uint32_t channels, const Device& device, const Tuning& options, Report* report);

/// The counts as Histogram's constructor takes them: below, in and above all bins, NaNs.
std::vector<std::uint64_t> slots_of(const Histogram& histogram);

}  // namespace samesum::binning
