// Names of element types in kernels.
#pragma once

#include <samesum/types.hpp>

#include <cstddef>
#include <string_view>

namespace samesum::device {

/// The type of an element in memory as kernels read it: "signed char", "float". For 16-bit floats "ushort", the type of their bits.
constexpr std::string_view element_name(DType type) noexcept {
  constexpr std::string_view kNames[] = {"signed char", "uchar", "short",  "ushort", "int",   "uint",
                                         "long",        "ulong", "ushort", "ushort", "float", "double"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace samesum::device
