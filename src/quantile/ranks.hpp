// Ranks among keys, and the numbers that keys stand for.
#pragma once

#include "core/visit.hpp"
#include "quantile/keys.hpp"

#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace samesum::selection {

struct Wanted {
  std::uint64_t rank;  ///< in its bucket
  std::size_t index;   ///< of the result
};

/// Sets found[index] to the key of each rank among `keys`; ranks are ascending.
template <class Key>
void find_ranks(std::vector<Key> keys, std::span<const Wanted> ranks, std::vector<Key>& found) {
  constexpr std::size_t kFew = 8;
  if (ranks.size() > kFew) {
    std::sort(keys.begin(), keys.end());
  } else {
    auto begin = keys.begin();
    for (const Wanted& wanted : ranks) {
      const auto place = keys.begin() + static_cast<std::ptrdiff_t>(wanted.rank);
      std::nth_element(begin, place, keys.end());
      begin = place + 1;
    }
  }
  for (const Wanted& wanted : ranks) found[wanted.index] = keys[wanted.rank];
}

/// The number of type `type` with this narrow key.
inline Value value_of(std::uint64_t key, DType type) {
  return core::visit(type, [&](auto kind) -> Value {
    using Element = decltype(kind);
    const auto element = element_of<Element>(static_cast<Unsigned<sizeof(Element)>>(key));
    if constexpr (std::is_same_v<Element, double>) {
      return {element, type};
    } else if constexpr (Encoding<Element>::kFloat) {
      return {double{static_cast<float>(element)}, type};
    } else if constexpr (std::is_signed_v<Element>) {
      return {std::int64_t{element}, type};
    } else {
      return {std::uint64_t{element}, type};
    }
  });
}

}  // namespace samesum::selection
