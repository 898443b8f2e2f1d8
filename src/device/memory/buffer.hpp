// What a Buffer is made of.
#pragma once

#include "device/device.hpp"

#include <samesum/buffer.hpp>

namespace samesum {

struct Buffer::State {
  Device device;
  device::Memory memory;
};

}  // namespace samesum
