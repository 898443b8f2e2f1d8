// Element types and policies shared by every pattern.
#pragma once

#include <samesum/export.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace samesum SAMESUM_EXPORT {

/// The type of an array's elements. float16 is IEEE 754's binary16; bfloat16 is the upper half of a float32.
enum class DType { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64 };

/// All of them, in the order of the enumeration.
inline constexpr std::array kDTypes = {DType::int8,  DType::uint8,  DType::int16,   DType::uint16,   DType::int32,   DType::uint32,
                                       DType::int64, DType::uint64, DType::float16, DType::bfloat16, DType::float32, DType::float64};

/// Bytes of one element.
constexpr std::size_t size_of(DType type) noexcept {
  switch (type) {
    case DType::int8:
    case DType::uint8:
      return 1;
    case DType::int16:
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::int32:
    case DType::uint32:
    case DType::float32:
      return 4;
    default:
      return 8;
  }
}

constexpr bool is_integer(DType type) noexcept { return type <= DType::uint64; }
/// Of integers: whether there are negative ones.
constexpr bool is_signed(DType type) noexcept {
  return type == DType::int8 || type == DType::int16 || type == DType::int32 || type == DType::int64;
}

/// "int8", …, "float64".
std::string_view name_of(DType type) noexcept;

/// The type named `name`: as name_of() has it, or numpy's short forms ("f4", "i8", "u1", …), or "half", "double".
/// @throws Error (usage) for any other name, listing those that are known.
DType parse_dtype(std::string_view name);

/// The types of C++ for elements: float, double, and integers of up to 64 bits by whatever name (long, long long, char), but not bool and
/// not the Unicode character types.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> ||
                  (std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                   !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

/// The DType of T; for an integer type the one of its size and signedness.
template <Element T>
constexpr DType dtype_of() noexcept {
  if constexpr (std::floating_point<T>) {
    return sizeof(T) == 4 ? DType::float32 : DType::float64;
  } else {
    return kDTypes[2 * static_cast<std::size_t>(std::countr_zero(sizeof(T))) + (std::is_signed_v<T> ? 0 : 1)];
  }
}

/// How a NaN among the elements affects a result. The number of NaNs is reported in both cases. Functions that return a number take the
/// policy among their options. Accumulator, ProductAccumulator and Statistics count the NaNs, and take the policy where a number is
/// computed from them; functions that return these, and plans of them, ignore the option.
enum class NanPolicy {
  propagate,  ///< the result is the canonical NaN
  skip,       ///< NaNs are ignored
};

}  // namespace samesum
