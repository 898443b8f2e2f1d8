// Arrays as the CPU's pairs take them, and as they are brought to devices.
#pragma once

#include <samesum/array.hpp>

#include <vector>

namespace samesum::all_pairs {

/// The elements in the type that is computed in, contiguous and aligned in host memory: the array's own memory, or a copy.
class HostElements {
 public:
  HostElements(const Array& array, DType computed);
  HostElements(const HostElements&) = delete;
  HostElements& operator=(const HostElements&) = delete;

  const void* data() const noexcept { return data_; }

 private:
  const void* data_ = nullptr;
  std::vector<double> copy_;
};

}  // namespace samesum::all_pairs
