#include "reduce/extremes/extremes_device.hpp"

#include "core/view.hpp"
#include "core/visit.hpp"
#include "reduce/device/walk.hpp"
#include "reduce/layout.h"
#include "tuning/tables.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::statistics {
namespace {

tuning::Shape choose_shape(const DeviceInfo& info, DType type, const Tuning& options, std::uint64_t elements, bool places) {
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  device::check_group_size(info, options.group_size, most);
  const bool polls = options.group_size == 0 && options.groups == 0 && reduction::can_poll(info);
  tuning::Shape shape{.group_size = 64, .drawn = true};  // where there is no record
  for (const tuning::Found& found : tuning::find_shapes(info, tuning::Operation::extrema, type, elements * size_of(type), places)) {
    if (found.shape.polled && !polls) continue;
    shape = found.shape;
    break;
  }
  shape.group_size = options.group_size != 0 ? options.group_size : std::min(shape.group_size, most);
  if (shape.per_unit) shape.groups *= info.compute_units;
  if (options.groups != 0) shape.groups = options.groups;
  return shape;
}

template <class Element>
Value value_of_bits(std::uint64_t bits, DType type) {
  Element element;
  std::memcpy(&element, &bits, sizeof element);
  if constexpr (!std::is_integral_v<Element>) {
    return {std::is_same_v<Element, double> ? double{element} : double{static_cast<float>(element)}, type};
  } else if constexpr (std::is_signed_v<Element>) {
    return {std::int64_t{element}, type};
  } else {
    return {std::uint64_t{element}, type};
  }
}

}  // namespace

std::string DeviceExtremes::text() const {
  return fmt::format("groups={} group_size={} loads={}", shape_.groups, shape_.group_size, shape_.loads);
}

device::Source extremes_source(DType type, const tuning::Shape& shape, ops::Extrema ends, bool strided) {
  std::vector<std::string_view> files{
      "reduce/layout.h",      "device/cache_policy.h",      "reduce/device/elements.h",   "reduce/device/walk.h",
      "reduce/device/meet.h", "reduce/extremes/extremes.h", "reduce/extremes/extremes.cl"};
  if (shape.single_tiles && !strided) files.emplace_back("reduce/extremes/extremes_small.cl");
  device::Source source{std::move(files), reduction::element_defines(type)};
  reduction::add_defines(source, {{"FIND_MIN", ends.min},
                                  {"FIND_MAX", ends.max},
                                  {"INDICES", ends.indices},
                                  {"KEEP_LOADS", 1},
                                  {"COUNT_NANS", 1},
                                  {"DOT", 0},
                                  {"CACHED", 0},
                                  {"DRAWN", shape.drawn},
                                  {"POLLED", shape.polled},
                                  {"STRIDED", strided},
                                  {"GROUP_SIZE", shape.group_size},
                                  {"GROUP_ROUNDED", std::bit_ceil(shape.group_size)},
                                  {"RESIDENT", shape.resident},
                                  {"LOADS", shape.loads}});
  return source;
}

DeviceExtremes::DeviceExtremes(device::Device& device, DType type, const Tuning& options, std::uint64_t elements, ops::Extrema ends)
    : device_(device), type_(type) {
  const bool finishes = !device.info().has(Capability::int64_atomics);
  tuning::without_own_on_failure([&] {
    shape_ = choose_shape(device.info(), type, options, elements, ends.indices);
    const auto source = [type, ends, shape = shape_](bool strided) { return extremes_source(type, shape, ends, strided); };
    search_ = {device, source, kSearch, shape_.group_size, finishes ? "extremes_finish" : ""};
    if (shape_.single_tiles) small_ = {device, source, kSmall, shape_.group_size};
    (small_ ? small_ : search_).prepare(false);
    entry_ = small_ ? kSmall : kSearch;
  });
  if (shape_.groups == 0) shape_.groups = search_.resident_groups(shape_.resident);
  slots_ = reduction::allocate_zeros(device, std::uint64_t{8} * RECORD_EXTREMES * shape_.groups);
  schedule_ = reduction::allocate_zeros(device, 8);
  result_ = {device.allocate_result(sizeof(ExtremaRecord))};
}

void DeviceExtremes::prepare_all(bool strided) {
  search_.prepare(false);
  if (strided) search_.prepare(true);
}

void DeviceExtremes::launch(const device::Run& data, const device::Place* record) {
  const device::Place& to = record != nullptr ? *record : result_;
  const std::uint64_t most = data.part_size(kMaxIndexed);
  for (std::uint64_t base = 0; base == 0 || base < data.count; base += most) {
    const device::Run part = data.part(base, std::min(data.count - base, most));
    const auto count = static_cast<std::uint32_t>(part.count);
    const Walk walk = walk_of(device_, part, part, type_, true);
    const std::uint64_t tile = std::uint64_t{shape_.group_size} * shape_.loads, tiles = (walk.loads + tile - 1) / tile;
    if (small_ && !walk.strided && tiles != 0 && tiles <= shape_.groups) {
      const device::Argument arguments[] = {part.memory, part.offset, walk.head, count, slots_, to.memory, to.offset};
      small_.launch(false, tiles, shape_.groups, arguments);
      entry_ = kSmall;
      return;
    }
    entry_ = kSearch;
    const device::Argument arguments[] = {part.memory,    part.offset, part.stride, part.row_stride, walk.row_length, walk.head,
                                          walk.row_loads, walk.loads,  count,       slots_,          schedule_,       to.memory,
                                          to.offset,      base};
    const std::uint32_t groups = search_.launch(walk.strided, tiles, shape_.groups, arguments);
    if (!search_.finishes(groups)) continue;
    const device::Argument finish_arguments[] = {slots_, groups, schedule_, to.memory, to.offset, count, base};
    search_.finish(walk.strided, finish_arguments);
  }
}

ExtremaRecord DeviceExtremes::result() {
  ExtremaRecord record{};
  device_.read(result_.memory, 0, &record, sizeof record);
  return record;
}

Statistics::Contents contents_of(const ExtremaRecord& record, std::uint64_t count, DType type, bool places) {
  Statistics::Contents contents;
  contents.fields = {true, false, false, false};
  contents.count = count;
  contents.nan_count = record.nan_count;
  if (record.first_nan != ExtremaRecord::kNowhere) contents.first_nan = places ? record.first_nan : ExtremaRecord::kNowhere;
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    const auto extreme = [&](std::uint64_t bits, std::uint64_t at) -> std::optional<Extremum> {
      if (at == ExtremaRecord::kNowhere) return std::nullopt;
      return Extremum{value_of_bits<Element>(bits, type), places ? at : ExtremaRecord::kNowhere};
    };
    contents.min = extreme(record.min, record.min_index);
    contents.max = extreme(record.max, record.max_index);
  });
  return contents;
}

ExtremaRecord record_of(const Statistics::Contents& contents, View data, ops::Extrema ends) {
  ExtremaRecord record{0, ExtremaRecord::kNowhere, 0, ExtremaRecord::kNowhere, ExtremaRecord::kNowhere, contents.nan_count};
  const auto set = [&](const std::optional<Extremum>& extreme, std::uint64_t& element, std::uint64_t& index) {
    if (!extreme) return;
    index = ends.indices ? extreme->index : 0;
    std::memcpy(&element, data.part(extreme->index, 1).data(), size_of(data.type()));
  };
  if (ends.min) set(contents.min, record.min, record.min_index);
  if (ends.max) set(contents.max, record.max, record.max_index);
  if (contents.first_nan) record.first_nan = ends.indices ? *contents.first_nan : 0;
  return record;
}

}  // namespace samesum::statistics
