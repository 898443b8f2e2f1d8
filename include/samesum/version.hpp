// The version of the library.
#pragma once

#include <samesum/export.hpp>

#define SAMESUM_VERSION "0.1.0"

namespace samesum SAMESUM_EXPORT {

/// The version of the library that is linked, which may differ from the header's SAMESUM_VERSION.
const char* version() noexcept;

}  // namespace samesum
