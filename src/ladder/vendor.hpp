// The vendor's matrix product, the comparison for sums of products over all pairs.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/device.hpp>

namespace samesum::bench {

/// NVIDIA's cuBLAS, loaded at run time, on a CUDA device: two operations for each of n³ products of square matrices, checked.
/// @throws Error (usage) where the device is of another vendor or there is no cuBLAS; Error (device) where it fails.
ArithmeticRate vendor_matrix_product(const Device& device, DType type, const Effort& effort);

}  // namespace samesum::bench
