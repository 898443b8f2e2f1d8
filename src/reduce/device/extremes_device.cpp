#include "reduce/device/extremes_device.hpp"

#include "core/float_format.hpp"
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

constexpr std::uint32_t kRecordBytes = 8 * RECORD_EXTREMES;  // of a group
// Whether a group may wait for others: the device holds two at least, and lets them see what others store.
bool can_poll(const DeviceInfo& info) {
  return info.has(Capability::subgroups) && info.has(Capability::int64_atomics) && info.compute_units > 1 && info.max_group_size >= 1024;
}

ExtremesShape choose_shape(const DeviceInfo& info, DType type, const Tuning& options, std::uint64_t elements, bool places) {
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  device::check_group_size(info, options.group_size, most);
  const bool polls = options.group_size == 0 && options.groups == 0 && can_poll(info);
  tuning::Shape chosen{.group_size = 64, .drawn = true};  // where there is no record
  for (const tuning::Found& found : tuning::find_shapes(info, tuning::Operation::extrema, type, elements * size_of(type), places)) {
    if (found.shape.polled && !polls) continue;
    chosen = found.shape;
    break;
  }
  ExtremesShape shape{chosen.groups * (chosen.per_unit ? info.compute_units : 1),
                      options.group_size != 0 ? options.group_size : std::min(chosen.group_size, most),
                      chosen.loads,
                      chosen.resident,
                      chosen.drawn,
                      chosen.polled,
                      chosen.single_tiles};
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

std::string ExtremesShape::text() const { return fmt::format("groups={} group_size={} loads={}", groups, group_size, loads); }

device::Source extremes_source(DType type, const ExtremesShape& shape, ops::Extrema ends, bool strided) {
  const core::FloatFormat format = core::float_format(type);
  std::vector<std::string_view> files{"reduce/layout.h",      "device/cache_policy.h",    "reduce/device/elements.h",
                                      "reduce/device/walk.h", "reduce/device/meet.h",     "reduce/device/extremes.h",
                                      "reduce/device/extremes.cl"};
  if (shape.little && !strided) files.emplace_back("reduce/device/extremes_little.cl");
  return {std::move(files),
          {{"LEAST", ends.min ? "1" : "0"},
           {"GREATEST", ends.max ? "1" : "0"},
           {"PLACES", ends.indices ? "1" : "0"},
           {"BITS", std::to_string(8 * size_of(type))},
           {"FLOATS", is_integer(type) ? "0" : "1"},
           {"SIGNED", is_signed(type) ? "1" : "0"},
           {"EXPONENT_BITS", std::to_string(format.exponent_bits)},
           {"FRACTION_BITS", std::to_string(format.fraction_bits)},
           {"KEEP_LOADS", "1"},
           {"COUNT_NANS", "1"},
           {"DOT", "0"},
           {"KEPT", "0"},
           {"DRAWN", shape.drawn ? "1" : "0"},
           {"POLLED", shape.polled ? "1" : "0"},
           {"STRIDED", strided ? "1" : "0"},
           {"GROUP_SIZE", std::to_string(shape.group_size)},
           {"GROUP_ROUNDED", std::to_string(std::bit_ceil(shape.group_size))},
           {"RESIDENT", std::to_string(shape.resident)},
           {"LOADS", std::to_string(shape.loads)}}};
}

DeviceExtremes::DeviceExtremes(device::Device& device, DType type, const Tuning& options, std::uint64_t elements, ops::Extrema ends)
    : device_(device), type_(type), ends_(ends) {
  tuning::without_own_on_failure([&] {
    shape_ = choose_shape(device.info(), type, options, elements, ends.indices);
    if (shape_.little) {
      little_ = device::build(device, source(false), kLittle);
      entry_ = kLittle;
    } else {
      kernels_ = build(false);
      entry_ = kSearch;
    }
  });
  if (shape_.groups == 0) {
    shape_.groups = device.resident_groups(kernels_.search, shape_.group_size).value_or(device.info().compute_units * shape_.resident);
    shape_.groups = std::max(shape_.groups, 1u);
  }
  const std::vector<std::byte> zeros(std::uint64_t{kRecordBytes} * shape_.groups);
  records_ = device.allocate(zeros.size());
  device.write(records_, 0, zeros.data(), zeros.size());
  schedule_ = device.allocate(8);
  result_ = device.allocate_result(sizeof(ExtremaRecord));
  const std::uint64_t zero = 0;
  device.write(schedule_, 0, &zero, sizeof zero);
}

device::Source DeviceExtremes::source(bool strided) const { return extremes_source(type_, shape_, ends_, strided); }

DeviceExtremes::Kernels DeviceExtremes::build(bool strided) {
  Kernels kernels{device::build(device_, source(strided), kSearch), {}};
  if (!shape_.polled && !device_.info().has(Capability::int64_atomics)) {
    kernels.finish = device::build(device_, source(strided), "extremes_finish");
  }
  return kernels;
}

const DeviceExtremes::Kernels& DeviceExtremes::kernels_for(bool strided) {
  Kernels& kernels = strided ? strided_kernels_ : kernels_;
  if (kernels.search.handle == nullptr) kernels = build(strided);
  return kernels;
}

void DeviceExtremes::prepare_all(bool strided) {
  kernels_for(false);
  if (strided) kernels_for(true);
}

void DeviceExtremes::launch(const device::Run& data, const device::Place* record) {
  const device::Memory& to = record != nullptr ? record->memory : result_;
  const std::uint64_t to_offset = record != nullptr ? record->offset : 0;
  const std::uint64_t most = data.part_size(kMaxIndexed);
  for (std::uint64_t base = 0; base == 0 || base < data.count; base += most) {
    const device::Run part = data.part(base, std::min(data.count - base, most));
    const auto count = static_cast<std::uint32_t>(part.count);
    const Walk walk = walk_of(device_, part, part, type_, true);
    const std::uint64_t tile = std::uint64_t{shape_.group_size} * shape_.loads;
    const std::uint64_t tiles = (walk.loads + tile - 1) / tile;
    const auto groups = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(tiles, 1, shape_.groups));
    if (shape_.little && !walk.strided && tiles == groups) {
      const device::Argument arguments[] = {part.memory, part.offset, walk.head, count, records_, to, to_offset};
      device_.launch(little_, {groups, shape_.group_size}, arguments);
      entry_ = kLittle;
      return;
    }
    const Kernels& kernels = kernels_for(walk.strided);
    entry_ = kSearch;
    const device::Argument arguments[] = {part.memory,    part.offset, part.stride, part.row_stride, walk.row_length, walk.head,
                                          walk.row_loads, walk.loads,  count,       records_,        schedule_,       to,
                                          to_offset,      base};
    device_.launch(kernels.search, {groups, shape_.group_size}, arguments);
    if (kernels.finish.handle == nullptr || groups == 1) continue;
    const device::Argument finish_arguments[] = {records_, groups, schedule_, to, to_offset, count, base};
    device_.launch(kernels.finish, {1, shape_.group_size}, finish_arguments);
  }
}

ExtremaRecord DeviceExtremes::result() {
  ExtremaRecord record{};
  device_.read(result_, 0, &record, sizeof record);
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
