// Histograms of tiles on the CPU.
#include "histogram/nd/tiles.hpp"

#include "core/array_blocks.hpp"
#include "core/chunks.hpp"
#include "core/pack.hpp"
#include "histogram/nd/along_axis.hpp"
#include "histogram/slots_cpu.hpp"

#include <algorithm>

namespace samesum::binning {
namespace {

constexpr std::size_t kBlock = 512;

void count_run(View run, const SlotFinder& finder, std::uint64_t* counts) {
  std::uint32_t slots[kBlock];
  std::byte packed[8 * kBlock];
  for (std::uint64_t first = 0; first < run.size(); first += kBlock) {
    View part = run.part(first, std::min<std::uint64_t>(kBlock, run.size() - first));
    if (!part.contiguous()) part = core::pack_here(part, packed);
    finder.find(static_cast<const std::byte*>(part.data()), part.size(), slots);
    for (std::size_t i = 0; i < part.size(); ++i) ++counts[slots[i]];
  }
}

// The elements of one tile, run by run along the axis of the shortest stride.
void count_tile(const Array& tile, const SlotFinder& finder, std::uint64_t* counts) {
  std::int64_t offset = 0;
  const std::vector<core::Axis> axes = core::simplified_axes(tile, core::Order::memory, offset);
  const std::byte* const data = static_cast<const std::byte*>(tile.data()) + offset;
  if (axes.empty()) return count_run(View(data, tile.size(), tile.type()), finder, counts);
  std::vector<std::uint64_t> at(axes.size(), 0);
  std::int64_t place = 0;
  for (;;) {
    count_run(View(data + place, axes.back().extent, tile.type(), axes.back().stride), finder, counts);
    std::size_t axis = axes.size() - 1;
    while (axis-- > 0) {
      place += axes[axis].stride;
      if (++at[axis] < axes[axis].extent) break;
      place -= axes[axis].stride * static_cast<std::int64_t>(axes[axis].extent);
      at[axis] = 0;
    }
    if (axis == ~std::size_t{0}) return;
  }
}

}  // namespace

void count_tiles_on_cpu(const groups::TileBlock& block, const std::vector<std::uint64_t>& shape, const Plan& plan, std::uint32_t wanted,
                        std::uint64_t* slots) {
  const SlotFinder finder(plan);
  // The tile at each position along the axes that are not within one.
  std::vector<std::uint64_t> tiles;
  groups::for_tiles(block, shape, [&](std::uint64_t, std::uint64_t tile) { tiles.push_back(tile); });
  if (tiles.empty()) return;
  const std::uint32_t threads = core::thread_count(block.data.bytes(), wanted);
  const std::uint64_t chunk = std::max<std::uint64_t>(tiles.size() / threads / 16, 1);
  core::for_chunks(tiles.size(), threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      count_tile(groups::elements_of(block, i), finder, slots + tiles[i] * plan.slots());
    }
  });
}

}  // namespace samesum::binning
