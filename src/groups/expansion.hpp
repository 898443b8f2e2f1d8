// Expansions of doubles, for the host: see expansion.h.
#pragma once

#include "device/dialect/host.h"

#include <cmath>

namespace samesum::groups {
using dialect::uint;
using std::fma;
#define REAL double
#include "groups/expansion.h"
#undef REAL
}  // namespace samesum::groups
