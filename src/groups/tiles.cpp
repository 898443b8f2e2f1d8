// Reductions of tiles, as reductions along axes: an axis of n elements is one of n / extent tiles and one within a tile.
#include <samesum/error.hpp>
#include <samesum/tiles.hpp>

#include "core/float_environment.hpp"
#include "core/reports.hpp"
#include "groups/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace samesum {
namespace groups {

std::vector<TileBlock> tile_blocks(const Array& data, const Tile& tile) {
  const std::size_t divided = tile.extents().size(), before = data.rank() - divided;
  std::vector<TileBlock> blocks;
  for (std::uint64_t ends = 0; ends < std::uint64_t{1} << divided; ++ends) {
    TileBlock block{data, {}, {}, {}};
    std::vector<std::uint64_t> shape;
    std::vector<std::int64_t> strides;
    Array part = data;
    bool empty = false;
    for (std::size_t axis = 0; axis < data.rank(); ++axis) {
      const std::uint64_t extent = data.shape()[axis];
      const std::int64_t stride = data.strides()[axis];
      if (axis < before) {
        block.first.push_back(0);
        block.count.push_back(extent);
        shape.push_back(extent);
        strides.push_back(stride);
        continue;
      }
      const std::uint64_t own = tile.extents()[axis - before], whole = extent / own, rest = extent % own;
      const bool end = (ends >> (axis - before) & 1) != 0;
      const std::uint64_t tiles = end ? (rest != 0 ? 1 : 0) : whole, each = end ? rest : own;
      empty = empty || tiles == 0;
      if (empty) break;
      part = part.slice(axis, end ? whole * own : 0, tiles * each);
      block.first.push_back(end ? whole : 0);
      block.count.push_back(tiles);
      shape.insert(shape.end(), {tiles, each});
      strides.insert(strides.end(), {static_cast<std::int64_t>(each) * stride, stride});
      block.within.push_back(static_cast<std::int64_t>(shape.size()) - 1);
    }
    if (empty) continue;
    block.data = part.on_device() ? Array(part.buffer(), Shape(shape), part.type(), part.offset(), Strides(strides))
                                  : Array(part.data(), Shape(shape), part.type(), Strides(strides));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::int64_t offset_of(const TileBlock& block, std::uint64_t index) {
  std::int64_t offset = 0;
  for (std::size_t axis = block.data.rank(); axis-- > 0;) {
    if (std::ranges::find(block.within, static_cast<std::int64_t>(axis)) != block.within.end()) continue;
    const std::uint64_t extent = block.data.shape()[axis];
    offset += static_cast<std::int64_t>(index % extent) * block.data.strides()[axis];
    index /= extent;
  }
  return offset;
}

Array elements_of(const TileBlock& block, std::uint64_t index) {
  Array elements = block.data;
  for (std::size_t axis = block.data.rank(); axis-- > 0;) {
    if (std::ranges::find(block.within, static_cast<std::int64_t>(axis)) != block.within.end()) continue;
    const std::uint64_t extent = block.data.shape()[axis];
    elements = elements.at(axis, index % extent);
    index /= extent;
  }
  return elements;
}

}  // namespace groups

std::vector<std::uint64_t> tile_shape(const Array& data, const Tile& tile) {
  const std::vector<std::uint64_t>& extents = tile.extents();
  if (extents.empty() || extents.size() > data.rank()) {
    throw Error(ErrorKind::usage, fmt::format("tiles along {} axes of an array that has {}: at least one, and no more than there are",
                                              extents.size(), data.rank()));
  }
  if (data.rank() + extents.size() > Array::kMaxRank) {
    throw Error(ErrorKind::usage, fmt::format("tiles of an array of {} axes: there can be {}, counting each divided one twice", data.rank(),
                                              Array::kMaxRank));
  }
  std::vector<std::uint64_t> shape(data.shape().begin(), data.shape().end());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) throw Error(ErrorKind::usage, "a tile of no elements: each of its extents is one or more");
    std::uint64_t& extent = shape[data.rank() - extents.size() + i];
    extent = extent / extents[i] + (extent % extents[i] != 0 ? 1 : 0);
  }
  return shape;
}

Values tile_reduction(const Array& data, AxisReduction reduction, const Tile& tile, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const std::vector<std::uint64_t> shape = tile_shape(data, tile);
  std::optional<Values> result;
  core::Reports reports(options.report);
  Options of_block = options;
  for (const groups::TileBlock& block : groups::tile_blocks(data, tile)) {
    of_block.report = reports.next();
    const Values values = axis_reduction(block.data, reduction, Axes(block.within), of_block);
    reports.add();
    if (!result) result.emplace(values.type(), shape);
    groups::put_block(values.array(), block, *result);
  }
  if (result) return *std::move(result);
  // No elements, and so no tiles along some axis; the type of the results is that of any.
  return Values(axis_reduction(Array(nullptr, {0, 0}, data.type()), reduction, Axes{1}).type(), shape);
}

}  // namespace samesum
