// Where the elements of a scan lie, and in which lines.
#pragma once

#include "scan/lines.hpp"

#include <samesum/array.hpp>
#include <samesum/scan.hpp>

#include <cstddef>
#include <vector>

namespace samesum::prefix {

/// Checks axis, offsets and what excludes each other. Valid while `what` is. @throws Error (usage).
Layout layout_of(const Array& data, const Scan& what);

/// The elements of an array in host memory, in C order, aligned: in place where they lie so, else copied.
class HostElements {
 public:
  explicit HostElements(const Array& data);
  const void* data() const noexcept { return data_; }

 private:
  std::vector<std::uint64_t> copy_;
  const void* data_;
};

}  // namespace samesum::prefix
