// The kernels of element_words.cl.
#pragma once

#include "device/kernels/program.hpp"

#include <samesum/types.hpp>

#include <cstdint>

namespace samesum {

device::Source element_words_source(DType type, int count_bits, std::uint32_t group_size);

}  // namespace samesum
