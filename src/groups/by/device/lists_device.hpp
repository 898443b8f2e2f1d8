// The elements of each group of an array on a device, in lists that lie one after the other.
#pragma once

#include "device/device.hpp"
#include "groups/by/device/sort_device.hpp"

#include <samesum/array.hpp>
#include <samesum/by.hpp>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace samesum::groups {

/// The elements of an array on a device in lists that lie one after the other.
struct DeviceLists {
  bool sorted = false;                 ///< else the lists' elements are neighbours: there are no numbers
  std::shared_ptr<SortRoom> memory;    ///< given back without the device's mutex, which the last owner must not have
  std::vector<std::uint64_t> on_host;  ///< the offsets
  const device::Memory& numbers() const noexcept { return memory->numbers[0]; }
  const device::Memory& offsets() const noexcept { return memory->offsets; }
  std::uint64_t count() const noexcept { return on_host.size() - 1; }
  std::uint64_t size(std::uint64_t list) const noexcept { return on_host[list + 1] - on_host[list]; }
  std::uint64_t longest() const noexcept;
};

/// Whether a device can have the lists of `data`, which is then on it: an array of one run with fewer than 2^31 elements, for which it has
/// memory.
bool has_lists(const Array& data);

/// The groups' lists, each in C order or, if `keys` are given, of element_keys(), in their order; `keys` are overwritten then. None if the
/// index of an element is outside: segments_of() says which. @throws Error (usage) as segments_of().
std::optional<DeviceLists> lists_on_device(const Array& data, const By& by, const Array* keys = nullptr);

/// Unsigned integers in the order of the elements, or in the opposite one: in uint32, or uint64 for elements of 64 bits. NaNs have the
/// greatest key or, if they are left out, kNoKey, which no number of a floating-point type has.
enum class ElementOrder { ascending, descending };
Array element_keys(const Array& data, ElementOrder order, bool skip_nans);
constexpr std::uint64_t kNoKey = 0;
/// The element with such a key.
template <class Element>
Element element_with_key(std::uint64_t key, ElementOrder order) noexcept {
  using Bits = std::conditional_t<
      sizeof(Element) == 1, std::uint8_t,
      std::conditional_t<sizeof(Element) == 2, std::uint16_t, std::conditional_t<sizeof(Element) == 4, std::uint32_t, std::uint64_t>>>;
  constexpr auto kTop = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto ascending = static_cast<Bits>(order == ElementOrder::descending ? ~key : key);
  if constexpr (std::is_integral_v<Element>) {
    return static_cast<Element>(std::is_signed_v<Element> ? ascending ^ kTop : ascending);
  } else {
    return std::bit_cast<Element>(static_cast<Bits>((ascending & kTop) != 0 ? ascending ^ kTop : ~ascending));
  }
}

}  // namespace samesum::groups
