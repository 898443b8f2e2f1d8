// What product.cl makes of an array, run on the host: for a file of its own for each type, which defines BITS, FLOATS, SIGNED, FRACTION_BITS,
// EXPONENT_BITS, GROUP_SIZE and LOADS before.
#pragma once

#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/informative.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#define SKIP 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"
namespace samesum::dialect {
namespace {  // another kernel in each file
// clang-format off
#include "device/kept.h"
#include "statistics/elements.h"
#include "product/product.cl"
// clang-format on
}  // namespace
}  // namespace samesum::dialect
#pragma GCC diagnostic pop
