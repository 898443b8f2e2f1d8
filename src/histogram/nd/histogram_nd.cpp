// Histograms over several axes: the result, and what can be computed from its cells.
#include <samesum/error.hpp>
#include <samesum/histogram_nd.hpp>

#include "core/float_environment.hpp"
#include "exact/counted.hpp"
#include "histogram/nd/along_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace samesum {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

// The cells with one axis changed.
std::vector<std::uint64_t> moved(const HistogramNd& from, std::size_t axis, const binning::Moves& moves) {
  const std::uint64_t all = from.cells().size() / binning::places(from.axes()[axis]) * moves.places;
  std::vector<std::uint64_t> cells(all);
  binning::for_moves(from.axes(), axis, moves, [&](std::uint64_t to, std::uint64_t cell) { cells[to] += from.cells()[cell]; });
  return cells;
}

HistogramNd with(const HistogramNd& from, std::size_t axis, binning::OtherBins other) {
  std::vector<std::uint64_t> cells = moved(from, axis, other.moves);
  std::vector<Bins> axes = from.axes();
  axes[axis] = std::move(other.bins);
  return {std::move(axes), std::move(cells)};
}

HistogramNd without(const HistogramNd& from, std::size_t axis, const binning::Moves& moves) {
  std::vector<std::uint64_t> cells = moved(from, axis, moves);
  std::vector<Bins> axes = from.axes();
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
  return {std::move(axes), std::move(cells)};
}

}  // namespace

HistogramNd::HistogramNd(std::vector<Bins> axes) : axes_(std::move(axes)), cells_(binning::cell_count(axes_, kMaxCells)) {}

HistogramNd::HistogramNd(std::vector<Bins> axes, std::vector<std::uint64_t> cells) : axes_(std::move(axes)), cells_(std::move(cells)) {
  const std::uint64_t count = binning::cell_count(axes_, kMaxCells);
  if (cells_.size() != count) refuse(fmt::format("a histogram over these axes has {} cells; here are {}", count, cells_.size()));
  std::uint64_t sum = 0;
  for (const std::uint64_t cell : cells_) sum = exact::counted(sum, cell);
}

std::vector<std::uint64_t> HistogramNd::shape() const {
  std::vector<std::uint64_t> shape;
  for (const Bins& bins : axes_) shape.push_back(bins.count());
  return shape;
}

std::vector<std::uint64_t> HistogramNd::counts() const {
  std::vector<std::uint64_t> counts;
  binning::for_inside(axes_, [&](std::uint64_t cell) { counts.push_back(cells_[cell]); });
  return counts;
}

std::uint64_t HistogramNd::at(std::span<const std::int64_t> indices) const {
  if (indices.size() != rank()) refuse(fmt::format("a cell of {} axes has as many indices; here are {}", rank(), indices.size()));
  std::uint64_t cell = 0;
  for (std::size_t i = 0; i < rank(); ++i) cell = cell * binning::places(axes_[i]) + binning::place_of(axes_[i], indices[i]);
  return cells_[cell];
}

HistogramNd::Outside HistogramNd::outside(std::size_t axis) const {
  const Histogram one = projection(axis);
  return {one.under(), one.over(), one.nan_count()};
}

std::uint64_t HistogramNd::inside() const {
  std::uint64_t sum = 0;
  binning::for_inside(axes_, [&](std::uint64_t cell) { sum += cells_[cell]; });
  return sum;
}

std::uint64_t HistogramNd::total() const noexcept { return std::accumulate(cells_.begin(), cells_.end(), std::uint64_t{0}); }

HistogramNd HistogramNd::project(const std::vector<std::size_t>& axes) const {
  const binning::Projection projection(axes_, axes);
  std::vector<std::uint64_t> cells(projection.cells);
  projection.for_cells([&](std::uint64_t cell, std::uint64_t to) { cells[to] += cells_[cell]; });
  return {projection.axes, std::move(cells)};
}

Histogram HistogramNd::projection(std::size_t axis) const {
  binning::require_axis(axis, rank());
  if (rank() == 1) return {axes_[0], std::span<const std::uint64_t>(cells_)};
  const HistogramNd one = project({axis});
  return {one.axes_[0], std::span<const std::uint64_t>(one.cells_)};
}

HistogramNd HistogramNd::cut(std::size_t axis, std::int64_t index) const {
  binning::require_axis(axis, rank());
  if (rank() == 1) refuse("a cut of the only axis leaves none: at() gives the count");
  return without(*this, axis, binning::only(axes_[axis], binning::place_of(axes_[axis], index)));
}

HistogramNd HistogramNd::slice(std::size_t axis, std::uint64_t first, std::uint64_t count) const {
  const core::DefaultFloatEnvironment environment;
  binning::require_axis(axis, rank());
  return with(*this, axis, binning::sliced(axes_[axis], first, count));
}

HistogramNd HistogramNd::rebin(std::size_t axis, std::uint64_t factor) const {
  const core::DefaultFloatEnvironment environment;
  binning::require_axis(axis, rank());
  return with(*this, axis, binning::rebinned(axes_[axis], factor));
}

void HistogramNd::merge(const HistogramNd& other) {
  if (axes_ != other.axes_) refuse("histograms over different axes cannot be added");
  exact::counted(total(), other.total());  // checked before any change
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
}

}  // namespace samesum
