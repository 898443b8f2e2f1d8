// Multiply-adds and nothing else: the ceiling of arithmetic.
#pragma once

#include "ladder/timing.hpp"

#include <samesum/types.hpp>

#include <cstdint>
#include <string>

namespace samesum::bench {

/// Something to time that keeps every multiply-add unit busy from registers. What it computes has been checked.
struct Arithmetic {
  std::string where;  ///< as ArithmeticRate has it
  DType type = DType::float32;
  double operations = 0;  ///< multiplications and additions of one call
  Timer timer;
  std::string configuration;
};

/// By `threads` threads of the host.
Arithmetic host_arithmetic(DType type, std::uint32_t threads);
/// By a kernel on all of the device. The caller holds the device's lock, also when it times.
Arithmetic device_arithmetic(device::Device& device, DType type);

ArithmeticRate rate_of(const Arithmetic& arithmetic, const Effort& effort);

}  // namespace samesum::bench
