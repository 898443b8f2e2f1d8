// Keys: unsigned integers in the order of the elements, for selection by digits.
#pragma once

#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include "core/half.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace samesum::selection {

__extension__ typedef unsigned __int128 Uint128;  // no standard name for it

template <std::size_t kBytes>
using Unsigned =
    std::conditional_t<kBytes == 1, std::uint8_t,
                       std::conditional_t<kBytes == 2, std::uint16_t, std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

/// The key of an element of a known type has the element's size. WideKey compares elements of different types: it is the key of the
/// greatest double that is not above the element, followed by 16 bits for the difference, which for 64-bit integers is less than 2^11.
using WideKey = Uint128;

template <class Key>
inline constexpr int kKeyBits = std::is_same_v<Key, WideKey> ? 80 : 8 * static_cast<int>(sizeof(Key));
/// A digit of a key.
template <class Key>
inline constexpr int kDigitBits = kKeyBits<Key> < 16 ? kKeyBits<Key> : 16;
template <class Key>
inline constexpr int kDigits = kKeyBits<Key> / kDigitBits<Key>;

template <class Element>
struct Encoding {
  static constexpr bool kFloat = false;
};
template <>
struct Encoding<core::Float16> {
  static constexpr bool kFloat = true;
  static constexpr std::uint16_t kInfinity = 0x7c00;
};
template <>
struct Encoding<core::BFloat16> {
  static constexpr bool kFloat = true;
  static constexpr std::uint16_t kInfinity = 0x7f80;
};
template <>
struct Encoding<float> {
  static constexpr bool kFloat = true;
  static constexpr std::uint32_t kInfinity = 0x7f800000;
};
template <>
struct Encoding<double> {
  static constexpr bool kFloat = true;
  static constexpr std::uint64_t kInfinity = 0x7ff0000000000000;
};

/// NaNs have no key.
template <class Element>
bool is_nan(Element element) noexcept {
  if constexpr (Encoding<Element>::kFloat) {
    using Bits = Unsigned<sizeof(Element)>;
    return (std::bit_cast<Bits>(element) & std::numeric_limits<Bits>::max() >> 1) > Encoding<Element>::kInfinity;
  }
  return false;
}

template <class Element>
Unsigned<sizeof(Element)> narrow_key(Element element) noexcept {
  using Bits = Unsigned<sizeof(Element)>;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits bits = std::bit_cast<Bits>(element);
  if constexpr (Encoding<Element>::kFloat) return static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
  if constexpr (std::is_signed_v<Element>) return static_cast<Bits>(bits ^ kSign);
  return bits;
}

template <class Element>
Element element_of(Unsigned<sizeof(Element)> key) noexcept {
  using Bits = Unsigned<sizeof(Element)>;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  if constexpr (Encoding<Element>::kFloat) {
    return std::bit_cast<Element>(static_cast<Bits>((key & kSign) != 0 ? key ^ kSign : ~key));
  } else if constexpr (std::is_signed_v<Element>) {
    return std::bit_cast<Element>(static_cast<Bits>(key ^ kSign));
  } else {
    return key;
  }
}

template <class Element>
WideKey wide_key(Element element) noexcept {
  if constexpr (Encoding<Element>::kFloat) {
    const double value = std::is_same_v<Element, double> ? static_cast<double>(element) : double{static_cast<float>(element)};
    return WideKey{narrow_key(value)} << 16;
  } else {
    const bool negative = element < 0;
    const auto bits = static_cast<std::uint64_t>(element);
    const std::uint64_t magnitude = negative ? 0 - bits : bits;
    const auto length = static_cast<int>(std::bit_width(magnitude));
    const std::uint64_t below = length > 53 ? (std::uint64_t{1} << (length - 53)) - 1 : 0;  // the bits below a double's precision
    const std::uint64_t kept = (negative ? magnitude + below : magnitude) & ~below;
    const double floor = negative ? -static_cast<double>(kept) : static_cast<double>(kept);
    return WideKey{narrow_key(floor)} << 16 | (negative ? kept - magnitude : magnitude - kept);
  }
}

template <class Key, class Element>
Key key_of(Element element) noexcept {
  if constexpr (std::is_same_v<Key, WideKey>) {
    return wide_key(element);
  } else {
    return narrow_key(element);
  }
}

/// The element of a wide key: an integer if `integers` says that all elements are integers, or if no double equals it.
inline Value value_of(WideKey key, bool integers) noexcept {
  const auto floor = element_of<double>(static_cast<std::uint64_t>(key >> 16));
  const auto more = static_cast<std::uint64_t>(key & 0xffff);
  if (more == 0 && !integers) return {floor, DType::float64};
  if (floor < 0) return {static_cast<std::int64_t>(more - static_cast<std::uint64_t>(-floor)), DType::int64};
  const std::uint64_t value = static_cast<std::uint64_t>(floor) + more;
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {value, DType::uint64};
  return {static_cast<std::int64_t>(value), DType::int64};
}

}  // namespace samesum::selection
