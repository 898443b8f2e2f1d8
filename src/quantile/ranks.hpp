// Ranks among keys, and the numbers that keys stand for.
#pragma once

#include "core/visit.hpp"
#include "quantile/keys.hpp"
#include "quantile/network.hpp"

#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::selection {

struct Wanted {
  std::uint64_t rank;  ///< in its bucket
  std::size_t index;   ///< of the result
};

/// Brings the keys of rank `first` and `last`, which may be the same or its neighbour, to their places among `keys`, and returns the
/// latter. Long lists are first narrowed to the keys between two bounds, of which a sample says that both ranks probably lie between them:
/// one pass without branches. `spare` has as many keys. Reference: R. Floyd and R. Rivest, Expected time bounds for selection, CACM 18
/// (1975).
template <class Key>
std::pair<Key, Key> keys_of(std::span<Key> keys, std::uint64_t first, std::uint64_t last, std::span<Key> spare) {
  constexpr std::size_t kShort = 512;
  const std::size_t size = keys.size();
  if (size > kShort) {
    const std::size_t samples = size < 1 << 12 ? 64 : size < 1 << 16 ? 256 : 1024;
    const std::size_t margin = size < 1 << 12 ? 12 : size < 1 << 16 ? 24 : 48;  // three times the deviation of a rank
    std::array<Key, 1024> sample;
    for (std::size_t i = 0; i < samples; ++i) sample[i] = keys[i * (size / samples)];
    const std::size_t from = first * samples / size, to = last * samples / size + 1;
    const auto place = [&](std::size_t i) { return sample.begin() + static_cast<std::ptrdiff_t>(i); };
    Key least = 0, greatest = std::numeric_limits<Key>::max();
    auto rest = sample.begin();
    if (from >= margin) {
      std::nth_element(rest, place(from - margin), place(samples));
      least = sample[from - margin];
      rest = place(from - margin + 1);
    }
    if (to + margin < samples) {
      std::nth_element(rest, place(to + margin), place(samples));
      greatest = sample[to + margin];
    }
    std::size_t below = 0;
    const std::size_t kept = keep_between<Key>(keys.data(), size, least, greatest, spare.data(), below);
    if (below <= first && last < below + kept) {
      if (least == greatest) return {least, least};
      if (kept <= size / 2) return keys_of(spare.first(kept), first - below, last - below, spare.subspan(kept));
    }
  }
  const auto place = keys.begin() + static_cast<std::ptrdiff_t>(first);
  std::nth_element(keys.begin(), place, keys.end());
  return {*place, first == last ? *place : *std::min_element(place + 1, keys.end())};
}

/// Brings the keys of many ranks, ascending and distinct, to their places: the one in the middle, then those on either side among the keys
/// there. `keys` begin with rank `first`.
template <class Key>
void place_ranks(std::span<Key> keys, std::uint64_t first, std::span<const std::uint64_t> ranks) {
  if (ranks.empty()) return;
  if (ranks.size() >= keys.size() / 4) return std::sort(keys.begin(), keys.end());
  const std::size_t middle = ranks.size() / 2, place = ranks[middle] - first;
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(place), keys.end());
  place_ranks(keys.first(place), first, ranks.first(middle));
  place_ranks(keys.subspan(place + 1), ranks[middle] + 1, ranks.subspan(middle + 1));
}

/// The keys of ascending, distinct ranks, which may change places. `spare` has as many keys.
template <class Key>
std::vector<Key> keys_of(std::span<Key> keys, std::span<const std::uint64_t> ranks, std::span<Key> spare) {
  constexpr std::size_t kFew = 8;
  std::vector<Key> found;
  if (ranks.size() > kFew) {
    place_ranks(keys, 0, ranks);
    for (const std::uint64_t rank : ranks) found.push_back(keys[rank]);
    return found;
  }
  for (std::size_t i = 0; i < ranks.size();) {
    const bool both = i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1;
    const auto [first, last] = keys_of(keys, ranks[i], ranks[i] + (both ? 1 : 0), spare);
    found.push_back(first);
    if (both) found.push_back(last);
    i += both ? 2 : 1;
  }
  return found;
}

/// Sets found[index] to the key of each rank among `keys`; ranks are ascending, and there may be several of one.
template <class Key>
void find_ranks(std::vector<Key> keys, std::span<const Wanted> ranks, std::vector<Key>& found) {
  std::vector<std::uint64_t> distinct;
  for (const Wanted& wanted : ranks) {
    if (distinct.empty() || distinct.back() != wanted.rank) distinct.push_back(wanted.rank);
  }
  std::vector<Key> spare(keys.size());
  const std::vector<Key> of_distinct = keys_of<Key>(keys, distinct, spare);
  std::size_t at = 0;
  for (const Wanted& wanted : ranks) {
    while (distinct[at] != wanted.rank) ++at;
    found[wanted.index] = of_distinct[at];
  }
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
