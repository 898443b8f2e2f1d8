// Plain calls of every pattern: what warm() makes, and what the kernels that ship with samesum are for.
#pragma once

#include <samesum/device.hpp>
#include <samesum/types.hpp>

#include <functional>
#include <string>
#include <vector>

namespace samesum::warming {

struct Call {
  std::string operation;  ///< of warm_operations()
  DType type;
  std::function<void()> run;
};

/// On zeros in the device's memory, which the calls share.
/// @throws Error (device) where it has no memory for them.
std::vector<Call> plain_calls(const Device& device);

}  // namespace samesum::warming
