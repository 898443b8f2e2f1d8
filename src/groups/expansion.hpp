// Expansions of doubles and what is computed from them, for the host: see expansion.h, near_moment.h and moments.h.
#pragma once

#include "device/dialect/host.h"

#include <cmath>

namespace samesum::groups {
using dialect::as_double;
using dialect::as_ulong;
using dialect::uint;
using dialect::ulong;
using std::fma;
using std::sqrt;
#define REAL double
#include "groups/expansion.h"
#include "groups/near_moment.h"
#include "groups/moments.h"
#undef REAL
}  // namespace samesum::groups
