// Tiles as axes: the parts of an array that have tiles of one size.
#pragma once

#include <samesum/array.hpp>
#include <samesum/tiles.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace samesum::groups {

/// Tiles of one size: the whole ones, or those at the ends of some axes.
struct TileBlock {
  Array data;                        ///< each divided axis is two: the tiles, and the elements of one
  std::vector<std::int64_t> within;  ///< the axes of one tile's elements
  std::vector<std::uint64_t> first;  ///< the first of these tiles, along each axis of the array,
  std::vector<std::uint64_t> count;  ///< and how many there are
};
/// Requires a tile that tile_shape() takes. At most 2^(divided axes) blocks, none of them empty along a divided axis.
std::vector<TileBlock> tile_blocks(const Array& data, const Tile& tile);

/// The distance in bytes from the first element of a block to that of its tile `index`.
std::int64_t offset_of(const TileBlock& block, std::uint64_t index);
/// The elements of tile `index` of a block.
Array elements_of(const TileBlock& block, std::uint64_t index);

/// Calls body(index, tile) for each tile of a block in C order: its number there, and that among all tiles of this shape.
template <class Body>
void for_tiles(const TileBlock& block, const std::vector<std::uint64_t>& shape, const Body& body) {
  std::vector<std::uint64_t> at(shape.size(), 0);
  std::uint64_t all = 1;
  for (const std::uint64_t count : block.count) all *= count;
  for (std::uint64_t index = 0; index < all; ++index) {
    std::uint64_t tile = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) tile = tile * shape[axis] + block.first[axis] + at[axis];
    body(index, tile);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++at[axis] == block.count[axis];) at[axis] = 0;
  }
}

/// Copies the results of a block, contiguous, to their places among those of all tiles.
inline void put_block(const Array& values, const TileBlock& block, Values& result) {
  const std::size_t bytes = size_of(values.type());
  for_tiles(block, result.shape(), [&](std::uint64_t index, std::uint64_t tile) {
    std::memcpy(static_cast<std::byte*>(result.data()) + tile * bytes, static_cast<const std::byte*>(values.data()) + index * bytes, bytes);
  });
}

}  // namespace samesum::groups
