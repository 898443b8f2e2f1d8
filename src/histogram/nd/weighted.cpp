// Weights into cells: the cells of samples are indices of groups.
#include <samesum/error.hpp>
#include <samesum/weighted_histogram.hpp>

#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "groups/index/group_device.hpp"
#include "groups/index/scatter.hpp"
#include "histogram/nd/along_axis.hpp"
#include "histogram/nd/cells.hpp"
#include "histogram/nd/cells_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace samesum {
namespace {

// Samples that are added at once: those of sources are in memory then, and each thread has a table of its own for so long.
constexpr std::uint64_t kPartOfSource = std::uint64_t{1} << 22, kPartInMemory = std::uint64_t{1} << 24;

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

// GroupSums::add() of weights and what finds their cells.
using Add = std::function<void(const Array& weights, const groups::FindGroups& find, std::uint64_t bytes_each)>;

// Cells are found as groups, batch by batch.
void add_part(const binning::Samples::Part& part, const Add& add) {
  std::uint64_t bytes_each = 0;
  for (const View& column : part.columns) bytes_each += size_of(column.type());
  const auto find = [&](std::uint64_t first, std::size_t count, std::uint64_t* groups) {
    binning::for_cells(part, first, count, [&](std::uint64_t at, std::size_t some, const std::uint32_t* cells) {
      std::copy(cells, cells + some, groups + (at - first));
    });
  };
  add(part.extra[0], find, bytes_each);
}

// Adds all of `samples`, and tells of it.
void add_all(binning::Samples samples, std::uint64_t most, const Options& options, const Add& add) {
  const auto start = std::chrono::steady_clock::now();
  core::ProgressParts progress(options, samples.resident_bytes());
  std::uint64_t bytes = 0;
  binning::Samples::Part part;
  while (samples.next(most, part)) {
    add_part(part, add);
    std::uint64_t part_bytes = part.extra[0].bytes();
    for (const View& column : part.columns) part_bytes += column.bytes();
    bytes += part_bytes;
    progress.add(part_bytes);
  }
  if (options.report == nullptr) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  *options.report = {"cpu", "", "", bytes, 0, seconds};
}

}  // namespace

WeightedHistogram::WeightedHistogram(std::vector<Bins> axes, bool squares)
    : axes_(std::move(axes)), sums_(binning::cell_count(axes_, kMaxCells), {.squares = squares}) {}

void WeightedHistogram::add(const std::vector<Array>& coordinates, const Array& weights, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::vector<Array> all = coordinates;
  all.push_back(weights);
  binning::Samples::require_alike(all, axes_, coordinates.size());
  const bool there = std::ranges::any_of(all, [](const Array& array) { return array.on_device(); });
  const auto add_found = [&](const Array& values, const groups::FindGroups& find, std::uint64_t bytes_each) {
    sums_.add(values, find, bytes_each, options.tuning.threads);
  };
  if (!there) return add_all(binning::Samples(coordinates, axes_, {weights}), kPartInMemory, options, add_found);
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
  if (all[0].size() == 0) return;
  const bool there_too = sums_.can_add(device, weights.type());
  if (there_too && add_in_one(all, device)) return;
  binning::DeviceColumns columns(all, axes_);
  const std::vector<DType> types = columns.types();
  const std::span<const DType> of_axes = std::span(types).first(axes_.size());
  if (there_too) {
    std::optional<binning::DeviceCells> finder;
    for (;;) {
      const std::span<const device::Run> runs = columns.next();
      if (runs.empty()) return;
      {
        const device::Lock lock(device.implementation().mutex());
        if (!finder) finder.emplace(device.implementation(), axes_, of_axes);
        finder->find(runs.first(axes_.size()));
      }
      sums_.add(runs.back(), types.back(), {finder->cells(), runs.back().count, 4}, DType::uint32, device, nullptr);
    }
  }
  std::vector<std::vector<std::byte>> copies(all.size());
  const binning::CellFinder finder(axes_, of_axes);
  for (;;) {
    const std::span<const device::Run> runs = columns.next();
    if (runs.empty()) break;
    binning::Samples::Part part{&finder, {}, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      (i < axes_.size() ? part.columns : part.extra).push_back(device::read_run(device, runs[i], types[i], copies[i]));
    }
    add_part(part, add_found);
  }
}

// Over one axis, of arrays that are runs: the kernel that adds the weights finds the bins, too.
bool WeightedHistogram::add_in_one(const std::vector<Array>& all, const Device& device) {
  if (axes_.size() != 1 || axes_[0].formula() != nullptr) return false;
  const std::optional<device::Run> samples = device::single_run(all[0], core::Order::index),
                                   weights = device::single_run(all[1], core::Order::index);
  if (!samples || !weights || samples->offset % size_of(all[0].type()) != 0 || weights->offset % size_of(all[1].type()) != 0) return false;
  const binning::Plan plan(axes_[0], all[0].type());
  std::optional<binning::DevicePlan> there;
  groups::Indexing indexing;
  {
    const device::Lock lock(device.implementation().mutex());
    there.emplace(device.implementation(), plan);
    indexing = binning::index_of_samples(*there);
  }
  sums_.add(*weights, all[1].type(), *samples, all[0].type(), device, &indexing);
  return true;
}

void WeightedHistogram::add(const std::vector<Source*>& coordinates, Source& weights, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  add_all(binning::Samples(coordinates, axes_, {&weights}), kPartOfSource, options,
          [&](const Array& values, const groups::FindGroups& find, std::uint64_t bytes_each) {
            sums_.add(values, find, bytes_each, options.tuning.threads);
          });
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
  binning::require_axis(axis, rank());
  binning::OtherBins other = binning::sliced(axes_[axis], first, count);
  return moved(axis, std::move(other.bins), other.moves.to);
}

WeightedHistogram WeightedHistogram::rebin(std::size_t axis, std::uint64_t factor) const {
  const core::DefaultFloatEnvironment environment;
  binning::require_axis(axis, rank());
  binning::OtherBins other = binning::rebinned(axes_[axis], factor);
  return moved(axis, std::move(other.bins), other.moves.to);
}

void WeightedHistogram::merge(const WeightedHistogram& other) {
  if (axes_ != other.axes_) throw Error(ErrorKind::usage, "histograms over different axes cannot be added");
  sums_.merge(other.sums_);
}

}  // namespace samesum
