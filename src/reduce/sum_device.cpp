#include "reduce/sum_device.hpp"

#include "device/program.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace samesum::reduce {
namespace {

// Shared with sum_exact.cl, where they are derived in the same way.
constexpr int kCounters = 4;  // NaNs, infinities of either sign, work-items that saw anything but -0.0
constexpr int kResultSize = Accumulator::kDigits + kCounters + 2;
constexpr std::uint32_t rows_of(DType type) { return type == DType::float32 ? 34 : 133; }
constexpr std::uint32_t bin_rows_of(DType type) { return type == DType::float32 ? 128 : 2 * 133; }
constexpr std::uint32_t kMaxGroupSize = 1024;

// On an H100 the fastest were 2048 work-items to a compute unit with two loads in flight for float32, 1024 with four for float64.
constexpr std::uint32_t work_items_to_a_unit(DType type) { return type == DType::float32 ? 2048 : 1024; }
constexpr std::uint32_t loads_of(DType type) { return type == DType::float32 ? 2 : 4; }
constexpr std::uint32_t kCpuGroupSize = 64;

// Host data go through in chunks of this size: large enough for full speed, small enough for any device.
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;

// What the kernel needs of local memory with so many columns, a little rounded up.
std::uint64_t local_bytes(DType type, std::uint32_t columns) {
  return std::uint64_t{4} * columns * (bin_rows_of(type) + kCounters) + 8 * (rows_of(type) + kCounters + Accumulator::kDigits) + 64;
}

std::uint32_t choose_columns(const DeviceInfo& info, DType type) {
  for (const std::uint32_t columns : {32u, 16u}) {
    if (local_bytes(type, columns) <= info.local_bytes) return columns;
  }
  throw Error(ErrorKind::device, fmt::format("the exact sum of {} needs {} bytes of local memory a work-group; {} has {}", name_of(type),
                                             local_bytes(type, 16), info.selector, info.local_bytes));
}

std::uint32_t resident_of(DType type, std::uint32_t group_size) { return std::max(work_items_to_a_unit(type) / group_size, 1u); }

std::uint32_t choose_group_size(const DeviceInfo& info, std::uint32_t wanted) {
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  if (wanted > most) {
    throw Error(ErrorKind::usage, fmt::format("a group size of {} is too large: {} runs this kernel with groups of 1 to {} work-items",
                                              wanted, info.selector, most));
  }
  return wanted != 0 ? wanted : info.is_cpu ? std::min(most, kCpuGroupSize) : most;
}

}  // namespace

std::string SumConfiguration::text() const { return fmt::format("groups={} group_size={} columns={}", groups, group_size, columns); }

device::Source sum_exact_source(DType type, const SumConfiguration& configuration) {
  return {{"exact/exact.h", "reduce/sum_exact.cl"},
          {{"FLOAT64", type == DType::float64 ? "1" : "0"},
           {"LOADS", std::to_string(loads_of(type))},
           {"GROUP_SIZE", std::to_string(configuration.group_size)},
           {"RESIDENT", std::to_string(resident_of(type, configuration.group_size))},
           {"COLUMN_BITS", std::to_string(std::countr_zero(configuration.columns))}}};
}

DeviceSum::DeviceSum(device::Device& device, DType type, const SumOptions& options) : device_(device) {
  if (type != DType::float32 && type != DType::float64) {
    throw Error(ErrorKind::device, fmt::format("kernels sum float32 and float64, not {} yet: take the device cpu", name_of(type)));
  }
  const DeviceInfo& info = device.info();
  configuration_.columns = choose_columns(info, type);
  configuration_.group_size = choose_group_size(info, options.group_size);

  const device::Source source = sum_exact_source(type, configuration_);
  kernel_ = device::build(device, source, "sum_exact");
  if (!info.has(Capability::device_fence)) finish_ = device::build(device, source, "sum_exact_finish");

  // Where the device cannot tell how many groups it holds, as many as the kernel was shaped for.
  const std::uint32_t resident = device.resident_groups(kernel_, configuration_.group_size)
                                     .value_or(info.compute_units * resident_of(type, configuration_.group_size));
  configuration_.groups = options.groups != 0 ? options.groups : std::max(resident, 1u);

  handed_on_ = device.allocate(std::uint64_t{8} * configuration_.groups * (rows_of(type) + kCounters));
  schedule_ = device.allocate(8);
  result_ = device.allocate(std::uint64_t{8} * kResultSize);
  const std::uint32_t zeros[2] = {};
  device.write(schedule_, 0, zeros, sizeof zeros);
  tile_elements_ = std::uint64_t{configuration_.group_size} * loads_of(type) * (16 / size_of(type));
}

void DeviceSum::launch(const device::Memory& data, std::uint64_t count, NanPolicy nan) {
  count_ = count;
  const std::uint64_t tiles = std::max<std::uint64_t>((count + tile_elements_ - 1) / tile_elements_, 1);
  if (tiles + configuration_.groups > UINT32_MAX) {
    throw Error(ErrorKind::usage,
                fmt::format("{} elements are too many for groups of {} work-items: take larger groups", count, configuration_.group_size));
  }
  const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(configuration_.groups, tiles));
  const std::int32_t skip = nan == NanPolicy::skip;
  const device::Argument arguments[] = {data, count, handed_on_, schedule_, result_, skip};
  device_.launch(kernel_, {groups, configuration_.group_size}, arguments);
  if (finish_.handle != nullptr) {
    const device::Argument finish_arguments[] = {handed_on_, groups, schedule_, result_, count, skip};
    device_.launch(finish_, {1, configuration_.group_size}, finish_arguments);
  }
}

DeviceSumResult DeviceSum::result() {
  std::array<std::int64_t, kResultSize> raw;
  device_.read(result_, 0, raw.data(), sizeof raw);
  DeviceSumResult result;
  result.accumulator.add_digits(std::span<const std::int64_t, Accumulator::kDigits>(raw.data(), Accumulator::kDigits));
  const std::int64_t* counters = raw.data() + Accumulator::kDigits;
  result.accumulator.add_counts(count_, counters[0], counters[1], counters[2], counters[3] == 0);
  result.rounded = std::bit_cast<double>(raw[Accumulator::kDigits + kCounters]);
  result.rounded_to_float = std::bit_cast<float>(static_cast<std::uint32_t>(raw[Accumulator::kDigits + kCounters + 1]));
  return result;
}

Accumulator sum_on_device(View data, device::Device& device, const SumOptions& options, SumReport* report) {
  const std::lock_guard lock(device.mutex());
  DeviceSum sum(device, data.type(), options);
  const std::uint64_t most = std::min(kChunkBytes, device.info().max_allocation_bytes) / size_of(data.type());
  const std::uint64_t chunk = std::max<std::uint64_t>(std::min(most, data.size()), 1);
  const device::Memory memory = device.allocate(chunk * size_of(data.type()));

  Accumulator total;
  double upload_seconds = 0;
  double seconds = 0;
  for (std::uint64_t first = 0; first < data.size(); first += chunk) {
    const View part = data.part(first, std::min(chunk, data.size() - first));
    const device::Mark start = device.mark();
    device.write(memory, 0, part.data(), part.bytes());
    const device::Mark uploaded = device.mark();
    sum.launch(memory, part.size());
    const device::Mark summed = device.mark();
    total.merge(sum.result().accumulator);
    upload_seconds += device.seconds_between(start, uploaded);
    seconds += device.seconds_between(uploaded, summed);
  }
  if (report != nullptr) {
    report->configuration = sum.configuration().text();
    report->upload_seconds = upload_seconds;
    report->seconds = seconds;
  }
  return total;
}

}  // namespace samesum::reduce
