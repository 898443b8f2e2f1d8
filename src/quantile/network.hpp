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

/// Writes the keys from `least` to `greatest` to `kept`, which has room for `size`, in any order, and returns their number; `below` gets
/// that of the keys less than `least`. Key: an unsigned integer.
template <class Key>
std::size_t keep_between(const Key* keys, std::size_t size, Key least, Key greatest, Key* kept, std::size_t& below);

}  // namespace samesum::selection
