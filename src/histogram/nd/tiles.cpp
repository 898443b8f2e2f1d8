// Histograms of tiles.
#include "histogram/nd/tiles.hpp"

#include "core/float_environment.hpp"
#include "core/reports.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
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

constexpr std::uint64_t kMaxCounts = std::uint64_t{1} << 28;

std::uint64_t product_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && product > kMaxCounts / extent) return kMaxCounts + 1;
    product *= extent;
  }
  return product;
}

// Of an array in the device's memory.
void count_on_device(const Array& data, const std::vector<groups::TileBlock>& blocks, const std::vector<std::uint64_t>& shape,
                     const binning::Plan& plan, device::Device& device, std::vector<std::uint64_t>& slots, Report* report) {
  const device::Lock lock(device.mutex());
  const binning::DevicePlan on_device(device, plan);
  std::vector<std::uint32_t> counts(slots.size());
  const device::Memory memory = device.allocate(std::max<std::uint64_t>(4 * counts.size(), 16));
  device.write(memory, 0, counts.data(), 4 * counts.size());
  const device::Mark start = device.mark();
  for (const groups::TileBlock& block : blocks) {
    binning::count_tiles_on_device(block, shape, on_device, plan.slots(), block.data.buffer().state().memory, block.data.offset(), device,
                                   memory);
  }
  const device::Mark done = device.mark();
  device.read(memory, 0, counts.data(), 4 * counts.size());
  std::ranges::copy(counts, slots.begin());
  if (report != nullptr) *report = {device.info().selector, "histogram_tiles", "", data.bytes(), 0, device.seconds_between(start, done)};
}

// An array in host memory is brought to the device, by halves where it is large: tiles of the first axis do not share elements.
TileHistograms of_parts(const Array& data, const Bins& bins, const Tile& tile, const Device& device, const Options& options) {
  const std::uint64_t most = std::min<std::uint64_t>(std::uint64_t{256} << 20, device.info().max_allocation_bytes);
  const std::vector<std::uint64_t> shape = tile_shape(data, tile);
  Options of_part = device::on(device, options);
  of_part.progress = {};
  if (data.bytes() > most && shape[0] > 1) {
    const std::uint64_t each = data.rank() > tile.extents().size() ? 1 : tile.extents()[0], half = shape[0] / 2 * each;
    Report second;
    const TileHistograms a = of_parts(data.part(0, half), bins, tile, device, of_part);
    if (options.report != nullptr) of_part.report = &second;
    const TileHistograms b = of_parts(data.part(half, data.shape()[0] - half), bins, tile, device, of_part);
    if (options.report != nullptr) *options.report += second;
    std::vector<std::uint64_t> slots(a.slots().begin(), a.slots().end());
    slots.insert(slots.end(), b.slots().begin(), b.slots().end());
    return {bins, shape, std::move(slots)};
  }
  return tile_histograms(device::uploaded(data, device), bins, tile, of_part);
}

}  // namespace

TileHistograms::TileHistograms(Bins bins, std::vector<std::uint64_t> shape, std::vector<std::uint64_t> slots)
    : bins_(std::move(bins)), shape_(std::move(shape)), slots_(std::move(slots)) {
  if (product_of(shape_) > kMaxCounts || slots_.size() != product_of(shape_) * binning::places(bins_)) {
    throw Error(ErrorKind::usage, fmt::format("{} counts are not those of histograms of {} tiles", slots_.size(), product_of(shape_)));
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
  if (tiles > kMaxCounts / each) {
    throw Error(ErrorKind::usage,
                fmt::format("too many tiles: there can be {} counts in all, and a histogram has three more than bins; take fewer bins or "
                            "larger tiles",
                            kMaxCounts));
  }
  std::vector<std::uint64_t> slots(tiles * each);
  const Device device = device::device_for(data, data.bytes(), options);
  const bool on_kernels = device.info().has(Capability::kernels);
  if (data.on_device()) {
    device::require_on(data, device);
    if (!on_kernels) return tile_histograms(device::on_host(data), bins, tile, device::on(device, options));
  }
  if (on_kernels && !data.on_device() && data.size() != 0) return of_parts(data, bins, tile, device, options);
  const std::vector<groups::TileBlock> blocks = groups::tile_blocks(data, tile);
  std::optional<binning::Plan> plan;
  bool one_by_one = binning::by_formula_value(bins, data.type());
  if (!one_by_one) {
    plan.emplace(bins, data.type());
    one_by_one = plan->may_fail() ||
                 (on_kernels && !(data.offset() % size_of(data.type()) == 0 && std::ranges::all_of(blocks, binning::tiles_run_on)));
  }
  if (one_by_one) {
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
  if (on_kernels) {
    if (!blocks.empty()) count_on_device(data, blocks, shape, *plan, device.implementation(), slots, options.report);
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
