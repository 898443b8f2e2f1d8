// Tiles: reductions and histograms of the rectangles that a matrix, an image or a volume is divided into.
//
//   samesum::Array image(pixels, {height, width}, samesum::DType::uint16, {pitch, 2});  // rows `pitch` bytes apart
//   samesum::Values sums = samesum::tile_reduction(image, samesum::AxisReduction::sum, {16, 16});
//   samesum::TileHistograms h = samesum::tile_histograms(image, samesum::Bins::even(0, 65536, 256), {240, 135});
//   h.histogram(3)  // of the fourth tile, row by row
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/histogram.hpp>
#include <samesum/options.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The extents of a tile along the last axes of an array: {rows, columns}. Tiles begin at index 0 of each axis; the last one along an axis
/// has what is left. Axes before these are not divided: each of their positions has tiles of its own.
class Tile {
 public:
  Tile(std::initializer_list<std::uint64_t> extents) : extents_(extents) {}
  explicit Tile(std::vector<std::uint64_t> extents) : extents_(std::move(extents)) {}
  const std::vector<std::uint64_t>& extents() const noexcept { return extents_; }  ///< of a tile

 private:
  std::vector<std::uint64_t> extents_;
};

/// The number of tiles along each axis: of the axes that are divided ceil(extent / tile), of those before them the extent.
/// @throws Error (usage) for a tile with more axes than the array, with none, or without extent.
std::vector<std::uint64_t> tile_shape(const Array& data, const Tile& tile);

/// The reduction of each tile's elements, of shape tile_shape(): the same values, bit for bit, as reductions of these elements alone.
/// Positions (argmin, argmax) are those in the tile, in C order of its elements. Sums and means take one pass at the speed of reading,
/// whatever the strides (axis_reduction() does the work, for whole tiles and for those at the ends).
/// @throws Error as tile_shape() and axis_reduction().
Values tile_reduction(const Array& data, AxisReduction reduction, const Tile& tile, const Options& options = {});

/// The histograms of all tiles, over the same bins.
class TileHistograms {
 public:
  /// `slots`: for each tile the samples below all bins, in each bin, above all bins, and the NaNs.
  TileHistograms(Bins bins, std::vector<std::uint64_t> shape, std::vector<std::uint64_t> slots);

  const Bins& bins() const noexcept { return bins_; }                                  ///< of every histogram
  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }          ///< of the tiles: tile_shape()
  std::uint64_t size() const noexcept { return slots_.size() / (bins_.count() + 3); }  ///< tiles
  /// Of tile `index`, in C order.
  Histogram histogram(std::uint64_t index) const;
  /// All of them: for each tile bins().count() + 3 numbers, as the constructor takes them.
  std::span<const std::uint64_t> slots() const noexcept { return slots_; }

  friend bool operator==(const TileHistograms&, const TileHistograms&) = default;

 private:
  Bins bins_;
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> slots_;
};

/// The histogram of each tile: exact counts, the same on every device. An array on a device that runs kernels is counted there, all tiles
/// in one launch for each 2^32 samples. O(n) and O(tiles * bins).
/// @throws Error as tile_shape() and histogram(), and (usage) for more than 2^28 counts in all.
TileHistograms tile_histograms(const Array& data, const Bins& bins, const Tile& tile, const Options& options = {});

}  // namespace samesum
