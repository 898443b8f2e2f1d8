// The variants table of the exact sum.
#pragma once

#include <samesum/device.hpp>

#include <string_view>

namespace samesum {

/// The name of the variant that `name` ("auto" or a name) means on `device`. Throws Error (usage) where there is no such variant.
std::string_view find_sum_variant(const Device& device, std::string_view name);

}  // namespace samesum
