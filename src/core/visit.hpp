// Dispatch from a type known at run time to one known at compile time.
#pragma once

#include <samesum/types.hpp>

#include "core/half.hpp"

#include <cstdint>
#include <utility>

namespace samesum::core {

/// Calls body(T{}) with the C++ type of `type`; Float16 and BFloat16 convert to float.
template <class Body>
decltype(auto) visit(DType type, const Body& body) {
  switch (type) {
    case DType::int8:
      return body(std::int8_t{});
    case DType::uint8:
      return body(std::uint8_t{});
    case DType::int16:
      return body(std::int16_t{});
    case DType::uint16:
      return body(std::uint16_t{});
    case DType::int32:
      return body(std::int32_t{});
    case DType::uint32:
      return body(std::uint32_t{});
    case DType::int64:
      return body(std::int64_t{});
    case DType::uint64:
      return body(std::uint64_t{});
    case DType::float16:
      return body(Float16{});
    case DType::bfloat16:
      return body(BFloat16{});
    case DType::float32:
      return body(float{});
    default:
      return body(double{});
  }
}

}  // namespace samesum::core
