#include <samesum/extremes.hpp>

#include "core/float_environment.hpp"
#include "core/view.hpp"
#include "device/memory/run.hpp"
#include "statistics/collect.hpp"
#include "statistics/extremes_device.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

namespace samesum {
namespace {

static_assert(sizeof(ExtremesRecord) == 48, "the kernel writes it as six 64-bit words");

}  // namespace

struct ExtremesPlan::State {
  State(const Device& on, DType elements, std::uint64_t size, const Tuning& wanted, Ends sought, Layout arrays)
      : device(on), type(elements), options(wanted), ends(sought), layout(arrays) {
    const core::DefaultFloatEnvironment environment;
    if (!device.info().has(Capability::kernels)) return;
    const device::Lock lock(device.implementation().mutex());
    on_device.emplace(device.implementation(), type, options, size, ends);
    on_device->prepare_all(layout == Layout::strided);
  }

  void launch(const Array& data, const device::Place* place) {
    const core::DefaultFloatEnvironment environment;
    const device::Run run = device::planned_run(data, core::Order::index, device, type, layout);
    device::Device& queue = device.implementation();
    if (on_device) {
      const device::Lock lock(queue.mutex());
      on_device->launch(run, place);
      if (place == nullptr) count = data.size();
      return;
    }
    const View host(device::on_host(data).data(), run.count, type, run.stride);
    const Statistics found = collect(host, {true, false, false, false}, {.device = device, .tuning = {.threads = options.threads}});
    const ExtremesRecord record = statistics::record_of(found.contents(), host, ends);
    if (place != nullptr) return queue.write(place->memory, place->offset, &record, sizeof record);
    const std::lock_guard lock(host_mutex);
    on_host = record;
    count = data.size();
  }

  Statistics result() {
    const core::DefaultFloatEnvironment environment;
    if (on_device) {
      const device::Lock lock(device.implementation().mutex());
      if (!count) device::refuse_result();
      return statistics_of(on_device->result());
    }
    const std::lock_guard lock(host_mutex);
    if (!count) device::refuse_result();
    return statistics_of(on_host);
  }

  Statistics statistics_of(const ExtremesRecord& record) const {
    return Statistics(statistics::contents_of(record, *count, type, ends.places));
  }

  Device device;
  DType type;
  Tuning options;
  Ends ends;
  Layout layout;
  std::optional<statistics::DeviceExtremes> on_device;
  std::optional<std::uint64_t> count;  // of the latest launch without a place; guarded as what that leaves
  ExtremesRecord on_host = {};         // on a device without kernels, where a launch is done on return, and others run at the same time
  std::mutex host_mutex;
};

ExtremesPlan::ExtremesPlan(const Device& device, DType type, std::uint64_t size, const Tuning& options, Ends ends, Layout layout)
    : state_(std::make_shared<State>(device, type, size, options, ends, layout)) {}

void ExtremesPlan::launch(const Array& data) { state_->launch(data, nullptr); }

void ExtremesPlan::launch(const Array& data, const Buffer& to, std::uint64_t offset) {
  const device::Place place = device::place_in(to, offset, "an ExtremesRecord", sizeof(ExtremesRecord), state_->device);
  state_->launch(data, &place);
}

Statistics ExtremesPlan::result() const { return state_->result(); }

std::string ExtremesPlan::configuration() const {
  return state_->on_device ? state_->on_device->shape().text() : fmt::format("threads={}", state_->options.threads);
}

}  // namespace samesum
