#include "reduce/sum_device.hpp"

#include "core/pack.hpp"
#include "device/kernels/program.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::reduce {
namespace {

// Shared with sum_exact.cl and elements_*.cl, where they are derived in the same way.
constexpr int kCounters = 4;                // NaNs, infinities of either sign, work-items that saw anything but -0.0
constexpr std::uint32_t kSpacing = 16;      // words from one entry of what is handed on to the next
constexpr std::uint32_t kMaxGroups = 4095;  // that can be counted in an entry's upper bits
constexpr std::uint32_t kMaxGroupSize = 1024;
constexpr std::uint32_t kFinishSize = 32;  // work-items of sum_exact_finish, or all of a smaller group

struct Layout {
  std::uint32_t rows;
  std::uint32_t bin_rows;
  std::uint32_t row_bits;
  std::uint32_t row_base;

  std::uint32_t digits() const { return (rows * row_bits + 31) / 32 + 2; }
  std::uint32_t entries() const { return digits() + kCounters; }
};

// Where there is float64, float16 is added up in it.
bool in_float64(const DeviceInfo& info, DType type) { return type == DType::float16 && info.has(Capability::fp64); }

constexpr Layout layout_of(DType type, bool in_float64) {
  switch (type) {
    case DType::float16:
      return in_float64 ? Layout{4, 8, 16, 1074 - 24} : Layout{8, 16, 4, 1074 - 24};
    case DType::bfloat16:
      return {32, 64, 8, 1074 - 134};
    case DType::float32:
      return {34, 128, 8, 1074 - 149};
    case DType::float64:
      return {133, 266, 16, 0};
    default:
      return {8, 8, 16, 1074};
  }
}

std::vector<std::string_view> files_of(DType type) {
  const std::string_view elements = type == DType::float32   ? "reduce/elements_float32.cl"
                                    : type == DType::float64 ? "reduce/elements_float64.cl"
                                    : is_integer(type)       ? "reduce/elements_integer.cl"
                                    : type == DType::float16 ? "reduce/elements_float16.cl"
                                                             : "reduce/elements_bfloat16.cl";
  return {"exact/exact.h", "exact/exact_lanes.h", "device/kept.h",      "reduce/elements.h",
          elements,        "reduce/sum_finish.h", "reduce/sum_exact.cl"};
}

// On an H100 the fastest were 2048 work-items to a compute unit with two loads in flight for float32, 1024 with four for float64; for
// little data small groups, so that many compute units share it. Small groups are also for where a compiler cannot be held to few
// registers: of large groups of float32 NVIDIA's OpenCL then holds one to a unit, which is 14% slower; float64 has one anyway.
constexpr std::uint64_t kLittleBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kKeptBytes = std::uint64_t{128} << 20;  // beyond, what stays in the cache is little (kept.h)
constexpr std::uint32_t kSmallGroupSize = 256;
constexpr std::uint32_t work_items_to_a_unit(DType type) { return type == DType::float64 ? 1024 : 2048; }
constexpr std::uint32_t loads_of(DType type) { return type == DType::float64 ? 4 : 2; }
constexpr std::uint32_t kCpuGroupSize = 64;

// Host data go through in chunks of this size: large enough for full speed, small enough for any device.
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;

// What the kernel needs of local memory with so many columns, a little rounded up.
std::uint64_t local_bytes(DType type, std::uint32_t columns) {
  const Layout layout = layout_of(type, false);
  return std::uint64_t{4} * columns * (layout.bin_rows + kCounters) + 8 * (layout.entries() + layout.rows + 8) + 64;
}

std::uint32_t choose_columns(const DeviceInfo& info, DType type) {
  for (const std::uint32_t columns : {32u, 16u}) {
    if (local_bytes(type, columns) <= info.local_bytes) return columns;
  }
  throw Error(ErrorKind::device, fmt::format("the exact sum of {} needs {} bytes of local memory a work-group; {} has {}", name_of(type),
                                             local_bytes(type, 16), info.selector, info.local_bytes));
}

std::uint32_t resident_of(DType type, std::uint32_t group_size) { return std::max(work_items_to_a_unit(type) / group_size, 1u); }

std::uint32_t choose_group_size(const device::Device& device, DType type, std::uint32_t wanted, bool little) {
  const DeviceInfo& info = device.info();
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  device::check_group_size(info, wanted, most);
  if (wanted != 0) return wanted;
  if (info.is_cpu) return std::min(most, kCpuGroupSize);
  const bool small = little || type == DType::bfloat16 || (!device.knows_residency() && type != DType::float64);
  return small ? std::min(most, kSmallGroupSize) : most;
}

}  // namespace

std::string SumConfiguration::text() const { return fmt::format("groups={} group_size={} columns={}", groups, group_size, columns); }

device::Source sum_exact_source(DType type, const SumConfiguration& configuration) {
  device::Source source{files_of(type),
                        {{"LOADS", std::to_string(configuration.loads)},
                         {"GROUP_SIZE", std::to_string(configuration.group_size)},
                         {"RESIDENT", std::to_string(resident_of(type, configuration.group_size))},
                         {"COLUMN_BITS", std::to_string(std::countr_zero(configuration.columns))},
                         {"STRIDED", configuration.strided ? "1" : "0"},
                         {"KEPT", configuration.kept ? "1" : "0"},
                         {"IN_FLOAT64", configuration.in_float64 ? "1" : "0"},
                         {"IN_FLOAT32", type == DType::bfloat16 ? "1" : "0"},
                         {"INTEGERS", is_integer(type) ? "1" : "0"}}};
  if (is_integer(type)) {
    source.defines.emplace_back("INTEGER_BITS", std::to_string(8 * size_of(type)));
    source.defines.emplace_back("INTEGER_SIGNED", is_signed(type) ? "1" : "0");
  }
  return source;
}

DeviceSum::DeviceSum(device::Device& device, DType type, const Tuning& options, std::uint64_t elements)
    : device_(device), options_(options), type_(type) {
  entries_ = layout_of(type, in_float64(device.info(), type)).entries();
  schedule_ = device.allocate(8);
  result_ = device.allocate(record_offset() + sizeof(SumRecord));
  const std::vector<std::uint64_t> zeros(entries_ * kSpacing);
  device.write(schedule_, 0, zeros.data(), 8);
  if (device.info().has(Capability::int64_atomics)) {
    merged_ = device.allocate(std::uint64_t{8} * entries_ * kSpacing);
    device.write(merged_, 0, zeros.data(), merged_.bytes);
  }
  if (options.group_size == 0 && options.groups == 0) window_ = DeviceWindow::prepare(device, type, Terms::elements, elements);
  in_window_ = window_ && !window_->is_for_few_exponents();
  if (!in_window_) prepare_any(elements);
}

void DeviceSum::prepare_all(bool strided) {
  if (tile_elements_ == 0) prepare_any(window_->most_elements() + 1);  // for what is too much there
  if (window_) window_->prepare_strided();                             // which takes misaligned arrays as well
  if (strided) kernels_for(true);
}

void DeviceSum::prepare_any(std::uint64_t elements) {
  const DeviceInfo& info = device_.info();
  configuration_.columns = choose_columns(info, type_);
  const bool little = elements * size_of(type_) <= kLittleBytes && !info.is_cpu;
  configuration_.group_size = choose_group_size(device_, type_, options_.group_size, little);
  configuration_.loads = little || info.is_cpu ? 1 : loads_of(type_);
  configuration_.in_float64 = in_float64(info, type_);
  configuration_.kept = elements * size_of(type_) <= kKeptBytes;
  kernels_ = build();

  // Where the device cannot tell how many groups it holds, as many as the kernel was shaped for.
  const std::uint32_t resident = device_.resident_groups(kernels_.sum, configuration_.group_size)
                                     .value_or(info.compute_units * resident_of(type_, configuration_.group_size));
  configuration_.groups = std::clamp(options_.groups != 0 ? options_.groups : resident, 1u, kMaxGroups);
  if (kernels_.finish.handle != nullptr) merged_ = device_.allocate(std::uint64_t{8} * entries_ * configuration_.groups);
  tile_elements_ = std::uint64_t{configuration_.group_size} * configuration_.loads * (16 / size_of(type_));
}

DeviceSum::Kernels DeviceSum::build() {
  const device::Source source = sum_exact_source(type_, configuration_);
  Kernels kernels{device::build(device_, source, "sum_exact"), {}};
  if (!device_.info().has(Capability::int64_atomics)) kernels.finish = device::build(device_, source, "sum_exact_finish");
  return kernels;
}

// Strides are rare: their kernel is built when one is met, or announced.
const DeviceSum::Kernels& DeviceSum::kernels_for(bool strided) {
  if (!strided) return kernels_;
  if (strided_kernels_.sum.handle == nullptr) {
    configuration_.strided = true;
    strided_kernels_ = build();
    configuration_.strided = false;
  }
  return strided_kernels_;
}

void DeviceSum::launch(const device::Run& data, NanPolicy nan, const device::Place* record) {
  const std::int32_t skip = nan == NanPolicy::skip;
  const device::Memory& to = record != nullptr ? record->memory : result_;
  const std::uint64_t to_offset = record != nullptr ? record->offset : record_offset();
  const bool for_window = window_ && (!window_->is_for_few_exponents() || few_exponents_.expected());
  if (for_window && window_->launch(data, data, skip != 0, result_, to, to_offset)) return launched(data.count, true);
  if (tile_elements_ == 0) prepare_any(data.count);
  const std::uint64_t tiles = std::max<std::uint64_t>((data.count + tile_elements_ - 1) / tile_elements_, 1);
  if (tiles + configuration_.groups > UINT32_MAX) {
    throw Error(ErrorKind::usage, fmt::format("{} elements are too many for groups of {} work-items: take larger groups", data.count,
                                              configuration_.group_size));
  }
  const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(configuration_.groups, tiles));
  const std::uint64_t element = size_of(type_);
  const bool strided = data.count > 1 && data.stride != static_cast<std::int64_t>(element);
  const Kernels& kernels = kernels_for(strided);
  // Elements before the first whole 16 bytes.
  const std::uint64_t beyond = (device_.misalignment(data.memory) + data.offset) % 16;
  const auto head = static_cast<std::uint32_t>(strided ? 0 : std::min((16 - beyond) % 16 / element, data.count));
  const device::Argument arguments[] = {data.memory, data.offset, data.stride, head,      data.count, merged_,
                                        schedule_,   result_,     to,          to_offset, skip};
  device_.launch(kernels.sum, {groups, configuration_.group_size}, arguments);
  if (kernels.finish.handle != nullptr) {
    const device::Argument finish_arguments[] = {merged_, groups, schedule_, result_, to, to_offset, data.count, skip};
    device_.launch(kernels.finish, {1, std::min(configuration_.group_size, kFinishSize)}, finish_arguments);
  }
  launched(data.count, false);
}

void DeviceSum::launched(std::uint64_t count, bool in_window) {
  count_ = count;
  in_window_ = in_window;
  unread_ = true;
}

DeviceSumResult DeviceSum::result() {
  const Layout layout = layout_of(type_, in_float64(device_.info(), type_));
  std::vector<std::int64_t> raw(result_.bytes / 8);
  device_.read(result_, 0, raw.data(), raw.size() * sizeof raw[0]);
  const bool fixed_point = in_window_ && raw[entries_] != 0;
  if (in_window_) window_entries(type_, Terms::elements).unfold(std::span(raw).first(entries_ + 1));
  DeviceSumResult result;
  const std::int64_t* entry = raw.data();
  for (std::uint32_t i = 0; i < layout.digits(); ++i) result.accumulator.add_scaled(*entry++, static_cast<int>(layout.row_base + 32 * i));
  if (is_integer(type_)) {
    result.accumulator.add_integer_count(count_, is_signed(type_));
  } else {
    result.accumulator.add_counts(count_, entry[0], entry[1], entry[2], entry[3] == 0);
  }
  if (std::exchange(unread_, false) && window_ && window_->is_for_few_exponents()) {
    in_window_ ? few_exponents_.learn(fixed_point) : few_exponents_.learn(result.accumulator);
  }
  std::memcpy(&result.record, reinterpret_cast<const std::byte*>(raw.data()) + record_offset(), sizeof result.record);
  return result;
}

Accumulator sum_on_device(View data, device::Device& device, const Tuning& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  const std::uint64_t element = size_of(data.type());
  const std::uint64_t most = std::min(kChunkBytes, device.info().max_allocation_bytes) / element;
  const std::uint64_t chunk = std::max<std::uint64_t>(std::min(most, data.size()), 1);

  // Two of everything: while the device sums one chunk, the next one is on its way, and the sums are fetched a chunk later.
  struct Lane {
    DeviceSum sum;
    device::Memory memory;
    bool busy = false;
  };
  std::vector<Lane> lanes;
  for (std::uint64_t i = 0; i < (data.size() > chunk ? 2 : 1); ++i) {
    lanes.push_back({DeviceSum(device, data.type(), options, chunk), device.allocate(chunk * element)});
  }
  std::vector<std::byte> packed(data.contiguous() ? 0 : chunk * element);

  Accumulator total;
  double upload_seconds = 0;
  double seconds = 0;
  std::vector<device::Mark> marks;
  const auto mark = [&] {
    if (report != nullptr) marks.push_back(device.mark());
  };
  std::uint64_t turn = 0;
  const auto collect = [&](Lane& lane) {
    if (std::exchange(lane.busy, false)) total.merge(lane.sum.result().accumulator);
  };
  for (std::uint64_t first = 0; first < data.size(); first += chunk) {
    Lane& lane = lanes[turn++ % lanes.size()];
    View part = data.part(first, std::min(chunk, data.size() - first));
    if (!data.contiguous()) part = core::pack(part, packed.data());
    collect(lane);
    mark();
    device.write(lane.memory, 0, part.data(), part.bytes());
    mark();
    lane.sum.launch(lane.memory, part.size());
    mark();
    lane.busy = true;
  }
  for (Lane& lane : lanes) collect(lane);
  for (std::size_t i = 0; i + 2 < marks.size(); i += 3) {
    upload_seconds += device.seconds_between(marks[i], marks[i + 1]);
    seconds += device.seconds_between(marks[i + 1], marks[i + 2]);
  }
  if (report != nullptr) {
    report->variant = lanes.front().sum.variant();
    report->configuration = lanes.front().sum.configuration();
    report->upload_seconds = upload_seconds;
    report->seconds = seconds;
  }
  return total;
}

}  // namespace samesum::reduce
