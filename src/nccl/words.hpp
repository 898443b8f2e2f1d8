// The kernels of sums that stay in device memory, for the tests that compile every kernel.
#pragma once

#include "device/kernels/program.hpp"

#include <samesum/types.hpp>

#include <cstdint>

namespace samesum::nccl {

device::Source words_source(DType type, bool products);
/// 64-bit words of a sum.
std::uint64_t words_of(DType type, bool products);

}  // namespace samesum::nccl
