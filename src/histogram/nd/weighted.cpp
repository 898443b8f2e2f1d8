// Weights into cells: the cells of samples are indices of groups.
#include <samesum/error.hpp>
#include <samesum/weighted_histogram.hpp>

#include "core/chunks.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "histogram/nd/along_axis.hpp"
#include "histogram/nd/cells.hpp"
#include "histogram/nd/cells_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>

namespace samesum {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 22;  // samples, so that their cells stay in bounded memory

void require_axis(std::size_t axis, std::size_t rank) {
  if (axis < rank) return;
  throw Error(ErrorKind::usage, fmt::format("there is no axis {}: the histogram has {}, numbered from 0", axis, rank));
}

// Adds a part; `cells` is scratch memory.
void add_part(const binning::Samples::Part& part, std::uint32_t wanted, std::vector<std::uint32_t>& cells, GroupSums& sums) {
  const std::uint64_t size = part.size();
  cells.resize(std::max<std::uint64_t>(cells.size(), size));
  const std::uint32_t threads = core::thread_count(size * 4 * part.columns.size(), wanted);
  core::for_chunks(size, threads, std::uint64_t{1} << 16, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    binning::for_cells(part, first, count, [&](std::uint64_t at, std::size_t some, const std::uint32_t* found) {
      std::copy(found, found + some, cells.begin() + static_cast<std::ptrdiff_t>(at));
    });
  });
  sums.add(part.extra[0], Array(cells.data(), size, DType::uint32));
}

// Adds all of `samples`, and tells of it.
void add_all(binning::Samples samples, const Options& options, GroupSums& sums) {
  const auto start = std::chrono::steady_clock::now();
  core::ProgressParts progress(options, samples.resident_bytes());
  std::vector<std::uint32_t> cells;
  std::uint64_t bytes = 0;
  binning::Samples::Part part;
  while (samples.next(kPart, part)) {
    add_part(part, options.tuning.threads, cells, sums);
    std::uint64_t part_bytes = part.extra[0].bytes();
    for (const View& column : part.columns) part_bytes += column.bytes();
    bytes += part_bytes;
    progress.add(part_bytes);
  }
  if (options.report == nullptr) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  *options.report = {"cpu", "", "", bytes, 0, seconds};
}

// Of the results for all cells, those in bins.
Values inside(const Values& all, const std::vector<Bins>& axes, const std::vector<std::uint64_t>& shape) {
  Values result(all.type(), shape);
  const std::size_t bytes = size_of(all.type());
  auto* to = static_cast<std::byte*>(result.data());
  binning::for_inside(axes, [&](std::uint64_t cell) {
    std::memcpy(to, static_cast<const std::byte*>(all.data()) + cell * bytes, bytes);
    to += bytes;
  });
  return result;
}

}  // namespace

WeightedHistogram::WeightedHistogram(std::vector<Bins> axes, bool squares)
    : axes_(std::move(axes)), sums_(binning::cell_count(axes_, kMostCells), {.squares = squares}) {}

void WeightedHistogram::add(const std::vector<Array>& coordinates, const Array& weights, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::vector<Array> all = coordinates;
  all.push_back(weights);
  binning::Samples::require_alike(all, axes_, coordinates.size());
  const bool there = std::ranges::any_of(all, [](const Array& array) { return array.on_device(); });
  if (!there) return add_all(binning::Samples(coordinates, axes_, {weights}), options, sums_);
  for (const Array& array : all) {
    if (!array.on_device() || &array.buffer().device().implementation() != &all[0].buffer().device().implementation()) {
      throw Error(ErrorKind::usage, "coordinates and weights lie in different places: bring all of them to host memory or to one device");
    }
  }
  const Device device = all[0].buffer().device();
  if (!device.info().has(Capability::kernels)) {
    for (Array& array : all) array = device::on_host(array);
    return add({all.begin(), all.end() - 1}, all.back(), options);
  }
  binning::DeviceColumns columns(all, axes_);
  const std::vector<DType> types = columns.types();
  std::vector<std::vector<std::byte>> copies(all.size());
  const binning::CellFinder finder(axes_, std::span(types).first(axes_.size()));
  std::vector<std::uint32_t> cells;
  for (;;) {
    const std::span<const device::Run> runs = columns.next();
    if (runs.empty()) break;
    binning::Samples::Part part{&finder, {}, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      (i < axes_.size() ? part.columns : part.extra).push_back(device::read_run(device, runs[i], types[i], copies[i]));
    }
    add_part(part, options.tuning.threads, cells, sums_);
  }
}

void WeightedHistogram::add(const std::vector<Source*>& coordinates, Source& weights, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  add_all(binning::Samples(coordinates, axes_, {&weights}), options, sums_);
}

std::vector<std::uint64_t> WeightedHistogram::shape() const {
  std::vector<std::uint64_t> shape;
  for (const Bins& bins : axes_) shape.push_back(bins.count());
  return shape;
}

Values WeightedHistogram::sums(NanPolicy nan) const { return inside(sums_.sums(nan), axes_, shape()); }
Values WeightedHistogram::squares(NanPolicy nan) const { return inside(sums_.squares(nan), axes_, shape()); }
Values WeightedHistogram::means(NanPolicy nan) const { return inside(sums_.means(nan), axes_, shape()); }
Values WeightedHistogram::variances(std::uint64_t ddof, NanPolicy nan) const { return inside(sums_.variances(ddof, nan), axes_, shape()); }

HistogramNd WeightedHistogram::histogram() const {
  const Values counts = sums_.counts();
  const auto all = counts.as<std::uint64_t>();
  return {axes_, {all.begin(), all.end()}};
}

std::uint64_t WeightedHistogram::cell_of(std::span<const std::int64_t> indices) const {
  if (indices.size() != rank()) {
    throw Error(ErrorKind::usage, fmt::format("a cell of {} axes has as many indices; here are {}", rank(), indices.size()));
  }
  std::uint64_t cell = 0;
  for (std::size_t i = 0; i < rank(); ++i) cell = cell * binning::places(axes_[i]) + binning::place_of(axes_[i], indices[i]);
  return cell;
}

Accumulator WeightedHistogram::sum(std::span<const std::int64_t> indices) const { return sums_.sum(cell_of(indices)); }
Statistics WeightedHistogram::statistics(std::span<const std::int64_t> indices) const { return sums_.statistics(cell_of(indices)); }

WeightedHistogram WeightedHistogram::project(const std::vector<std::size_t>& axes) const {
  const binning::Projection projection(axes_, axes);
  WeightedHistogram result(projection.axes, sums_.options().squares);
  std::vector<std::uint64_t> to(sums_.groups());
  projection.for_cells([&](std::uint64_t cell, std::uint64_t place) { to[cell] = place; });
  result.sums_.merge(sums_, to);
  return result;
}

WeightedHistogram WeightedHistogram::moved(std::size_t axis, Bins bins, const std::vector<std::uint32_t>& moves) const {
  std::vector<Bins> axes = axes_;
  axes[axis] = std::move(bins);
  const std::uint64_t there = binning::places(axes[axis]);
  WeightedHistogram result(std::move(axes), sums_.options().squares);
  std::vector<std::uint64_t> to(sums_.groups());
  binning::for_moves(axes_, axis, {moves, there}, [&](std::uint64_t place, std::uint64_t cell) { to[cell] = place; });
  result.sums_.merge(sums_, to);
  return result;
}

WeightedHistogram WeightedHistogram::slice(std::size_t axis, std::uint64_t first, std::uint64_t count) const {
  const core::DefaultFloatEnvironment environment;
  require_axis(axis, rank());
  binning::OtherBins other = binning::sliced(axes_[axis], first, count);
  return moved(axis, std::move(other.bins), other.moves.to);
}

WeightedHistogram WeightedHistogram::rebin(std::size_t axis, std::uint64_t factor) const {
  const core::DefaultFloatEnvironment environment;
  require_axis(axis, rank());
  binning::OtherBins other = binning::rebinned(axes_[axis], factor);
  return moved(axis, std::move(other.bins), other.moves.to);
}

void WeightedHistogram::merge(const WeightedHistogram& other) {
  if (axes_ != other.axes_) throw Error(ErrorKind::usage, "histograms over different axes cannot be added");
  sums_.merge(other.sums_);
}

}  // namespace samesum
