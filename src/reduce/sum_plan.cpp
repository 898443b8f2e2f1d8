// Sums of arrays that lie on a device: a plan, and the sum that makes one for itself.
#include <samesum/sum.hpp>

#include "core/float_environment.hpp"
#include "core/reports.hpp"
#include "device/run.hpp"
#include "reduce/sum.hpp"
#include "reduce/sum_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace samesum {
namespace {

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
  State(const Device& on, DType elements, std::uint64_t size, const AccumulateOptions& wanted, Layout arrays)
      : device(on), type(elements), options(wanted), layout(arrays) {
    const core::DefaultFloatEnvironment environment;
    find_sum_variant(device, options.variant);
    if (!device.info().has(Capability::kernels)) return;
    const device::Lock lock(device.implementation().mutex());
    on_device.emplace(device.implementation(), type, options, size);
    on_device->prepare_all(layout == Layout::strided);
  }

  void launch(const Array& data, const device::Place* place, NanPolicy nan) {
    const core::DefaultFloatEnvironment environment;
    const device::Run run = device::planned_run(data, core::Order::memory, device, type, layout);
    device::Device& queue = device.implementation();
    if (on_device) {
      const device::Lock lock(queue.mutex());
      on_device->launch(run, nan, place);
      launched = true;
      return;
    }
    Accumulator sum = accumulate(device::on_host(data), device, options);
    if (place != nullptr) {
      const SumRecord record = record_of(sum, type, nan);
      queue.write(place->memory, place->offset, &record, sizeof record);
    }
    const std::lock_guard lock(host_mutex);
    on_host = std::move(sum);
  }

  Accumulator result() {
    const core::DefaultFloatEnvironment environment;
    if (on_device) {
      const device::Lock lock(device.implementation().mutex());
      if (!launched) device::refuse_result();
      return on_device->result().accumulator;
    }
    const std::lock_guard lock(host_mutex);
    if (!on_host) device::refuse_result();
    return *on_host;
  }

  Device device;
  DType type;
  AccumulateOptions options;
  Layout layout;
  std::optional<reduce::DeviceSum> on_device;
  bool launched = false;               // guarded, as on_device is, by the device's mutex
  std::optional<Accumulator> on_host;  // on a device without kernels, where a launch is done on return, and others run at the same time
  std::mutex host_mutex;
};

SumPlan::SumPlan(const Device& device, DType type, std::uint64_t size, const AccumulateOptions& options, Layout layout)
    : state_(std::make_shared<State>(device, type, size, options, layout)) {}

void SumPlan::launch(const Array& data) { state_->launch(data, nullptr, NanPolicy::propagate); }

void SumPlan::launch(const Array& data, const Buffer& to, std::uint64_t offset, NanPolicy nan) {
  const device::Place place = device::place_in(to, offset, "a SumRecord", sizeof(SumRecord), state_->device);
  state_->launch(data, &place, nan);
}

Accumulator SumPlan::result() const { return state_->result(); }

std::string SumPlan::configuration() const {
  return state_->on_device ? state_->on_device->configuration() : fmt::format("threads={}", state_->options.threads);
}

Accumulator sum_on_its_device(const Array& data, const AccumulateOptions& options, SumReport* report) {
  const Device& device = data.buffer().device();
  find_sum_variant(device, options.variant);
  device::Device& queue = device.implementation();
  Accumulator total;
  core::Reports reports(report);
  device::for_runs(data, core::Order::memory, [&](const device::Run& run) {
    const device::Lock lock(queue.mutex());
    const std::uint64_t size = device::Plans::size_for(run.count);
    const std::string name = fmt::format("sum {} {} {} {}", name_of(data.type()), size, options.group_size, options.groups);
    auto sum = queue.plans().take<reduce::DeviceSum>(name);
    if (!sum) sum = std::make_shared<reduce::DeviceSum>(queue, data.type(), options, size);
    const device::Mark before = report != nullptr ? queue.mark() : device::Mark{};
    sum->launch(run);
    const device::Mark after = report != nullptr ? queue.mark() : device::Mark{};
    total.merge(sum->result().accumulator);
    if (SumReport* const part = reports.next()) {
      *part = {device.info().selector,          std::string(sum->variant()), sum->configuration(), run.count * size_of(data.type()), 0,
               queue.seconds_between(before, after)};
    }
    reports.add();
    queue.plans().give_back(name, std::move(sum));
  }, true);
  return total;
}

}  // namespace samesum
