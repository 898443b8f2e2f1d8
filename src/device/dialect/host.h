// Prelude of the kernel dialect for the host's compiler: what the sources that are shared with kernels (src/exact) need of it.
#pragma once

#include <bit>
#include <cstdint>

#define FN inline
#define SELDOM inline
#define LOCAL

namespace samesum::dialect {

using uint = std::uint32_t;
using ulong = unsigned long;
static_assert(sizeof(long) == 8, "the dialect's long has 64 bits");

FN ulong as_ulong(double x) { return std::bit_cast<ulong>(x); }
FN double as_double(ulong x) { return std::bit_cast<double>(x); }
FN uint clz64(ulong x) { return static_cast<uint>(std::countl_zero(x)); }

}  // namespace samesum::dialect
