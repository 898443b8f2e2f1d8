// Bytes, counted on any device: what images and text are made of.
#pragma once

#include "core/view.hpp"

#include <samesum/histogram.hpp>

namespace samesum::binning {

/// How often each byte is there in each of `channels` channels that take turns: 256 numbers for each. data is of uint8.
std::vector<std::uint64_t> count_bytes(View data, std::uint32_t channels, const Device& device, const Tuning& options, Report* report);

}  // namespace samesum::binning
