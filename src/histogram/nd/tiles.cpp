// Histograms of tiles.
#include "histogram/nd/tiles.hpp"

#include "core/float_environment.hpp"
#include "core/reports.hpp"
#include "device/memory/run.hpp"
#include "histogram/bin_formula.hpp"
#include "histogram/count.hpp"
#include "histogram/nd/along_axis.hpp"

#include <samesum/error.hpp>
#include <samesum/tiles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace samesum {
namespace {

constexpr std::uint64_t kMostCounts = std::uint64_t{1} << 28;

std::uint64_t product_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && product > kMostCounts / extent) return kMostCounts + 1;
    product *= extent;
  }
  return product;
}

}  // namespace

TileHistograms::TileHistograms(Bins bins, std::vector<std::uint64_t> shape, std::vector<std::uint64_t> slots)
    : bins_(std::move(bins)), shape_(std::move(shape)), slots_(std::move(slots)) {
  if (product_of(shape_) > kMostCounts || slots_.size() != product_of(shape_) * binning::places(bins_)) {
    throw Error(ErrorKind::usage, fmt::format("{} counts are none of histograms of so many tiles", slots_.size()));
  }
}

Histogram TileHistograms::histogram(std::uint64_t index) const {
  if (index >= size()) throw Error(ErrorKind::usage, fmt::format("there is no tile {}: there are {}, numbered from 0", index, size()));
  const std::uint64_t each = binning::places(bins_);
  return {bins_, std::span(slots_).subspan(index * each, each)};
}

TileHistograms tile_histograms(const Array& data, const Bins& bins, const Tile& tile, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const std::vector<std::uint64_t> shape = tile_shape(data, tile);
  const std::uint64_t tiles = product_of(shape), each = binning::places(bins);
  if (tiles > kMostCounts / each) {
    throw Error(ErrorKind::usage,
                fmt::format("too many tiles: there can be {} counts in all, and a histogram has three more than bins; take fewer bins or "
                            "larger tiles",
                            kMostCounts));
  }
  std::vector<std::uint64_t> slots(tiles * each);
  const Device device = device::device_for(data, data.bytes(), options);
  const bool on_kernels = device.info().has(Capability::kernels);
  if (data.on_device()) {
    device::require_on(data, device);
    if (!on_kernels) return tile_histograms(device::on_host(data), bins, tile, device::on(device, options));
  }
  const std::vector<groups::TileBlock> blocks = groups::tile_blocks(data, tile);
  const bool one_by_one = binning::by_formula_value(bins, data.type()) || on_kernels;
  std::optional<binning::Plan> plan;
  if (!one_by_one) plan.emplace(bins, data.type());
  if (one_by_one || plan->may_fail()) {
    core::Reports reports(options.report);
    Options of_tile = device::on(device, options);
    of_tile.progress = {};
    for (const groups::TileBlock& block : blocks) {
      groups::for_tiles(block, shape, [&](std::uint64_t index, std::uint64_t number) {
        of_tile.report = reports.next();
        const Histogram one = histogram(groups::elements_of(block, index), bins, of_tile);
        std::ranges::copy(binning::slots_of(one), slots.begin() + static_cast<std::ptrdiff_t>(number * each));
        reports.add();
      });
    }
    return {bins, shape, std::move(slots)};
  }
  const auto start = std::chrono::steady_clock::now();
  for (const groups::TileBlock& block : blocks) binning::count_tiles_on_cpu(block, shape, *plan, options.tuning.threads, slots.data());
  if (options.report != nullptr) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    *options.report = {device.info().selector, "", "", data.bytes(), 0, seconds};
  }
  return {bins, shape, std::move(slots)};
}

}  // namespace samesum
