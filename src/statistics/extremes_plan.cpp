#include <samesum/extremes.hpp>

#include "device/buffer.hpp"
#include "statistics/collect.hpp"
#include "statistics/extremes_device.hpp"

#include <samesum/error.hpp>

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
  std::optional<statistics::DeviceExtremes> on_device;
  std::uint64_t count = 0;      // of the latest launch
  ExtremesRecord on_host = {};  // on a device without kernels, where a launch is done on return

  void check_device(const Buffer& buffer, std::string_view what) const {
    if (&buffer.device().implementation() == &device.implementation()) return;
    throw Error(ErrorKind::usage, fmt::format("{} lies on {}, the plan is for {}, or for another queue of it", what,
                                              buffer.device().info().selector, device.info().selector));
  }

  void launch(const BufferView& data, const reduce::DevicePlace* place) {
    check_device(data.buffer(), "the array");
    if (data.type() != type) {
      throw Error(ErrorKind::usage, fmt::format("the plan is for {}, the array has {}", name_of(type), name_of(data.type())));
    }
    device::Device& queue = device.implementation();
    if (place == nullptr) count = data.size();
    if (on_device) {
      const Lock lock(queue.mutex());
      return on_device->launch(statistics::device_array(data), place);
    }
    const View host = statistics::host_view(data);
    const Statistics found = collect(host, device, {{true, false, false, false}, 0, 0, options.threads});
    const ExtremesRecord record = statistics::record_of(found.contents(), host);
    const Lock lock(queue.mutex());
    place == nullptr ? static_cast<void>(on_host = record) : queue.write(place->memory, place->offset, &record, sizeof record);
  }
};

ExtremesPlan::ExtremesPlan(const Device& device, DType type, std::uint64_t size, const ReduceOptions& options)
    : state_(std::make_shared<State>(State{device, type, options, {}})) {
  if (!device.info().has(Capability::kernels)) return;
  const Lock lock(device.implementation().mutex());
  state_->on_device.emplace(device.implementation(), type, options, size);
}

void ExtremesPlan::launch(const BufferView& data) { state_->launch(data, nullptr); }

void ExtremesPlan::launch(const BufferView& data, const Buffer& to, std::uint64_t offset) {
  state_->check_device(to, "the place for the result");
  if (offset % 8 != 0 || offset > to.bytes() || to.bytes() - offset < sizeof(ExtremesRecord)) {
    throw Error(ErrorKind::usage,
                fmt::format("an ExtremesRecord of {} bytes at byte {} is not aligned to 8, or not within a buffer of {} bytes",
                            sizeof(ExtremesRecord), offset, to.bytes()));
  }
  const reduce::DevicePlace place{to.state().memory, offset};
  state_->launch(data, &place);
}

Statistics ExtremesPlan::result() const {
  const Lock lock(state_->device.implementation().mutex());
  const ExtremesRecord record = state_->on_device ? state_->on_device->result() : state_->on_host;
  return Statistics(statistics::contents_of(record, state_->count, state_->type));
}

std::string ExtremesPlan::configuration() const {
  return state_->on_device ? state_->on_device->shape().text() : fmt::format("threads={}", state_->options.threads);
}

}  // namespace samesum
