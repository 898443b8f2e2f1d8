// The arithmetic ceiling: only multiply-adds.
#pragma once

#include "ladder/timing.hpp"

#include <samesum/types.hpp>

#include <cstdint>
#include <string>

namespace samesum::bench {

/// A computation that keeps every multiply-add unit busy from registers. Its results have been checked.
struct Arithmetic {
  std::string where;  ///< as in ArithmeticRate
  DType type = DType::float32;
  double operations = 0;  ///< multiplications and additions of one call
  Timer timer;
  std::string configuration;
};

/// On `threads` threads of the host.
Arithmetic host_arithmetic(DType type, std::uint32_t threads);
/// By a kernel on the whole device. Requires that the device's mutex is held, also while timing.
Arithmetic device_arithmetic(device::Device& device, DType type);

ArithmeticRate rate_of(const Arithmetic& arithmetic, const Effort& effort);

}  // namespace samesum::bench
