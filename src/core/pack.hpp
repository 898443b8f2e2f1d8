// Elements that lie apart, brought together.
#pragma once

#include "core/view.hpp"

#include <cstddef>

namespace samesum::core {

/// Copies the elements of `data` to `to`, one behind the other, by all cores where it is worth it; the view of the copy.
View pack(View data, std::byte* to);

/// The same by the calling thread.
View pack_here(View data, std::byte* to);

}  // namespace samesum::core
