#include <samesum/extremes.hpp>

#include "device/array.hpp"
#include "statistics/collect.hpp"
#include "statistics/extremes_device.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

namespace samesum {
namespace {

using Lock = std::lock_guard<std::mutex>;

static_assert(sizeof(ExtremesRecord) == 48, "the kernel writes it as six 64-bit words");

}  // namespace

struct ExtremesPlan::State {
  Device device;
  DType type;
  ReduceOptions options;
  Ends ends;
  std::optional<statistics::DeviceExtremes> on_device;
  std::uint64_t count = 0;      // of the latest launch
  ExtremesRecord on_host = {};  // on a device without kernels, where a launch is done on return

  void launch(const BufferView& data, const device::Place* place) {
    device::check_planned(data, device, type);
    device::Device& queue = device.implementation();
    if (place == nullptr) count = data.size();
    if (on_device) {
      const Lock lock(queue.mutex());
      return on_device->launch(device::array_of(data), place);
    }
    const View host = device::host_view(data);
    const Statistics found = collect(host, device, {{true, false, false, false}, 0, 0, options.threads});
    const ExtremesRecord record = statistics::record_of(found.contents(), host, ends);
    const Lock lock(queue.mutex());
    place == nullptr ? static_cast<void>(on_host = record) : queue.write(place->memory, place->offset, &record, sizeof record);
  }
};

ExtremesPlan::ExtremesPlan(const Device& device, DType type, std::uint64_t size, const ReduceOptions& options, Ends ends)
    : state_(std::make_shared<State>(State{device, type, options, ends, {}})) {
  if (!device.info().has(Capability::kernels)) return;
  const Lock lock(device.implementation().mutex());
  state_->on_device.emplace(device.implementation(), type, options, size, ends);
}

void ExtremesPlan::launch(const BufferView& data) { state_->launch(data, nullptr); }

void ExtremesPlan::launch(const BufferView& data, const Buffer& to, std::uint64_t offset) {
  const device::Place place = device::place_in(to, offset, "an ExtremesRecord", sizeof(ExtremesRecord), state_->device);
  state_->launch(data, &place);
}

Statistics ExtremesPlan::result() const {
  const Lock lock(state_->device.implementation().mutex());
  const ExtremesRecord record = state_->on_device ? state_->on_device->result() : state_->on_host;
  return Statistics(statistics::contents_of(record, state_->count, state_->type, state_->ends.places));
}

std::string ExtremesPlan::configuration() const {
  return state_->on_device ? state_->on_device->shape().text() : fmt::format("threads={}", state_->options.threads);
}

}  // namespace samesum
