// Contiguous copies of strided arrays, for loops and kernels that need contiguous ones.
#pragma once

#include "core/array/pack.hpp"
#include "core/threads/function_ref.hpp"

#include <cstdint>

namespace samesum::core {

/// The size of a copy.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 24;

/// Calls body(View) with contiguous pieces of `data`, in order: the whole view if it is contiguous, otherwise copies of parts of it. At
/// least one call, with an empty piece if there are no elements.
void for_contiguous_pieces(View data, FunctionRef<void(View)> body);

}  // namespace samesum::core
