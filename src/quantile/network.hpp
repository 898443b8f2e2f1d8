// What vectors do with keys: sorting networks, where many short lists are sorted at once, each in a lane; and the pass that narrows a long
// list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace samesum::selection {

/// Two places of a list, the first below the second, whose keys are put in order.
struct Exchange {
  std::uint16_t first, second;
};

/// The exchanges that sort `size` keys, from 1 to 2^15: Batcher's merge exchange, O(size log² size). If `wanted` names places, only those
/// are given on which the keys there depend: the others may be anywhere. Reference: D. Knuth, The Art of Computer Programming, volume
/// 3, 5.2.2, algorithm M.
std::vector<Exchange> network(std::size_t size, std::span<const std::uint64_t> wanted = {});

/// Bytes of one place of all lists: 8 to 64 keys.
inline constexpr std::size_t kRowBytes = 64;

/// Sorts the lists in the lanes of `rows`, each of kRowBytes. Key: an unsigned integer.
template <class Key>
void exchange(std::span<const Exchange> network, Key* rows);

/// Writes the keys from `least` to `greatest` to `kept`, which has room for `size`, in their order, and returns their number; `below` gets
/// that of the keys less than `least`. One by one, without branches.
template <class Key>
std::size_t keep_each(const Key* keys, std::size_t size, Key least, Key greatest, Key* kept, std::size_t& below) {
  std::size_t number = 0, less = 0;
  for (std::size_t i = 0; i < size; ++i) {
    kept[number] = keys[i];
    number += static_cast<Key>(keys[i] - least) <= static_cast<Key>(greatest - least);
    less += keys[i] < least;
  }
  below = less;
  return number;
}

/// The same, in vectors for keys of 32 and 64 bits.
template <class Key>
std::size_t keep_between(const Key* keys, std::size_t size, Key least, Key greatest, Key* kept, std::size_t& below) {
  return keep_each(keys, size, least, greatest, kept, below);
}
template <>
std::size_t keep_between(const std::uint32_t* keys, std::size_t size, std::uint32_t least, std::uint32_t greatest, std::uint32_t* kept,
                         std::size_t& below);
template <>
std::size_t keep_between(const std::uint64_t* keys, std::size_t size, std::uint64_t least, std::uint64_t greatest, std::uint64_t* kept,
                         std::size_t& below);

}  // namespace samesum::selection
