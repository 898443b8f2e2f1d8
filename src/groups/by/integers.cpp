#include "groups/by/integers.hpp"

#include "core/visit.hpp"
#include "groups/axes.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

namespace samesum::groups {

void require_integers(const Array& keys, std::string_view what) {
  if (is_integer(keys.type())) return;
  throw Error(ErrorKind::usage, fmt::format("{} are integers, and these are {}", what, name_of(keys.type())));
}

Integers::Integers(const Array& array) : array_(array) {
  if (array.contiguous() && !array.on_device()) return;
  copy_.emplace(copied_to_host(array));
  array_ = copy_->array();
}

void Integers::read(std::uint64_t first, std::size_t count, std::uint64_t* to) const {
  core::visit(array_.type(), [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      const auto* const from = static_cast<const std::byte*>(array_.data()) + first * sizeof element;
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(&element, from + i * sizeof element, sizeof element);
        to[i] = static_cast<std::uint64_t>(element);
      }
    }
  });
}

std::vector<std::uint64_t> Integers::all() const {
  std::vector<std::uint64_t> bits(size());
  read(0, bits.size(), bits.data());
  return bits;
}

}  // namespace samesum::groups
