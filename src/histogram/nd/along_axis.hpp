// Operations on the cells of several axes, along one of them.
#pragma once

#include <samesum/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace samesum::binning {

/// The places of an axis: under, the bins, over, NaN.
inline std::uint64_t places(const Bins& bins) noexcept { return bins.count() + 3; }
/// @throws Error (usage) where `rank` axes have none of this number.
void require_axis(std::size_t axis, std::size_t rank);
/// All cells. @throws Error (usage) for no axis, and for more than `most` cells.
std::uint64_t cell_count(std::span<const Bins> axes, std::uint64_t most);
/// The place of a bin, or of Bins::kUnder, kOver, kNan. @throws Error (usage) where there is none.
std::uint64_t place_of(const Bins& bins, std::int64_t index);

/// Where the places of an axis go: kDropped, or a place of the axis that replaces it, which has `places`.
struct Moves {
  static constexpr std::uint32_t kDropped = ~std::uint32_t{0};
  std::vector<std::uint32_t> to;
  std::uint64_t places;
};
/// Only this place: a cut.
Moves only(const Bins& bins, std::uint64_t place);

/// Bins made of others, and where their samples go.
struct OtherBins {
  Bins bins;
  Moves moves;
};
/// As Histogram::slice() and rebin().
OtherBins sliced(const Bins& bins, std::uint64_t first, std::uint64_t count);
OtherBins rebinned(const Bins& bins, std::uint64_t factor);

/// Calls add(to, from) with the numbers of cells in C order: each cell goes where its place on `axis` goes.
template <class Add>
void for_moves(std::span<const Bins> axes, std::size_t axis, const Moves& moves, const Add& add) {
  std::uint64_t before = 1, behind = 1;
  for (std::size_t i = 0; i < axis; ++i) before *= places(axes[i]);
  for (std::size_t i = axis + 1; i < axes.size(); ++i) behind *= places(axes[i]);
  std::uint64_t from = 0;
  for (std::uint64_t i = 0; i < before; ++i) {
    for (const std::uint32_t place : moves.to) {
      const std::uint64_t to = (i * moves.places + place) * behind;
      for (std::uint64_t k = 0; k < behind; ++k, ++from) {
        if (place != Moves::kDropped) add(to + k, from);
      }
    }
  }
}

/// Some of the axes, each at most once.
struct Projection {
  /// @throws Error (usage) for no axis, one that is not there, or one named twice.
  Projection(std::span<const Bins> all, const std::vector<std::size_t>& chosen);

  /// Calls body(cell, to) for all cells in C order: `to` is where it goes among those of the chosen axes.
  template <class Body>
  void for_cells(const Body& body) const {
    std::vector<std::uint64_t> index(extents.size(), 0);
    std::uint64_t all = 1, to = 0;
    for (const std::uint64_t extent : extents) all *= extent;
    for (std::uint64_t cell = 0; cell < all; ++cell) {
      body(cell, to);
      for (std::size_t axis = extents.size(); axis-- > 0;) {
        to += strides[axis];
        if (++index[axis] < extents[axis]) break;
        to -= strides[axis] * index[axis];
        index[axis] = 0;
      }
    }
  }

  std::vector<Bins> axes;              ///< those that are chosen
  std::uint64_t cells = 1;             ///< of these
  std::vector<std::uint64_t> extents;  ///< of all axes,
  std::vector<std::uint64_t> strides;  ///< and their strides in the result: 0 for those that are not chosen
};

/// Calls body(cell) with the numbers of the cells that are in a bin of every axis, in C order.
template <class Body>
void for_inside(std::span<const Bins> axes, const Body& body) {
  std::vector<std::uint64_t> index(axes.size(), 0);
  for (;;) {
    std::uint64_t cell = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) cell = cell * places(axes[i]) + index[i] + 1;
    const std::uint64_t row = axes.back().count();
    for (std::uint64_t k = 0; k < row; ++k) body(cell + k);
    std::size_t axis = axes.size() - 1;
    while (axis > 0 && ++index[axis - 1] == axes[axis - 1].count()) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace samesum::binning
