// Element types and policies shared by every pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace samesum {

/// The type of an array's elements.
enum class DType { float32, float64 };

/// Bytes of one element.
constexpr std::size_t size_of(DType type) noexcept { return type == DType::float32 ? 4 : 8; }

/// "float32" or "float64".
std::string_view name_of(DType type) noexcept;

/// The type that `name` names: "float32", "f4", "float", "float64", "f8", "double".
/// @throws Error (usage) for any other name, listing those that are known.
DType parse_dtype(std::string_view name);

/// What a NaN among the elements does to a result. The number of NaNs is reported under either.
enum class NanPolicy {
  propagate,  ///< the result is the canonical NaN
  skip,       ///< NaNs count as absent elements
};

}  // namespace samesum
