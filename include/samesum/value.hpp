// A number whose type is known at run time.
#pragma once

#include <samesum/types.hpp>

#include <cstdint>
#include <variant>

namespace samesum SAMESUM_EXPORT {

/// A result in the type of the elements, or in the type that its operation specifies. 16-bit floats and float32 are held as the equal
/// double.
struct Value {
  std::variant<double, std::int64_t, std::uint64_t> number = 0.0;
  DType type = DType::float64;

  /// As a double: exact for floats; rounded to the nearest for integers beyond 2^53.
  double as_double() const noexcept;
  friend bool operator==(const Value&, const Value&) = default;
};

}  // namespace samesum
