// 16-bit floats as floats, which they are exactly.
#pragma once

#include <samesum/types.hpp>

#include <cstddef>

namespace samesum::reduction {

/// `type`: float16 or bfloat16, at any byte alignment.
void halves_to_floats(const std::byte* halves, std::size_t count, DType type, float* to);

}  // namespace samesum::reduction
