// Arrays for kernels on the host: misaligned, strided, backwards.
#pragma once

#include "core/visit.hpp"

#include <samesum/array.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

namespace samesum::test {

/// The layout of an array: `offset` bytes after a multiple of 16, with an element every `stride` bytes.
struct ArrayLayout {
  long offset, stride;
};

/// A layout for each `turn`: contiguous from any element of a load on, or `strided`.
inline ArrayLayout anyhow(DType type, bool strided, int turn) {
  const auto element = static_cast<long>(size_of(type));
  if (!strided) return {turn % 3 == 0 ? 0 : turn % 3 == 1 ? element : 16 - element, element};
  const ArrayLayout layouts[] = {{element, element}, {2 * element, -2 * element}, {0, 3 * element}};
  return layouts[turn % 3];
}

/// A copy of a contiguous array in that layout.
struct Placed {
  Placed(Array data, ArrayLayout layout)
      : offset(static_cast<unsigned long>(layout.offset)), stride(layout.stride), element(size_of(data.type())), count(data.size()) {
    const auto step = static_cast<std::uint64_t>(std::abs(stride));
    if (stride < 0 && count != 0) offset += (count - 1) * step;
    memory.resize(count * step + offset + 64);
    base = memory.data();
    base += 16 - reinterpret_cast<std::uintptr_t>(base) % 16;
    const auto* const from = static_cast<const unsigned char*>(data.data());
    if (step == element && stride > 0 && count != 0) {
      std::memcpy(base + offset, from, data.bytes());
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(base + offset + static_cast<long>(i) * stride, from + i * element, element);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  /// Elements before the first aligned 16 bytes.
  unsigned head() const {
    const std::uint64_t before = (16 - offset % 16) % 16 / element;
    return static_cast<unsigned>(before < count ? before : count);
  }

  std::vector<unsigned char> memory;
  unsigned char* base;
  unsigned long offset;  ///< of the first element
  long stride;
  std::uint64_t element, count;
};

/// Element i of an array of floats.
inline double number_at(Array data, std::uint64_t i) {
  double number = 0;
  core::visit(data.type(), [&](auto element) {
    std::memcpy(&element, data.part(i, 1).data(), sizeof element);
    if constexpr (std::is_same_v<decltype(element), double>) {
      number = element;
    } else if constexpr (!std::is_integral_v<decltype(element)>) {
      number = static_cast<float>(element);
    }
  });
  return number;
}

}  // namespace samesum::test
