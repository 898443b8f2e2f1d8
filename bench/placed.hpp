// Elements of a benchmark: in the device's memory, or on the host for the CPU.
#pragma once

#include <samesum/samesum.hpp>

#include <vector>

template <class T>
samesum::Array placed(const samesum::Device& device, const std::vector<T>& values) {
  if (!device.info().has(samesum::Capability::kernels)) return samesum::Array(values);
  const samesum::Buffer buffer(device, values.size() * sizeof(T));
  buffer.write(values.data(), values.size() * sizeof(T));
  return samesum::Array(buffer, values.size(), samesum::Array(values).type());
}
