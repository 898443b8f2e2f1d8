// The variants table of the exact sum.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/device.hpp>
#include <samesum/sum.hpp>
#include <samesum/value.hpp>

#include <string_view>

namespace samesum {

/// The name of the variant that `name` ("auto" or a name) means on `device`. Throws Error (usage) where there is no such variant.
std::string_view find_sum_variant(const Device& device, std::string_view name);

/// What sum() gives for elements of `type` whose exact sum is `sum`: of integers it itself, else rounded.
/// Throws Error (no_answer) for integers whose sum does not fit into 64 bits.
Value value_of(const Accumulator& sum, DType type, NanPolicy nan);

}  // namespace samesum
