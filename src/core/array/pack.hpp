// Packing strided elements into contiguous memory.
#pragma once

#include "core/view.hpp"

#include <cstddef>

namespace samesum::core {

/// Copies the elements of `data` to `to`, contiguously, on all cores where that is faster; returns the view of the copy.
View pack(View data, std::byte* to);

/// The same on the calling thread.
View pack_here(View data, std::byte* to);

}  // namespace samesum::core
