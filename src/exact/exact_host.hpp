// The arithmetic that kernels share (exact.h), on the host: in namespace samesum::dialect.
#pragma once

#include "device/dialect/host.h"

#include <cstdint>

namespace samesum::dialect {
#include "exact/exact.h"
}

namespace samesum::exact {

/// The position of 2^0 in the digits of a sum.
inline constexpr int kUnit = 1074;
/// Additions between two normalizations: each changes a digit by less than 2^32; a normalized digit is under 2^32, the last under 2^31.
inline constexpr std::uint32_t kMaxPending = 1u << 29;

}  // namespace samesum::exact
