// The words of sums that stay in device memory (words.cl).
#pragma once

#include "device/kernels/program.hpp"

#include <samesum/types.hpp>

#include <cstdint>

namespace samesum::nccl {

/// Digits, of which digit i weighs 2^(base + 32 i - 1074), four counters (layout.h), and the number of terms.
struct Words {
  int base;
  std::uint32_t digits;

  constexpr std::uint64_t count() const noexcept { return digits + 5; }
};
Words words_of(DType type, bool products);

device::Source words_source(DType type, bool products);

}  // namespace samesum::nccl
