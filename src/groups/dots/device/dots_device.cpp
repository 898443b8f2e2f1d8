// Dot products along axes on devices that run kernels (dots.cl).
#include "groups/dots/device/dots_device.hpp"

#include "device/device.hpp"
#include "device/memory/buffer.hpp"
#include "groups/device/axes_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace samesum::groups {
namespace {

constexpr std::uint32_t kDotSteps = 16;
constexpr std::uint64_t kDotUnits = std::uint64_t{1} << 30;  // groups of a launch
constexpr std::uint64_t kDotCapacity = std::uint64_t{1}
                                       << 16;  // results whose numbers are stored; if more are left, all are computed again

// Rows and columns of a tile of results: of a group, and of a work-item.
struct Tile {
  std::uint32_t group, item;
  std::uint32_t group_size() const { return group * group / (item * item); }
};
Tile tile_of(const DeviceInfo& info) {
  if (info.is_cpu) return {4, 4};
  Tile tile{32, 2};
  while (tile.group > tile.item && tile.group_size() > info.max_group_size) tile.group /= 2;
  return tile;
}

// The kernels and the memory of a call, reused by the next one.
struct DotScratch {
  DotScratch(device::Device& device, DType type)
      : tiles(device::build(device, dots_source(type, device.info()), "dots_tiles")),
        lanes(device::build(device, dots_source(type, device.info()), "dots_lanes")),
        words(device.allocate(8 * (1 + 4 * Array::kMaxRank))),
        pending(device.allocate(8 * kDotCapacity)) {}
  device::Kernel tiles, lanes;
  device::Memory words, pending;
};

// Appends extents and strides, the last axis first; returns how many axes they are.
std::uint32_t append(const DotAxes& axes, std::vector<std::uint64_t>& words) {
  for (std::size_t i = axes.axes().size(); i-- > 0;) {
    const DotAxis& axis = axes.axes()[i];
    for (const std::int64_t word : {static_cast<std::int64_t>(axis.extent), axis.a, axis.b, axis.to})
      words.push_back(static_cast<std::uint64_t>(word));
  }
  return static_cast<std::uint32_t>(axes.axes().size());
}

// The shorter the stride, the better neighbouring work-items follow the last of these axes.
std::uint64_t last_stride(const DotAxes& axes, std::int64_t DotAxis::*stride) {
  if (axes.axes().empty() || axes.axes().back().*stride == 0) return ~std::uint64_t{0};
  const std::int64_t bytes = axes.axes().back().*stride;
  return static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes);
}

}  // namespace

device::Source dots_source(DType type, const DeviceInfo& info) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const Tile tile = tile_of(info);
  const bool wide = type == DType::float64 || type == DType::int32 || type == DType::uint32;
  return {{"groups/expansion.h", "groups/near_moment.h", "groups/moments.h", "groups/device/pending.h", "groups/dots/device/dots.cl"},
          {{"REAL", "double"},
           {"ELEMENT", std::string(element_name(type))},
           {"VALUE(x)", std::string(as_double_source(type))},
           {"EXACT", flag(!wide)},
           {"INTEGERS", flag(is_integer(type))},
           {"GROUP_SIZE", std::to_string(tile.group_size())},
           {"TILE", std::to_string(tile.group)},
           {"EACH", std::to_string(tile.item)},
           {"STEPS", std::to_string(kDotSteps)}}};
}

bool has_dots_on_device(const DotProblem& problem) noexcept {
  constexpr std::uint64_t kFewest = 16, kMost = std::uint64_t{1} << 32;  // results; products of each
  const DType type = problem.a.type();
  if (!problem.a.on_device() || problem.results < kFewest || problem.summed.size() >= kMost) return false;
  const DeviceInfo& info = problem.a.buffer().device().info();
  return info.has(Capability::kernels) && info.has(Capability::fp64) && !(is_integer(type) && size_of(type) == 8);
}

std::vector<std::uint64_t> dots_on_device(const DotProblem& problem, const device::Memory& to, std::uint64_t offset) {
  device::Device& device = problem.a.buffer().device().implementation();
  const DeviceInfo& info = device.info();
  const DType type = problem.a.type();
  const device::Memory a = problem.a.buffer().state().memory, b = problem.b.buffer().state().memory;
  const device::Lock lock(device.mutex());
  const std::string name = fmt::format("dots {}", name_of(type));
  auto scratch = device.plans().take<DotScratch>(name);
  if (!scratch) scratch = std::make_shared<DotScratch>(device, type);

  constexpr std::uint64_t kReuse = 8;
  std::vector<std::uint64_t> words{0};
  const std::uint32_t group_size = tile_of(info).group_size();
  if (std::min(problem.rows.size(), problem.columns.size()) >= kReuse) {
    const std::uint32_t both = append(problem.both, words), rows = append(problem.rows, words), columns = append(problem.columns, words),
                        summed = append(problem.summed, words);
    device.write(scratch->words, 0, words.data(), 8 * words.size());
    const std::uint64_t tile = tile_of(info).group;
    const std::uint64_t tiles =
        problem.both.size() * ((problem.rows.size() + tile - 1) / tile) * ((problem.columns.size() + tile - 1) / tile);
    const std::int32_t a_across = last_stride(problem.rows, &DotAxis::a) < last_stride(problem.summed, &DotAxis::a);
    const std::int32_t b_across = last_stride(problem.columns, &DotAxis::b) < last_stride(problem.summed, &DotAxis::b);
    for (std::uint64_t first = 0; first < tiles; first += kDotUnits) {
      const device::Argument arguments[] = {a,
                                            problem.a.offset(),
                                            b,
                                            problem.b.offset(),
                                            scratch->words,
                                            both,
                                            rows,
                                            columns,
                                            summed,
                                            problem.rows.size(),
                                            problem.columns.size(),
                                            problem.summed.size(),
                                            first,
                                            a_across,
                                            b_across,
                                            to,
                                            offset / 8,
                                            scratch->pending,
                                            kDotCapacity};
      device.launch(scratch->tiles, {static_cast<std::uint32_t>(std::min(kDotUnits, tiles - first)), group_size}, arguments);
    }
  } else {
    constexpr std::uint64_t kStepsOfLane = 8;
    const DotAxes kept = problem.kept();
    const std::uint32_t kept_axes = append(kept, words), summed = append(problem.summed, words);
    device.write(scratch->words, 0, words.data(), 8 * words.size());
    const auto nearest = [](const DotAxes& axes) { return std::min(last_stride(axes, &DotAxis::a), last_stride(axes, &DotAxis::b)); };
    const std::int32_t neighbours = nearest(kept) < nearest(problem.summed);
    const std::uint64_t most = neighbours != 0 ? std::max(group_size / 32, 1u) : group_size;
    const auto lanes = static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(problem.summed.size() / kStepsOfLane, 1, most)));
    const std::uint64_t width = group_size / lanes, units = (problem.results + width - 1) / width;
    for (std::uint64_t first = 0; first < units; first += kDotUnits) {
      const device::Argument arguments[] = {a,
                                            problem.a.offset(),
                                            b,
                                            problem.b.offset(),
                                            scratch->words,
                                            kept_axes,
                                            summed,
                                            problem.results,
                                            problem.summed.size(),
                                            first,
                                            lanes,
                                            neighbours,
                                            to,
                                            offset / 8,
                                            scratch->pending,
                                            kDotCapacity};
      device.launch(scratch->lanes, {static_cast<std::uint32_t>(std::min(kDotUnits, units - first)), group_size}, arguments);
    }
  }
  std::uint32_t count = 0;
  device.read(scratch->words, 0, &count, sizeof count);
  std::vector<std::uint64_t> pending(count <= kDotCapacity ? count : problem.results);
  if (count > kDotCapacity) {
    std::iota(pending.begin(), pending.end(), std::uint64_t{0});
  } else if (count != 0) {
    device.read(scratch->pending, 0, pending.data(), 8 * count);
    std::ranges::sort(pending);
  }
  device.plans().give_back(name, std::move(scratch));
  return pending;
}

}  // namespace samesum::groups
