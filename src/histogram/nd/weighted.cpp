// Weights into cells: the cells of samples are indices of groups.
#include <samesum/error.hpp>
#include <samesum/weighted_histogram.hpp>

#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "groups/index/device/group_device.hpp"
#include "groups/index/scatter.hpp"
#include "histogram/nd/along_axis.hpp"
#include "histogram/nd/cells.hpp"
#include "histogram/nd/cells_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
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

}  // namespace

// One call of add(): where samples are added, and what is told of it.
class WeightedHistogram::Adding {
 public:
  Adding(WeightedHistogram& to, const Device& device, const Options& options, std::uint64_t bytes)
      : to_(to), device_(device), kernels_(device.info().has(Capability::kernels)), options_(options), progress_(options, bytes) {}

  // Samples in host memory, the parts of which a device gets one after the other.
  void add(binning::Samples samples, std::uint64_t most) {
    if (kernels_) most = binning::DeviceCells::kPart;
    binning::Samples::Part part;
    while (samples.next(most, part)) {
      if (kernels_ && to_.sums_.can_add(device_, part.extra[0].type())) {
        upload(part);
        add_runs(runs_, types_);
      } else {
        add_here(part);
      }
    }
    tell();
  }

  // Arrays in the memory of the device, which runs kernels: the coordinates, and the weights.
  void add_there(const std::vector<Array>& all) {
    const std::size_t rank = to_.rank();
    binning::DeviceColumns columns(all, to_.axes_);
    types_ = columns.types();
    if (to_.sums_.can_add(device_, types_.back())) {
      const std::uint64_t most = progress_.wanted() ? kPartThere : all[0].size();
      for (;;) {
        const std::span<const device::Run> runs = columns.next(in_one() && columns.in_place() ? most : binning::DeviceCells::kPart);
        if (runs.empty()) break;
        add_runs(runs, types_);
      }
      return tell();
    }
    std::vector<std::vector<std::byte>> copies(all.size());
    const binning::CellFinder finder(to_.axes_, std::span(types_).first(rank));
    for (;;) {
      const std::span<const device::Run> runs = columns.next();
      if (runs.empty()) break;
      binning::Samples::Part part{&finder, {}, {}};
      for (std::size_t i = 0; i < runs.size(); ++i) {
        (i < rank ? part.columns : part.extra).push_back(device::read_run(device_, runs[i], types_[i], copies[i]));
      }
      add_here(part);
    }
    tell();
  }

 private:
  static constexpr std::uint64_t kPartThere = std::uint64_t{1} << 26;

  // How a device finds cells of coordinates of certain types: of an axis as it adds the weights, else before.
  struct Finder {
    std::optional<binning::Plan> plan;
    std::optional<binning::DevicePlan> there;
    groups::Indexing indexing;
    std::optional<binning::DeviceCells> cells;
  };

  // Whether the kernel that adds the weights finds the cells, too.
  bool in_one() const { return to_.rank() == 1 && to_.axes_[0].formula() == nullptr; }

  // Requires that the device's mutex is held.
  Finder& finder_of(std::span<const DType> types) {
    std::unique_ptr<Finder>& finder = finders_[{types.begin(), types.end()}];
    if (finder) return *finder;
    finder = std::make_unique<Finder>();
    if (in_one()) {
      finder->plan.emplace(to_.axes_[0], types[0]);
      finder->there.emplace(device_.implementation(), *finder->plan);
      finder->indexing = binning::index_of_samples(*finder->there);
    } else {
      finder->cells.emplace(device_.implementation(), to_.axes_, types);
    }
    return *finder;
  }

  void add_runs(std::span<const device::Run> runs, std::span<const DType> types) {
    const std::size_t rank = to_.rank();
    const device::Run& weights = runs.back();
    Finder* finder = nullptr;
    {
      const device::Lock lock(device_.implementation().mutex());
      finder = &finder_of(types.first(rank));
      if (finder->cells) finder->cells->find(runs.first(rank));
    }
    if (finder->cells) {
      to_.sums_.add(weights, types.back(), {finder->cells->cells(), weights.count, 4}, DType::uint32, device_, nullptr);
    } else {
      to_.sums_.add(weights, types.back(), runs[0], types[0], device_, &finder->indexing);
    }
    std::uint64_t each = 0;
    for (const DType type : types) each += size_of(type);
    add_bytes(each * weights.count);
  }

  // Samples in host memory, here: cells are found as groups, batch by batch.
  void add_here(const binning::Samples::Part& part) {
    std::uint64_t bytes_each = 0;
    for (const View& column : part.columns) bytes_each += size_of(column.type());
    groups::FoundGroups found;
    found.from = part.columns;
    found.find = [&](std::uint64_t first, std::size_t count, std::uint64_t* groups) {
      binning::for_cells(part, first, count, [&](std::uint64_t at, std::size_t some, const std::uint32_t* cells) {
        std::copy(cells, cells + some, groups + (at - first));
      });
    };
    to_.sums_.add(part.extra[0], found, options_.tuning.threads);
    here_ = true;
    add_bytes(bytes_each * part.size() + part.extra[0].bytes());
  }

  // The part's columns and weights as runs.
  void upload(const binning::Samples::Part& part) {
    device::Device& device = device_.implementation();
    const device::Lock lock(device.mutex());
    runs_.clear();
    types_.clear();
    uploads_.resize(to_.rank() + 1);
    for (std::size_t i = 0; i < uploads_.size(); ++i) {
      View column = i < to_.rank() ? part.columns[i] : part.extra[0];
      if (!column.contiguous()) {
        packed_.resize(column.bytes());
        column = core::pack(column, packed_.data());
      }
      if (uploads_[i].bytes < column.bytes()) uploads_[i] = device.allocate((column.bytes() + 15) / 16 * 16);
      device.write(uploads_[i], 0, column.data(), column.bytes());
      runs_.push_back({uploads_[i], column.size(), static_cast<std::int64_t>(size_of(column.type())), 0});
      types_.push_back(column.type());
    }
  }

  void add_bytes(std::uint64_t bytes) {
    bytes_ += bytes;
    progress_.add(bytes);
  }

  void tell() {
    if (options_.report == nullptr) return;
    Report report{"cpu", "", "", bytes_, 0, 0};
    if (kernels_ && !here_) {
      report.device = device_.info().selector;
      report.variant = "sums_by_index";
      const device::Lock lock(device_.implementation().mutex());
      device_.implementation().finish();
    } else if (kernels_) {
      report.configuration = fmt::format("instead of {}, which has {}", device_.info().selector,
                                         device_.info().has(Capability::int64_atomics) ? "too little memory" : "no 64-bit atomics");
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    *options_.report = report;
  }

  WeightedHistogram& to_;
  Device device_;
  bool kernels_, here_ = false;
  const Options& options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  core::ProgressParts progress_;
  std::uint64_t bytes_ = 0;
  std::map<std::vector<DType>, std::unique_ptr<Finder>> finders_;
  std::vector<device::Memory> uploads_;
  std::vector<device::Run> runs_;
  std::vector<DType> types_;
  std::vector<std::byte> packed_;
};

WeightedHistogram::WeightedHistogram(std::vector<Bins> axes, bool squares)
    : axes_(std::move(axes)), sums_(binning::cell_count(axes_, kMaxCells), {.squares = squares}) {}

void WeightedHistogram::add(const std::vector<Array>& coordinates, const Array& weights, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::vector<Array> all = coordinates;
  all.push_back(weights);
  binning::Samples::require_alike(all, axes_, coordinates.size());
  std::uint64_t bytes = 0;
  for (const Array& array : all) bytes += array.bytes();
  const auto there = std::ranges::find_if(all, [](const Array& array) { return array.on_device(); });
  const Device device = device::device_for(there == all.end() ? all[0] : *there, bytes, options);
  Adding adding(*this, device, options, bytes);
  if (there != all.end()) {
    const bool kernels = device.info().has(Capability::kernels);
    for (Array& array : all) {
      if (!array.on_device()) {
        throw Error(ErrorKind::usage, "coordinates and weights lie in different places: bring all of them to host memory or to one device");
      }
      device::require_on(array, device);
      if (!kernels) array = device::on_host(array);
    }
    if (kernels) return adding.add_there(all);
  }
  const Array last = std::move(all.back());
  all.pop_back();
  adding.add(binning::Samples(all, axes_, {last}), kPartInMemory);
}

void WeightedHistogram::add(const std::vector<Source*>& coordinates, Source& weights, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  binning::Samples samples(coordinates, axes_, {&weights});
  const std::uint64_t bytes = samples.resident_bytes();
  Adding(*this, device::device_for(bytes, options), options, bytes).add(std::move(samples), kPartOfSource);
}

std::vector<std::uint64_t> WeightedHistogram::shape() const {
  std::vector<std::uint64_t> shape;
  for (const Bins& bins : axes_) shape.push_back(bins.count());
  return shape;
}

Values WeightedHistogram::sums(NanPolicy nan) const {
  try {
    return inside(sums_.sums(nan), axes_, shape());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
  }
  // A sum of integers does not fit into 64 bits; it may be one outside of all bins.
  Values result(sums_.type(), shape());
  std::uint64_t index = 0;
  binning::for_inside(axes_, [&](std::uint64_t cell) {
    try {
      const Accumulator sum = sums_.sum(cell);
      const std::uint64_t bits = is_signed(sums_.type()) ? static_cast<std::uint64_t>(sum.to_int64()) : sum.to_uint64();
      std::memcpy(static_cast<std::byte*>(result.data()) + index * sizeof bits, &bits, sizeof bits);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("cell {}: {}", index, error.what()));
    }
    ++index;
  });
  return result;
}
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
