#include "formula/map/untyped.hpp"

#include "core/array/pack.hpp"
#include "core/float_format.hpp"
#include "core/visit.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

namespace samesum::formula {
namespace {

// `x` as float64 or int64, if that has the same value; a NaN stays one.
template <class To, class From>
std::optional<To> exactly(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_floating_point_v<To>) {
    if constexpr (std::is_floating_point_v<From>) return static_cast<To>(x);
    const auto magnitude = x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    return core::fits_float64(magnitude) ? std::optional(static_cast<To>(x)) : std::nullopt;
  } else if constexpr (std::is_floating_point_v<From>) {
    if (!(x >= -0x1p63 && x < 0x1p63) || std::trunc(x) != x) return std::nullopt;
    return static_cast<To>(x);
  } else {
    return std::in_range<To>(x) ? std::optional(static_cast<To>(x)) : std::nullopt;
  }
}

}  // namespace

DType type_for_untyped(const std::function<void(DType)>& resolve) {
  try {
    resolve(DType::float64);
  } catch (const Error& of_floats) {
    try {
      resolve(DType::int64);
    } catch (const Error&) {
      throw of_floats;
    }
    return DType::int64;
  }
  return DType::float64;
}

Array Untyped::convert(const Array& chunk) {
  const std::uint64_t first = before_;
  before_ += chunk.size();
  if (chunk.type() == type_) return chunk;
  converted_.resize(chunk.size());
  std::vector<std::byte> packed(chunk.bytes());
  core::pack_here(chunk, packed.data());
  core::visit(chunk.type(), [&](auto element) {
    using From = std::conditional_t<std::is_arithmetic_v<decltype(element)>, decltype(element), float>;
    for (std::uint64_t i = 0; i < chunk.size(); ++i) {
      std::memcpy(&element, packed.data() + i * sizeof element, sizeof element);
      const auto value = static_cast<From>(element);
      const auto put = [&](auto number) {
        if (!number) {
          throw Error(
              ErrorKind::usage,
              fmt::format("number {} of {}, from 0 on, is {}, which has no exact {}, the type in which this formula takes numbers of a "
                          "text: save them with a type, as a .npy file has",
                          first + i, name_, value, samesum::name_of(type_)));
        }
        std::memcpy(&converted_[i], &*number, sizeof *number);
      };
      type_ == DType::int64 ? put(exactly<std::int64_t>(value)) : put(exactly<double>(value));
    }
  });
  return {converted_.data(), chunk.size(), type_};
}

}  // namespace samesum::formula
