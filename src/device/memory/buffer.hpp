// The state of a Buffer.
#pragma once

#include "device/device.hpp"

#include <samesum/buffer.hpp>

namespace samesum {

struct Buffer::State {
  Device device;
  device::Memory memory;
};

}  // namespace samesum
