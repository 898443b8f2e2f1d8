// Sums of arrays that lie on a device: a plan, and the sum that makes one for itself.
#include <samesum/sum.hpp>

#include "device/array.hpp"
#include "reduce/sum.hpp"
#include "reduce/sum_cpu.hpp"
#include "reduce/sum_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace samesum {
namespace {

using Lock = std::lock_guard<std::mutex>;

static_assert(sizeof(SumRecord) == 24, "the kernel writes it as three 64-bit words");

// What the kernels leave, of a sum on the host.
SumRecord record_of(const Accumulator& sum, DType type, NanPolicy nan) {
  SumRecord record{sum.round(nan), 0, sum.round_to_float(nan), 0};
  if (!is_integer(type)) return record;
  try {
    record.integer = is_signed(type) ? sum.to_int64() : static_cast<std::int64_t>(sum.to_uint64());
  } catch (const Error&) {
    record.overflow = 1;
  }
  return record;
}

}  // namespace

struct SumPlan::State {
  Device device;
  DType type;
  SumOptions options;
  std::optional<reduce::DeviceSum> on_device;
  Accumulator on_host;  // on a device without kernels, where a launch is done on return

  void launch(const BufferView& data, const device::Place* place) {
    device::check_planned(data, device, type);
    device::Device& queue = device.implementation();
    const Lock lock(queue.mutex());
    if (on_device) return on_device->launch(device::array_of(data), options.nan, place);
    on_host = reduce::sum_cpu(device::host_view(data), options.threads);
    if (place == nullptr) return;
    const SumRecord record = record_of(on_host, type, options.nan);
    queue.write(place->memory, place->offset, &record, sizeof record);
  }
};

SumPlan::SumPlan(const Device& device, DType type, std::uint64_t size, const SumOptions& options)
    : state_(std::make_shared<State>(State{device, type, options, {}, {}})) {
  find_sum_variant(device, options.variant);
  if (!device.info().has(Capability::kernels)) return;
  const Lock lock(device.implementation().mutex());
  state_->on_device.emplace(device.implementation(), type, options, size);
}

void SumPlan::launch(const BufferView& data) { state_->launch(data, nullptr); }

void SumPlan::launch(const BufferView& data, const Buffer& to, std::uint64_t offset) {
  const device::Place place = device::place_in(to, offset, "a SumRecord", sizeof(SumRecord), state_->device);
  state_->launch(data, &place);
}

Accumulator SumPlan::result() const {
  const Lock lock(state_->device.implementation().mutex());
  return state_->on_device ? state_->on_device->result().accumulator : state_->on_host;
}

std::string SumPlan::configuration() const {
  return state_->on_device ? state_->on_device->configuration() : fmt::format("threads={}", state_->options.threads);
}

Accumulator accumulate(const BufferView& data, const SumOptions& options, SumReport* report) {
  const Device& device = data.buffer().device();
  if (!device.info().has(Capability::kernels)) return accumulate(device::host_view(data), device, options, report);
  const std::string variant(find_sum_variant(device, options.variant));
  device::Device& queue = device.implementation();
  const Lock lock(queue.mutex());
  const std::uint64_t size = device::Plans::size_for(data.size());
  const std::string name = fmt::format("sum {} {} {} {}", name_of(data.type()), size, options.group_size, options.groups);
  auto sum = queue.plans().take<reduce::DeviceSum>(name);
  if (!sum) sum = std::make_shared<reduce::DeviceSum>(queue, data.type(), options, size);
  const device::Mark before = report != nullptr ? queue.mark() : device::Mark{};
  sum->launch(device::array_of(data), options.nan);
  const device::Mark after = report != nullptr ? queue.mark() : device::Mark{};
  Accumulator total = sum->result().accumulator;
  if (report != nullptr) {
    *report = {device.info().selector, variant, sum->configuration(), data.bytes(), 0, queue.seconds_between(before, after)};
  }
  queue.plans().give_back(name, std::move(sum));
  return total;
}

double sum(const BufferView& data, const SumOptions& options) { return accumulate(data, options).round(options.nan); }

}  // namespace samesum
